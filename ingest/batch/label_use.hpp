// Whether the vertices that get labels occur in edges. If none does, ids are probably spelled differently.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "deltamatch/update.hpp"
#include "ingest/codec/doubts.hpp"

namespace deltamatch::ingest {

/// Remembers the ids of labels until one of them occurs in an edge. Then it costs nothing more. Not thread-safe.
class LabelUse {
 public:
  /// Remembers the vertices of labels. Beyond 2^17 of them nothing is said.
  void add_labels(const UpdateBatch& batch);
  /// Looks for them in edges.
  void add_edges(const UpdateBatch& batch);
  /// Edges come from a place that is not looked at. So nothing is said.
  void give_up() noexcept { open_ = false; }
  /// A warning, if there are edges and no vertex with a label occurs in them. `where` names the labels.
  [[nodiscard]] std::optional<Warning> warning(std::string where) const;

 private:
  [[nodiscard]] bool knows(const Id& id) const;

  boost::unordered_flat_set<std::int64_t> numbers_;
  boost::unordered_flat_set<std::string> texts_;
  std::uint64_t edges_ = 0;
  bool open_ = true;
};

}  // namespace deltamatch::ingest

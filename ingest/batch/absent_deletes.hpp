// Counts deletions of what is not there. Many absent deletions suggest misread input.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "deltamatch/result.hpp"
#include "deltamatch/update.hpp"
#include "ingest/codec/doubts.hpp"

namespace deltamatch::ingest {

class AbsentDeletes {
 public:
  /// `directed`: whether a deletion must name an edge's ends in the order of its insertion.
  explicit AbsentDeletes(bool directed) noexcept : directed_(directed) {}

  /// Counts those among the updates that the engine took. `ignored` is what the engine said of it. A deletion that undoes an
  /// insertion of its own batch is not absent.
  void add(std::span<const Update> updates, const Ignored& ignored);

  /// A warning, if more than half of the deletions so far are absent, and at least three.
  [[nodiscard]] std::optional<Warning> warning(std::string where) const;
  /// The same for an input without an end. Returns it once. It looks once there are 100 deletions, and again whenever they are
  /// twice as many. Fewer tell nothing: at its start, an input may delete what it has not inserted.
  [[nodiscard]] std::optional<Warning> fresh(std::string where);

 private:
  static constexpr std::uint64_t enough = 100;

  bool directed_;
  std::uint64_t deletes_ = 0;
  std::uint64_t absent_ = 0;  // of them
  std::uint64_t judged_at_ = enough;
  bool given_ = false;
};

}  // namespace deltamatch::ingest

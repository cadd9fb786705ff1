// Finds every match of an anchor, one by one: backtracking over the levels of a plan, then over the data edges that each query
// edge may be mapped to. Listing always goes this way, and so does counting where it matters which parallel edges are taken.
#pragma once

#include <cstdint>
#include <vector>

#include "match/partial.hpp"

namespace deltamatch::match {

/// A found match: `vertices` by query vertex, `tags` by query edge: label << 1 | 1 where the data edge leads from the image of
/// the query edge's target to that of its source.
struct Found {
  std::span<const VertexId> vertices;
  std::span<const std::uint32_t> tags;
};

class FoundSink {
 public:
  virtual ~FoundSink() = default;
  virtual void found(const Found& match) = 0;
};

class Enumerator {
 public:
  /// `ordered`: keep order constraints, so that one match of each class is found.
  Enumerator(Partial& partial, const plan::BoundQuery& query, bool ordered, const StopFlag* stop) noexcept
      : partial_(&partial), query_(&query), ordered_(ordered), stop_(stop) {}

  /// Finds the matches of the anchor that the partial match was begun with; gives them to `sink` where it is not null. Returns
  /// how many.
  std::uint64_t run(Share share, FoundSink* sink);

 private:
  void descend(std::size_t level, Share share);
  void leaf();
  void choose_edge(std::uint32_t edge);
  [[nodiscard]] bool taken(const graph::Edge& edge, std::uint32_t before) const noexcept;

  Partial* partial_;
  const plan::BoundQuery* query_;
  bool ordered_;
  const StopFlag* stop_;
  FoundSink* sink_ = nullptr;
  std::uint64_t count_ = 0;
  bool plain_ = false;                               // every query edge has exactly one data edge, known from the vertices
  std::vector<std::uint32_t> tags_;                  // by query edge
  std::vector<graph::Edge> edges_;                   // by query edge
  std::vector<VertexId> vertices_;                   // by query vertex
  std::vector<std::vector<std::uint32_t>> options_;  // by query edge
};

}  // namespace deltamatch::match

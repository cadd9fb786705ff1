// Keeps those records of matches for which a predicate holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "deltamatch/id.hpp"
#include "graph/data_graph.hpp"
#include "match/matcher.hpp"
#include "plan/bound_query.hpp"

namespace deltamatch::match {

/// Returns the records for which `keeps(vertices, edges)` is true, in their order. The spans are indexed by the query's
/// vertices and edges, and hold for one call. O(records) calls.
template <class Keeps>
[[nodiscard]] Records keep_records(const plan::BoundQuery& query, const Records& records, Keeps keeps) {
  Records kept;
  const std::size_t n = query.vertices();
  const std::size_t m = query.edges.size();
  std::vector<graph::Edge> edges(m);
  for (std::size_t r = 0; r < records.plans.size(); ++r) {
    const auto words = std::span(records.words).subspan(r * (n + m), n + m);
    const std::span<const VertexId> vertices = words.first(n);
    for (std::size_t e = 0; e < m; ++e) {
      const VertexId source = vertices[query.edges[e].source];
      const VertexId target = vertices[query.edges[e].target];
      const std::uint32_t tag = words[n + e];
      edges[e] =
          (tag & 1U) != 0 ? query.graph().ranked(target, source, tag >> 1) : query.graph().ranked(source, target, tag >> 1);
    }
    if (!keeps(vertices, std::span<const graph::Edge>(edges))) continue;
    kept.words.insert(kept.words.end(), words.begin(), words.end());
    kept.plans.push_back(records.plans[r]);
  }
  return kept;
}

}  // namespace deltamatch::match

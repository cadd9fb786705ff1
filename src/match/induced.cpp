#include "match/induced.hpp"

#include <algorithm>

#include "match/list_view.hpp"

namespace deltamatch::match {

std::optional<std::uint64_t> count_spanned(Partial& partial, const plan::BoundQuery& query,
                                           std::span<const VertexId> vertices) {
  std::uint64_t spanned = 0;
  const auto seen = [&](std::size_t v, std::size_t before) {
    return std::ranges::find(vertices.first(before), vertices[v]) != vertices.begin() + static_cast<std::ptrdiff_t>(before);
  };
  for (std::uint32_t v = 0; v < vertices.size(); ++v) {
    if (seen(v, v)) continue;
    for (std::uint32_t u = 0; u < v; ++u) {
      if (seen(u, u)) continue;
      const ScratchScope scope(partial.scratch());
      spanned += multiplicity(partial.lists().view(query.any_edge[v], vertices[u], true, partial.scratch()), vertices[v]);
      if (spanned > query.edges.size()) return std::nullopt;
    }
  }
  return spanned;
}

std::uint64_t count_distinct(std::span<const graph::Edge> edges) noexcept {
  std::uint64_t distinct = 0;
  for (auto edge = edges.begin(); edge != edges.end(); ++edge) {
    distinct += std::find(edges.begin(), edge, *edge) == edge ? 1 : 0;
  }
  return distinct;
}

}  // namespace deltamatch::match

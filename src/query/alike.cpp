#include "query/alike.hpp"

namespace deltamatch::query {

bool alike(const Query& query, std::uint32_t a, std::uint32_t b) noexcept {
  const QueryEdge& x = query.edges[a];
  const QueryEdge& y = query.edges[b];
  if (x.labels != y.labels) return false;
  const bool loops = x.source == x.target && y.source == y.target;  // these have no direction
  if (x.directed != y.directed && !loops) return false;
  if (x.source == y.source && x.target == y.target) return true;
  return !x.directed && x.source == y.target && x.target == y.source;
}

std::optional<EdgePair> find_alike_edges(const Query& query, std::uint32_t first) {
  for (std::uint32_t b = first; b < query.edges.size(); ++b) {
    for (std::uint32_t a = first; a < b; ++a) {
      if (alike(query, a, b)) return EdgePair{a, b};
    }
  }
  return std::nullopt;
}

}  // namespace deltamatch::query

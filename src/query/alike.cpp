#include "query/alike.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "condition/normal.hpp"

namespace deltamatch::query {

bool alike(const Query& query, std::uint32_t a, std::uint32_t b) noexcept {
  const QueryEdge& x = query.edges[a];
  const QueryEdge& y = query.edges[b];
  if (x.directed != y.directed || x.labels != y.labels) return false;
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

bool may_exchange(const Query& query, const EdgePair& edges) {
  if (!query.where) return true;
  std::vector<std::uint32_t> numbers(query.edges.size());
  std::iota(numbers.begin(), numbers.end(), 0U);
  const auto form = [&] {
    std::string bytes;
    condition::append_bytes(bytes, condition::normal_form(*query.where, numbers));
    return bytes;
  };
  const std::string before = form();
  std::swap(numbers[edges.first], numbers[edges.second]);
  return form() == before;
}

}  // namespace deltamatch::query

#include "condition/final_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "condition/counted.hpp"
#include "condition/time_bounds.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch::condition {
namespace {

/// Calls visit(pattern, bounds, edge) for each edge of each counted pattern. The pattern is the query that holds both.
template <class Visit>
void for_each_counted_edge(const Query& query, const Visit& visit) {
  if (!query.where) return;
  for_each_count(*query.where, [&](const Expression& count) {
    const Query pattern = extended(query, count.pattern[0]);
    std::optional<TimeBounds> bounds;
    try {
      bounds = time_bounds(pattern, "query");
    } catch (const Error&) {
      return;  // it is refused, or counts nothing
    }
    for (std::uint32_t e = count.pattern[0].first_edge; e < pattern.edges.size(); ++e) visit(pattern, *bounds, e);
  });
}

std::string name_of(const Query& query, const QueryEdge& edge) {
  if (!edge.name.empty() && edge.name[0] != 1) return fmt::format("'{}'", edge.name);
  return fmt::format("the edge from '{}' to '{}'", query.vertices[edge.source].name, query.vertices[edge.target].name);
}

}  // namespace

std::vector<FinalBound> final_bounds(const Query& query) {
  std::map<std::uint32_t, std::int64_t> latest;
  for_each_counted_edge(query, [&](const Query& /*pattern*/, const TimeBounds& bounds, std::uint32_t edge) {
    for (std::uint32_t outer = 0; outer < query.edges.size(); ++outer) {
      const std::int64_t after = bounds.difference(edge, outer);
      if (after == TimeBounds::none) continue;
      std::int64_t& known = latest.try_emplace(outer, 0).first->second;
      known = std::max(known, after);
    }
  });
  std::vector<FinalBound> result;
  for (const auto& [edge, after] : latest) result.push_back({edge, after});
  return result;
}

std::optional<std::string> unbounded_edge(const Query& query) {
  std::optional<std::string> found;
  for_each_counted_edge(query, [&](const Query& pattern, const TimeBounds& bounds, std::uint32_t edge) {
    for (std::uint32_t outer = 0; outer < query.edges.size(); ++outer) {
      if (bounds.difference(edge, outer) != TimeBounds::none) return;
    }
    if (!found) found = name_of(pattern, pattern.edges[edge]);
  });
  return found;
}

}  // namespace deltamatch::condition

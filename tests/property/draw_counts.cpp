#include "property/draw_counts.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "property/draw.hpp"

namespace deltamatch::property {
namespace {

using Kind = Expression::Kind;

Expression node(Kind kind, std::vector<Expression> operands) { return {kind, {}, {}, {}, std::move(operands)}; }

bool alike(const QueryEdge& a, const QueryEdge& b) {
  const bool ends = a.source == b.source && a.target == b.target;
  const bool crossed = !a.directed && a.source == b.target && a.target == b.source;
  return (ends || crossed) && a.directed == b.directed && a.labels == b.labels;
}

std::uint32_t pick(std::size_t count) { return static_cast<std::uint32_t>(*below(static_cast<int>(count))); }

/// A pattern of one or two edges. The first has an end in the query. The second is joined to it.
CountedPattern draw_pattern(const CountChoices& choices, const Query& query, const std::string& suffix) {
  CountedPattern pattern;
  pattern.first_vertex = static_cast<std::uint32_t>(query.vertices.size());
  pattern.first_edge = static_cast<std::uint32_t>(query.edges.size());
  const auto fresh = [&] {
    pattern.vertices.push_back({"s" + std::to_string(pattern.vertices.size()) + suffix, choices.vertex_labels()});
    return pattern.first_vertex + static_cast<std::uint32_t>(pattern.vertices.size() - 1);
  };
  const auto other_than = [&](std::uint32_t end) {
    const std::uint32_t chosen = pick(query.vertices.size());
    return *below(3) != 0 || chosen == end ? fresh() : chosen;
  };
  const auto join = [&](std::uint32_t from) {
    std::uint32_t a = from;
    std::uint32_t b = other_than(from);
    if (*below(2) == 0) std::swap(a, b);
    return QueryEdge{a, b, choices.edge_labels(), choices.directed && *below(4) != 0};
  };
  pattern.edges.push_back(join(pick(query.vertices.size())));
  if (*below(5) < 2) {
    const QueryEdge second = join(*below(2) == 0 ? pattern.edges[0].source : pattern.edges[0].target);
    if (choices.alike_edges || !alike(second, pattern.edges[0])) pattern.edges.push_back(second);
  }
  for (std::size_t e = 0; e < pattern.edges.size(); ++e) pattern.edges[e].name = "u" + std::to_string(e) + suffix;
  for (std::uint32_t v = 0; v < pattern.vertices.size(); ++v) {
    if (*below(3) == 0) pattern.distinct.push_back(pattern.first_vertex + v);
  }
  if (*below(2) == 0) {
    Query whole = query;
    whole.vertices.insert(whole.vertices.end(), pattern.vertices.begin(), pattern.vertices.end());
    whole.edges.insert(whole.edges.end(), pattern.edges.begin(), pattern.edges.end());
    pattern.where.push_back(choices.comparison(whole));
  }
  return pattern;
}

Expression draw_count(const CountChoices& choices, const Query& query, const std::string& suffix) {
  Expression count{Kind::count, {}, {}, {}, {}};
  count.pattern.push_back(draw_pattern(choices, query, suffix));
  Expression number{Kind::literal, Decimal{1 + *below(3), 0}, {}, {}, {}};
  const Kind kind = *rc::gen::element(Kind::greater_equal, Kind::greater_equal, Kind::less, Kind::equal, Kind::not_equal,
                                      Kind::greater, Kind::less_equal);
  if (*below(4) == 0) return node(kind, {std::move(number), std::move(count)});
  return node(kind, {std::move(count), std::move(number)});
}

}  // namespace

void draw_counts(const CountChoices& choices, Query& query) {
  if (choices.single && *below(3) == 0) {
    query.vertices.resize(1);
    query.edges.clear();
    query.where.reset();
  }
  for (std::size_t e = 0; e < query.edges.size(); ++e) query.edges[e].name = "t" + std::to_string(e);
  Expression condition = draw_count(choices, query, "");
  if (*below(5) == 0) condition = node(Kind::logical_not, {std::move(condition)});
  if (*below(4) == 0) {
    const Kind kind = *below(2) == 0 ? Kind::logical_and : Kind::logical_or;
    condition = node(kind, {std::move(condition), draw_count(choices, query, "b")});
  }
  if (!query.edges.empty() && *below(6) == 0)
    condition = node(Kind::logical_or, {std::move(condition), choices.comparison(query)});
  query.where = query.where ? node(Kind::logical_and, {*std::move(query.where), std::move(condition)}) : std::move(condition);
}

}  // namespace deltamatch::property

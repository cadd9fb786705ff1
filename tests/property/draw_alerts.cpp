#include "property/draw_alerts.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "deltamatch/error.hpp"
#include "query/automorphism.hpp"

namespace deltamatch::property {
namespace {

using Kind = Expression::Kind;

Expression time_of(std::uint32_t edge) { return {Kind::attribute, {}, {Element::Kind::edge, edge}, "time", {}}; }

Expression node(Kind kind, std::vector<Expression> operands) { return {kind, {}, {}, {}, std::move(operands)}; }

/// Bounds each edge that the condition counts by a random edge of the query.
void bound_counts(Expression& condition, std::uint32_t edges, Bounds& bounds) {
  for (Expression& operand : condition.operands) bound_counts(operand, edges, bounds);
  for (CountedPattern& pattern : condition.pattern) {
    std::vector<Expression> parts;
    for (std::uint32_t e = 0; e < pattern.edges.size(); ++e) {
      const auto outer = static_cast<std::uint32_t>(*below(static_cast<int>(edges)));
      const Timestamp after = *below(longest_wait + 2) - 1;
      const Expression span{Kind::literal, Duration{after}, {}, {}, {}};
      parts.push_back(node(Kind::less_equal, {time_of(pattern.first_edge + e), node(Kind::add, {time_of(outer), span})}));
      Timestamp& known = bounds.try_emplace(outer, 0).first->second;
      known = std::max(known, after);
    }
    pattern.where = {parts.size() == 1 ? parts[0] : node(Kind::logical_and, parts)};
  }
}

/// The variants of a query; none if its conditions contradict each other, so that it is refused.
std::vector<Query> possible_variants(const Query& query) {
  try {
    return variants(query);
  } catch (const Error&) {
    return {};
  }
}

/// Whether a vertex between the steps of a path can change places with one that a query names. It cannot be named itself.
bool turns_with_steps(const Query& query) {
  const auto n = static_cast<std::uint32_t>(query.vertices.size());
  return std::ranges::any_of(possible_variants(query), [&](const Query& variant) {
    const query::Group group(variant);
    for (std::uint32_t v = 0; v < n; ++v) {
      if (std::ranges::any_of(group.orbit(v), [&](std::uint32_t other) { return other >= n; })) return true;
    }
    return false;
  });
}

}  // namespace

void draw_once(Standing& standing, bool within) {
  if (!within) standing.query.within.reset();
  AlertOnce once;
  once.every.microseconds = 1 + *below(12);
  const std::size_t n = standing.query.vertices.size();
  const bool some = standing.options.count == CountMode::embeddings && *below(2) == 0;
  for (std::uint32_t v = 0; v < n; ++v) {
    if (!some || *below(2) == 0) once.vertices.push_back(v);
  }
  if (once.vertices.empty()) once.vertices.push_back(0);
  // A query for which a match would not say which is which is refused. Embeddings do say it.
  if (standing.options.count == CountMode::subgraphs && turns_with_steps(standing.query)) {
    standing.options.count = CountMode::embeddings;
  }
  standing.query.once = once;
  standing.options.list = true;
}

std::optional<Waiting> draw_waiting(const Traits& traits) {
  Waiting drawn{*scenarios(traits), {}};
  std::erase_if(drawn.scenario.queries,
                [](const Standing& standing) { return standing.query.edges.empty() || !standing.query.where; });
  if (drawn.scenario.queries.empty()) return std::nullopt;
  for (Standing& standing : drawn.scenario.queries) {
    Bounds& bounds = drawn.bounds.emplace_back();
    bound_counts(*standing.query.where, static_cast<std::uint32_t>(standing.query.edges.size()), bounds);
    if (bounds.empty()) return std::nullopt;
    standing.query.emit_final = true;
    standing.options.list = true;
    if (!traits.within) standing.query.within.reset();
  }
  return drawn;
}

}  // namespace deltamatch::property

#include "plan/condition_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/word.hpp"
#include "condition/counted.hpp"
#include "condition/evaluate.hpp"
#include "condition/normal.hpp"
#include "condition/text.hpp"
#include "condition/time_bounds_text.hpp"
#include "plan/condition_steps.hpp"
#include "query/alike.hpp"

namespace deltamatch::plan {

namespace {

/// Calls `take` with distinct numbers below `count`, evenly spread, until it has had `largest_sample` of them.
template <class Take>
void spread(std::uint32_t count, const Take& take) {
  if (count == 0) return;
  const std::uint64_t golden = std::max<std::uint64_t>(1, std::uint64_t{count} * 618 / 1000);
  std::uint64_t step = golden;
  while (std::gcd(step, std::uint64_t{count}) != 1) ++step;
  std::uint64_t at = 0;
  for (std::uint32_t i = 0; i < std::min(count, largest_sample); ++i, at = (at + step) % count) {
    take(static_cast<std::uint32_t>(at));
  }
}

/// Whether the labels of a query edge and of its ends admit a data edge.
bool admits_edge(const BoundQuery& query, const BoundEdge& edge, std::uint32_t slot) {
  const graph::EdgeTable& table = *query.graph().edge_table;
  if (!admits(edge.labels, table.label(slot))) return false;
  const LabelId tail = query.graph().dictionary.label(table.tail(slot));
  const LabelId head = query.graph().dictionary.label(table.head(slot));
  const auto ends = [&](LabelId source, LabelId target) {
    return admits(query.labels[edge.source], source) && admits(query.labels[edge.target], target);
  };
  return ends(tail, head) || (!edge.directed && ends(head, tail));
}

std::string remark(const Selectivity& seen, std::string_view things) {
  if (seen.sampled == 0) return fmt::format("; sampled: there are no {} with its labels", things);
  const double share = 100 * static_cast<double>(seen.satisfied) / static_cast<double>(seen.sampled);
  const std::string figure = seen.satisfied == 0 ? "none"
                             : share < 0.1       ? "less than 0.1 %"
                             : share < 9.95      ? fmt::format("{:.1f} %", share)
                                                 : fmt::format("{:.0f} %", share);
  return fmt::format("; sampled: TRUE for {} of {} {} with its labels", figure, seen.sampled, things);
}

/// Describes the conditions that count, which are numbered from `first` on.
void add_counted_lines(const Query& query, const std::vector<Expression>& counted, std::size_t first,
                       std::vector<std::string>& lines) {
  if (counted.empty()) return;
  lines.emplace_back("conditions that count, tested for whole matches:");
  for (std::size_t i = 0; i < counted.size(); ++i) {
    lines.push_back(fmt::format("  {}: {}", first + i + 1, condition::to_text(counted[i], query)));
    condition::for_each_count(counted[i], [&](const Expression& count) {
      std::vector<std::string> shared;
      for (std::uint32_t v = 0; v < query.vertices.size(); ++v) {
        const auto joins = [&](const QueryEdge& edge) { return edge.source == v || edge.target == v; };
        if (std::ranges::any_of(count.pattern[0].edges, joins)) shared.push_back(quoted_word(query.vertices[v].name));
      }
      lines.push_back(fmt::format("     if an edge that it counts changes: counted anew at {}", fmt::join(shared, " ")));
    });
  }
}

}  // namespace

std::vector<std::string> condition_lines(const Query& query, std::span<const std::string> remarks) {
  const std::vector<Expression> parts = condition::conjuncts(query);
  const std::vector<Expression> counted = condition::counted_conjuncts(query);
  std::vector<std::string> lines;
  if (!parts.empty() || !counted.empty() || query.within) {
    lines.emplace_back("matched on CPU cores only, because it has conditions");
  } else if (query::find_alike_edges(query)) {
    lines.emplace_back("matched on CPU cores only, because two edges have the same ends and labels");
  }
  if (!parts.empty()) lines.emplace_back("conditions in normal form:");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    lines.push_back(
        fmt::format("  {}: {}{}", i + 1, condition::to_text(parts[i], query), i < remarks.size() ? remarks[i] : ""));
  }
  add_counted_lines(query, counted, parts.size(), lines);
  const std::vector<std::string> bounds = condition::to_lines(condition::time_bounds(query, "query " + query.name), query);
  if (!bounds.empty()) lines.emplace_back("bounds of times:");
  for (const std::string& bound : bounds) lines.push_back("  " + bound);
  return lines;
}

std::optional<Selectivity> sample_condition(const BoundQuery& query, std::size_t condition) {
  const condition::Program& program = query.conditions[condition];
  if (program.elements.size() != 1) return std::nullopt;
  const Element element = program.elements[0];
  const graph::DataGraph& graph = query.graph();
  std::vector<VertexId> vertices(query.vertices());
  std::vector<graph::Edge> edges(query.edges.size());
  Selectivity seen;
  const auto test = [&] {
    ++seen.sampled;
    if (evaluate(program, BoundValues(query, condition, vertices, edges)) == condition::Truth::yes) ++seen.satisfied;
  };
  if (element.kind == Element::Kind::vertex) {
    spread(graph.dictionary.capacity(), [&](VertexId vertex) {
      if (!graph.dictionary.alive(vertex)) return;
      if (!admits(query.labels[element.index], graph.dictionary.label(vertex))) return;
      vertices[element.index] = vertex;
      test();
    });
  } else {
    const graph::EdgeTable& table = *graph.edge_table;
    spread(static_cast<std::uint32_t>(table.slots()), [&](graph::Slot slot) {
      if (!table.settled(slot, table.tail(slot), table.head(slot))) return;
      if (!admits_edge(query, query.edges[element.index], slot)) return;
      edges[element.index] = {table.tail(slot), table.head(slot), slot};
      test();
    });
  }
  return seen;
}

std::vector<std::string> selectivity_remarks(const BoundQuery& query) {
  std::vector<std::string> remarks(query.conditions.size());
  if (query.graph().edges() == 0) return remarks;
  for (std::size_t c = 0; c < remarks.size(); ++c) {
    const auto seen = sample_condition(query, c);
    if (!seen) continue;
    const bool edge = query.conditions[c].elements[0].kind == Element::Kind::edge;
    remarks[c] = remark(*seen, edge ? "edges" : "vertices");
  }
  return remarks;
}

}  // namespace deltamatch::plan

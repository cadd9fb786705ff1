// Formats plans as text. It depends on no addresses or hashes, and estimates are rounded, so that texts can be compared.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/word.hpp"
#include "plan/condition_report.hpp"
#include "plan/condition_steps.hpp"
#include "plan/plan.hpp"
#include "query/label_expression.hpp"

namespace deltamatch::plan {

namespace {

std::string figure(double value) {
  if (!(value < 1e15)) return "beyond 10^15";
  value *= 1 + 1e-9;  // rounds halves up, whatever order of arithmetic the compiler chose
  if (value < 9.95) return fmt::format("{:.1f}", value);
  // Two digits, so that an estimate does not look like a count.
  double unit = 1;
  while (value / unit >= 99.5) unit *= 10;
  return fmt::format("{:.0f}", std::round(value / unit) * unit);
}

std::string word(std::string_view text) {
  if (is_plain_word(text)) return std::string(text);
  std::string quoted = "`";
  for (const char c : text) quoted.append(c == '`' ? 2 : 1, c);
  return quoted + '`';
}

std::string plural(Count count, std::string_view thing) {
  return fmt::format("{} {}{}", to_string(count), thing, count == 1 ? "" : "s");
}

class Writer {
 public:
  Writer(const BoundQuery& query, const QueryPlans& plans) : query_(query), plans_(plans) {}

  std::string write(const std::vector<PlanActuals>& actuals) {
    line(0, "query {}: {}", word(query_.query.name), to_pattern(query_.pattern));
    line(0, "{}, {}; {}, {} in {}", mode(), query_.count == CountMode::subgraphs ? "subgraphs" : "embeddings",
         plural(query_.group.order(), "automorphism"), plural(query::arcs(query_.query).size(), "arc"),
         plural(query::arc_orbits(query_.query, query_.group).size(), "orbit"));
    for (const std::string& text : condition_lines(query_.pattern, selectivity_remarks(query_))) line(0, "{}", text);
    line(0, "planned on a graph of {}", plural(plans_.planned_edges, "edge"));
    if (plans_.planned_edges > 0) absent_labels();
    if (plans_.rooted) {
      rooted(*plans_.rooted);
      return std::move(text_);
    }
    for (std::size_t i = 0; i < plans_.plans.size(); ++i) {
      plan(plans_.plans[i], i, i < actuals.size() ? actuals[i] : PlanActuals{});
      if (i < actuals.size()) {
        line(1, "since planned: {} tried, {} found", plural(actuals[i].anchors, "anchor"), to_string(actuals[i].matches));
      }
    }
    return std::move(text_);
  }

 private:
  template <class... Args>
  void line(std::size_t depth, fmt::format_string<Args...> format, Args&&... args) {
    text_.append(2 * depth, ' ').append(fmt::format(format, std::forward<Args>(args)...)).push_back('\n');
  }

  [[nodiscard]] std::string_view mode() const {
    switch (query_.mode) {
      case MatchMode::isomorphism:
        return "isomorphism";
      case MatchMode::edge_distinct:
        return "edge-distinct";
      case MatchMode::homomorphism:
        return "homomorphism";
    }
    return "";
  }

  [[nodiscard]] std::string vertex(std::uint32_t v) const { return word(query_.query.vertices[v].name); }

  /// Formats query vertices that a term merges as one: "c=e".
  [[nodiscard]] std::string merged(const std::vector<std::uint32_t>& members) const {
    std::vector<std::string> names;
    names.reserve(members.size());
    for (const std::uint32_t v : members) names.push_back(vertex(v));
    return fmt::format("{}", fmt::join(names, "="));
  }

  /// The labels of a query vertex, or those of a query edge, as the pattern writes them. They are found by their numbers.
  [[nodiscard]] std::string vertex_labels(const LabelIds& ids) const {
    if (ids.empty()) return "*";
    const auto at = static_cast<std::size_t>(std::ranges::find(query_.labels, ids) - query_.labels.begin());
    return query::labels_text(query_.query.vertices.at(at).labels).substr(1);
  }
  [[nodiscard]] std::string edge_labels(const LabelIds& ids) const {
    if (ids.empty()) return "*";
    const auto at = static_cast<std::size_t>(std::ranges::find(query_.edges, ids, &BoundEdge::labels) - query_.edges.begin());
    return query::labels_text(query_.query.edges.at(at).labels).substr(1);
  }

  /// Formats the list of a query relation at a vertex: direction(vertex, edge labels, labels of the neighbours).
  [[nodiscard]] std::string list(graph::QueryRelationId id, std::string_view at, bool inclusive, unsigned power) const {
    const graph::QueryRelation& query_relation = query_.graph().query_relation(id);
    const char* direction = query_relation.direction == graph::Direction::loop  ? "loop"
                            : query_relation.direction == graph::Direction::out ? "out"
                            : query_relation.direction == graph::Direction::in  ? "in"
                                                                                : "both";
    return fmt::format("{}({}, {}, {}){}{}", direction, at, edge_labels(query_relation.edge_labels),
                       vertex_labels(query_relation.neighbour_labels), inclusive ? "+anchor" : "",
                       power == 1 ? "" : fmt::format("^{}", power));
  }

  [[nodiscard]] std::string lists(const std::vector<Probe>& probes) const {
    std::vector<std::string> all;
    all.reserve(probes.size());
    for (const Probe& probe : probes)
      all.push_back(list(probe.query_relation, held_[probe.position], probe.inclusive, probe.power));
    return fmt::format("{}", fmt::join(all, " & "));
  }

  /// Formats the lists that hold the candidates for `name`, and the checks on them.
  [[nodiscard]] std::string candidates(std::string_view name, const Candidates& from) const {
    std::string text = from.probes.empty() ? std::string(name) : fmt::format("{} in {}", name, lists(from.probes));
    const auto check = [&](const char* sign, const std::vector<Position>& positions) {
      std::vector<std::string> names;
      names.reserve(positions.size());
      for (const Position position : positions) names.push_back(held_[position]);
      if (!names.empty()) text += fmt::format(", {} {}", sign, fmt::join(names, " "));
    };
    check("!=", from.distinct);
    check(">", from.above);
    check("<", from.below);
    return text;
  }

  void absent_labels() {
    for (std::size_t v = 0; v < query_.pattern.vertices.size(); ++v) {
      const QueryVertex& vertex = query_.pattern.vertices[v];
      if (is_absent(query_.labels[v]))
        line(0, "no vertex has a label of ({}{})", word(vertex.name), query::labels_text(vertex.labels));
    }
    for (std::size_t e = 0; e < query_.edges.size(); ++e) {
      const QueryEdge& edge = query_.query.edges[e];
      if (!is_absent(query_.edges[e].labels)) continue;
      line(0, "no edge has a label of [{}{}]", edge.name.empty() ? "" : word(edge.name), query::labels_text(edge.labels));
    }
  }

  void plan(const Plan& plan, std::size_t index, const PlanActuals& actuals) {
    held_ = {vertex(plan.tail), vertex(plan.head)};
    const BoundEdge& edge = query_.edges[plan.anchor.edge];
    const auto end = [&](std::uint32_t v) {
      return query_.labels[v].empty() ? vertex(v) : vertex(v) + ":" + vertex_labels(query_.labels[v]);
    };
    const std::string label = edge.labels.empty() ? "" : fmt::format("[:{}]", edge_labels(edge.labels));
    const std::string& called = query_.query.edges[plan.anchor.edge].name;
    line(0, "plan {}: anchor ({})-{}-{}({}), edge {}{}{}", index + 1, end(plan.tail), label, edge.directed ? ">" : "",
         end(plan.head), plan.anchor.edge, called.empty() ? "" : " called " + word(called),
         plan.anchor.reversed ? " reversed" : "");
    std::vector<std::string> order = held_;
    for (const Level& level : plan.levels) order.push_back(vertex(level.vertex));
    line(1, "order: {}", fmt::join(order, " "));
    line(1, "stands for {}, stabiliser of order {}", plural(plan.orbit, "arc"), to_string(plan.stabiliser));
    if (!plan.closing.empty()) line(1, "closing: {} in {}", held_[1], lists(plan.closing));
    if (plan.anchor_above) line(1, "only where {} > {}", held_[1], held_[0]);
    if (plan.anchor_below) line(1, "only where {} < {}", held_[1], held_[0]);
    const ConditionSteps tests = query_.conditional() ? plan.steps : ConditionSteps(plan.levels.size() + 2);
    steps(tests[1], 1);
    for (std::size_t i = 0; i < plan.levels.size(); ++i) {
      level(plan, i, actuals);
      steps(tests[i + 2], 2);
    }
    held_.resize(2 + std::min(plan.count.prefix, plan.levels.size()));
    count(plan);
  }

  void rooted(const RootedPlan& plan) {
    held_ = {vertex(plan.vertex)};
    line(0, "root {}, every data vertex", held_[0]);
    line(1, "count: sum {}{}, cost about {} in all", plural(plan.count.terms.size(), "term"), divided(plan.count.divisor),
         figure(plan.count.cost));
    terms(plan.count);
  }

  void level(const Plan& plan, std::size_t i, const PlanActuals& actuals) {
    const Level& level = plan.levels[i];
    const std::string name = vertex(level.vertex);
    std::string reuse;
    if (level.reuse >= 0) {
      reuse = fmt::format(" = what level {} read{}{}", level.reuse + 1, level.rest.empty() ? "" : " & ", lists(level.rest));
    }
    std::string actual;
    if (i < actuals.partial_matches.size()) {
      const double from = i == 0 ? static_cast<double>(actuals.anchors) : actuals.partial_matches[i - 1];
      actual = fmt::format("; so far {}", from > 0 ? figure(actuals.partial_matches[i] / from) : "none to extend");
    }
    line(1, "level {}: {}, about {}{}{}", i + 1, candidates(name, level.candidates), figure(level.estimate), actual, reuse);
    held_.push_back(name);
  }

  /// Formats which edges are chosen at a position, and which conditions are tested there.
  void steps(const std::vector<ConditionStep>& steps, std::size_t depth) {
    for (const ConditionStep& step : steps) {
      std::vector<std::string> parts;
      if (step.edge) {
        const std::string& name = query_.query.edges[*step.edge].name;
        parts.push_back(fmt::format("choose {}{}", name.empty() ? fmt::format("edge {}", *step.edge) : word(name),
                                    query_.time_bounds.binds(*step.edge) ? " within the bounds of its time" : ""));
      }
      std::vector<std::size_t> numbers;
      for (const std::uint32_t condition : step.conditions) numbers.push_back(condition + 1);
      if (!numbers.empty()) {
        parts.push_back(fmt::format("test condition{} {}", numbers.size() == 1 ? "" : "s", fmt::join(numbers, ", ")));
      }
      if (!parts.empty()) line(depth, "{}", fmt::join(parts, "; "));
    }
  }

  void count(const Plan& plan) {
    const CountPlan& count = plan.count;
    if (count.terms.empty()) {
      line(1, "count: walk all levels{}{}", count.ordered ? " under the order constraints" : "", divided(count.divisor));
      return;
    }
    const std::vector<std::string> prefix(held_.begin() + 2, held_.end());
    line(1, "count: {}{}, sum {}{}, cost about {} an anchor",
         prefix.empty() ? "enumerate nothing" : fmt::format("enumerate {}", fmt::join(prefix, " ")),
         count.ordered ? " under the order constraints" : "", plural(count.terms.size(), "term"), divided(count.divisor),
         figure(count.cost));
    terms(count);
  }

  void terms(const CountPlan& count) {
    for (const Term& term : count.terms) {
      line(2, "{:+} times{}", term.coefficient, term.factors.empty() ? " 1" : "");
      factors(term.factors, 3);
    }
  }

  static std::string divided(Count divisor) { return divisor == 1 ? "" : ", divide by " + to_string(divisor); }

  void factors(const std::vector<Factor>& factors, std::size_t depth) {
    for (const Factor& factor : factors) {
      if (factor.kind == Factor::Kind::tree) {
        tree(factor, depth);
        continue;
      }
      const std::string name = merged(factor.members[0]);
      std::string others;
      for (const Factor& other : factor.others) others += fmt::format(" or {}", merged(other.members[0]));
      line(depth, "each {}{}", candidates(name, factor.vertices[0]),
           others.empty() ? "" : fmt::format(";{} where fewer candidates are there", others));
      const std::vector<std::string> outer = held_;
      held_.resize(std::size_t{factor.position} + 1);
      held_.back() = name;
      this->factors(factor.inner, depth + 1);
      held_ = outer;
    }
  }

  void tree(const Factor& factor, std::size_t depth) {
    if (factor.choose > 1) {
      std::vector<std::string> names;
      for (const std::uint32_t v : factor.members[0]) names.push_back(vertex(v));
      const std::string name = names[0];
      line(depth, "choose {} for {}: {}", factor.choose, fmt::join(names, " "), candidates(name, factor.vertices[0]));
      return;
    }
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < factor.vertices.size(); ++i) {
      const bool far = factor.vertices[i].probes.empty() && factor.vertices[i].distinct.empty();
      if (!far) parts.push_back(candidates(merged(factor.members[i]), factor.vertices[i]));
    }
    for (const TreeEdge& edge : factor.edges) {
      parts.push_back(fmt::format("{} in {}{}", merged(factor.members[edge.b]),
                                  list(edge.a_to_b, merged(factor.members[edge.a]), edge.inclusive, edge.power),
                                  edge.table == no_table ? "" : fmt::format(" by table {}", edge.table + 1)));
    }
    line(depth, "tree {}", fmt::join(parts, "; "));
  }

  const BoundQuery& query_;
  const QueryPlans& plans_;
  std::vector<std::string> held_;  ///< names by position
  std::string text_;
};

}  // namespace

std::string to_text(const BoundQuery& query, const QueryPlans& plans, const std::vector<PlanActuals>& actuals) {
  return Writer(query, plans).write(actuals);
}

}  // namespace deltamatch::plan

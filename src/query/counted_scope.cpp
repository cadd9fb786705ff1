#include "query/counted_scope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "condition/counted.hpp"
#include "condition/form.hpp"

namespace deltamatch::query {
namespace {

using Kind = Expression::Kind;

class Resolver {
 public:
  Resolver(const CountedScope& scope, const Query& outer, const std::optional<Element>& inside, const SourceText& source)
      : scope_(scope), outer_(outer), inside_(inside), source_(source) {
    result_.first_vertex = static_cast<std::uint32_t>(outer.vertices.size());
    result_.first_edge = static_cast<std::uint32_t>(outer.edges.size());
  }

  CountedPattern run() {
    number_vertices();
    number_edges();
    name_anonymous();
    for (const Mention& mention : scope_.distinct) result_.distinct.push_back(distinct(mention));
    std::ranges::sort(result_.distinct);
    result_.distinct.erase(std::ranges::unique(result_.distinct).begin(), result_.distinct.end());
    std::vector<Expression> conditions;
    for (Expression property : scope_.properties) {
      property.operands[0].element = own(property.operands[0].element);
      conditions.push_back(std::move(property));
    }
    for (Expression condition : scope_.conditions) {
      resolve(condition);
      conditions.push_back(std::move(condition));
    }
    if (conditions.size() == 1) {
      result_.where = std::move(conditions);
    } else if (!conditions.empty()) {
      result_.where.push_back({Kind::logical_and, {}, {}, {}, flat(std::move(conditions))});
    }
    refuse_flaw();
    return std::move(result_);
  }

 private:
  /// The operands of conditions that are joined by AND.
  static std::vector<Expression> flat(std::vector<Expression> conditions) {
    std::vector<Expression> parts;
    for (Expression& condition : conditions) {
      if (condition.kind == Kind::logical_and) {
        std::ranges::move(condition.operands, std::back_inserter(parts));
      } else {
        parts.push_back(std::move(condition));
      }
    }
    return parts;
  }

  void number_vertices() {
    bool shares = false;
    for (std::size_t v = 0; v < scope_.query.vertices.size(); ++v) {
      const QueryVertex& vertex = scope_.query.vertices[v];
      const auto known = std::ranges::find(outer_.vertices, vertex.name, &QueryVertex::name);
      if (!vertex.name.empty() && known != outer_.vertices.end()) {
        if (!vertex.labels.empty() && vertex.labels != known->labels) {
          source_.fail(scope_.places.vertices[v],
                       fmt::format("vertex '{}' has other labels outside the braces", shown(vertex.name)),
                       "give its labels outside");
        }
        vertices_.push_back(static_cast<std::uint32_t>(known - outer_.vertices.begin()));
        shares = true;
        continue;
      }
      if (!vertex.name.empty() && outer_edge(vertex.name)) refuse_double_name(vertex.name, scope_.places.vertices[v]);
      vertices_.push_back(result_.first_vertex + static_cast<std::uint32_t>(result_.vertices.size()));
      result_.vertices.push_back(vertex);
    }
    if (!shares) {
      source_.fail(scope_.offset, "what is counted shares no vertex with the pattern",
                   "name a vertex of the pattern in it: (hub:Account) WHERE COUNT { (s)-->(hub) } >= 10");
    }
  }

  void number_edges() {
    if (scope_.query.edges.empty() || scope_.query.edges.size() > condition::max_counted_edges) {
      source_.fail(scope_.offset, fmt::format("{} edges are counted", scope_.query.edges.size()),
                   "count a pattern of one edge, or a path of two");
    }
    for (std::size_t e = 0; e < scope_.query.edges.size(); ++e) {
      QueryEdge edge = scope_.query.edges[e];
      const bool vertex = std::ranges::find(outer_.vertices, edge.name, &QueryVertex::name) != outer_.vertices.end();
      if (!edge.name.empty() && (vertex || outer_edge(edge.name))) refuse_double_name(edge.name, scope_.places.edges[e]);
      if (edge.source == edge.target) {
        source_.fail(scope_.places.edges[e], "the edge is a self-loop",
                     "leave the edge out: a counted pattern has no self-loops");
      }
      edge.source = vertices_[edge.source];
      edge.target = vertices_[edge.target];
      result_.edges.push_back(std::move(edge));
    }
    if (!condition::joined(result_)) {
      source_.fail(scope_.places.edges[1], "the two edges that are counted share no vertex",
                   "join them at a vertex, or count each by itself");
    }
  }

  [[nodiscard]] std::optional<std::uint32_t> outer_edge(const std::string& name) const {
    const auto found = std::ranges::find(outer_.edges, name, &QueryEdge::name);
    if (name.empty() || found == outer_.edges.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - outer_.edges.begin());
  }

  [[noreturn]] void refuse_double_name(const std::string& name, std::size_t offset) const {
    source_.fail(offset, fmt::format("'{}' names another element already", shown(name)),
                 "give each vertex and each edge a name of its own; vertices of the pattern are shared by their names");
  }

  /// Names own vertices, and edges with {name: value}, as those of a pattern are named.
  void name_anonymous() {
    std::set<std::string, std::less<>> taken;
    for (const Query* query : {&outer_, &scope_.query}) {
      for (const QueryVertex& vertex : query->vertices) taken.insert(vertex.name);
      for (const QueryEdge& edge : query->edges) taken.insert(edge.name);
    }
    std::size_t number = 0;
    const auto name = [&](std::string& place) {
      while (place.empty()) {
        std::string next = fmt::format("_{}", ++number);
        if (!taken.contains(next)) place = std::move(next);
      }
    };
    for (QueryVertex& vertex : result_.vertices) name(vertex.name);
    for (const Expression& property : scope_.properties) {
      const Element element = property.operands[0].element;
      if (element.kind == Element::Kind::edge) name(result_.edges[element.index].name);
    }
  }

  /// The element of the scope with the number that it has beside those of the query.
  [[nodiscard]] Element own(const Element& element) const {
    if (element.kind == Element::Kind::vertex) return {element.kind, vertices_[element.index]};
    return {element.kind, result_.first_edge + element.index};
  }

  [[nodiscard]] std::uint32_t distinct(const Mention& mention) const {
    const auto found = std::ranges::find(result_.vertices, mention.name, &QueryVertex::name);
    if (found != result_.vertices.end()) {
      return result_.first_vertex + static_cast<std::uint32_t>(found - result_.vertices.begin());
    }
    source_.fail(mention.offset, fmt::format("DISTINCT '{}' is no vertex that only this count has", shown(mention.name)),
                 "name a vertex between the braces: COUNT { DISTINCT s | (s)-->(a) }");
  }

  void resolve(Expression& expression) const {  // NOLINT(misc-no-recursion): parsers bound the depth
    if (condition::reads_element(expression.kind)) {
      const Mention& mention = scope_.mentions[expression.element.index];
      expression.element = element_of(mention);
      check_use(mention, outer_, expression.element, inside_, source_);
    }
    for (Expression& operand : expression.operands) resolve(operand);
  }

  [[nodiscard]] Element element_of(const Mention& mention) const {
    const auto vertex = std::ranges::find(scope_.query.vertices, mention.name, &QueryVertex::name);
    if (vertex != scope_.query.vertices.end()) {
      return {Element::Kind::vertex, vertices_[static_cast<std::size_t>(vertex - scope_.query.vertices.begin())]};
    }
    const auto outer = std::ranges::find(outer_.vertices, mention.name, &QueryVertex::name);
    if (outer != outer_.vertices.end()) {
      return {Element::Kind::vertex, static_cast<std::uint32_t>(outer - outer_.vertices.begin())};
    }
    std::optional<std::uint32_t> edge = outer_edge(mention.name);
    for (std::uint32_t e = 0; e < scope_.query.edges.size(); ++e) {
      if (scope_.query.edges[e].name == mention.name) edge = result_.first_edge + e;
    }
    if (!edge) refuse_unknown(mention, source_);
    return {Element::Kind::edge, *edge};
  }

  /// Flaws of the query itself are left to it. What is counted beside each step of a path is checked with its variants.
  void refuse_flaw() const {
    if (inside_ && inside_->kind == Element::Kind::edge && outer_.edges[inside_->index].quantifier) return;
    const auto flaw = find_flaw(condition::extended(outer_, result_));
    if (!flaw || (flaw->subject == Flaw::Subject::edge && flaw->index < result_.first_edge)) return;
    std::size_t offset = scope_.offset;
    if (flaw->subject == Flaw::Subject::edge && flaw->index >= result_.first_edge)
      offset = scope_.places.edges[flaw->index - result_.first_edge];
    source_.fail(offset, "in what is counted: " + flaw->what, flaw->remedy);
  }

  const CountedScope& scope_;
  const Query& outer_;
  std::optional<Element> inside_;
  const SourceText& source_;
  CountedPattern result_;
  std::vector<std::uint32_t> vertices_;  // of the scope, by its own numbers
};

}  // namespace

CountedPattern resolve_counted(const CountedScope& scope, const Query& outer, const std::optional<Element>& inside,
                               const SourceText& source) {
  return Resolver(scope, outer, inside, source).run();
}

void refuse_idle_count(const Expression& parent, const CountedScope& scope, const SourceText& source) {
  const bool compares = parent.kind >= Kind::less && parent.kind <= Kind::not_equal;
  if (compares && (condition::counted_number(parent.operands[0]) || condition::counted_number(parent.operands[1]))) return;
  source.fail(
      scope.offset, "a count that is not compared with a whole number",
      fmt::format("write COUNT {{ ... }} >= 10, with a number from 0 to {}, or EXISTS {{ ... }}", condition::max_counted));
}

}  // namespace deltamatch::query

#include "query/path_condition.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "condition/constant.hpp"
#include "condition/counted.hpp"
#include "condition/form.hpp"
#include "condition/time_bounds.hpp"
#include "query/paths.hpp"

namespace deltamatch::query {
namespace {

using Kind = Expression::Kind;

Expression literal(Literal value) { return {Kind::literal, std::move(value), {}, {}, {}}; }

const bool* truth_of(const Expression& node) noexcept {
  return node.kind == Kind::literal ? std::get_if<bool>(&node.literal) : nullptr;
}

/// AND or OR of parts. Constants that decide it or do not matter go.
Expression joined(Kind kind, std::vector<Expression> parts) {
  const bool decisive = kind == Kind::logical_or;
  std::vector<Expression> kept;
  for (Expression& part : parts) {
    if (const bool* truth = truth_of(part)) {
      if (*truth == decisive) return literal(decisive);
    } else if (part.kind == kind) {
      std::move(part.operands.begin(), part.operands.end(), std::back_inserter(kept));
    } else {
      kept.push_back(std::move(part));
    }
  }
  if (kept.empty()) return literal(!decisive);
  if (kept.size() == 1) return std::move(kept.front());
  return {kind, {}, {}, {}, std::move(kept)};
}

/// The path whose steps a condition is about, and one of these steps.
struct Step {
  std::uint32_t edge = 0;    ///< of the query with paths
  std::uint32_t number = 0;  ///< from 0
};

class Substitution {
 public:
  Substitution(const Query& query, const Variant& variant)
      : variant_(variant), vertices_(query.vertices.size()), paths_(query.edges.size()), edges_(query.edges.size()) {
    for (const Path& path : variant.paths) paths_[path.edge] = &path;
    std::uint32_t next = 0;
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      edges_[e] = next;
      next += paths_[e] != nullptr ? paths_[e]->steps : 1;
    }
  }

  /// A condition. `asks`: it stands below an even number of NOT.
  [[nodiscard]] Expression condition(const Expression& node, const Step* at,
                                     bool asks = true) const {  // NOLINT(misc-no-recursion): find_flaw bounds the depth
    if (node.kind == Kind::logical_and || node.kind == Kind::logical_or) {
      std::vector<Expression> parts;
      for (const Expression& operand : node.operands) parts.push_back(condition(operand, at, asks));
      return joined(node.kind, std::move(parts));
    }
    if (node.kind == Kind::logical_not) {
      Expression operand = condition(node.operands[0], at, !asks);
      if (const bool* truth = truth_of(operand)) return literal(!*truth);
      Expression result{Kind::logical_not, {}, {}, {}, {}};
      result.operands.push_back(std::move(operand));
      return result;
    }
    if (at != nullptr && at->number == 0 && looks_back(node)) return literal(asks);
    Expression result = value(node, at);
    const auto known = condition::constant_truth(result);
    if (!known) return result;
    return *known == condition::Truth::unknown ? literal({}) : literal(*known == condition::Truth::yes);
  }

 private:
  static bool looks_back(const Expression& node) {  // NOLINT(misc-no-recursion)
    return node.kind == Kind::previous || std::ranges::any_of(node.operands, looks_back);
  }

  static Expression read(const Expression& node, std::uint32_t edge) {
    return {Kind::attribute, {}, {Element::Kind::edge, edge}, node.name, {}};
  }

  /// The number of a vertex in the variant. Own vertices of a counted pattern follow all others.
  [[nodiscard]] std::uint32_t vertex(std::uint32_t number) const {
    const auto more = static_cast<std::uint32_t>(variant_.query.vertices.size() - vertices_);
    return number < vertices_ ? number : number + more;
  }
  /// The same for the first edge that an edge stands for.
  [[nodiscard]] std::uint32_t edge(std::uint32_t number) const {
    const auto more = static_cast<std::uint32_t>(variant_.query.edges.size() - edges_.size());
    return number < edges_.size() ? edges_[number] : number + more;
  }

  /// A count, or 0 if nothing can be counted at these lengths.
  [[nodiscard]] Expression count(const Expression& node, const Step* at) const {  // NOLINT(misc-no-recursion)
    Expression result = node;
    for (CountedPattern& pattern : result.pattern) {
      pattern.first_vertex = vertex(pattern.first_vertex);
      pattern.first_edge = edge(pattern.first_edge);
      for (QueryEdge& own : pattern.edges) {
        own.source = vertex(own.source);
        own.target = vertex(own.target);
      }
      for (std::uint32_t& own : pattern.distinct) own = vertex(own);
      if (pattern.where.empty()) continue;
      Expression where = condition(pattern.where[0], at);
      pattern.where.clear();
      const bool* truth = truth_of(where);
      if (truth == nullptr || !*truth) pattern.where.push_back(std::move(where));
      const Query whole = condition::extended(variant_.query, pattern);
      if (is_never_true(whole.where) || !condition::has_possible_times(whole)) return literal(Decimal{0, 0});
    }
    return result;
  }

  [[nodiscard]] Expression value(const Expression& node, const Step* at) const {  // NOLINT(misc-no-recursion)
    if (node.kind == Kind::count) return count(node, at);
    const bool reads = condition::reads_element(node.kind);
    if (!reads || node.element.kind == Element::Kind::vertex) {
      Expression result = node;
      if (reads) result.element.index = vertex(node.element.index);
      for (Expression& operand : result.operands) operand = value(operand, at);
      return result;
    }
    const std::uint32_t first = edge(node.element.index);
    if (node.element.index >= paths_.size()) return read(node, first);
    const Path* path = paths_[node.element.index];
    if (path == nullptr) return read(node, first);
    switch (node.kind) {
      case Kind::attribute:
        return read(node, first + at->number);
      case Kind::previous:
        return read(node, first + at->number - 1);
      case Kind::first:
        return read(node, first);
      case Kind::last:
        return read(node, first + path->steps - 1);
      case Kind::steps:
        return literal(Decimal{path->steps, 0});
      default:
        return aggregate(node, first, path->steps);
    }
  }

  static Expression aggregate(const Expression& node, std::uint32_t first, std::uint32_t steps) {
    std::vector<Expression> values;
    for (std::uint32_t step = 0; step < steps; ++step) values.push_back(read(node, first + step));
    if (steps == 1) return std::move(values.front());
    if (node.kind != Kind::sum) {
      return {node.kind == Kind::minimum ? Kind::least : Kind::greatest, {}, {}, {}, std::move(values)};
    }
    Expression sum = std::move(values.front());
    for (std::uint32_t step = 1; step < steps; ++step) {
      Expression more{Kind::add, {}, {}, {}, {}};
      more.operands.push_back(std::move(sum));
      more.operands.push_back(std::move(values[step]));
      sum = std::move(more);
    }
    return sum;
  }

  const Variant& variant_;
  std::size_t vertices_;              // of the query with paths
  std::vector<const Path*> paths_;    // by edge of the query with paths
  std::vector<std::uint32_t> edges_;  // the same: its first edge in the variant
};

}  // namespace

std::optional<Expression> variant_condition(const Query& query, const Variant& variant) {
  const Substitution substitution(query, variant);
  std::vector<Expression> parts;
  if (query.where) parts.push_back(substitution.condition(*query.where, nullptr));
  for (const Path& path : variant.paths) {
    const auto& each = query.edges[path.edge].each;
    for (Step at{path.edge, 0}; each && at.number < path.steps; ++at.number) {
      parts.push_back(substitution.condition(*each, &at));
    }
  }
  Expression whole = joined(Kind::logical_and, std::move(parts));
  if (const bool* truth = truth_of(whole); truth != nullptr && *truth) return std::nullopt;
  return whole;
}

bool is_never_true(const std::optional<Expression>& condition) noexcept {
  const auto never = [](const Expression& part) {
    if (part.kind != Kind::literal) return false;
    const bool* truth = std::get_if<bool>(&part.literal);
    return std::holds_alternative<std::monostate>(part.literal) || (truth != nullptr && !*truth);
  };
  if (!condition) return false;
  return condition->kind == Kind::logical_and ? std::ranges::any_of(condition->operands, never) : never(*condition);
}

}  // namespace deltamatch::query

#include "support/paths.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace deltamatch::oracle {
namespace {

using Kind = Expression::Kind;

Expression constant(bool truth) { return {Kind::literal, truth, {}, {}, {}}; }
const bool* constant_of(const Expression& node) {
  return node.kind == Kind::literal ? std::get_if<bool>(&node.literal) : nullptr;
}

bool reads(const Expression& node) {
  if (node.operands.empty()) return node.kind != Kind::literal;
  return std::ranges::any_of(node.operands, reads);
}

bool looks_back(const Expression& node) {
  return node.kind == Kind::previous || std::ranges::any_of(node.operands, looks_back);
}

/// The number of a vertex of the query, or of one that a counted pattern has behind them, among those of the variant.
std::uint32_t number_of(const Variant& variant, std::uint32_t vertex) {
  const std::uint32_t inner = static_cast<std::uint32_t>(variant.query.vertices.size()) - variant.vertices;
  return vertex < variant.vertices ? vertex : vertex + inner;
}

Expression unfold_count(const Expression& node, const Variant& variant, std::optional<std::size_t> step);

/// The condition as one about the variant's edges. `step`: of the path `inside`.
Expression unfold(const Expression& node, const Variant& variant, std::optional<std::size_t> step, bool asks = true) {
  if (node.kind == Kind::logical_not) {
    Expression operand = unfold(node.operands[0], variant, step, !asks);
    if (const bool* truth = constant_of(operand)) return constant(!*truth);
    return {Kind::logical_not, {}, {}, {}, {operand}};
  }
  if (node.kind == Kind::logical_and || node.kind == Kind::logical_or) {
    std::vector<Expression> parts;
    for (const Expression& operand : node.operands) {
      Expression part = unfold(operand, variant, step, asks);
      const bool* truth = constant_of(part);
      if (truth != nullptr && *truth == (node.kind == Kind::logical_or)) return part;
      if (truth == nullptr) parts.push_back(part);
    }
    if (parts.empty()) return constant(node.kind == Kind::logical_and);
    return parts.size() == 1 ? parts[0] : Expression{node.kind, {}, {}, {}, parts};
  }
  const bool logical = node.kind >= Kind::less && node.kind <= Kind::is_null;
  if (step == 0U && looks_back(node) && (logical || node.operands.empty())) return constant(asks);
  if (node.operands.empty() && node.kind != Kind::literal && node.element.kind == Element::Kind::edge) {
    const std::vector<std::uint32_t> edges = steps_of(variant, node.element.index);
    const auto read = [&](std::size_t at) {
      return Expression{Kind::attribute, {}, {Element::Kind::edge, edges[at]}, node.name, {}};
    };
    if (node.kind == Kind::steps) return {Kind::literal, Decimal{static_cast<std::int64_t>(edges.size()), 0}, {}, {}, {}};
    if (node.kind == Kind::last) return read(edges.size() - 1);
    if (node.kind == Kind::attribute && edges.size() > 1) return read(step.value());
    if (node.kind == Kind::previous) return read(step.value() - 1);
    Expression all = read(0);
    if (node.kind == Kind::first || edges.size() == 1 || node.kind == Kind::attribute) return all;
    if (node.kind == Kind::sum) {
      for (std::size_t i = 1; i < edges.size(); ++i) all = {Kind::add, {}, {}, {}, {all, read(i)}};
      return all;
    }
    Expression extreme{node.kind == Kind::minimum ? Kind::least : Kind::greatest, {}, {}, {}, {}};
    for (std::size_t i = 0; i < edges.size(); ++i) extreme.operands.push_back(read(i));
    return extreme;
  }
  if (node.kind == Kind::count) return unfold_count(node, variant, step);
  Expression result = node;
  if (node.kind == Kind::attribute || node.kind == Kind::id) result.element.index = number_of(variant, node.element.index);
  for (Expression& operand : result.operands) operand = unfold(operand, variant, step, asks);
  if (logical && !reads(result)) {
    const auto truth = holds(result, {});
    return truth ? constant(*truth) : Expression{};
  }
  return result;
}

/// A count beside the variant; 0 if its condition is never TRUE at these lengths.
Expression unfold_count(const Expression& node, const Variant& variant, std::optional<std::size_t> step) {
  Expression result = node;
  CountedPattern& pattern = result.pattern[0];
  pattern.first_vertex = number_of(variant, pattern.first_vertex);
  pattern.first_edge = steps_of(variant, pattern.first_edge)[0];
  for (QueryEdge& edge : pattern.edges) {
    edge.source = number_of(variant, edge.source);
    edge.target = number_of(variant, edge.target);
  }
  for (std::uint32_t& vertex : pattern.distinct) vertex = number_of(variant, vertex);
  if (pattern.where.empty()) return result;
  const Expression where = unfold(pattern.where[0], variant, step);
  pattern.where.clear();
  if (where.kind != Kind::literal) pattern.where.push_back(where);
  const bool* truth = constant_of(where);
  if (where.kind == Kind::literal && (truth == nullptr || !*truth)) return {Kind::literal, Decimal{0, 0}, {}, {}, {}};
  return result;
}

void add_lengths(const Query& query, std::vector<Variant>& all) {
  std::vector<Variant> longer;
  for (const Variant& variant : all) {
    const std::size_t e = variant.steps.size();
    const QueryEdge& edge = query.edges[e];
    const Quantifier bounds = edge.quantifier.value_or(Quantifier{});
    for (std::uint32_t length = bounds.least; length <= bounds.most; ++length) {
      Variant next = variant;
      if (edge.quantifier) next.lengths.push_back(length);
      next.steps.emplace_back();
      for (std::uint32_t i = 0, from = edge.source; i < length; ++i) {
        const auto fresh = static_cast<std::uint32_t>(next.query.vertices.size());
        const std::uint32_t to = i + 1 == length ? edge.target : fresh;
        if (to == fresh) next.query.vertices.push_back({"inner" + std::to_string(fresh), {}});
        next.steps.back().push_back(static_cast<std::uint32_t>(next.query.edges.size()));
        next.query.edges.push_back({from, to, edge.labels, edge.directed});
        from = to;
      }
      longer.push_back(std::move(next));
    }
  }
  all = std::move(longer);
}

/// What the variant's edges must satisfy, for its automorphisms.
void give_condition(const Query& query, Variant& variant) {
  std::vector<Expression> parts;
  if (query.where) parts.push_back(unfold(*query.where, variant, std::nullopt));
  for (std::size_t e = 0; e < query.edges.size(); ++e) {
    for (std::size_t i = 0; query.edges[e].each && i < variant.steps[e].size(); ++i)
      parts.push_back(unfold(*query.edges[e].each, variant, i));
  }
  std::erase_if(parts, [](const Expression& part) { return constant_of(part) != nullptr && *constant_of(part); });
  if (parts.empty()) return;
  std::vector<Expression> flat;  // canonical forms have no AND in AND
  for (const Expression& part : parts) {
    if (part.kind == Kind::logical_and) {
      flat.insert(flat.end(), part.operands.begin(), part.operands.end());
    } else {
      flat.push_back(part);
    }
  }
  variant.query.where = flat.size() == 1 ? flat[0] : Expression{Kind::logical_and, {}, {}, {}, flat};
}

}  // namespace

std::vector<Variant> variants_of(const Query& query) {
  const auto vertices = static_cast<std::uint32_t>(query.vertices.size());
  std::vector<Variant> all{{{query.name, query.vertices, {}, {}, query.within}, vertices, {}, {}}};
  for (std::size_t e = 0; e < query.edges.size(); ++e) add_lengths(query, all);
  if (std::ranges::none_of(query.edges, [](const QueryEdge& edge) { return edge.quantifier.has_value(); })) {
    all[0].query = query;
    return all;
  }
  for (Variant& variant : all) give_condition(query, variant);
  return all;
}

std::vector<std::uint32_t> steps_of(const Variant& variant, std::uint32_t edge) {
  if (edge < variant.steps.size()) return variant.steps[edge];
  return {static_cast<std::uint32_t>(variant.query.edges.size() + edge - variant.steps.size())};
}

bool satisfies(const Query& query, const Variant& variant, const Values& values) {
  if (query.where && holds(*query.where, values) != true) return false;
  for (std::size_t e = 0; e < query.edges.size(); ++e) {
    for (std::size_t i = 0; query.edges[e].each && i < variant.steps[e].size(); ++i) {
      if (holds(*query.edges[e].each, values, i) != true) return false;
    }
  }
  return true;
}

}  // namespace deltamatch::oracle

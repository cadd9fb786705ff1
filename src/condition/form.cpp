#include "condition/form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "condition/counted.hpp"
#include "condition/literal.hpp"

namespace deltamatch::condition {
namespace {

using Kind = Expression::Kind;

/// The least and the greatest number of operands.
std::pair<std::size_t, std::size_t> operands_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::literal:
    case Kind::attribute:
    case Kind::id:
    case Kind::previous:
    case Kind::first:
    case Kind::last:
    case Kind::sum:
    case Kind::minimum:
    case Kind::maximum:
    case Kind::steps:
    case Kind::count:
      return {0, 0};
    case Kind::negate:
    case Kind::is_null:
    case Kind::logical_not:
      return {1, 1};
    case Kind::in:
    case Kind::logical_and:
    case Kind::logical_or:
    case Kind::least:
    case Kind::greatest:
      return {2, max_nodes};
    default:
      return {2, 2};
  }
}

class Check {
 public:
  Check(std::size_t vertices, std::size_t edges) : vertices_(vertices), edges_(edges) {}

  std::optional<std::string> run(const Expression& node,
                                 std::size_t depth) {  // NOLINT(misc-no-recursion): the depth is bounded
    if (depth > max_depth) return fmt::format("it nests more than {} deep", max_depth);
    if (++nodes_ > max_nodes) return fmt::format("it has more than {} values and operators", max_nodes);
    const auto [least, most] = operands_of(node.kind);
    if (node.operands.size() < least || node.operands.size() > most) {
      return fmt::format("an operator has {} operands", node.operands.size());
    }
    if (auto what = node.kind == Kind::count ? check_pattern(node, depth) : check_value(node)) return what;
    for (const Expression& operand : node.operands) {
      if (operand.kind == Kind::count && !compares_count(node)) return "a count that is not compared with a whole number";
      if (auto what = run(operand, depth + 1)) return what;
    }
    return std::nullopt;
  }

 private:
  static bool compares_count(const Expression& node) {
    if (node.kind < Kind::less || node.kind > Kind::not_equal) return false;
    return counted_number(node.operands[0]) || counted_number(node.operands[1]);
  }

  std::optional<std::string> check_pattern(const Expression& node, std::size_t depth) {  // NOLINT(misc-no-recursion)
    if (within_pattern_) return "a count within a count";
    if (depth == 1) return "a count that is not compared with a whole number";
    if (node.pattern.size() != 1) return "a count without a pattern";
    const CountedPattern& pattern = node.pattern[0];
    if (auto what = condition::find_flaw(pattern, vertices_, edges_)) return what;
    if (pattern.where.empty()) return std::nullopt;
    Check inner(vertices_ + pattern.vertices.size(), edges_ + pattern.edges.size());
    inner.within_pattern_ = true;
    inner.nodes_ = nodes_;
    auto what = inner.run(pattern.where[0], depth + 1);
    nodes_ = inner.nodes_;
    return what;
  }

  [[nodiscard]] std::optional<std::string> check_value(const Expression& node) const {
    if (node.kind == Kind::literal) {
      const auto* number = std::get_if<Decimal>(&node.literal);
      if (number != nullptr && number->scale > max_scale) return fmt::format("a number of scale {}", number->scale);
    }
    if (node.kind == Kind::in && std::any_of(node.operands.begin() + 1, node.operands.end(),
                                             [](const Expression& operand) { return operand.kind != Kind::literal; })) {
      return "IN a list that holds more than literals";
    }
    if (!reads_element(node.kind)) return std::nullopt;
    const bool path = reads_path(node.kind);
    const bool vertex = node.element.kind == Element::Kind::vertex;
    if (node.element.index >= (vertex ? vertices_ : edges_)) {
      return fmt::format("it names {} {}, which the query lacks", vertex ? "vertex" : "edge", node.element.index);
    }
    if (node.kind == Kind::id && !vertex) return "id() of an edge";
    if (path && vertex) return "a function of a path, of a vertex";
    if (node.kind != Kind::id && node.kind != Kind::steps && node.name.empty()) return "an attribute without a name";
    return std::nullopt;
  }

  std::size_t vertices_;
  std::size_t edges_;
  std::size_t nodes_ = 0;
  bool within_pattern_ = false;
};

}  // namespace

bool reads_path(Expression::Kind kind) noexcept {
  switch (kind) {
    case Kind::previous:
    case Kind::first:
    case Kind::last:
    case Kind::sum:
    case Kind::minimum:
    case Kind::maximum:
    case Kind::steps:
      return true;
    default:
      return false;
  }
}

bool reads_element(Expression::Kind kind) noexcept { return kind == Kind::attribute || kind == Kind::id || reads_path(kind); }

std::optional<std::string> find_flaw(const Expression& expression, std::size_t vertices, std::size_t edges) {
  return Check(vertices, edges).run(expression, 1);
}

}  // namespace deltamatch::condition

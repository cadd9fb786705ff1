// Random well-typed conditions over a query of two vertices and two edges, and random values for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "deltamatch/attribute.hpp"
#include "deltamatch/query.hpp"

namespace deltamatch::condition {

inline Schema test_schema() {
  using Kind = AttributeType::Kind;
  return {EdgeModel::events,
          {{"i", {Kind::integer}},
           {"d", {Kind::decimal, 2}},
           {"e", {Kind::decimal, 4}},
           {"f", {Kind::real}},
           {"b", {Kind::boolean}},
           {"s", {Kind::symbol}},
           {"w", {Kind::time}}},
          {{"i", {Kind::integer}}, {"s", {Kind::symbol}}}};
}

inline Query test_query() {
  Query query;
  query.name = "q";
  query.vertices = {{"a", {}}, {"b", {}}};
  query.edges = {{0, 1, {"T"}, true, "t"}, {1, 0, {"T"}, true, "u"}};
  return query;
}

class RandomCondition {
  using Kind = Expression::Kind;

 public:
  explicit RandomCondition(std::uint64_t seed) : random_(seed) {}

  /// A condition whose depth is about `depth`.
  Expression truth(int depth) {
    const int choice = depth <= 0 ? 3 + below(7) : below(10);
    switch (choice) {
      case 0:
        return node(Kind::logical_not, {truth(depth - 1)});
      case 1:
      case 2: {
        std::vector<Expression> parts;
        for (int i = 2 + below(2); i > 0; --i) parts.push_back(truth(depth - 1));
        return node(choice == 1 ? Kind::logical_and : Kind::logical_or, std::move(parts));
      }
      case 3:
        return attribute(edge(), "b");
      case 4:
        return node(Kind::is_null, {number(1)});
      case 5: {
        std::vector<Expression> parts{text_attribute()};
        for (int i = 1 + below(3); i > 0; --i) parts.push_back(below(8) == 0 ? literal({}) : literal(text()));
        return node(Kind::in, std::move(parts));
      }
      case 6:
        return node(below(2) == 0 ? Kind::equal : Kind::not_equal,
                    {text_attribute(), below(2) == 0 ? text_attribute() : literal(text())});
      case 7:
        return node(comparison(), {time(), time()});
      case 8:
        return node(comparison(), {identity(), below(2) == 0 ? identity() : id_literal()});
      default:
        return node(comparison(), {number(depth), number(depth)});
    }
  }

  int below(int limit) { return static_cast<int>(random_() % static_cast<std::uint64_t>(limit)); }
  std::string text() { return std::string(1, static_cast<char>('x' + below(3))); }

 private:
  static Expression node(Kind kind, std::vector<Expression> operands) { return {kind, {}, {}, {}, std::move(operands)}; }
  static Expression literal(Literal value) { return {Kind::literal, std::move(value), {}, {}, {}}; }
  static Expression attribute(Element element, std::string name) { return {Kind::attribute, {}, element, std::move(name), {}}; }
  Element edge() { return {Element::Kind::edge, static_cast<std::uint32_t>(below(2))}; }
  Element vertex() { return {Element::Kind::vertex, static_cast<std::uint32_t>(below(2))}; }

  Kind comparison() {
    constexpr Kind kinds[] = {Kind::less, Kind::less_equal, Kind::greater, Kind::greater_equal, Kind::equal, Kind::not_equal};
    return kinds[below(6)];
  }

  Expression text_attribute() { return below(2) == 0 ? attribute(edge(), "s") : attribute(vertex(), "s"); }
  Expression identity() { return {Kind::id, {}, vertex(), {}, {}}; }
  Expression id_literal() { return below(2) == 0 ? literal(text()) : literal(Decimal{below(4), 0}); }

  Expression number(int depth) {
    switch (depth <= 0 ? below(6) : below(10)) {
      case 0:
        return literal(Decimal{below(21) - 10, 0});
      case 1: {
        Decimal number{below(2001) - 1000, 2};
        for (; number.scale > 0 && number.digits % 10 == 0; --number.scale) number.digits /= 10;
        return literal(number);
      }
      case 2:
        return attribute(edge(), "i");
      case 3:
        return attribute(edge(), below(2) == 0 ? "d" : "e");
      case 4:
        return attribute(edge(), "f");
      case 5:
        return attribute(vertex(), "i");
      case 6: {
        Expression operand = number(depth - 1);
        return operand.kind == Kind::literal ? operand : node(Kind::negate, {std::move(operand)});
      }
      case 7:
        return node(Kind::multiply, {number(below(3) == 0 ? depth - 1 : -1), number(-1)});
      default:
        return node(below(2) == 0 ? Kind::add : Kind::subtract, {number(depth - 1), number(depth - 1)});
    }
  }

  Expression time() {
    Expression base = below(3) == 0 ? attribute(edge(), "w") : attribute(edge(), "time");
    if (below(2) == 0) return base;
    return node(below(2) == 0 ? Kind::add : Kind::subtract, {std::move(base), literal(Duration{below(5)})});
  }

  std::mt19937_64 random_;
};

}  // namespace deltamatch::condition

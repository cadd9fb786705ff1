#include "condition/normal.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

#include "condition/counted.hpp"

namespace deltamatch::condition {
namespace {

using Kind = Expression::Kind;

// These numbers belong to the format of fingerprints. They do not follow the enumeration. Kinds that the normal form lacks have
// none.
std::uint8_t code(Kind kind) noexcept {
  switch (kind) {
    case Kind::attribute:
      return 1;
    case Kind::id:
      return 2;
    case Kind::negate:
      return 3;
    case Kind::add:
      return 4;
    case Kind::subtract:
      return 5;
    case Kind::multiply:
      return 6;
    case Kind::less:
      return 7;
    case Kind::less_equal:
      return 8;
    case Kind::equal:
      return 9;
    case Kind::is_null:
      return 10;
    case Kind::logical_not:
      return 11;
    case Kind::logical_and:
      return 12;
    case Kind::logical_or:
      return 13;
    case Kind::count:
      return 0;
    case Kind::literal:
      return 14;  // constants stand behind most of what they are compared with
    case Kind::least:
      return 15;
    case Kind::greatest:
      return 16;
    case Kind::greater:
    case Kind::greater_equal:
    case Kind::not_equal:
    case Kind::in:
    case Kind::previous:
    case Kind::first:
    case Kind::last:
    case Kind::sum:
    case Kind::minimum:
    case Kind::maximum:
    case Kind::steps:
      break;
  }
  return 0xff;
}

void append_number(std::string& bytes, std::uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(number >> shift & 0xff));
}

void append_text(std::string& bytes, std::string_view text) {
  append_number(bytes, text.size());
  bytes.append(text);
}

void append_literal(std::string& bytes, const Literal& literal) {
  bytes.push_back(static_cast<char>(literal.index()));
  struct Writer {
    std::string& bytes;
    void operator()(std::monostate /*null*/) const {}
    void operator()(bool value) const { bytes.push_back(value ? 1 : 0); }
    void operator()(const Decimal& value) const {
      append_number(bytes, static_cast<std::uint64_t>(value.digits));
      bytes.push_back(static_cast<char>(value.scale));
    }
    void operator()(const std::string& value) const { append_text(bytes, value); }
    void operator()(const Duration& value) const { append_number(bytes, static_cast<std::uint64_t>(value.microseconds)); }
    void operator()(const Instant& value) const { append_number(bytes, static_cast<std::uint64_t>(value.microseconds)); }
  };
  std::visit(Writer{bytes}, literal);
}

std::string bytes_of(const Expression& expression) {
  std::string bytes;
  append_bytes(bytes, expression);
  return bytes;
}

Expression with(Kind kind, std::vector<Expression> operands) { return {kind, {}, {}, {}, std::move(operands)}; }

Expression two(Kind kind, Expression left, Expression right) {
  std::vector<Expression> operands;
  operands.push_back(std::move(left));
  operands.push_back(std::move(right));
  return with(kind, std::move(operands));
}

Expression contrary(Expression expression) {
  std::vector<Expression> operands;
  operands.push_back(std::move(expression));
  return with(Kind::logical_not, std::move(operands));
}

Expression truth(bool value) { return {Kind::literal, value, {}, {}, {}}; }

void sort(std::vector<Expression>& operands, bool distinct) {
  std::vector<std::pair<std::string, Expression>> keyed;
  keyed.reserve(operands.size());
  for (Expression& operand : operands) {
    std::string key = bytes_of(operand);
    keyed.emplace_back(std::move(key), std::move(operand));
  }
  std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  operands.clear();
  for (std::size_t i = 0; i < keyed.size(); ++i) {
    if (distinct && i > 0 && keyed[i].first == keyed[i - 1].first) continue;
    operands.push_back(std::move(keyed[i].second));
  }
}

Expression commutative(Kind kind, Expression left, Expression right) {
  Expression result = two(kind, std::move(left), std::move(right));
  sort(result.operands, false);
  return result;
}

class Normalizer {
 public:
  explicit Normalizer(EdgeNumbers edges) : edges_(edges) {}

  /// The normal form of the expression, or of its contrary.
  Expression form(const Expression& node, bool negated) const {  // NOLINT(misc-no-recursion): parsers bound the depth
    if (auto counted = comparison_of_count(node, negated)) return *std::move(counted);
    switch (node.kind) {
      case Kind::logical_not:
        return form(node.operands[0], !negated);
      case Kind::logical_and:
      case Kind::logical_or:
        return junction((node.kind == Kind::logical_and) != negated, node.operands, negated);
      case Kind::in:
        return membership(node, negated);
      case Kind::not_equal:
        return equality(node.operands[0], node.operands[1], !negated);
      case Kind::equal:
        return equality(node.operands[0], node.operands[1], negated);
      default:
        break;
    }
    if (node.kind == Kind::literal && std::holds_alternative<bool>(node.literal))
      return truth(std::get<bool>(node.literal) != negated);
    Expression result = value(node);
    return negated ? contrary(std::move(result)) : result;
  }

 private:
  /// The form if the node compares a count with a number; nullopt if it does not.
  [[nodiscard]] std::optional<Expression> comparison_of_count(const Expression& node, bool negated) const {
    if (node.operands.size() != 2) return std::nullopt;
    const bool right = node.operands[1].kind == Kind::count;
    if (!right && node.operands[0].kind != Kind::count) return std::nullopt;
    const auto number = counted_number(node.operands[right ? 0 : 1]);
    if (!number) return std::nullopt;
    return compared_count(right ? mirrored(node.kind) : node.kind, value(node.operands[right ? 1 : 0]), *number, negated);
  }

  Expression value(const Expression& node) const {  // NOLINT(misc-no-recursion)
    switch (node.kind) {
      case Kind::count: {
        Expression result = node;
        result.element = {};
        for (CountedPattern& pattern : result.pattern) pattern = canonical(std::move(pattern), edges_);
        return result;
      }
      case Kind::literal:
        return {Kind::literal, normal(node.literal), {}, {}, {}};
      case Kind::attribute:
      case Kind::id:
        return {node.kind, {}, numbered(node.element), node.name, {}};
      case Kind::greater:
        return ordered(Kind::less, form(node.operands[1], false), form(node.operands[0], false));
      case Kind::greater_equal:
        return ordered(Kind::less_equal, form(node.operands[1], false), form(node.operands[0], false));
      case Kind::less:
      case Kind::less_equal:
        return ordered(node.kind, form(node.operands[0], false), form(node.operands[1], false));
      case Kind::add:
      case Kind::multiply:
        return commutative(node.kind, form(node.operands[0], false), form(node.operands[1], false));
      default:
        break;
    }
    std::vector<Expression> operands;
    operands.reserve(node.operands.size());
    for (const Expression& operand : node.operands) operands.push_back(form(operand, false));
    if (node.kind == Kind::least || node.kind == Kind::greatest) sort(operands, false);
    return with(node.kind, std::move(operands));
  }

  /// A comparison by < or <=. c < x - y becomes y - x < -c, so that bounds on a difference from both sides look alike.
  static Expression ordered(Kind kind, Expression left, Expression right) {
    const auto* number = std::get_if<Decimal>(&left.literal);
    const auto* span = std::get_if<Duration>(&left.literal);
    const bool turns =
        right.kind == Kind::subtract && left.kind == Kind::literal &&
        ((number != nullptr && number->digits != INT64_MIN) || (span != nullptr && span->microseconds != INT64_MIN));
    if (!turns) return two(kind, std::move(left), std::move(right));
    if (number != nullptr) {
      left.literal = Decimal{-number->digits, number->scale};
    } else {
      left.literal = Duration{-span->microseconds};
    }
    std::swap(right.operands[0], right.operands[1]);
    return two(kind, std::move(right), std::move(left));
  }

  Expression equality(const Expression& left, const Expression& right, bool negated) const {  // NOLINT(misc-no-recursion)
    Expression result = commutative(Kind::equal, form(left, false), form(right, false));
    return negated ? contrary(std::move(result)) : result;
  }

  Expression membership(const Expression& node, bool negated) const {  // NOLINT(misc-no-recursion)
    std::vector<Expression> parts;
    for (std::size_t i = 1; i < node.operands.size(); ++i)
      parts.push_back(equality(node.operands[0], node.operands[i], negated));
    return joined(negated, std::move(parts));
  }

  Expression junction(bool all, const std::vector<Expression>& operands, bool negated) const {  // NOLINT(misc-no-recursion)
    std::vector<Expression> parts;
    parts.reserve(operands.size());
    for (const Expression& operand : operands) parts.push_back(form(operand, negated));
    return joined(all, std::move(parts));
  }

  /// AND (`all`) or OR of parts in normal form.
  static Expression joined(bool all, std::vector<Expression> parts) {
    const Kind kind = all ? Kind::logical_and : Kind::logical_or;
    std::vector<Expression> flat;
    for (Expression& part : parts) {
      if (part.kind == kind) {
        std::move(part.operands.begin(), part.operands.end(), std::back_inserter(flat));
      } else if (const bool* constant = std::get_if<bool>(&part.literal); part.kind == Kind::literal && constant != nullptr) {
        if (*constant != all) return truth(!all);  // FALSE in AND, TRUE in OR
      } else {
        flat.push_back(std::move(part));
      }
    }
    sort(flat, true);
    if (flat.empty()) return truth(all);
    if (flat.size() == 1) return std::move(flat.front());
    return with(kind, std::move(flat));
  }

  static Literal normal(const Literal& literal) {
    const auto* number = std::get_if<Decimal>(&literal);
    if (number == nullptr) return literal;
    Decimal result = *number;
    for (; result.scale > 0 && result.digits % 10 == 0; --result.scale) result.digits /= 10;
    return result;
  }

  [[nodiscard]] Element numbered(const Element& element) const {
    // Own edges of a counted pattern have larger numbers, and keep them.
    const bool renumbered = element.kind == Element::Kind::edge && element.index < edges_.size();
    return renumbered ? Element{element.kind, edges_[element.index]} : element;
  }

  EdgeNumbers edges_;
};

}  // namespace

Expression normal_form(const Expression& expression, EdgeNumbers edges) { return Normalizer(edges).form(expression, false); }

std::vector<Expression> conjuncts(Expression normal) {
  if (normal.kind == Kind::logical_and) return std::move(normal.operands);
  std::vector<Expression> result;
  result.push_back(std::move(normal));
  return result;
}

namespace {
std::vector<Expression> conjuncts_that(const Query& query, bool count) {
  if (!query.where) return {};
  std::vector<std::uint32_t> own(query.edges.size());
  std::iota(own.begin(), own.end(), 0U);
  std::vector<Expression> parts = conjuncts(normal_form(*query.where, own));
  std::erase_if(parts, [&](const Expression& part) { return counts(part) != count; });
  return parts;
}
}  // namespace

std::vector<Expression> conjuncts(const Query& query) { return conjuncts_that(query, false); }
std::vector<Expression> counted_conjuncts(const Query& query) { return conjuncts_that(query, true); }

void append_bytes(std::string& bytes, const Expression& expression) {  // NOLINT(misc-no-recursion)
  bytes.push_back(static_cast<char>(code(expression.kind)));
  switch (expression.kind) {
    case Kind::literal:
      append_literal(bytes, expression.literal);
      break;
    case Kind::attribute:
    case Kind::id:
      bytes.push_back(expression.element.kind == Element::Kind::vertex ? 0 : 1);
      append_number(bytes, expression.element.index);
      append_text(bytes, expression.name);
      break;
    case Kind::count:
      append_bytes(bytes, expression.pattern[0]);
      break;
    default:
      append_number(bytes, expression.operands.size());
      for (const Expression& operand : expression.operands) append_bytes(bytes, operand);
      break;
  }
}

}  // namespace deltamatch::condition

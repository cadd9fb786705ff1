#include "support/conditions.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <compare>
#include <stdexcept>
#include <utility>

namespace deltamatch::oracle {
namespace {

using Rational = boost::multiprecision::cpp_rational;
using Kind = Expression::Kind;
using ExternalId = std::variant<std::int64_t, std::string>;

struct Null {};
/// Times and durations are rationals of microseconds; only their sums and differences are tested here.
using Value = std::variant<Null, Rational, double, bool, std::string, ExternalId>;

Rational power_of_ten(int exponent) {
  Rational result = 1;
  for (; exponent > 0; --exponent) result *= 10;
  return result;
}

Value value_of(const Literal& literal) {
  if (const auto* truth = std::get_if<bool>(&literal)) return *truth;
  if (const auto* number = std::get_if<Decimal>(&literal)) return Rational(number->digits) / power_of_ten(number->scale);
  if (const auto* text = std::get_if<std::string>(&literal)) return *text;
  if (const auto* duration = std::get_if<Duration>(&literal)) return Rational(duration->microseconds);
  if (const auto* instant = std::get_if<Instant>(&literal)) return Rational(instant->microseconds);
  return Null{};
}

Value value_of(const Stored& stored, int scale) {
  if (const auto* number = std::get_if<std::int64_t>(&stored)) return Rational(*number) / power_of_ten(scale);
  if (const auto* real = std::get_if<double>(&stored)) return *real;
  if (const auto* truth = std::get_if<bool>(&stored)) return *truth;
  if (const auto* text = std::get_if<std::string>(&stored)) return *text;
  return Null{};
}

/// As documented: the whole number of units, divided once.
double as_double(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  const auto& number = std::get<Rational>(value);
  Rational units = number;
  double divisor = 1;
  while (denominator(units) != 1) {
    units *= 10;
    divisor *= 10;
  }
  return numerator(units).convert_to<double>() / divisor;
}

ExternalId as_id(const Value& value) {
  if (const auto* id = std::get_if<ExternalId>(&value)) return *id;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return numerator(std::get<Rational>(value)).convert_to<std::int64_t>();
}

template <typename T>
bool compare(Kind kind, const T& a, const T& b) {
  switch (kind) {
    case Kind::less:
      return a < b;
    case Kind::less_equal:
      return a <= b;
    case Kind::greater:
      return a > b;
    case Kind::greater_equal:
      return a >= b;
    case Kind::equal:
      return a == b;
    default:
      return !(a == b);
  }
}

class Interpreter {
 public:
  Interpreter(const Values& values, std::optional<std::size_t> step) : values_(values), step_(step) {}

  Value value(const Expression& node) const {
    switch (node.kind) {
      case Kind::literal:
        return value_of(node.literal);
      case Kind::id: {
        return values_.id(node.element);
      }
      case Kind::count:
        return Rational(values_.count(node.pattern[0], step_));
      case Kind::attribute:
      case Kind::previous:
      case Kind::first:
      case Kind::last: {
        const std::vector<Element> all = steps(node.element);
        const std::size_t here = all.size() == 1 ? 0 : step_.value_or(0);
        return read(node.kind == Kind::previous ? all.at(*step_ - 1)
                    : node.kind == Kind::first  ? all.front()
                    : node.kind == Kind::last   ? all.back()
                                                : all.at(here),
                    node.name);
      }
      case Kind::steps:
        return Rational(static_cast<std::int64_t>(steps(node.element).size()));
      case Kind::sum:
      case Kind::minimum:
      case Kind::maximum: {
        Value result = read(steps(node.element)[0], node.name);
        for (std::size_t i = 1; i < steps(node.element).size(); ++i)
          result = joined(node.kind, result, read(steps(node.element)[i], node.name));
        return result;
      }
      case Kind::least:
      case Kind::greatest: {
        Value result = value(node.operands[0]);
        for (std::size_t i = 1; i < node.operands.size(); ++i) result = joined(node.kind, result, value(node.operands[i]));
        return result;
      }
      case Kind::negate:
      case Kind::add:
      case Kind::subtract:
      case Kind::multiply:
        return arithmetic(node);
      default:
        break;
    }
    const auto result = truth(node);
    if (result) return *result;
    return Null{};
  }

  /// `asks`: it stands below an even number of NOT.
  std::optional<bool> truth(const Expression& node, bool asks = true) const {
    const bool junction = node.kind == Kind::logical_not || node.kind == Kind::logical_and || node.kind == Kind::logical_or;
    if (step_ == 0U && !junction && looks_back(node)) return asks;
    switch (node.kind) {
      case Kind::logical_not: {
        const auto operand = truth(node.operands[0], !asks);
        if (operand) return !*operand;
        return std::nullopt;
      }
      case Kind::logical_and:
      case Kind::logical_or: {
        const bool decisive = node.kind == Kind::logical_or;
        bool unknown = false;
        for (const Expression& operand : node.operands) {
          const auto part = truth(operand, asks);
          if (part == decisive) return decisive;
          unknown = unknown || !part;
        }
        if (unknown) return std::nullopt;
        return !decisive;
      }
      case Kind::is_null:
        return std::holds_alternative<Null>(value(node.operands[0]));
      case Kind::in: {
        bool unknown = false;
        for (std::size_t i = 1; i < node.operands.size(); ++i) {
          const auto part = compared(Kind::equal, value(node.operands[0]), value(node.operands[i]));
          if (part == true) return true;
          unknown = unknown || !part;
        }
        if (unknown) return std::nullopt;
        return false;
      }
      case Kind::less:
      case Kind::less_equal:
      case Kind::greater:
      case Kind::greater_equal:
      case Kind::equal:
      case Kind::not_equal:
        return compared(node.kind, value(node.operands[0]), value(node.operands[1]));
      default:
        break;
    }
    const Value result = value(node);
    if (const auto* flag = std::get_if<bool>(&result)) return *flag;
    return std::nullopt;
  }

 private:
  static bool looks_back(const Expression& node) {
    if (node.kind == Kind::previous) return true;
    for (const Expression& operand : node.operands) {
      if (looks_back(operand)) return true;
    }
    return false;
  }

  [[nodiscard]] std::vector<Element> steps(const Element& element) const {
    if (element.kind == Element::Kind::vertex || !values_.steps) return {element};
    return values_.steps(element);
  }

  [[nodiscard]] Value read(const Element& element, const std::string& name) const {
    const bool time = element.kind == Element::Kind::edge && name == "time";
    return value_of(values_.attribute(element, name), time ? 0 : values_.type(element, name).scale);
  }

  /// The sum, the least or the greatest of two values.
  static Value joined(Kind kind, const Value& a, const Value& b) {
    if (std::holds_alternative<Null>(a) || std::holds_alternative<Null>(b)) return Null{};
    const bool real = std::holds_alternative<double>(a) || std::holds_alternative<double>(b);
    if (kind == Kind::sum && real) return as_double(a) + as_double(b);
    if (kind == Kind::sum) return Rational(std::get<Rational>(a) + std::get<Rational>(b));
    const bool least = kind == Kind::minimum || kind == Kind::least;
    return compared(Kind::less, b, a) == least ? b : a;
  }

  Value arithmetic(const Expression& node) const {
    const Value left = value(node.operands[0]);
    if (std::holds_alternative<Null>(left)) return Null{};
    if (node.kind == Kind::negate) {
      if (const auto* real = std::get_if<double>(&left)) return -*real;
      return Rational(-std::get<Rational>(left));
    }
    const Value right = value(node.operands[1]);
    if (std::holds_alternative<Null>(right)) return Null{};
    if (std::holds_alternative<double>(left) || std::holds_alternative<double>(right)) {
      const double a = as_double(left);
      const double b = as_double(right);
      return node.kind == Kind::add ? a + b : node.kind == Kind::subtract ? a - b : a * b;
    }
    const auto& a = std::get<Rational>(left);
    const auto& b = std::get<Rational>(right);
    return node.kind == Kind::add ? Rational(a + b) : node.kind == Kind::subtract ? Rational(a - b) : Rational(a * b);
  }

  static std::optional<bool> compared(Kind kind, const Value& left, const Value& right) {
    if (std::holds_alternative<Null>(left) || std::holds_alternative<Null>(right)) return std::nullopt;
    if (std::holds_alternative<ExternalId>(left) || std::holds_alternative<ExternalId>(right)) {
      return compare(kind, as_id(left), as_id(right));
    }
    if (std::holds_alternative<std::string>(left))
      return compare(kind, std::get<std::string>(left), std::get<std::string>(right));
    if (std::holds_alternative<bool>(left)) return compare(kind, std::get<bool>(left), std::get<bool>(right));
    if (std::holds_alternative<double>(left) || std::holds_alternative<double>(right)) {
      return compare(kind, as_double(left), as_double(right));
    }
    return compare(kind, std::get<Rational>(left), std::get<Rational>(right));
  }

  const Values& values_;
  std::optional<std::size_t> step_;
};

}  // namespace

std::optional<bool> holds(const Expression& condition, const Values& values, std::optional<std::size_t> step) {
  return Interpreter(values, step).truth(condition);
}

}  // namespace deltamatch::oracle

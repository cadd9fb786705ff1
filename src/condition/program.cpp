#include "condition/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/nearest.hpp"
#include "condition/counted.hpp"
#include "condition/literal.hpp"
#include "condition/normal.hpp"
#include "condition/text.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch::condition {
namespace {

using Kind = Expression::Kind;
__extension__ using Magnitude = unsigned __int128;

constexpr Magnitude largest = ~Magnitude{0} >> 1;
constexpr Magnitude half_range = Magnitude{1} << 63;

/// The type of an intermediate result.
struct Type {
  enum class Family : std::uint8_t { null, exact, real, truth, text, symbol, id, time, duration };
  Family family = Family::null;
  std::uint32_t scale = 0;  ///< of an exact number
  Magnitude bound = 0;      ///< of an exact number, a time or a duration: its magnitude is at most this
  std::uint32_t text = 0;   ///< of a text: index into the program's texts
};
using Family = Type::Family;

std::string_view name_of(Family family) noexcept {
  switch (family) {
    case Family::null:
      return "NULL";
    case Family::exact:
    case Family::real:
      return "a number";
    case Family::truth:
      return "a truth value";
    case Family::text:
    case Family::symbol:
      return "a text";
    case Family::id:
      return "an id";
    case Family::time:
      return "a time";
    case Family::duration:
      break;
  }
  return "a duration";
}

Magnitude magnitude(std::int64_t value) noexcept {
  return value < 0 ? Magnitude{0} - static_cast<Magnitude>(value) : static_cast<Magnitude>(value);
}

std::optional<Magnitude> times_power_of_ten(Magnitude value, std::uint32_t exponent) noexcept {
  for (; exponent > 0; --exponent) {
    if (value > largest / 10) return std::nullopt;
    value *= 10;
  }
  return value;
}

double power_of_ten(std::uint32_t exponent) noexcept {
  double result = 1;
  for (; exponent > 0; --exponent) result *= 10;
  return result;
}

/// The comparison within `whole` that has this normal form, whose sides may be exchanged. Null if there is none.
const Expression* as_written(const Expression& whole, const Expression& normal,  // NOLINT(misc-no-recursion)
                             EdgeNumbers edges) {
  const bool compares = whole.kind >= Kind::less && whole.kind <= Kind::not_equal;
  if (compares && normal_form(whole, edges) == normal) return &whole;
  for (const Expression& part : whole.operands) {
    if (const Expression* found = as_written(part, normal, edges)) return found;
  }
  return nullptr;
}

class Compiler {
 public:
  Compiler(const Schema& schema, const Query& query, std::string_view where) : schema_(schema), query_(query), where_(where) {}

  Program run(const Expression& condition) {
    const Type type = compile(condition);
    if (type.family != Family::truth && type.family != Family::null) {
      refuse(condition, fmt::format("is {}, not a condition", name_of(type.family)), "compare it with something");
    }
    sort_elements();
    return std::move(program_);
  }

 private:
  Type compile(const Expression& node) {  // NOLINT(misc-no-recursion): find_flaw bounds the depth
    switch (node.kind) {
      case Kind::literal:
        return literal(node);
      case Kind::attribute:
        return attribute(node);
      case Kind::id:
        emit({Operation::load_id, element(node.element)});
        return push({Family::id});
      case Kind::count:
        emit({Operation::load_count, 0, static_cast<std::uint32_t>(program_.counts.size())});
        program_.counts.push_back({node.pattern[0], 0});
        return push({Family::exact, 0, static_cast<Magnitude>(max_counted) + 1});
      case Kind::negate:
        return negate(node);
      case Kind::add:
      case Kind::subtract:
      case Kind::multiply:
        return arithmetic(node);
      case Kind::least:
      case Kind::greatest:
        return extreme(node);
      case Kind::is_null: {
        const Type type = compile(node.operands[0]);
        if (type.family == Family::text) to_symbol(type);
        emit({Operation::is_null});
        return {Family::truth};
      }
      case Kind::logical_not:
        truth_operand(node, node.operands[0]);
        emit({Operation::logical_not});
        return {Family::truth};
      case Kind::logical_and:
      case Kind::logical_or:
        return junction(node);
      default:
        return comparison(node);
    }
  }

  // Values.

  Type literal(const Expression& node) {
    struct Maker {
      Compiler& self;
      Type operator()(std::monostate /*null*/) const {
        self.emit({Operation::push_null});
        return {};
      }
      Type operator()(bool value) const { return exact(Operation::push_truth, {Family::truth}, value ? 1 : 0); }
      Type operator()(const Decimal& value) const {
        return exact(Operation::push_exact, {Family::exact, value.scale, magnitude(value.digits)}, value.digits);
      }
      Type operator()(const std::string& value) const {
        const auto slot = self.text(value);
        self.emit({Operation::push_text, 0, slot});
        return {Family::text, 0, 0, slot};
      }
      Type operator()(const Duration& value) const {
        return exact(Operation::push_exact, {Family::duration, 0, magnitude(value.microseconds)}, value.microseconds);
      }
      Type operator()(const Instant& value) const {
        return exact(Operation::push_exact, {Family::time, 0, magnitude(value.microseconds)}, value.microseconds);
      }
      Type exact(Operation operation, Type type, std::int64_t value) const {
        self.emit({operation, 0, 0, value});
        return type;
      }
    };
    return push(std::visit(Maker{*this}, node.literal));
  }

  Type attribute(const Expression& node) {
    const bool edge = node.element.kind == Element::Kind::edge;
    const std::string name = element_name(node.element);
    if (edge && schema_.model == EdgeModel::simple) {
      throw Error(ErrorKind::configuration, where_,
                  fmt::format("'{}' is a condition on {} of an edge, but the graph's edges are 'simple'", to_text(node, query_),
                              node.name == "time" ? "the time" : "an attribute"),
                  "choose --edges keyed or --edges events, in C++ Schema::model");
    }
    if (edge && node.name == "time") {
      emit({Operation::load_time, element(node.element)});
      return push({Family::time, 0, half_range});
    }
    const std::vector<Attribute>& declared = edge ? schema_.edges : schema_.vertices;
    const auto found = std::find_if(declared.begin(), declared.end(), [&](const Attribute& a) { return a.name == node.name; });
    if (found == declared.end()) refuse_attribute(node, declared);
    const auto slot = static_cast<std::uint32_t>(found - declared.begin());
    const auto [operation, type] = typed(found->type);
    emit({operation, element(node.element), slot});
    return push(type);
  }

  static std::pair<Operation, Type> typed(const AttributeType& type) noexcept {
    switch (type.kind) {
      case AttributeType::Kind::integer:
        return {Operation::load_exact, {Family::exact, 0, half_range}};
      case AttributeType::Kind::decimal:
        return {Operation::load_exact, {Family::exact, type.scale, half_range}};
      case AttributeType::Kind::real:
        return {Operation::load_real, {Family::real}};
      case AttributeType::Kind::boolean:
        return {Operation::load_truth, {Family::truth}};
      case AttributeType::Kind::symbol:
        return {Operation::load_symbol, {Family::symbol}};
      case AttributeType::Kind::time:
        break;
    }
    return {Operation::load_exact, {Family::time, 0, half_range}};
  }

  [[noreturn]] void refuse_attribute(const Expression& node, const std::vector<Attribute>& declared) const {
    const bool edge = node.element.kind == Element::Kind::edge;
    std::vector<std::string> names;
    names.reserve(declared.size() + 1);
    for (const Attribute& attribute : declared) names.push_back(attribute.name);
    if (edge) names.emplace_back("time");
    const std::string meant = nearest(node.name, names);
    std::string remedy = meant.empty() ? "" : fmt::format("did you mean '{}'? Else ", meant);
    remedy += "declare it with the graph's attributes";
    if (!names.empty()) remedy += fmt::format("; there {} {}", names.size() == 1 ? "is only" : "are", fmt::join(names, ", "));
    throw Error(ErrorKind::configuration, where_,
                fmt::format("{} have no attribute '{}'", edge ? "edges" : "vertices", node.name), remedy);
  }

  // Arithmetic.

  Type negate(const Expression& node) {
    const Type type = compile(node.operands[0]);
    if (type.family == Family::null) return type;
    if (type.family == Family::real) {
      emit({Operation::negate_real});
      return type;
    }
    if (type.family != Family::exact && type.family != Family::duration) {
      refuse(node, fmt::format("negates {}", name_of(type.family)), "only numbers and durations have a sign");
    }
    emit({Operation::negate});
    return type;
  }

  Type arithmetic(const Expression& node) {
    Type left = compile(node.operands[0]);
    Type right = compile(node.operands[1]);
    --depth_;
    if (left.family == Family::null || right.family == Family::null) {
      emit({Operation::add});  // of NULL and anything: NULL
      return {};
    }
    if (numbers(left, right)) {
      if (node.kind != Kind::multiply) {
        align(node, left, right);
      } else if (left.family == Family::real || right.family == Family::real) {
        to_reals(left, right);
      }
      return computed(node, left, right);
    }
    if (const auto family = time_arithmetic(node.kind, left.family, right.family)) {
      Type result = computed(node, left, right);
      result.family = *family;
      return result;
    }
    refuse(node, fmt::format("calculates with {} and {}", name_of(left.family), name_of(right.family)),
           "numbers go with numbers; times and durations with durations; time - time is a duration");
  }

  /// The least or the greatest of several values.
  Type extreme(const Expression& node) {
    const bool least = node.kind == Kind::least;
    Type left = compile(node.operands[0]);
    for (std::size_t i = 1; i < node.operands.size(); ++i) {
      Type right = compile(node.operands[i]);
      --depth_;
      const bool null = left.family == Family::null || right.family == Family::null;
      const bool times = left.family == right.family && (left.family == Family::time || left.family == Family::duration);
      if (!null && numbers(left, right)) {
        align(node, left, right);
      } else if (!null && !times) {
        refuse(node, fmt::format("orders {} and {}", name_of(left.family), name_of(right.family)),
               "only numbers, times and durations have a least and a greatest");
      }
      const bool real = !null && left.family == Family::real;
      emit({real    ? (least ? Operation::least_real : Operation::greatest_real)
            : least ? Operation::least
                    : Operation::greatest});
      left = null ? Type{} : left;
      left.bound = std::max(left.bound, right.bound);
    }
    return left;
  }

  static bool numbers(const Type& left, const Type& right) noexcept {
    const auto number = [](const Type& type) { return type.family == Family::exact || type.family == Family::real; };
    return number(left) && number(right);
  }

  /// What becomes of times and durations; nullopt if it is nothing.
  static std::optional<Family> time_arithmetic(Kind kind, Family left, Family right) noexcept {
    using enum Type::Family;
    if (kind == Kind::add) {
      if ((left == time && right == duration) || (left == duration && right == time)) return time;
      if (left == duration && right == duration) return duration;
    } else if (kind == Kind::subtract) {
      if (left == time && right == duration) return time;
      if (left == time && right == time) return duration;
      if (left == duration && right == duration) return duration;
    } else if ((left == duration && right == exact) || (left == exact && right == duration)) {
      return duration;
    }
    return std::nullopt;
  }

  /// Emits the operation for two numbers of one kind.
  Type computed(const Expression& node, const Type& left, const Type& right) {
    if (left.family == Family::real) {
      emit({node.kind == Kind::add        ? Operation::add_real
            : node.kind == Kind::subtract ? Operation::subtract_real
                                          : Operation::multiply_real});
      return {Family::real};
    }
    Type result = left;
    bool overflow = false;
    if (node.kind == Kind::multiply) {
      overflow = __builtin_mul_overflow(left.bound, right.bound, &result.bound);
      result.scale = left.scale + right.scale;
      if (result.scale > 0 && (left.family == Family::duration || right.family == Family::duration)) {
        refuse(node, "multiplies a duration by a fraction", "multiply durations by whole numbers; 90m is a half of 3h");
      }
    } else {
      overflow = __builtin_add_overflow(left.bound, right.bound, &result.bound);
    }
    if (overflow || result.bound > largest) refuse_overflow(node);
    emit({node.kind == Kind::add ? Operation::add : node.kind == Kind::subtract ? Operation::subtract : Operation::multiply});
    return result;
  }

  /// Gives two numbers one scale, or makes both doubles.
  void align(const Expression& node, Type& left, Type& right) {
    if (left.family == Family::real || right.family == Family::real) return to_reals(left, right);
    rescale(node, left, std::max(left.scale, right.scale), 1);
    rescale(node, right, left.scale, 0);
  }

  void to_reals(Type& left, Type& right) {
    to_real(left, 1);
    to_real(right, 0);
  }

  void to_real(Type& type, std::uint32_t depth) {
    if (type.family == Family::real) return;
    emit({Operation::to_real, 0, depth, 0, power_of_ten(type.scale)});
    type = {Family::real};
  }

  void rescale(const Expression& node, Type& type, std::uint32_t scale, std::uint32_t depth) {
    if (type.scale == scale) return;
    const std::uint32_t difference = scale - type.scale;
    const auto bound = times_power_of_ten(type.bound, difference);
    const auto factor = times_power_of_ten(1, difference);
    if (!bound || !factor) refuse_overflow(node);
    emit({Operation::scale, 0, depth, static_cast<Wide>(*factor)});
    type.bound = *bound;
    type.scale = scale;
  }

  [[noreturn]] void refuse_overflow(const Expression& node) const {
    refuse(node, "could exceed 128 bits", "use fewer digits or factors, or declare the attributes as float");
  }

  // Comparisons and logic.

  Type comparison(const Expression& node) {
    Type left = compile(node.operands[0]);
    Type right = compile(node.operands[1]);
    --depth_;
    emit({comparing(node, left, right)});
    note_enough(node);
    return {Family::truth};
  }

  /// Notes how far to count for a comparison in normal form: `k <= COUNT {...}` or `COUNT {...} = k`.
  void note_enough(const Expression& node) {
    if (node.operands[1].kind == Kind::count) program_.counts.back().enough = counted_number(node.operands[0]).value_or(0);
    if (node.operands[0].kind == Kind::count) program_.counts.back().enough = counted_number(node.operands[1]).value_or(0) + 1;
  }

  /// Converts the operands and returns the operation that compares them.
  Operation comparing(const Expression& node, Type& left, Type& right) {
    const bool equality = node.kind == Kind::equal;
    if (left.family == Family::null || right.family == Family::null) return Operation::equal;
    if (numbers(left, right)) {
      align(node, left, right);
      if (left.family == Family::exact) return ordered(node.kind, Operation::less, Operation::less_equal, Operation::equal);
      return ordered(node.kind, Operation::less_real, Operation::less_equal_real, Operation::equal_real);
    }
    if (left.family == right.family && (left.family == Family::time || left.family == Family::duration)) {
      return ordered(node.kind, Operation::less, Operation::less_equal, Operation::equal);
    }
    if (left.family == Family::truth && right.family == Family::truth && equality) return Operation::equal_truth;
    if (textual(left.family) && textual(right.family)) {
      if (!equality) refuse(node, "orders texts", "compare texts with =, <> or IN, or declare numbers as decimal(2) or int");
      to_symbol(left);
      to_symbol(right);
      return Operation::equal_symbol;
    }
    if (identity(left.family) && identity(right.family) && (left.family == Family::id || right.family == Family::id)) {
      to_id(node, left, 1);
      to_id(node, right, 0);
      return ordered(node.kind, Operation::less_id, Operation::less_equal_id, Operation::equal_id);
    }
    const bool constant = std::ranges::any_of(node.operands, [](const auto& each) { return each.kind == Kind::literal; });
    refuse(node, fmt::format("compares {} with {}", name_of(left.family), name_of(right.family)),
           remedy_for(left, right, constant));
  }

  /// `constant`: one of the two is a literal.
  static std::string_view remedy_for(const Type& left, const Type& right, bool constant) noexcept {
    const auto either = [&](Family a, Family b) {
      return (left.family == a && right.family == b) || (left.family == b && right.family == a);
    };
    if (either(Family::time, Family::duration)) return "compare t2.time - t1.time with a duration";
    if (either(Family::time, Family::exact)) return "write instants as datetime('2026-01-31T10:00:00Z')";
    if (either(Family::time, Family::text)) return "write instants as datetime('2026-01-31T10:00:00Z')";
    if (either(Family::duration, Family::exact)) return "give the number a unit: 24h";
    if (either(Family::exact, Family::text)) return "give a number, without quotes";
    if (either(Family::symbol, Family::exact) && constant)
      return "put the value in quotes, or declare numbers as decimal(2) or int";
    return "compare values of one type";
  }

  static Operation ordered(Kind kind, Operation less, Operation less_equal, Operation equal) noexcept {
    return kind == Kind::less ? less : kind == Kind::less_equal ? less_equal : equal;
  }
  static bool textual(Family family) noexcept { return family == Family::text || family == Family::symbol; }
  static bool identity(Family family) noexcept {
    return family == Family::id || family == Family::text || family == Family::exact;
  }

  /// A text constant that is compared as a symbol.
  void to_symbol(const Type& type) {
    if (type.family == Family::text) constant(type.text).operation = Operation::push_symbol;
  }

  /// The instruction that pushed the text constant. It is the last of its kind with this text, because nothing else reads it.
  Instruction& constant(std::uint32_t text) {
    const auto found = std::find_if(program_.code.rbegin(), program_.code.rend(), [&](const Instruction& i) {
      return i.operation == Operation::push_text && i.slot == text;
    });
    return *found;
  }

  void to_id(const Expression& node, const Type& type, std::uint32_t depth) {
    if (type.family != Family::exact) return;
    const Expression& operand = node.operands[1 - depth];
    const auto* number = operand.kind == Kind::literal ? std::get_if<Decimal>(&operand.literal) : nullptr;
    if (number == nullptr || number->scale != 0) {
      refuse(node, "compares an id with a number that is no whole constant",
             "ids are compared with ids, whole numbers and texts");
    }
    const auto found = std::find_if(program_.code.rbegin(), program_.code.rend(), [&](const Instruction& i) {
      return i.operation == Operation::push_exact && i.exact == number->digits;
    });
    found->operation = Operation::push_id;
  }

  void truth_operand(const Expression& node, const Expression& operand) {
    const Type type = compile(operand);
    if (type.family != Family::truth && type.family != Family::null) {
      refuse(node, fmt::format("takes {} for a condition", name_of(type.family)), "compare it with something");
    }
  }

  Type junction(const Expression& node) {
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      truth_operand(node, node.operands[i]);
      if (i == 0) continue;
      emit({node.kind == Kind::logical_and ? Operation::logical_and : Operation::logical_or});
      --depth_;
    }
    return {Family::truth};
  }

  // The program.

  void emit(Instruction instruction) { program_.code.push_back(instruction); }

  /// Counts a value that an instruction has pushed.
  Type push(Type type) {
    if (++depth_ > max_stack) {
      throw Error(ErrorKind::configuration, where_, "a condition that nests too deeply", "use fewer parentheses");
    }
    program_.depth = std::max(program_.depth, depth_);
    return type;
  }

  std::uint32_t text(const std::string& value) {
    const auto found = std::find(program_.texts.begin(), program_.texts.end(), value);
    if (found != program_.texts.end()) return static_cast<std::uint32_t>(found - program_.texts.begin());
    program_.texts.push_back(value);
    return static_cast<std::uint32_t>(program_.texts.size() - 1);
  }

  std::uint32_t element(const Element& element) {
    const auto found = std::find(program_.elements.begin(), program_.elements.end(), element);
    if (found != program_.elements.end()) return static_cast<std::uint32_t>(found - program_.elements.begin());
    program_.elements.push_back(element);
    return static_cast<std::uint32_t>(program_.elements.size() - 1);
  }

  void sort_elements() {
    std::vector<std::uint32_t> order(program_.elements.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return program_.elements[a] < program_.elements[b]; });
    std::vector<std::uint32_t> place(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    for (Instruction& instruction : program_.code) {
      if (!order.empty()) instruction.element = place[instruction.element];
    }
    std::sort(program_.elements.begin(), program_.elements.end());
  }

  [[nodiscard]] std::string element_name(const Element& element) const {
    return element.kind == Element::Kind::vertex ? query_.vertices[element.index].name : query_.edges[element.index].name;
  }

  [[noreturn]] void refuse(const Expression& node, std::string_view what, std::string_view remedy) const {
    std::vector<std::uint32_t> own(query_.edges.size());
    std::iota(own.begin(), own.end(), 0U);
    const Expression* written = query_.where ? as_written(*query_.where, node, own) : nullptr;
    throw Error(ErrorKind::configuration, where_,
                fmt::format("'{}' {}", to_text(written != nullptr ? *written : node, query_), what), remedy);
  }

  const Schema& schema_;
  const Query& query_;
  std::string_view where_;
  Program program_;
  std::size_t depth_ = 0;
};

}  // namespace

namespace {

using Side = LinearComparison::Side;

/// Combines two sides. Nullopt if the result has no such form.
std::optional<Side> combine(Operation operation, const Side& a, const Side& b) {
  if (operation == Operation::multiply) {
    if (a.load && b.load) return std::nullopt;
    const Side& side = a.load ? a : b;
    const Wide factor = a.load ? b.plus : a.plus;
    return Side{side.load, side.times * factor, side.plus * factor};
  }
  if (operation != Operation::add && operation != Operation::subtract) return std::nullopt;
  if (a.load && b.load) return std::nullopt;
  const Wide sign = operation == Operation::subtract ? -1 : 1;
  if (b.load) return Side{b.load, sign * b.times, a.plus + sign * b.plus};
  return Side{a.load, a.times, a.plus + sign * b.plus};
}

/// The program as a comparison, if it has that form. Registration has bounded all exact numbers, so none overflows here. A
/// factor is applied to the parts of a number whose sum it was checked for.
std::optional<LinearComparison> as_linear(const Program& program) {
  std::vector<Side> stack;
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    const Instruction& step = program.code[i];
    switch (step.operation) {
      case Operation::push_exact:
        stack.push_back({std::nullopt, 1, step.exact});
        break;
      case Operation::load_exact:
      case Operation::load_time:
        stack.push_back({step, 1, 0});
        break;
      case Operation::scale: {
        Side& side = stack[stack.size() - 1 - step.slot];
        side.times *= step.exact;
        side.plus *= step.exact;
        break;
      }
      case Operation::negate:
        stack.back().times = -stack.back().times;
        stack.back().plus = -stack.back().plus;
        break;
      case Operation::less:
      case Operation::less_equal:
      case Operation::equal:
        if (i + 1 != program.code.size()) return std::nullopt;
        return LinearComparison{step.operation, stack[0], stack[1]};
      default: {
        if (stack.size() < 2) return std::nullopt;
        const auto combined = combine(step.operation, stack[stack.size() - 2], stack.back());
        if (!combined) return std::nullopt;
        stack.pop_back();
        stack.back() = *combined;
        break;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Program compile(const Expression& conjunct, const Schema& schema, const Query& query, std::string_view where) {
  Program program = Compiler(schema, query, where).run(conjunct);
  program.linear = as_linear(program);
  return program;
}

std::vector<Program> compile_all(const Query& query, const Schema& schema, std::string_view where) {
  std::vector<Program> programs;
  for (const Expression& conjunct : conjuncts(query)) programs.push_back(compile(conjunct, schema, query, where));
  return programs;
}

std::vector<Program> compile_counted(const Query& query, const Schema& schema, std::string_view where) {
  std::vector<Program> programs;
  for (const Expression& conjunct : counted_conjuncts(query)) {
    programs.push_back(compile(conjunct, schema, query, where));
    for (const Counted& counted : programs.back().counts) {
      if (!counted.pattern.where.empty()) static_cast<void>(compile_all(extended(query, counted.pattern), schema, where));
    }
  }
  return programs;
}

void check(const Query& query, const Schema& schema, std::string_view where) {
  if (query.within && schema.model == EdgeModel::simple) {
    throw Error(ErrorKind::configuration, where,
                "WITHIN is a condition on the time of edges, but the graph's edges are 'simple'",
                "choose --edges keyed or --edges events, in C++ Schema::model");
  }
  if (!query.where) return;
  static_cast<void>(compile_all(query, schema, where));
  static_cast<void>(compile_counted(query, schema, where));
}

}  // namespace deltamatch::condition

// Runs compiled conditions.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <optional>

#include "condition/program.hpp"
#include "deltamatch/id.hpp"

namespace deltamatch::condition {

/// Where a program finds values. If it counts, `count(slot)` says how many matches a pattern has. Elements are indices into
/// Program::elements, slots those of the Schema. Nullopt is NULL. A symbol constant that the graph does not know has a number
/// that no attribute has.
template <typename S>
concept ValueSource = requires(const S& source, std::uint32_t element, std::uint32_t slot) {
  { source.raw(element, slot) } -> std::same_as<std::optional<std::int64_t>>;  // a double by its bits, a symbol by its number
  { source.time(element) } -> std::same_as<std::optional<Timestamp>>;
  { source.id(element) } -> std::same_as<Id>;
  { source.symbol(slot) } -> std::same_as<std::int64_t>;  // of text `slot`
};

namespace detail {

struct StackValue {
  bool null = true;
  Wide exact = 0;  // truth values are 0 and 1; symbols are numbers
  double real = 0;
  Id id;
};

inline Truth as_truth(const StackValue& value) noexcept {
  return value.null ? Truth::unknown : value.exact != 0 ? Truth::yes : Truth::no;
}
inline StackValue truth_value(Truth truth) noexcept { return {truth == Truth::unknown, truth == Truth::yes ? 1 : 0, 0, {}}; }
inline Truth all_of(Truth a, Truth b) noexcept {
  if (a == Truth::no || b == Truth::no) return Truth::no;
  return a == Truth::yes && b == Truth::yes ? Truth::yes : Truth::unknown;
}
inline Truth contrary_of(Truth truth) noexcept {
  return truth == Truth::unknown ? Truth::unknown : truth == Truth::yes ? Truth::no : Truth::yes;
}

/// The results of the operations of two operands, neither of which is NULL.
inline StackValue combine(Operation operation, const StackValue& a, const StackValue& b) noexcept {
  const auto truth = [](bool value) { return StackValue{false, value ? 1 : 0, 0, {}}; };
  switch (operation) {
    case Operation::add:
      return {false, a.exact + b.exact, 0, {}};
    case Operation::subtract:
      return {false, a.exact - b.exact, 0, {}};
    case Operation::multiply:
      return {false, a.exact * b.exact, 0, {}};
    case Operation::add_real:
      return {false, 0, a.real + b.real, {}};
    case Operation::subtract_real:
      return {false, 0, a.real - b.real, {}};
    case Operation::multiply_real:
      return {false, 0, a.real * b.real, {}};
    case Operation::least:
      return {false, b.exact < a.exact ? b.exact : a.exact, 0, {}};
    case Operation::greatest:
      return {false, a.exact < b.exact ? b.exact : a.exact, 0, {}};
    case Operation::least_real:
      return {false, 0, b.real < a.real ? b.real : a.real, {}};
    case Operation::greatest_real:
      return {false, 0, a.real < b.real ? b.real : a.real, {}};
    case Operation::less:
      return truth(a.exact < b.exact);
    case Operation::less_equal:
      return truth(a.exact <= b.exact);
    case Operation::less_real:
      return truth(a.real < b.real);
    case Operation::less_equal_real:
      return truth(a.real <= b.real);
    case Operation::equal_real:
      return truth(a.real == b.real);
    case Operation::less_id:
      return truth(a.id < b.id);
    case Operation::less_equal_id:
      return truth(a.id <= b.id);
    case Operation::equal_id:
      return truth(a.id == b.id);
    default:
      return truth(a.exact == b.exact);
  }
}

}  // namespace detail

namespace detail {

template <ValueSource Source>
std::optional<Wide> value_of(const LinearComparison::Side& side, const Source& source) {
  if (!side.load) return side.plus;
  const auto raw = side.load->operation == Operation::load_time ? source.time(side.load->element)
                                                                : source.raw(side.load->element, side.load->slot);
  if (!raw) return std::nullopt;
  return side.times * *raw + side.plus;
}

template <ValueSource Source>
Truth compare(const LinearComparison& comparison, const Source& source) {
  const auto a = value_of(comparison.left, source);
  const auto b = value_of(comparison.right, source);
  if (!a || !b) return Truth::unknown;
  const bool holds = comparison.operation == Operation::less         ? *a < *b
                     : comparison.operation == Operation::less_equal ? *a <= *b
                                                                     : *a == *b;
  return holds ? Truth::yes : Truth::no;
}

/// The stack has `places`, enough for the program.
template <std::size_t places, ValueSource Source>
Truth run(const Program& program, const Source& source) {
  std::array<StackValue, places> stack;
  std::size_t top = 0;  // number of values
  const auto push_raw = [&](std::optional<std::int64_t> raw) {
    stack[top++] = raw ? StackValue{false, *raw, 0, {}} : StackValue{};
  };
  for (const Instruction& step : program.code) {
    switch (step.operation) {
      case Operation::push_null:
        stack[top++] = {};
        break;
      case Operation::push_exact:
      case Operation::push_truth:
        stack[top++] = {false, step.exact, 0, {}};
        break;
      case Operation::push_real:
        stack[top++] = {false, 0, step.real, {}};
        break;
      case Operation::push_id:
        stack[top++] = {false, 0, 0, Id(static_cast<std::int64_t>(step.exact))};
        break;
      case Operation::push_text:
        stack[top++] = {false, 0, 0, Id(program.texts[step.slot])};
        break;
      case Operation::push_symbol:
        stack[top++] = {false, source.symbol(step.slot), 0, {}};
        break;
      case Operation::load_exact:
      case Operation::load_truth:
      case Operation::load_symbol:
        push_raw(source.raw(step.element, step.slot));
        break;
      case Operation::load_real: {
        const auto raw = source.raw(step.element, step.slot);
        stack[top++] = raw ? StackValue{false, 0, std::bit_cast<double>(*raw), {}} : StackValue{};
        break;
      }
      case Operation::load_time:
        push_raw(source.time(step.element));
        break;
      case Operation::load_id:
        stack[top++] = {false, 0, 0, source.id(step.element)};
        break;
      case Operation::load_count:
        if constexpr (requires { source.count(step.slot); }) stack[top++] = {false, source.count(step.slot), 0, {}};
        break;
      case Operation::scale:
        stack[top - 1 - step.slot].exact *= step.exact;
        break;
      case Operation::to_real: {
        StackValue& value = stack[top - 1 - step.slot];
        value.real = static_cast<double>(value.exact) / step.real;
        break;
      }
      case Operation::negate:
        stack[top - 1].exact = -stack[top - 1].exact;
        break;
      case Operation::negate_real:
        stack[top - 1].real = -stack[top - 1].real;
        break;
      case Operation::is_null:
        stack[top - 1] = {false, stack[top - 1].null ? 1 : 0, 0, {}};
        break;
      case Operation::logical_not:
        stack[top - 1] = detail::truth_value(detail::contrary_of(detail::as_truth(stack[top - 1])));
        break;
      case Operation::logical_and:
      case Operation::logical_or: {
        --top;
        Truth a = detail::as_truth(stack[top - 1]);
        Truth b = detail::as_truth(stack[top]);
        if (step.operation == Operation::logical_and) {
          a = detail::all_of(a, b);
        } else {
          a = detail::contrary_of(detail::all_of(detail::contrary_of(a), detail::contrary_of(b)));
        }
        stack[top - 1] = detail::truth_value(a);
        break;
      }
      default:
        --top;
        stack[top - 1] =
            stack[top - 1].null || stack[top].null ? StackValue{} : detail::combine(step.operation, stack[top - 1], stack[top]);
        break;
    }
  }
  return detail::as_truth(stack[0]);
}

}  // namespace detail

/// O(length of the program). The caller keeps values and texts of ids alive meanwhile.
template <ValueSource Source>
[[nodiscard]] Truth evaluate(const Program& program, const Source& source) {
  constexpr std::size_t few = 6;  // making room for many takes longer than most conditions
  if (program.linear) return detail::compare(*program.linear, source);
  return program.depth <= few ? detail::run<few>(program, source) : detail::run<max_stack>(program, source);
}

}  // namespace deltamatch::condition

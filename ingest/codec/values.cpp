// A number is taken apart into digits and an exponent of ten, and put together at the scale of its type. No float is between.
#include "ingest/codec/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "ingest/codec/schema_text.hpp"

namespace deltamatch::ingest {
namespace {

using Kind = AttributeType::Kind;

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// A number as it is written: digits before and behind the point, and an exponent of ten.
struct Written {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  std::int64_t exponent = 0;
  bool has_exponent = false;
};

std::string_view take_digits(std::string_view& text) noexcept {
  const auto end = static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
  const std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  return digits;
}

/// Takes a number apart. Nothing if the text is none.
std::optional<Written> take_apart(std::string_view text) noexcept {
  constexpr std::int64_t far = 1'000'000;  // more digits than any record has
  Written number;
  number.negative = text.starts_with('-');
  if (number.negative || text.starts_with('+')) text.remove_prefix(1);
  number.whole = take_digits(text);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    number.fraction = take_digits(text);
  }
  if (number.whole.empty() && number.fraction.empty()) return std::nullopt;
  if (text.empty()) return number;
  if (text.front() != 'e' && text.front() != 'E') return std::nullopt;
  text.remove_prefix(1);
  number.has_exponent = true;
  switch (parse_integer(text, number.exponent)) {
    case NumberFault::not_a_number:
      return std::nullopt;
    case NumberFault::out_of_range:
      number.exponent = text.starts_with('-') ? -far : far;
      break;
    case NumberFault::none:
      number.exponent = std::clamp(number.exponent, -far, far);
  }
  return number;
}

enum class Fit : std::uint8_t { good, too_many_digits, overflow };

/// Appends a digit to a number that is not positive: there is one more of those.
bool append_digit(std::int64_t& value, int digit) noexcept {
  return !__builtin_mul_overflow(value, 10, &value) && !__builtin_sub_overflow(value, digit, &value);
}

/// The digits of a number that has `scale` of them after the point.
Fit put_together(const Written& number, int scale, std::int64_t& value) noexcept {
  const auto digits = static_cast<std::int64_t>(number.whole.size() + number.fraction.size());
  // The number is the digits times 10^shift, in units of the scale.
  std::int64_t shift = number.exponent - static_cast<std::int64_t>(number.fraction.size()) + scale;
  const auto digit = [&](std::int64_t at) {
    const auto whole = static_cast<std::int64_t>(number.whole.size());
    const char c =
        at < whole ? number.whole[static_cast<std::size_t>(at)] : number.fraction[static_cast<std::size_t>(at - whole)];
    return c - '0';
  };
  const std::int64_t kept = std::clamp<std::int64_t>(digits + std::min<std::int64_t>(shift, 0), 0, digits);
  for (std::int64_t at = kept; at < digits; ++at) {
    if (digit(at) != 0) return Fit::too_many_digits;
  }
  std::int64_t sum = 0;
  for (std::int64_t at = 0; at < kept; ++at) {
    if (!append_digit(sum, digit(at))) return Fit::overflow;
  }
  for (; shift > 0 && sum != 0; --shift) {
    if (!append_digit(sum, 0)) return Fit::overflow;
  }
  if (!number.negative && __builtin_sub_overflow(std::int64_t{0}, sum, &sum)) return Fit::overflow;
  value = sum;
  return Fit::good;
}

/// Whether a text is a word for a number that is none.
bool is_no_number(std::string_view text) noexcept {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  constexpr std::string_view words[] = {"nan", "inf", "infinity", "1.#inf", "1.#ind", "1.#qnan"};
  return std::ranges::any_of(words, [&](std::string_view word) { return same_letters(word, text); });
}

/// The same number with a point, and nothing between thousands. Nothing if the text is not written so. Groups of thousands have
/// three digits, and one sign between all of them.
std::optional<std::string> in_plain_form(std::string_view text, Decimal decimal) {
  const char point = decimal == Decimal::comma ? ',' : '.';
  const char other = decimal == Decimal::comma ? '.' : ',';
  std::string plain;
  if (text.starts_with('-') || text.starts_with('+')) {
    plain = text.front();
    text.remove_prefix(1);
  }
  std::string_view digits = take_digits(text);
  plain += digits;
  const char between = text.empty() ? '\0' : text.front();
  const bool groups = between == other || between == ' ' || between == '\'';
  constexpr std::size_t group = 3;
  while (groups && text.size() > 1 && text.front() == between && is_digit(text[1])) {
    if (digits.empty() || digits.size() > group) return std::nullopt;
    text.remove_prefix(1);
    digits = take_digits(text);
    if (digits.size() != group) return std::nullopt;
    plain += digits;
  }
  if (text.starts_with(point)) {
    plain += '.';
    text.remove_prefix(1);
    plain += take_digits(text);
  }
  if (text.find_first_of(",.") != std::string_view::npos) return std::nullopt;
  return plain.append(text);
}

/// Why a text is no number, and what to do.
ValueFault no_number(std::string_view text, std::string_view type, const OptionSpelling& spelling) {
  const auto has = [&](std::string_view any) { return text.find_first_of(any) != std::string_view::npos; };
  const bool digits = has("0123456789");
  if (is_no_number(text)) return {"is not a finite number", "leave it empty if there is no value (JSON: null)"};
  if (is_missing_value(text) || may_stand_for_none(text))
    return {"seems to stand for a missing value", "leave it empty (JSON: null)"};
  if (digits && has(",")) {
    constexpr std::string_view plain = "write a point before the fraction, and nothing between thousands: 1200.50";
    return {"has a comma, which may stand for the point or between thousands",
            spelling.as_keywords ? std::string(plain)
                                 : fmt::format("{} reads 1.200,50, {} reads 1,200.50; or {}", spelling("decimal", "comma"),
                                               spelling("decimal", "point"), plain)};
  }
  if (digits && has("%")) return {"is a percentage", "write the number alone, or declare the attribute as symbol"};
  if (digits && (text.starts_with('(') || text.ends_with('-')))
    return {"seems to be negative, in the notation of accountants", "write the sign before the number: -5.00"};
  const auto letter = [](char c) {
    return static_cast<unsigned char>(c) >= 0x80 || c == '$' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  if (digits && std::ranges::any_of(text, letter)) {
    return {fmt::format("is not {} alone: it has a currency, a unit or other letters", type),
            "write the number alone; a unit can be an attribute of its own"};
  }
  if (digits && has(" '_")) return {"has a character between its digits", "write digits and one point: 1200.50"};
  return {fmt::format("is not {}", type), "correct it, or declare the attribute as symbol"};
}

std::string named(const AttributeType& type) {
  switch (type.kind) {
    case Kind::integer:
      return "an int";
    case Kind::decimal:
      return "a " + type_text(type);
    case Kind::real:
      return "a float";
    case Kind::boolean:
      return "a bool";
    case Kind::symbol:
      return "a symbol";
    case Kind::time:
      break;
  }
  return "a time";
}

std::optional<ValueFault> read_real(std::string_view text, AttributeValue& value, const OptionSpelling& spelling) {
  if (!take_apart(text)) return no_number(text, "a float", spelling);
  if (text.starts_with('+')) text.remove_prefix(1);
  double real = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), real);
  if (code == std::errc::result_out_of_range) return ValueFault{"is beyond the range of a float", "correct it"};
  if (code != std::errc() || end != text.data() + text.size()) return no_number(text, "a float", spelling);
  value = real;
  return std::nullopt;
}

std::optional<ValueFault> read_boolean(std::string_view text, AttributeValue& value) {
  const auto is = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](std::string_view word) { return same_letters(word, text); });
  };
  if (is({"true", "t", "yes", "y", "1"})) {
    value = true;
  } else if (is({"false", "f", "no", "n", "0"})) {
    value = false;
  } else {
    return ValueFault{"is not a bool", "write true or false, or declare the attribute as symbol"};
  }
  return std::nullopt;
}

/// The integer that bytes hold, the high byte first, in two's complement. Nothing if it exceeds 64 bits.
std::optional<std::int64_t> integer_of(std::string_view bytes) noexcept {
  const bool negative = (static_cast<unsigned char>(bytes.front()) & 0x80U) != 0;
  const char filler = negative ? '\xff' : '\0';
  while (bytes.size() > sizeof(std::int64_t) && bytes.front() == filler) bytes.remove_prefix(1);
  if (bytes.size() > sizeof(std::int64_t)) return std::nullopt;
  std::uint64_t sum = negative ? ~std::uint64_t{0} : 0;
  for (const char byte : bytes) sum = sum << 8 | static_cast<unsigned char>(byte);
  const auto value = static_cast<std::int64_t>(sum);
  return (value < 0) == negative ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<std::string> from_base64(std::string_view text) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.empty() || text.size() % 4 != 0) return std::nullopt;
  std::string bytes;
  const std::size_t filled = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  const std::string_view coded = text.substr(0, text.size() - filled);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : coded) {
    const std::size_t value = letters.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 6 | static_cast<std::uint32_t>(value)) & 0xffffffU;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xffU);
  }
  return bytes;
}

ValueReader::ValueReader(AttributeType type, bool base64, TimeReader times, Decimal decimal, OptionSpelling spelling)
    : type_(type), base64_(base64), times_(std::move(times)), decimal_(decimal), spelling_(std::move(spelling)) {}

std::optional<ValueFault> ValueReader::read(const Scalar& scalar, AttributeValue& value) const {
  value = std::monostate();
  switch (scalar.kind) {
    case Scalar::Kind::absent:
    case Scalar::Kind::null:
      return std::nullopt;
    case Scalar::Kind::instant:
      if (type_.kind != Kind::time) return ValueFault{fmt::format("is a time, not {}", named(type_)), "declare it as time"};
      value = scalar.number;
      return std::nullopt;
    case Scalar::Kind::scaled:
      if (type_.kind != Kind::decimal)
        return ValueFault{fmt::format("is a decimal, not {}", named(type_)), "declare it as decimal(2)"};
      return read_bytes(scalar, scalar.number, value);
    case Scalar::Kind::composed:
      if (!scalar.text.empty())
        return ValueFault{fmt::format("is a {}, not {}", scalar.text, named(type_)), "make it a number, a text or a time"};
      return ValueFault{fmt::format("is an object or an array, not {}", named(type_)),
                        "name the field in it: NAME:TYPE=PATH, with dots between the names of the path"};
    case Scalar::Kind::boolean:
      if (type_.kind == Kind::boolean) return read_boolean(scalar.text, value);
      return ValueFault{fmt::format("is true or false, not {}", named(type_)), "declare it as bool"};
    case Scalar::Kind::string:
    case Scalar::Kind::number:
    case Scalar::Kind::text:
      break;
  }
  if (scalar.text.empty()) return std::nullopt;
  const bool symbol = type_.kind == Kind::symbol;
  if (scalar.kind == Scalar::Kind::text) {
    if (scalar.text == "\\N") return std::nullopt;
    if (!symbol && (same_letters(scalar.text, "null") || same_letters(scalar.text, "none"))) return std::nullopt;
  }
  return read_text(symbol ? scalar.text : without_blanks(scalar.text), scalar, value);
}

std::optional<ValueFault> ValueReader::read_text(std::string_view text, const Scalar& scalar, AttributeValue& value) const {
  switch (type_.kind) {
    case Kind::symbol:
      value = text;
      return std::nullopt;
    case Kind::boolean:
      return read_boolean(text, value);
    case Kind::time: {
      const std::optional<Timestamp> time = times_.read(text, scalar.kind == Scalar::Kind::number);
      if (!time) return ValueFault{std::string(times_.fault(text)), "say how times are written: time unit, time format"};
      value = *time;
      return std::nullopt;
    }
    case Kind::decimal:
      if (base64_ && scalar.kind != Scalar::Kind::number) return read_bytes(scalar, type_.scale, value);
      break;
    case Kind::real:
    case Kind::integer:
      break;
  }
  if (decimal_ == Decimal::strict || scalar.kind == Scalar::Kind::number) return read_number(text, scalar, value);
  if (const std::optional<std::string> plain = in_plain_form(text, decimal_)) return read_number(*plain, scalar, value);
  const bool comma = decimal_ == Decimal::comma;
  return ValueFault{fmt::format("is no number with a decimal {}", comma ? "comma" : "point"),
                    fmt::format("write it as {}, or say how numbers are written: {}", comma ? "1.200,50" : "1,200.50",
                                spelling_("decimal", comma ? "point" : "comma"))};
}

std::optional<ValueFault> ValueReader::read_number(std::string_view text, const Scalar& scalar, AttributeValue& value) const {
  if (type_.kind == Kind::real) return read_real(text, value, spelling_);
  return read_exact(text, scalar.kind != Scalar::Kind::text, value);
}

std::optional<ValueFault> ValueReader::read_exact(std::string_view text, bool exponents, AttributeValue& value) const {
  const std::optional<Written> number = take_apart(text);
  if (!number) {
    if (type_.kind == Kind::decimal && exponents && from_base64(text)) {
      return ValueFault{"is no number",
                        fmt::format("if it is base64 of bytes (Debezium's decimal.handling.mode precise), declare it as "
                                    "decimal({},base64)",
                                    type_.scale)};
    }
    return no_number(text, named(type_), spelling_);
  }
  if (number->has_exponent && !exponents) {
    return ValueFault{"has an exponent, as spreadsheets shorten numbers", "export the column in full, or declare it as float"};
  }
  std::int64_t digits = 0;
  switch (put_together(*number, type_.kind == Kind::decimal ? type_.scale : 0, digits)) {
    case Fit::good:
      value = digits;
      return std::nullopt;
    case Fit::too_many_digits:
      return type_.kind == Kind::integer
                 ? ValueFault{"has a fraction, but is to be an int", "declare it as decimal(2) or float"}
                 : ValueFault{fmt::format("has more than {} digits after the point", type_.scale),
                              "declare it with more digits, or as float"};
    case Fit::overflow:
      break;
  }
  return ValueFault{fmt::format("does not fit in 64 bits as {}", named(type_)), "declare it with fewer digits, or as float"};
}

std::optional<ValueFault> ValueReader::read_bytes(const Scalar& scalar, std::int64_t scale, AttributeValue& value) const {
  const std::optional<std::string> bytes = from_base64(scalar.text);
  if (!bytes || bytes->empty()) {
    return ValueFault{"is not base64 of bytes",
                      fmt::format("if it is a number as text, declare it as decimal({})", type_.scale)};
  }
  const std::optional<std::int64_t> digits = integer_of(*bytes);
  std::int64_t scaled = 0;
  if (digits) {
    const std::string text = fmt::format("{}", *digits);
    Written number = *take_apart(text);
    number.exponent = -std::clamp<std::int64_t>(scale, -1'000'000, 1'000'000);
    switch (put_together(number, type_.scale, scaled)) {
      case Fit::good:
        value = scaled;
        return std::nullopt;
      case Fit::too_many_digits:
        return ValueFault{fmt::format("has more than {} digits after the point", type_.scale), "declare it with more digits"};
      case Fit::overflow:
        break;
    }
  }
  return ValueFault{fmt::format("does not fit in 64 bits as {}", named(type_)), "declare it with fewer digits, or as float"};
}

bool ValueReader::may_be_missing(const Scalar& scalar, const AttributeValue& value) noexcept {
  if (scalar.kind != Scalar::Kind::text || !std::holds_alternative<std::string_view>(value)) return false;
  return is_missing_value(scalar.text) || may_stand_for_none(scalar.text);
}

}  // namespace deltamatch::ingest

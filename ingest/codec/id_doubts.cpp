#include "ingest/codec/id_doubts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t most_spelt = std::size_t{1} << 17;
constexpr std::string_view digits = "0123456789";

std::string_view take_digits(std::string_view& text) noexcept {
  const std::string_view taken = text.substr(0, std::min(text.find_first_not_of(digits), text.size()));
  text.remove_prefix(taken.size());
  return taken;
}

/// The integer mantissa * 10^exponent. Nothing if it is none, or beyond 64 bits.
std::optional<std::int64_t> scaled(std::string mantissa, int exponent) {
  while (exponent < 0 && mantissa.size() > 1 && mantissa.back() == '0') {
    mantissa.pop_back();
    ++exponent;
  }
  std::int64_t value = 0;
  if (parse_integer(mantissa, value) != NumberFault::none) return std::nullopt;
  if (value == 0) return 0;
  if (exponent < 0) return std::nullopt;
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(value, std::int64_t{10}, &value)) return std::nullopt;
  }
  return value;
}

/// Whether a number has a sign behind its exponent. Other programs write it so; names such as 12e4 have none.
bool is_shortened(std::string_view text) noexcept { return text.find("e+") != text.npos || text.find("E+") != text.npos; }

/// Reads groups of three digits behind a first group: `,001,000`.
SpeltInteger read_groups(std::string mantissa, std::string_view rest) {
  constexpr std::size_t group = 3;
  while (!rest.empty()) {
    if (!rest.starts_with(',')) return {};
    rest.remove_prefix(1);
    const std::string_view three = take_digits(rest);
    if (three.size() != group) return {};
    mantissa += three;
  }
  const std::optional<std::int64_t> value = scaled(std::move(mantissa), 0);
  return value ? SpeltInteger{Spelling::grouped, value} : SpeltInteger{};
}

std::string remedy_of_alike(const OptionSpelling& spelling, Spelling form) {
  std::string remedy = "write them alike";
  if (form == Spelling::padded) remedy += fmt::format(", or {} reads both as one number", spelling.common("ids", "integer"));
  return fmt::format("{}, {} says that all ids are names", remedy, spelling.common("ids", "string"));
}

void tell_alike(Doubts& doubts, std::string_view text, std::string_view other, Spelling form) {
  doubts.tell("ids_alike",
              fmt::format("the ids {} and {} are the same number, but two vertices", in_ticks(text), in_ticks(other)),
              remedy_of_alike(doubts.spelling(), form));
}

void tell_grouped(Doubts& doubts, std::string_view text, std::int64_t value) {
  if (doubts.again("id_grouped")) return;
  doubts.tell("id_grouped", fmt::format("the id {} is the text, and not the number {}", in_ticks(text), value),
              fmt::format("write ids without separators of thousands; {} says that it is a name",
                          doubts.spelling().common("ids", "string")));
}

}  // namespace

SpeltInteger read_spelling(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  const bool signed_plus = rest.starts_with('+');
  if (negative || signed_plus) rest.remove_prefix(1);
  const std::string_view whole = take_digits(rest);
  if (whole.empty()) return {};
  std::string mantissa = (negative ? "-" : "") + std::string(whole);
  if (rest.empty()) {
    const bool canonical = !signed_plus && (whole == "0" ? !negative : whole[0] != '0');
    return {canonical ? Spelling::canonical : Spelling::padded, scaled(mantissa, 0)};
  }
  if (rest.starts_with(',') && whole.size() < 4) return read_groups(std::move(mantissa), rest);
  int exponent = 0;
  Spelling spelling = Spelling::fraction;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    const std::string_view fraction = take_digits(rest);
    if (fraction.empty()) return {};
    mantissa += fraction;
    exponent = -static_cast<int>(fraction.size());
  }
  if (rest.starts_with('e') || rest.starts_with('E')) {
    spelling = Spelling::exponent;
    rest.remove_prefix(rest.size() > 1 && rest[1] == '+' ? 2 : 1);
    int power = 0;
    constexpr std::size_t most_digits = 4;
    if (rest.size() > most_digits) return {};
    const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), power);
    if (code != std::errc()) return {};
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    exponent += power;
  }
  if (!rest.empty()) return {};
  const std::optional<std::int64_t> value = scaled(std::move(mantissa), exponent);
  if (!value && spelling == Spelling::fraction) return {};
  return {spelling, value};
}

void IdDoubts::see(const Id& id, Doubts& doubts, bool spellings) {
  if (id.is_text()) {
    see_text(id.text(), doubts, spellings);
    return;
  }
  const std::int64_t number = id.number();
  if (!texts_.seen.empty() && texts_.seen.contains(number)) [[unlikely]]
    doubts.tell_ids_of_two_kinds(number);
  if (!spelt_.empty()) {
    if (const auto other = spelt_.find(number); other != spelt_.end()) [[unlikely]]
      tell_alike(doubts, other->second, fmt::format("{}", number), read_spelling(other->second).spelling);
  }
  numbers_.remember(number);
}

void IdDoubts::see_text(std::string_view text, Doubts& doubts, bool spellings) {
  const auto [spelling, value] = read_spelling(text);
  if (spelling == Spelling::canonical && value) {
    if (numbers_.seen.contains(*value)) [[unlikely]]
      doubts.tell_ids_of_two_kinds(*value);
    texts_.remember(*value);
  }
  if (!spellings || spelling == Spelling::none || spelling == Spelling::canonical) return;
  if (spelling == Spelling::exponent && is_shortened(text)) {
    doubts.tell(
        "id_shortened",
        fmt::format("the id {} is a number as spreadsheets shorten it; other ids may have become the same", in_ticks(text)),
        fmt::format("export the column as text; {} says that it is a name", doubts.spelling().common("ids", "string")));
  }
  if (!value) return;
  if (numbers_.seen.contains(*value)) {
    tell_alike(doubts, text, fmt::format("{}", *value), spelling);
    return;
  }
  if (spelling == Spelling::grouped && !spelt_.contains(*value)) tell_grouped(doubts, text, *value);
  if (const auto other = spelt_.find(*value); other != spelt_.end()) {
    if (other->second != text) tell_alike(doubts, text, other->second, spelling);
  } else if (spelt_.size() < most_spelt) {
    spelt_.emplace(*value, text);
  }
}

std::optional<std::int64_t> IdDoubts::text_and_number(const IdDoubts& texts, const IdDoubts& numbers) {
  std::optional<std::int64_t> least;  // the first one would depend on how they are stored
  for (const std::int64_t id : texts.texts_.seen) {
    if (numbers.numbers_.seen.contains(id) && (!least || id < *least)) least = id;
  }
  return least;
}

std::optional<std::string> IdDoubts::spelt_number(const IdDoubts& texts, const IdDoubts& numbers) {
  std::optional<std::int64_t> least;
  for (const auto& [value, text] : texts.spelt_) {
    if (numbers.numbers_.seen.contains(value) && (!least || value < *least)) least = value;
  }
  return least ? std::optional(texts.spelt_.at(*least)) : std::nullopt;
}

std::optional<Warning> compare_ids(const Doubts& doubts, const std::string& name, const Doubts& others,
                                   const std::string& other_name) {
  if (doubts.ids() == nullptr || others.ids() == nullptr) return std::nullopt;
  const auto text = IdDoubts::text_and_number(*doubts.ids(), *others.ids());
  const auto number = text ? text : IdDoubts::text_and_number(*others.ids(), *doubts.ids());
  if (number) {
    return Warning{"ids_of_two_kinds", name,
                   fmt::format("the id {} is a {} here and a {} in {}, which are two vertices", *number,
                               text ? "text" : "number", text ? "number" : "text", other_name),
                   doubts.remedy_of_ids()};
  }
  const auto here = IdDoubts::spelt_number(*doubts.ids(), *others.ids());
  const auto spelt = here ? here : IdDoubts::spelt_number(*others.ids(), *doubts.ids());
  if (!spelt) return std::nullopt;
  return Warning{"ids_alike", name,
                 fmt::format("id {} {} is the same number, spelled differently {}: two vertices", in_ticks(*spelt),
                             here ? "here" : "in " + other_name, here ? "in " + other_name : "here"),
                 remedy_of_alike(doubts.spelling(), read_spelling(*spelt).spelling)};
}

}  // namespace deltamatch::ingest

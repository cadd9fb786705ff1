#include "ingest/codec/fields.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "ingest/text/clean_text.hpp"

namespace deltamatch::ingest {
namespace {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Whether an integer has its canonical spelling: no plus sign, no leading zeros, no -0.
bool is_canonical(std::string_view text) noexcept {
  if (text.starts_with('-')) return text.size() > 1 && text[1] != '0';
  return text == "0" || (!text.starts_with('0') && !text.starts_with('+'));
}

/// Whether a reader sees the character: no control character, no other blank than ' ', nothing of no width, and valid UTF-8.
bool is_visible(std::string_view character) noexcept {
  if (character.size() == 1) return character[0] >= 0x20 && character[0] < 0x7f;
  constexpr auto ranges = std::to_array<std::pair<std::string_view, std::string_view>>({{"\xc2\x80", "\xc2\xa0"},
                                                                                        {"\xc2\xad", "\xc2\xad"},
                                                                                        {"\xe2\x80\x80", "\xe2\x80\x8f"},
                                                                                        {"\xe2\x80\xa8", "\xe2\x80\xaf"},
                                                                                        {"\xe2\x81\x9f", "\xe2\x81\xaf"},
                                                                                        {"\xe3\x80\x80", "\xe3\x80\x80"},
                                                                                        {"\xef\xbb\xbf", "\xef\xbb\xbf"},
                                                                                        {"\xef\xbf\xbe", "\xef\xbf\xbf"}});
  return std::ranges::none_of(ranges, [&](const auto& range) { return range.first <= character && character <= range.second; });
}

}  // namespace

NumberFault parse_integer(std::string_view text, std::int64_t& value) noexcept {
  constexpr std::size_t surely_in_range = 18;
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative || text.starts_with('+') ? 1 : 0);
  if (digits.empty()) return NumberFault::not_a_number;
  if (digits.size() > surely_in_range) {
    if (!std::all_of(digits.begin(), digits.end(), is_digit)) return NumberFault::not_a_number;
    const std::string_view number = negative ? text : digits;
    const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), value);
    return code == std::errc() ? NumberFault::none : NumberFault::out_of_range;
  }
  std::int64_t sum = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return NumberFault::not_a_number;
    sum = sum * 10 + (c - '0');
  }
  value = negative ? -sum : sum;
  return NumberFault::none;
}

std::string_view fault_text(IdFault fault) noexcept {
  switch (fault) {
    case IdFault::none:
      return "is an id";
    case IdFault::empty:
      return "is empty";
    case IdFault::not_an_integer:
      return "is not an integer";
    case IdFault::out_of_range:
      return "exceeds 64 bits";
    case IdFault::control_character:
      return "holds a control character";
    case IdFault::missing:
      return "stands for a missing id";
  }
  return "is not an id";
}

bool is_missing_value(std::string_view text) noexcept {
  if (text == "\\N") return true;
  if (text.size() < 3 || text.size() > 4 || (text[0] != 'n' && text[0] != 'N')) return false;
  return same_letters(text, "null") || same_letters(text, "nan") || same_letters(text, "none");
}

bool may_stand_for_none(std::string_view text) noexcept {
  constexpr std::size_t longest = 9;
  if (text.size() > longest) return false;
  constexpr auto words = std::to_array<std::string_view>(
      {"na",        "n/a", "#n/a", "<na>", "nil",   "nat",     "(null)", "<null>",  "[null]", "(none)", "<none>",
       "undefined", "-",   "--",   "?",    "#ref!", "#value!", "#name?", "#div/0!", "#num!",  "#null!"});
  return std::ranges::any_of(words, [&](std::string_view word) { return same_letters(word, text); });
}

bool is_numeric(const Id& id) noexcept {
  std::int64_t number = 0;
  return !id.is_text() || parse_integer(id.text(), number) == NumberFault::none;
}

ByteKinds byte_kinds(std::string_view text) noexcept {
  // Eight bytes at a time. A difference borrows from the byte above only if a lower byte is found anyway.
  constexpr std::uint64_t ones = 0x0101'0101'0101'0101;
  constexpr std::uint64_t highest = 0x80 * ones;
  constexpr std::uint64_t blanks = 0x20 * ones;
  std::uint64_t control = 0;
  std::uint64_t other = 0;
  const auto see = [&](std::uint64_t bytes) {
    const std::uint64_t del = bytes ^ (0x7f * ones);
    control |= ((bytes - blanks) & ~bytes) | ((del - ones) & ~del);
    other |= bytes;
  };
  const auto load = [&]<class Word>(std::size_t at, Word word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    return static_cast<std::uint64_t>(word);
  };
  constexpr std::size_t width = sizeof(std::uint64_t);
  const std::size_t size = text.size();
  if (size >= width) {
    for (std::size_t at = 0; at + width <= size; at += width) see(load(at, std::uint64_t{}));
    see(load(size - width, std::uint64_t{}));
  } else if (size >= width / 2) {
    see(load(0, std::uint32_t{}) | load(size - width / 2, std::uint32_t{}) << 32);
  } else if (size != 0) {
    const auto byte = [&](std::size_t at) { return static_cast<std::uint64_t>(static_cast<unsigned char>(text[at])); };
    see(byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16 | (blanks << 24));
  }
  return {(control & highest) != 0, (other & highest) != 0};
}

IdFault parse_id(std::string_view text, IdKind kind, Id& id) noexcept {
  bool other = false;
  return parse_id(text, kind, id, other);
}

IdFault parse_id(std::string_view text, IdKind kind, Id& id, bool& other) noexcept {
  if (text.empty()) return IdFault::empty;
  if (kind == IdKind::integer || (kind == IdKind::automatic && (is_digit(text[0]) || text[0] == '-') && is_canonical(text))) {
    std::int64_t value = 0;
    const NumberFault fault = parse_integer(text, value);
    if (fault == NumberFault::none) {
      id = Id(value);
      return IdFault::none;
    }
    if (fault == NumberFault::out_of_range) return IdFault::out_of_range;
    if (kind == IdKind::integer) return IdFault::not_an_integer;
  }
  const ByteKinds bytes = byte_kinds(text);
  if (bytes.control) return IdFault::control_character;
  other = bytes.other;
  if (kind == IdKind::automatic && may_be_missing(text) && is_missing_value(text)) return IdFault::missing;
  id = Id(text);
  return IdFault::none;
}

std::string in_ticks(std::string_view text, std::size_t longest) {
  std::string out = "`";
  std::size_t at = 0;
  while (at < std::min(longest, text.size())) {
    const std::string_view character = text.substr(at, std::max<std::size_t>(utf8_length(text, at), 1));
    at += character.size();
    if (is_visible(character)) {
      out += character;
      continue;
    }
    for (const char c : character) {
      constexpr std::string_view digits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      out.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    }
  }
  return out + (at < text.size() ? "...`" : "`");
}

bool is_utf8(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string shell_quoted(std::string_view text) {
  const bool bare = !text.empty() && std::ranges::all_of(text, [](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c < 0;
    return letter || std::string_view("_-.,=:/@+%").find(c) != std::string_view::npos;
  });
  if (bare) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string(R"('\'')") : std::string(1, c);
  return quoted + "'";
}

bool same_letters(std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace deltamatch::ingest

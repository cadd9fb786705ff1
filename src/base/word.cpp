#include "base/word.hpp"

#include <algorithm>
#include <array>

namespace deltamatch {
namespace {

/// Accepts letters, digits and underscore. Beyond ASCII, accepts all characters except the blocks of spaces, punctuation,
/// arrows and symbols. So a no-break space or a typographic dash cannot hide in a label.
bool is_word_character(std::uint32_t code) noexcept {
  if (code < 0x80)
    return (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z') || code == '_';
  return code >= 0xc0 && !(code >= 0x2000 && code <= 0x2bff) && !(code >= 0x3000 && code <= 0x303f) && code != 0xfeff;
}

std::string in_backquotes(std::string_view text) {
  std::string result = "`";
  for (const char c : text) result.append(c == '`' ? 2 : 1, c);
  return result + '`';
}

}  // namespace

std::optional<Character> decode_utf8(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return Character{first, 1};
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return std::nullopt;
  std::uint32_t code = first & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return std::nullopt;
    code = code << 6 | (byte(i) & 0x3f);
  }
  return Character{code, size};
}

std::size_t plain_word_length(std::string_view text) noexcept {
  std::size_t length = 0;
  while (length < text.size()) {
    const auto character = decode_utf8(text.substr(length));
    if (!character || !is_word_character(character->code)) break;
    length += character->size;
  }
  return length;
}

bool same_word(std::string_view text, std::string_view capitals) noexcept {
  return std::equal(text.begin(), text.end(), capitals.begin(), capitals.end(),
                    [](char a, char b) { return (a >= 'a' && a <= 'z' ? static_cast<char>(a - 'a' + 'A') : a) == b; });
}

bool is_plain_word(std::string_view text) noexcept { return !text.empty() && plain_word_length(text) == text.size(); }

std::string quoted_word(std::string_view text) {
  return is_plain_word(text) && !same_word(text, "WHERE") ? std::string(text) : in_backquotes(text);
}

std::string quoted_condition_word(std::string_view text) {
  constexpr std::array<std::string_view, 12> keywords{"WHERE", "WITHIN", "AND",  "OR",    "NOT",      "IN",
                                                      "IS",    "NULL",   "TRUE", "FALSE", "DURATION", "DATETIME"};
  const bool plain =
      is_plain_word(text) && (text[0] < '0' || text[0] > '9') &&
      std::none_of(keywords.begin(), keywords.end(), [&](std::string_view word) { return same_word(text, word); });
  return plain ? std::string(text) : in_backquotes(text);
}

}  // namespace deltamatch

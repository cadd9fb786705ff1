// Words of the pattern language: names and labels, plain or in backquotes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace deltamatch {

/// A character of UTF-8 and its length in bytes.
struct Character {
  std::uint32_t code;
  std::size_t size;
};
/// Decodes the character at the start of `text`, which is not empty. Returns nullopt if the bytes are not UTF-8.
[[nodiscard]] std::optional<Character> decode_utf8(std::string_view text) noexcept;

/// Returns the length of the plain word at the start of `text`; 0 if there is none.
[[nodiscard]] std::size_t plain_word_length(std::string_view text) noexcept;

/// Whether the text is this word, in any case. `capitals` is in capitals.
[[nodiscard]] bool same_word(std::string_view text, std::string_view capitals) noexcept;

/// Whether a name or label needs no backquotes.
[[nodiscard]] bool is_plain_word(std::string_view text) noexcept;

/// The word as a path writes it: in backquotes, if it needs them.
[[nodiscard]] std::string quoted_word(std::string_view text);

/// The word as a condition writes it. There, keywords and words that begin with a digit need backquotes, too.
[[nodiscard]] std::string quoted_condition_word(std::string_view text);

}  // namespace deltamatch

// Tokens of the pattern language.
#pragma once

#include <cstdint>
#include <string>

#include "query/source_text.hpp"

namespace deltamatch::query {

enum class TokenKind : std::uint8_t {
  end,
  word,  ///< a name or label, plain or in backquotes
  left_parenthesis,
  right_parenthesis,
  left_bracket,
  right_bracket,
  colon,
  comma,
  pipe,
  minus,
  less,
  greater,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::size_t offset = 0;
  bool backquoted = false;  ///< of a word
  std::string text;         ///< of a word, without its backquotes; of others, as it stands
};

/// Whether a name or label can stand without backquotes.
[[nodiscard]] bool is_plain_word(std::string_view text) noexcept;

/// Splits a text into tokens, one at a time. The SourceText outlives it.
class Lexer {
 public:
  explicit Lexer(const SourceText& source) : source_(source) {}
  /// Skips white space and comments. At the end of the text: TokenKind::end, as often as asked. Throws Error(configuration) at
  /// a character that no token begins with.
  [[nodiscard]] Token next();

 private:
  void skip_blanks();
  [[nodiscard]] Token backquoted_word();

  const SourceText& source_;
  std::size_t position_ = 0;
};

}  // namespace deltamatch::query

// Tokens of the pattern language.
#pragma once

#include <cstdint>
#include <string>

#include "query/source_text.hpp"

namespace deltamatch::query {

enum class TokenKind : std::uint8_t {
  end,
  word,  ///< a name or a label, plain or in backquotes
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
  bool backquoted = false;  ///< for words
  std::string text;         ///< of a word, without its backquotes; of other tokens, as written
};

/// Whether a name or label needs no backquotes.
[[nodiscard]] bool is_plain_word(std::string_view text) noexcept;

/// Splits a text into tokens, one at a time. The SourceText must outlive it.
class Lexer {
 public:
  explicit Lexer(const SourceText& source) : source_(source) {}
  /// Returns the next token after white space and comments. At the end of the text it returns TokenKind::end, also if called
  /// again. Throws Error(configuration) at a character that cannot start a token.
  [[nodiscard]] Token next();

 private:
  void skip_blanks();
  [[nodiscard]] Token backquoted_word();

  const SourceText& source_;
  std::size_t position_ = 0;
};

}  // namespace deltamatch::query

// Tokens of the pattern language.
#pragma once

#include <cstdint>
#include <string>

#include "query/source_text.hpp"

namespace deltamatch::query {

enum class TokenKind : std::uint8_t {
  end,
  word,    ///< a name or a label, plain or in backquotes
  number,  ///< in conditions: digits, with a fraction, an exponent or a unit: 1000, 0.8, 1e6, 24h
  text,    ///< in conditions: in quotes
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
  left_brace,
  right_brace,
  star,
  exclamation,  ///< this and the next two: in labels only
  ampersand,
  percent,
  dot,  ///< this and all below: in conditions only
  plus,
  equal,
  not_equal,
  less_equal,
  greater_equal,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::size_t offset = 0;
  bool backquoted = false;  ///< for words
  std::string text;         ///< of a word or text, without its quotes; of other tokens, as written
};

/// Splits a text into tokens, one at a time. The SourceText must outlive it.
class Lexer {
 public:
  explicit Lexer(const SourceText& source) : source_(source) {}
  /// Whether the next tokens are those of a condition. At the start they are those of a path.
  void set_in_condition(bool in_condition) noexcept { in_condition_ = in_condition; }
  /// Whether the next tokens are those of labels.
  void set_in_labels(bool in_labels) noexcept { in_labels_ = in_labels; }
  /// Returns the next token after white space and comments. At the end of the text it returns TokenKind::end, also if called
  /// again. Throws Error(configuration) at a character that cannot start a token.
  [[nodiscard]] Token next();

 private:
  void skip_blanks();
  [[nodiscard]] Token backquoted_word();
  [[nodiscard]] Token quoted_text();

  const SourceText& source_;
  std::size_t position_ = 0;
  bool in_condition_ = false;
  bool in_labels_ = false;
};

}  // namespace deltamatch::query

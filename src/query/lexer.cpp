#include "query/lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "base/word.hpp"

namespace deltamatch::query {
namespace {

TokenKind symbol(char c) noexcept {
  switch (c) {
    case '(':
      return TokenKind::left_parenthesis;
    case ')':
      return TokenKind::right_parenthesis;
    case '[':
      return TokenKind::left_bracket;
    case ']':
      return TokenKind::right_bracket;
    case ':':
      return TokenKind::colon;
    case ',':
      return TokenKind::comma;
    case '|':
      return TokenKind::pipe;
    case '-':
      return TokenKind::minus;
    case '<':
      return TokenKind::less;
    case '>':
      return TokenKind::greater;
    case '{':
      return TokenKind::left_brace;
    case '}':
      return TokenKind::right_brace;
    case '*':
      return TokenKind::star;
    default:
      return TokenKind::end;
  }
}

/// The token that only labels have.
TokenKind label_symbol(char c) noexcept {
  return c == '!' ? TokenKind::exclamation : c == '&' ? TokenKind::ampersand : c == '%' ? TokenKind::percent : TokenKind::end;
}

/// The token at the start of `text` that only conditions have, with its length. Length 0: there is none.
std::pair<TokenKind, std::size_t> condition_symbol(std::string_view text) noexcept {
  if (text.starts_with("<>")) return {TokenKind::not_equal, 2};
  if (text.starts_with("<=")) return {TokenKind::less_equal, 2};
  if (text.starts_with(">=")) return {TokenKind::greater_equal, 2};
  switch (text[0]) {
    case '.':
      return {TokenKind::dot, 1};
    case '+':
      return {TokenKind::plus, 1};
    case '*':
      return {TokenKind::star, 1};
    case '=':
      return {TokenKind::equal, 1};
    default:
      return {TokenKind::end, 0};
  }
}

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Returns the length of the number at the start of `text`, with fraction, exponent and unit; 0 if there is none.
std::size_t number_length(std::string_view text) noexcept {
  std::size_t length = 0;
  const auto digits = [&] {
    while (length < text.size() && is_digit(text[length])) ++length;
  };
  digits();
  if (length == 0) return 0;
  if (length + 1 < text.size() && text[length] == '.' && is_digit(text[length + 1])) {
    ++length;
    digits();
  }
  if (length + 2 < text.size() && (text[length] == 'e' || text[length] == 'E') &&
      (text[length + 1] == '+' || text[length + 1] == '-') && is_digit(text[length + 2])) {
    length += 2;
    digits();
  }
  return length + plain_word_length(text.substr(length));
}

/// Refuses operators of other languages in a condition.
void refuse_operator(const SourceText& source, std::size_t offset) {
  switch (source.text()[offset]) {
    case '/':
    case '^':
      source.fail(offset, fmt::format("unexpected '{}'", source.text()[offset]), "a condition calculates with +, - and * only");
    case '!':
      source.fail(offset, "unexpected '!'", "write <> for not equal, and NOT for the contrary of a condition");
    case '&':
      source.fail(offset, "unexpected '&'", "join conditions by AND");
    case '$':
      source.fail(offset, "unexpected '$'", "a pattern has no parameters: write the value itself");
    default:
      break;
  }
}

// What editors and web pages put in place of -, --> and quotes.
bool is_dash(std::uint32_t code) noexcept { return (code >= 0x2010 && code <= 0x2015) || code == 0x2212; }
bool is_arrow(std::uint32_t code) noexcept {
  return (code >= 0x2190 && code <= 0x21ff) || (code >= 0x27f0 && code <= 0x27ff) || (code >= 0x2900 && code <= 0x297f);
}
bool is_quote(std::uint32_t code) noexcept {
  return (code >= 0x2018 && code <= 0x201f) || code == 0xab || code == 0xbb || code == 0xb4;
}

[[noreturn]] void refuse_character(const SourceText& source, std::size_t offset, bool in_condition) {
  const std::string_view rest = source.text().substr(offset);
  const auto character = decode_utf8(rest);
  if (!character) {
    source.fail(offset, fmt::format("unexpected byte 0x{:02x}, which is not UTF-8", static_cast<unsigned char>(rest[0])),
                "put labels with such bytes in backquotes");
  }
  if (in_condition) refuse_operator(source, offset);
  switch (character->code) {
    case '+':
    case '?':
      source.fail(offset, fmt::format("unexpected '{}'", rest[0]), "write the bounds of a path: -[:TRANSFER]->{1,4}");
    case '"':
    case '\'':
      source.fail(offset, fmt::format("unexpected {}", rest[0]), "quote names and labels with backquotes: `...`");
    case ';':
      source.fail(offset, "unexpected ';'", "leave it out, and join the paths of the pattern by commas");
    case '%':
      source.fail(offset, "unexpected '%'", "begin comments with // or #");
    case '!':
      source.fail(offset, "unexpected '!'", "write labels that must be absent as :!A");
    case '&':
      source.fail(offset, "unexpected '&'", "write labels that must all be there as :A&B");
    default:
      break;
  }
  const std::string code = fmt::format("character U+{:04X}", character->code);
  if (is_dash(character->code)) source.fail(offset, "unexpected " + code, "write - in place of this dash");
  if (is_arrow(character->code)) source.fail(offset, "unexpected " + code, "write --> or <-- in place of this arrow");
  if (is_quote(character->code)) source.fail(offset, "unexpected " + code, "quote names and labels with backquotes: `...`");
  const std::string name = character->code > 0x20 && character->code < 0x7f ? fmt::format("'{}'", rest[0]) : code;
  source.fail(offset, "unexpected " + name,
              "put names and labels in backquotes if they have characters other than letters, digits and _");
}

}  // namespace

void Lexer::skip_blanks() {
  const std::string_view text = source_.text();
  while (position_ < text.size()) {
    if (text[position_] == '#' || text.substr(position_).starts_with("//")) {
      position_ = std::min(text.find('\n', position_), text.size());
    } else if (std::string_view(" \t\r\n\f\v").find(text[position_]) != std::string_view::npos) {
      ++position_;
    } else {
      break;
    }
  }
}

Token Lexer::backquoted_word() {
  const std::string_view text = source_.text();
  Token token{TokenKind::word, position_, true, {}};
  for (++position_; position_ < text.size(); ++position_) {
    if (text[position_] == '`') {
      ++position_;
      if (position_ == text.size() || text[position_] != '`') return token;
    }
    token.text.push_back(text[position_]);
  }
  source_.fail(token.offset, "this backquote is not closed", "close it with another; within backquotes, write ` as ``");
}

Token Lexer::quoted_text() {
  const std::string_view text = source_.text();
  Token token{TokenKind::text, position_, false, {}};
  const char quote = text[position_];
  for (++position_; position_ < text.size(); ++position_) {
    char c = text[position_];
    if (c == quote) {
      ++position_;
      return token;
    }
    if (c == '\\' && position_ + 1 < text.size()) {
      constexpr std::string_view escapes = "\\'\"nt";
      constexpr std::string_view meanings = "\\'\"\n\t";
      const std::size_t escape = escapes.find(text[++position_]);
      if (escape == std::string_view::npos) {
        source_.fail(position_ - 1, "an unknown escape in a text", "known are \\\\, \\', \\\", \\n and \\t");
      }
      c = meanings[escape];
    }
    token.text.push_back(c);
  }
  source_.fail(token.offset, "a quote that is not closed", fmt::format("close it with another {}", quote));
}

Token Lexer::next() {
  skip_blanks();
  const std::string_view rest = source_.text().substr(position_);
  if (rest.empty()) return {TokenKind::end, position_, false, {}};
  if (rest[0] == '`') return backquoted_word();
  if (in_condition_ && (rest[0] == '\'' || rest[0] == '"')) return quoted_text();
  Token token{TokenKind::word, position_, false, {}};
  std::size_t length = in_condition_ ? number_length(rest) : 0;
  if (length > 0) {
    token.kind = TokenKind::number;
  } else {
    length = plain_word_length(rest);
  }
  if (length == 0 && in_condition_) std::tie(token.kind, length) = condition_symbol(rest);
  if (length == 0) {
    token.kind = symbol(rest[0]);
    if (token.kind == TokenKind::end && in_labels_) token.kind = label_symbol(rest[0]);
    if (rest[0] == ';' && in_labels_) source_.fail(position_, "unexpected ';'", "write labels that must all be there as :A&B");
    if (token.kind == TokenKind::end) refuse_character(source_, position_, in_condition_);
    length = 1;
  }
  token.text = rest.substr(0, length);
  position_ += length;
  return token;
}

}  // namespace deltamatch::query

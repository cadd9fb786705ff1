#include "query/lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace deltamatch::query {
namespace {

/// Decodes the UTF-8 character at the start of `text`, with its length. Returns nullopt if the bytes are not UTF-8.
struct Character {
  std::uint32_t code;
  std::size_t size;
};
std::optional<Character> decode(std::string_view text) noexcept {
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

/// Accepts letters, digits and underscore. Beyond ASCII, accepts all characters except the blocks of spaces, punctuation,
/// arrows and symbols. So a no-break space or a typographic dash cannot hide in a label.
bool is_word_character(std::uint32_t code) noexcept {
  if (code < 0x80)
    return (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z') || code == '_';
  return code >= 0xc0 && !(code >= 0x2000 && code <= 0x2bff) && !(code >= 0x3000 && code <= 0x303f) && code != 0xfeff;
}

/// Returns the length of the plain word at the start of `text`; 0 if there is none.
std::size_t plain_word_length(std::string_view text) noexcept {
  std::size_t length = 0;
  while (length < text.size()) {
    const auto character = decode(text.substr(length));
    if (!character || !is_word_character(character->code)) break;
    length += character->size;
  }
  return length;
}

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
    default:
      return TokenKind::end;
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

[[noreturn]] void refuse_character(const SourceText& source, std::size_t offset) {
  const std::string_view rest = source.text().substr(offset);
  const auto character = decode(rest);
  if (!character) {
    source.fail(offset, fmt::format("unexpected byte 0x{:02x}, which is not UTF-8", static_cast<unsigned char>(rest[0])),
                "put labels with such bytes in backquotes");
  }
  switch (character->code) {
    case '{':
      source.fail(offset, "unexpected '{'", "use labels only: a pattern has no properties");
    case '*':
      source.fail(offset, "unexpected '*'", "write each edge of the path; for any label, leave the label out");
    case '"':
    case '\'':
      source.fail(offset, fmt::format("unexpected {}", rest[0]), "quote names and labels with backquotes: `...`");
    case ';':
      source.fail(offset, "unexpected ';'", "leave it out, and join the paths of the pattern by commas");
    case '%':
      source.fail(offset, "unexpected '%'", "begin comments with // or #");
    case '!':
      source.fail(offset, "unexpected '!'", "a pattern has no negation: write the labels that may stand, with | between them");
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

bool is_plain_word(std::string_view text) noexcept { return !text.empty() && plain_word_length(text) == text.size(); }

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

Token Lexer::next() {
  skip_blanks();
  const std::string_view rest = source_.text().substr(position_);
  if (rest.empty()) return {TokenKind::end, position_, false, {}};
  if (rest[0] == '`') return backquoted_word();
  Token token{TokenKind::word, position_, false, {}};
  std::size_t length = plain_word_length(rest);
  if (length == 0) {
    token.kind = symbol(rest[0]);
    if (token.kind == TokenKind::end) refuse_character(source_, position_);
    length = 1;
  }
  token.text = rest.substr(0, length);
  position_ += length;
  return token;
}

}  // namespace deltamatch::query

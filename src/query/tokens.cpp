#include "query/tokens.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/nearest.hpp"
#include "base/word.hpp"

namespace deltamatch::query {

bool Tokens::is_keyword(std::string_view keyword) const noexcept {
  return token_.kind == TokenKind::word && !token_.backquoted && same_word(token_.text, keyword);
}

Token Tokens::take() {
  Token token = std::move(token_);
  advance();
  return token;
}

void Tokens::enter_condition() {
  lexer_.set_in_condition(true);
  advance();
}

namespace {

/// The words in capitals.
std::vector<std::string> keywords_in(std::string_view what) {
  std::vector<std::string> words;
  bool within = false;
  for (const char c : what) {
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital && !within) words.emplace_back();
    if (capital) words.back() += c;
    within = capital;
  }
  return words;
}

}  // namespace

void Tokens::fail_expected(std::string_view what, std::string_view remedy) const {
  const std::string found = token_.kind == TokenKind::end
                                ? "the text ends"
                                : fmt::format("found {1}{0}{1}", shown(token_.text), token_.backquoted ? "`" : "'");
  const bool plain = token_.kind == TokenKind::word && !token_.backquoted;
  const std::string meant = plain ? nearest(token_.text, keywords_in(what)) : std::string();
  fail(fmt::format("expected {}, but {}", what, found), meant.empty() ? remedy : fmt::format("did you mean {}?", meant));
}

void Tokens::expect(TokenKind kind, std::string_view what, std::string_view remedy) {
  if (token_.kind != kind) fail_expected(what, remedy);
  advance();
}

}  // namespace deltamatch::query

#include "query/tokens.hpp"

#include <fmt/format.h>

#include <utility>

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

void Tokens::fail_expected(std::string_view what, std::string_view remedy) const {
  const std::string found = token_.kind == TokenKind::end
                                ? "the text ends"
                                : fmt::format("found {1}{0}{1}", shown(token_.text), token_.backquoted ? "`" : "'");
  fail(fmt::format("expected {}, but {}", what, found), remedy);
}

void Tokens::expect(TokenKind kind, std::string_view what, std::string_view remedy) {
  if (token_.kind != kind) fail_expected(what, remedy);
  advance();
}

}  // namespace deltamatch::query

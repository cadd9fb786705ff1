#include "query/path_syntax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/word.hpp"

namespace deltamatch::query {
namespace {

constexpr std::string_view braces_remedy = "write a path of 1 to 4 edges as -[:TRANSFER]->{1,4}, and one of 3 edges as {3}";
constexpr std::string_view star_remedy = "write a path of 1 to 4 edges as -[:TRANSFER*1..4]->, and one of 3 edges as *3";

/// The number at this place, which is taken; nullopt if there is none. Larger numbers than any bound become one of them.
std::optional<std::uint32_t> number_here(Tokens& tokens) {
  const Token& token = tokens.now();
  if (token.kind != TokenKind::number && (token.kind != TokenKind::word || token.backquoted)) return std::nullopt;
  constexpr std::uint32_t large = 1000;
  std::uint32_t number = 0;
  for (const char c : token.text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = std::min(large, 10 * number + static_cast<std::uint32_t>(c - '0'));
  }
  if (token.text.empty()) return std::nullopt;
  tokens.advance();
  return number;
}

[[noreturn]] void refuse_unbounded(const Tokens& tokens, std::size_t offset) {
  tokens.fail_at(offset, "a path without an upper bound",
                 fmt::format("give one of at most {}: {{1,{}}} behind the edge, or *1..{} inside it", max_path_steps,
                             max_path_steps, max_path_steps));
}

Quantifier checked(const Tokens& tokens, std::size_t offset, Quantifier bounds) {
  if (bounds.least == 0) {
    tokens.fail_at(offset, "a path of length 0",
                   "begin at 1, as in {1,4}; for the case without the path, write a second query");
  }
  if (bounds.most > max_path_steps) {
    tokens.fail_at(offset, fmt::format("a path of more than {} edges", max_path_steps),
                   fmt::format("give an upper bound of at most {}", max_path_steps));
  }
  if (bounds.least > bounds.most) {
    tokens.fail_at(offset, "the lower bound of a path is above the upper bound", "exchange them");
  }
  return bounds;
}

}  // namespace

Quantifier parse_braces(Tokens& tokens) {
  const std::size_t offset = tokens.now().offset;
  tokens.advance();
  const auto least = number_here(tokens);
  if (!tokens.is(TokenKind::comma)) {
    if (!least) tokens.fail_expected("the length of a path", braces_remedy);
    tokens.expect(TokenKind::right_brace, "',' or '}'", braces_remedy);
    return checked(tokens, offset, {*least, *least});
  }
  tokens.advance();
  const auto most = number_here(tokens);
  if (!most && tokens.is(TokenKind::right_brace)) refuse_unbounded(tokens, offset);
  if (!most) tokens.fail_expected("the greatest length of a path", braces_remedy);
  tokens.expect(TokenKind::right_brace, "'}'", braces_remedy);
  return checked(tokens, offset, {least.value_or(0), *most});  // GQL lets {,4} begin at 0
}

Quantifier parse_star(Tokens& tokens) {
  const std::size_t offset = tokens.now().offset;
  tokens.enter_condition();  // conditions have numbers and points
  const auto least = number_here(tokens);
  if (!tokens.is(TokenKind::dot)) {
    tokens.end_condition();
    if (!least) refuse_unbounded(tokens, offset);
    return checked(tokens, offset, {*least, *least});
  }
  tokens.advance();
  tokens.expect(TokenKind::dot, "'..'", star_remedy);
  const auto most = number_here(tokens);
  tokens.end_condition();
  if (!most) refuse_unbounded(tokens, offset);
  return checked(tokens, offset, {least.value_or(1), *most});  // Cypher lets *..4 begin at 1
}

}  // namespace deltamatch::query

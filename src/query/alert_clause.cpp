#include "query/alert_clause.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace deltamatch::query {
namespace {

constexpr std::string_view final_remedy = "write EMIT FINAL: a match is then reported once, when nothing can change it";
constexpr std::string_view once_remedy = "write ALERT ONCE PER (a) EVERY 1h, with vertices of the pattern and a duration";

void require_keyword(Tokens& tokens, std::string_view keyword, std::string_view remedy = once_remedy) {
  if (!tokens.is_keyword(keyword)) tokens.fail_expected(keyword, remedy);
}

void add_vertex(Tokens& tokens, std::vector<Mention>& vertices) {
  if (!tokens.is(TokenKind::word) || tokens.is_keyword("EVERY")) tokens.fail_expected("the name of a vertex", once_remedy);
  if (std::ranges::find(vertices, tokens.now().text, &Mention::name) != vertices.end())
    tokens.fail(fmt::format("the vertex '{}' is named twice", shown(tokens.now().text)), "name it once");
  vertices.push_back({tokens.now().text, tokens.now().offset, Mention::Use::vertex});
  tokens.advance();
}

/// Parses from behind ALERT.
void parse_once(Tokens& tokens, AlertClauses& clauses) {
  require_keyword(tokens, "ONCE");
  tokens.advance();
  require_keyword(tokens, "PER");
  tokens.advance();
  const bool enclosed = tokens.is(TokenKind::left_parenthesis);
  if (enclosed) tokens.advance();
  add_vertex(tokens, clauses.once_per);
  while (tokens.is(TokenKind::comma)) {
    tokens.advance();
    add_vertex(tokens, clauses.once_per);
  }
  if (enclosed) tokens.expect(TokenKind::right_parenthesis, "',' or ')'", once_remedy);
  require_keyword(tokens, "EVERY");
  tokens.enter_condition();
  clauses.every = parse_period(tokens, "EVERY");
}

}  // namespace

AlertClauses parse_alert_clauses(Tokens& tokens) {
  AlertClauses clauses;
  while (true) {
    if (tokens.is_keyword("ALERT")) {
      if (clauses.every) tokens.fail("a second ALERT", "a pattern has one ALERT ONCE: name all vertices in it");
      tokens.advance();
      parse_once(tokens, clauses);
    } else if (tokens.is_keyword("EMIT")) {
      if (clauses.emit_final) tokens.fail("a second EMIT", "write it once");
      clauses.emit_final = tokens.now().offset;
      tokens.advance();
      require_keyword(tokens, "FINAL", final_remedy);
      tokens.advance();
    } else {
      return clauses;
    }
  }
}

}  // namespace deltamatch::query

// Queries with conditions are written so that the same query is read again.
#include <array>
#include <string>

#include "deltamatch/error.hpp"
#include "property/draw.hpp"

namespace deltamatch::property {
namespace {

/// Cuts zeros at the end of decimals, which the language does not tell apart: 1.50 is 1.5.
void shorten(Expression& node) {
  if (auto* number = std::get_if<Decimal>(&node.literal)) {
    for (; number->scale > 0 && number->digits % 10 == 0; --number->scale) number->digits /= 10;
  }
  for (Expression& operand : node.operands) shorten(operand);
}

/// Gives elements names that need care: keywords, numbers, blanks, backquotes.
void rename(Query& query) {
  static const std::array<std::string, 12> names = {"where", "WITHIN", "and",  "24h", "id",   "_1",
                                                    "a b",   "`",      "null", "1",   "time", "\xc3\xa9"};
  const std::size_t shift = static_cast<std::size_t>(*below(12));
  std::size_t next = 0;
  const auto rename = [&](std::string& name) {
    const std::string fresh = names[(shift + next) % names.size()] + (next < names.size() ? "" : std::to_string(next));
    ++next;
    if (!name.empty()) name = fresh;
  };
  for (QueryVertex& vertex : query.vertices) rename(vertex.name);
  for (QueryEdge& edge : query.edges) rename(edge.name);
}

/// Whether some lengths of its paths can satisfy its conditions. If none can, it is refused.
bool may_match(const Query& query) {
  try {
    validate(query, "query");
    return true;
  } catch (const Error& error) {
    if (std::string(error.what()).find("no length of the paths") == std::string::npos) throw;
    return false;
  }
}

void hold_on(const Traits& traits) {
  hold(300, [&] {
    const Scenario scenario = *scenarios(traits);
    for (const Standing& standing : scenario.queries) {
      Query query = standing.query;
      if (query.where) shorten(*query.where);
      for (QueryEdge& edge : query.edges) {
        if (edge.each) shorten(*edge.each);
      }
      if (*below(2) == 1) rename(query);
      if (!may_match(query)) continue;
      const std::string text = to_pattern(query);
      RC_LOG() << text << '\n';
      RC_ASSERT(parse_pattern(text, query.name) == query);
      RC_ASSERT(to_pattern(parse_pattern(text, query.name)) == text);
    }
  });
}

TEST(PatternText, QueriesOfEventsAreReadAgain) { hold_on({.edges = EdgeModel::events, .attributes = true}); }
TEST(PatternText, QueriesOfKeyedEdgesAreReadAgain) { hold_on({.large = true, .edges = EdgeModel::keyed, .within = true}); }
TEST(PatternText, QueriesWithPathsAreReadAgain) { hold_on({.edges = EdgeModel::keyed, .attributes = true, .paths = true}); }
TEST(PatternText, QueriesOnVerticesAreReadAgain) { hold_on({.attributes = true}); }

}  // namespace
}  // namespace deltamatch::property

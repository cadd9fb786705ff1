// The pattern language, by recursive descent:
//
//   pattern = ["MATCH"] path {"," path} ["WHERE" condition] ["WITHIN" duration] [alerts]
//   path    = vertex {edge vertex}
//   vertex  = "(" element ")"
//   edge    = "-" ["[" step "]"] "-" ">" [braces]   left to right; without brackets: -->
//           | "<" "-" ["[" step "]"] "-" [braces]   right to left;                   <--
//           | "-" ["[" step "]"] "-" [braces]       undirected;                      --
//   step    = [word] [labels] [star] [values] ["WHERE" condition]
//   braces  = "{" number "}" | "{" number "," number "}"
//   star    = "*" number | "*" [number] ".." number
//   element = [word] [labels] [values] ["WHERE" condition]
//   values  = "{" word ":" literal {"," word ":" literal} "}"
//   labels  = ":" any-of {":" word}
//   any-of  = all-of {"|" all-of}
//   all-of  = {"!"} one {"&" {"!"} one}
//   one     = word | "%" | "(" any-of ")"
//
// condition_parser.hpp has the grammar of conditions, alert_clause.hpp that of alerts. Within them, COUNT { counted } and
// EXISTS { counted } stand for
//
//   counted = ["DISTINCT" word {"," word} "|"] path {"," path} ["WHERE" condition]
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/nearest.hpp"
#include "base/word.hpp"
#include "condition/form.hpp"
#include "query/alert_clause.hpp"
#include "query/condition_parser.hpp"
#include "query/counted_scope.hpp"
#include "query/flaw.hpp"
#include "query/label_expression.hpp"
#include "query/mention.hpp"
#include "query/path_syntax.hpp"
#include "query/tokens.hpp"

namespace deltamatch {
namespace query {
namespace {

constexpr std::string_view vertex_remedy = "write a vertex as (name:Label), (name), (:Label) or ()";
constexpr std::string_view bounds_remedy = "write the bounds behind one edge: (a)-[t]->{2,3}(b)";
constexpr std::string_view close_remedy =
    "write a vertex as (name:Label), and other characters than letters, digits and _ in backquotes";
constexpr std::string_view edge_remedy = "write an edge as -[:LABEL]->, <-[:LABEL]-, -[:LABEL]-, -->, <-- or --";

/// Joins conditions by AND. A conjunction among them gives its own parts.
std::optional<Expression> conjunction(std::vector<Expression> conditions) {
  std::vector<Expression> parts;
  for (Expression& condition : conditions) {
    if (condition.kind == Expression::Kind::logical_and) {
      std::move(condition.operands.begin(), condition.operands.end(), std::back_inserter(parts));
    } else {
      parts.push_back(std::move(condition));
    }
  }
  if (parts.empty()) return std::nullopt;
  if (parts.size() == 1) return std::move(parts.front());
  return Expression{Expression::Kind::logical_and, {}, {}, {}, std::move(parts)};
}

class PatternParser final : public CountedPatterns {
 public:
  PatternParser(Tokens& tokens, std::string_view name) : tokens_(tokens) { query_.name = name; }

  Query parse() {
    if (tokens_.is_keyword("MATCH")) {
      tokens_.advance();
    } else if (tokens_.is(TokenKind::word) && !nearest(tokens_.now().text, {"MATCH"}).empty()) {
      tokens_.fail_expected("MATCH or a vertex", vertex_remedy);
    }
    if (tokens_.is(TokenKind::end))
      tokens_.fail("the pattern is empty", "write paths such as (a:Account)-[:TRANSFER]->(b:Account)");
    path();
    while (tokens_.is(TokenKind::comma)) {
      tokens_.advance();
      path();
    }
    if (tokens_.is_keyword("WHERE")) {
      tokens_.enter_condition();
      where();
    }
    if (tokens_.is_keyword("WITHIN")) {
      tokens_.enter_condition();
      query_.within = parse_period(tokens_, "WITHIN");
    }
    const AlertClauses alerts = parse_alert_clauses(tokens_);
    ends_in_alerts_ = alerts.any();
    if (!tokens_.is(TokenKind::end)) refuse_rest();
    refuse_idle_names();
    name_anonymous();
    place_conditions();
    resolve(alerts);
    refuse_flaws(query_, places_, tokens_.source());
    return std::move(query_);
  }

  std::uint32_t parse_counted() override {
    if (within_count_) tokens_.fail("a count within a count", "count a pattern of one edge, or a path of two");
    PatternParser inner(tokens_, {});
    counted_.push_back(inner.parse_scope());
    return static_cast<std::uint32_t>(counted_.size() - 1);
  }

 private:
  /// Parses what is counted, from the opening brace to behind the closing one.
  CountedScope parse_scope() {
    within_count_ = true;
    CountedScope scope;
    scope.offset = tokens_.now().offset;
    tokens_.end_condition();
    tokens_.advance();
    if (tokens_.is_keyword("DISTINCT")) {
      do {
        tokens_.advance();
        if (!tokens_.is(TokenKind::word))
          tokens_.fail_expected("the name of a vertex", "write COUNT { DISTINCT s | (s)-->(a) }");
        scope.distinct.push_back({tokens_.now().text, tokens_.now().offset, Mention::Use::vertex});
        tokens_.advance();
      } while (tokens_.is(TokenKind::comma));
      tokens_.expect(TokenKind::pipe, "',' or '|'", "write COUNT { DISTINCT s | (s)-->(a) }");
    }
    if (tokens_.is_keyword("MATCH")) tokens_.fail("MATCH in a counted pattern", "leave it out: braces hold a path");
    path();
    while (tokens_.is(TokenKind::comma)) {
      tokens_.advance();
      path();
    }
    if (tokens_.is_keyword("WHERE")) {
      tokens_.enter_condition();
      where();
    }
    if (!tokens_.is(TokenKind::right_brace)) {
      for (const std::string_view clause : {"WITHIN", "ALERT", "EMIT"}) {
        if (tokens_.is_keyword(clause))
          tokens_.fail(fmt::format("{} in a counted pattern", clause), "write it at the end of the whole pattern");
      }
      if (tokens_.is_keyword("RETURN"))
        tokens_.fail("RETURN in a counted pattern", "leave it out: matches of what is in braces are counted");
      if (!pending_.empty()) refuse_after_condition("'}'");
      tokens_.fail_expected("',', WHERE or '}'", "close what is counted by a brace");
    }
    tokens_.enter_condition();
    refuse_idle_names();
    scope.query = std::move(query_);
    scope.properties = std::move(conditions_);
    for (Pending& pending : pending_) scope.conditions.push_back(std::move(pending.condition));
    scope.mentions = std::move(mentions_);
    scope.places = std::move(places_);
    return scope;
  }

  void path() {
    for (const std::string_view choice : {"SHORTEST", "ANY", "ALL", "SHORTESTPATH", "ALLSHORTESTPATHS"}) {
      if (tokens_.is_keyword(choice)) tokens_.fail(fmt::format("unexpected '{}'", shown(tokens_.now().text)), bounds_remedy);
    }
    if (tokens_.is(TokenKind::word) && names_path()) {
      tokens_.fail_expected("a vertex", fmt::format("leave '{} =' out: a path has no name, and in a file the file's name is "
                                                    "the query's",
                                                    shown(tokens_.now().text)));
    }
    std::uint32_t left = vertex();
    while (tokens_.is(TokenKind::minus) || tokens_.is(TokenKind::less)) left = edge(left);
  }

  /// Whether an equals sign stands behind the present word.
  [[nodiscard]] bool names_path() const {
    const Token& name = tokens_.now();
    const std::string_view rest = tokens_.source().text().substr(name.offset);
    const std::size_t behind = name.backquoted ? rest.find('`', 1) + 1 : name.text.size();
    const std::size_t sign = rest.find_first_not_of(" \t\r\n", behind);
    return sign != std::string_view::npos && rest[sign] == '=';
  }

  /// Parses one mention of a vertex and returns the vertex's index.
  std::uint32_t vertex() {
    const std::size_t offset = tokens_.now().offset;
    tokens_.expect(TokenKind::left_parenthesis, "a vertex", vertex_remedy);
    if (tokens_.is(TokenKind::left_parenthesis)) tokens_.fail("a path in parentheses", bounds_remedy);
    std::string name;
    if (tokens_.is(TokenKind::word) && !tokens_.is_keyword("WHERE")) {
      if (tokens_.now().text.empty()) tokens_.fail("the name is empty", "leave it out: () is a vertex without a name");
      if (edge_names_.contains(tokens_.now().text)) refuse_double_name();
      name = tokens_.take().text;
    }
    const std::size_t labels_offset = tokens_.now().offset;
    LabelSet labels = parse_labels(tokens_, Element::Kind::vertex);

    const auto fresh = static_cast<std::uint32_t>(query_.vertices.size());
    const std::uint32_t index = name.empty() ? fresh : vertex_names_.try_emplace(name, fresh).first->second;
    if (index == fresh) {
      query_.vertices.push_back({std::move(name), std::move(labels)});
      places_.vertices.push_back(offset);
    } else if (LabelSet& known = query_.vertices[index].labels; known.empty()) {
      known = std::move(labels);
    } else if (!labels.empty() && labels != known) {
      tokens_.fail_at(labels_offset, fmt::format("vertex '{}' had other labels before", shown(name)),
                      "give its labels once, or the same each time");
    }
    element_condition({Element::Kind::vertex, index}, TokenKind::right_parenthesis);
    tokens_.expect(TokenKind::right_parenthesis, "')'", close_remedy);
    return index;
  }

  /// Parses an edge from the vertex `left`, and the vertex after it. Returns that vertex.
  std::uint32_t edge(std::uint32_t left) {
    const std::size_t offset = tokens_.now().offset;
    const bool leftwards = tokens_.is(TokenKind::less);
    const auto index = static_cast<std::uint32_t>(query_.edges.size());
    if (leftwards) tokens_.advance();
    tokens_.expect(TokenKind::minus, "'-'", edge_remedy);
    std::string name;
    LabelSet labels;
    std::optional<Quantifier> quantifier;
    if (tokens_.is(TokenKind::left_bracket)) {
      tokens_.advance();
      if (tokens_.is(TokenKind::word) && !tokens_.is_keyword("WHERE")) {
        if (tokens_.now().text.empty()) tokens_.fail("the name is empty", "leave it out: -[]-> is an edge without a name");
        if (vertex_names_.contains(tokens_.now().text) || !edge_names_.try_emplace(tokens_.now().text, index).second) {
          refuse_double_name();
        }
        if (tokens_.now().backquoted) quoted_names_.insert(tokens_.now().text);
        name = tokens_.take().text;
      }
      labels = parse_labels(tokens_, Element::Kind::edge);
      if (tokens_.is(TokenKind::star)) quantifier = quantified([&] { return parse_star(tokens_); });
      element_condition({Element::Kind::edge, index}, TokenKind::right_bracket);
      tokens_.expect(TokenKind::right_bracket, "']'", edge_remedy);
    }
    tokens_.expect(TokenKind::minus, "'-'", edge_remedy);
    const bool rightwards = tokens_.is(TokenKind::greater);
    if (rightwards && leftwards)
      tokens_.fail("the edge has two arrow heads", "write an edge of either direction as -[:LABEL]- or --");
    if (rightwards) tokens_.advance();
    if (tokens_.is(TokenKind::star)) tokens_.fail("a path without an upper bound", "write ->{1,8}, which is the longest path");
    if (tokens_.is(TokenKind::left_brace)) {
      if (quantifier) tokens_.fail("the edge has two quantifiers", "write either *1..4 inside it or {1,4} behind it");
      quantifier = quantified([&] { return parse_braces(tokens_); });
    }
    if (!tokens_.is(TokenKind::left_parenthesis)) {
      tokens_.fail_expected(rightwards || leftwards ? "a vertex" : "'>' or a vertex", vertex_remedy);
    }

    const std::uint32_t right = vertex();
    query_.edges.push_back({leftwards ? right : left,
                            leftwards ? left : right,
                            std::move(labels),
                            leftwards || rightwards,
                            std::move(name),
                            quantifier,
                            {}});
    places_.edges.push_back(offset);
    return right;
  }

  /// Parses a quantifier, at its first token. What is counted has none.
  template <typename Parse>
  Quantifier quantified(const Parse& parse) {
    if (within_count_) {
      tokens_.fail("a path with a quantifier within a count",
                   "write each of its edges, one or two: COUNT { (a)-->()-->(b) } >= 1");
    }
    return parse();
  }

  /// Parses {name: value} and WHERE inside an element, up to the `close` that ends it. That stays the present token.
  void element_condition(Element element, TokenKind close) {
    if (tokens_.is(TokenKind::left_brace)) {
      tokens_.enter_condition();
      for (Expression& property : parse_properties(tokens_, element)) conditions_.push_back(std::move(property));
      if (!tokens_.is(TokenKind::right_brace)) tokens_.fail_expected("',' or '}'", "write {channel: 'web', amount: 5}");
      tokens_.end_condition();
      tokens_.advance();
    }
    if (tokens_.is_keyword("WHERE")) {
      tokens_.enter_condition();
      where(element);
      if (!tokens_.is(close)) refuse_after_condition(close == TokenKind::right_bracket ? "']'" : "')'");
      tokens_.end_condition();
    }
  }

  /// Parses a condition inside an element or behind all paths. Its elements are mentions yet.
  void where(std::optional<Element> inside = std::nullopt) {
    pending_.push_back({parse_condition(tokens_, mentions_, *this), inside});
  }

  /// Gives the conditions of steps to their paths, and all others to the query.
  void place_conditions() {
    std::vector<std::vector<Expression>> each(query_.edges.size());
    std::vector<Expression> whole;
    const auto place = [&](Expression condition, const std::optional<Element>& inside) {
      const bool path = inside && inside->kind == Element::Kind::edge && query_.edges[inside->index].quantifier;
      (path ? each[inside->index] : whole).push_back(std::move(condition));
    };
    for (Expression& condition : conditions_) {
      const Element inside = condition.operands[0].element;
      place(std::move(condition), inside);
    }
    for (Pending& pending : pending_) {
      if (pending.condition.kind == Expression::Kind::count)
        refuse_idle_count({}, counted_[pending.condition.element.index], tokens_.source());
      resolve(pending.condition, pending.inside);
      place(std::move(pending.condition), pending.inside);
    }
    for (std::size_t e = 0; e < each.size(); ++e) query_.edges[e].each = conjunction(std::move(each[e]));
    query_.where = conjunction(std::move(whole));
  }

  /// Replaces the mentions in a condition by the elements that they name.
  void resolve(Expression& expression, const std::optional<Element>& inside) const {
    if (expression.kind == Expression::Kind::count) {
      expression.pattern.push_back(resolve_counted(counted_[expression.element.index], query_, inside, tokens_.source()));
      expression.element = {};
    } else if (condition::reads_element(expression.kind)) {
      const Mention& mention = mentions_[expression.element.index];
      expression.element = element_of(mention);
      check_use(mention, query_, expression.element, inside, tokens_.source());
    }
    for (Expression& operand : expression.operands) {
      if (operand.kind == Expression::Kind::count)
        refuse_idle_count(expression, counted_[operand.element.index], tokens_.source());
      resolve(operand, inside);
    }
  }

  /// Replaces the mentions in what is said of alerts.
  void resolve(const AlertClauses& alerts) {
    query_.emit_final = alerts.emit_final.has_value();
    places_.emission = alerts.emit_final.value_or(0);
    if (!alerts.every) return;
    AlertOnce& once = query_.once.emplace();
    once.every = *alerts.every;
    for (const Mention& mention : alerts.once_per) {
      const auto vertex = vertex_names_.find(mention.name);
      if (vertex == vertex_names_.end()) {
        const std::string name = shown(mention.name);
        tokens_.fail_at(mention.offset,
                        edge_names_.contains(mention.name) ? fmt::format("'{}' is an edge", name)
                                                           : fmt::format("no vertex is named '{}'", name),
                        "name vertices of the pattern: ALERT ONCE PER (a) EVERY 1h");
      }
      once.vertices.push_back(vertex->second);
    }
    std::ranges::sort(once.vertices);
  }

  [[nodiscard]] Element element_of(const Mention& mention) const {
    if (const auto vertex = vertex_names_.find(mention.name); vertex != vertex_names_.end()) {
      return {Element::Kind::vertex, vertex->second};
    }
    const auto edge = edge_names_.find(mention.name);
    if (edge == edge_names_.end()) refuse_unknown(mention, tokens_.source());
    return {Element::Kind::edge, edge->second};
  }

  /// The text goes on although the pattern has ended.
  [[noreturn]] void refuse_rest() const {
    if (ends_in_alerts_) {
      for (const std::string_view earlier : {"WHERE", "WITHIN"}) {
        if (tokens_.is_keyword(earlier))
          tokens_.fail(fmt::format("{} after ALERT or EMIT", earlier), fmt::format("write {} before ALERT and EMIT", earlier));
      }
      tokens_.fail_expected("ALERT, EMIT or the end of the pattern", "they stand at the end of a pattern");
    }
    const bool conditions = query_.within || !pending_.empty() || !conditions_.empty();
    if (tokens_.is_keyword("WHERE") && query_.within) tokens_.fail("WHERE after WITHIN", "write WHERE before WITHIN");
    if (const auto remedy = foreign_remedy(tokens_.now()); !remedy.empty()) {
      tokens_.fail(fmt::format("unexpected '{}'", shown(tokens_.now().text)), remedy);
    }
    if (conditions && tokens_.is(TokenKind::comma)) tokens_.fail("a path after a condition", "write all paths before WHERE");
    if (conditions && !query_.within) refuse_after_condition("AND, OR, WITHIN, ALERT, EMIT or the end of the pattern");
    tokens_.fail_expected(
        query_.within ? "ALERT, EMIT or the end of the pattern" : "',', WHERE, WITHIN, ALERT, EMIT or the end of the pattern",
        "join paths by commas; an edge is written -[:LABEL]->, <-[:LABEL]- or -[:LABEL]-; conditions stand behind WHERE");
  }

  /// The present token does not continue a condition, and `end` is what would end it.
  [[noreturn]] void refuse_after_condition(std::string_view end) const {
    if (const auto remedy = foreign_remedy(tokens_.now()); !remedy.empty()) {
      tokens_.fail(fmt::format("unexpected '{}'", shown(tokens_.now().text)), remedy);
    }
    tokens_.fail_expected(end, "join conditions by AND or OR; comparisons are =, <>, <, <=, >, >=, IN and IS NULL");
  }

  [[noreturn]] void refuse_double_name() const {
    tokens_.fail(fmt::format("'{}' names another element already", shown(tokens_.now().text)),
                 "give each vertex and each edge a name of its own");
  }

  /// Refuses an edge with a name, no label, and no condition on it. -[T]-> means an edge of any label that is called T. That is
  /// hardly what is meant. A name in backquotes is meant, and so is a small letter, with or without digits: t, t1. So is that
  /// of a path, unless it begins as most labels do: outputs list the path's vertices under its name.
  void refuse_idle_names() const {
    for (std::size_t e = 0; e < query_.edges.size(); ++e) {
      const QueryEdge& edge = query_.edges[e];
      const auto named = [&](const Mention& m) { return m.name == edge.name; };
      const bool used = std::ranges::any_of(mentions_, named) ||
                        std::ranges::any_of(
                            counted_, [&](const CountedScope& scope) { return std::ranges::any_of(scope.mentions, named); }) ||
                        std::any_of(conditions_.begin(), conditions_.end(), [&](const Expression& c) {
                          return c.operands[0].element == Element{Element::Kind::edge, std::uint32_t(e)};
                        });
      const bool alone = std::none_of(query_.edges.begin(), query_.edges.end(), [&](const QueryEdge& other) {
        return &other != &edge && (std::minmax(other.source, other.target) == std::minmax(edge.source, edge.target));
      });
      if (edge.quantifier && !(!edge.name.empty() && 'A' <= edge.name[0] && edge.name[0] <= 'Z')) continue;
      if (edge.name.empty() || !edge.labels.empty() || used || !alone || quoted_names_.contains(edge.name)) continue;
      if ('a' <= edge.name[0] && edge.name[0] <= 'z' && edge.name.find_first_not_of("0123456789", 1) == std::string::npos)
        continue;
      tokens_.fail_at(places_.edges[e], fmt::format("no condition uses the name of the edge '{}'", shown(edge.name)),
                      fmt::format("write [:{}] for an edge with this label, leave the name out, or put it in backquotes",
                                  quoted_word(edge.name)));
    }
  }

  /// Names anonymous vertices _1, _2, ... in the order of mention, then anonymous edges with conditions and
  /// anonymous paths. Skips names that are taken.
  void name_anonymous() {
    std::size_t number = 0;
    const auto name = [&](std::string& place) {
      while (place.empty()) {
        std::string next = fmt::format("_{}", ++number);
        if (!vertex_names_.contains(next) && !edge_names_.contains(next)) place = std::move(next);
      }
    };
    for (QueryVertex& vertex : query_.vertices) name(vertex.name);
    for (const Expression& condition : conditions_) {
      const Element element = condition.operands[0].element;
      if (element.kind == Element::Kind::edge) name(query_.edges[element.index].name);
    }
    for (QueryEdge& edge : query_.edges) {
      if (edge.quantifier) name(edge.name);
    }
  }

  struct Pending {
    Expression condition;
    std::optional<Element> inside;  ///< nullopt: it stands behind all paths
  };

  Tokens& tokens_;
  Query query_;
  bool within_count_ = false;          // what is parsed stands within the braces of a count
  bool ends_in_alerts_ = false;        // what is said of alerts has been parsed
  std::vector<CountedScope> counted_;  // as parsed, by number
  std::unordered_map<std::string, std::uint32_t> vertex_names_;
  std::unordered_map<std::string, std::uint32_t> edge_names_;
  std::unordered_set<std::string> quoted_names_;  // of edges, in backquotes
  std::vector<Expression> conditions_;            // of {name: value}
  std::vector<Pending> pending_;                  // of WHERE; their elements are mentions
  std::vector<Mention> mentions_;
  TextPositions places_;  // of first mentions
};

}  // namespace
}  // namespace query

Query parse_pattern(std::string_view text, std::string_view name, std::string_view where) {
  const std::string by_name = name.empty() ? "pattern" : "query " + std::string(name);
  const query::SourceText source(text, where.empty() ? by_name : where);
  query::Tokens tokens(source);
  return query::PatternParser(tokens, name).parse();
}

}  // namespace deltamatch

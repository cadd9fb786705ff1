// The pattern language, by recursive descent:
//
//   pattern = ["MATCH"] path {"," path}
//   path    = vertex {edge vertex}
//   vertex  = "(" [word] [labels] ")"
//   edge    = "-" ["[" [labels] "]" "-"] ">"        left to right; without brackets: -->
//           | "<" "-" ["[" [labels] "]"] "-"        right to left;                   <--
//           | "-" ["[" [labels] "]"] "-"            undirected;                      --
//   labels  = ":" word {"|" word}
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "query/flaw.hpp"
#include "query/lexer.hpp"

namespace deltamatch {
namespace query {
namespace {

constexpr std::string_view vertex_remedy = "write a vertex as (name:Label), (name), (:Label) or ()";
constexpr std::string_view close_remedy =
    "write a vertex as (name:Label), and other characters than letters, digits and _ in backquotes";
constexpr std::string_view edge_remedy = "write an edge as -[:LABEL]->, <-[:LABEL]-, -[:LABEL]-, -->, <-- or --";
constexpr std::string_view label_remedy = "write labels as :A or :A|B, and the empty label as two backquotes";

bool is_match_keyword(const Token& token) {
  constexpr std::string_view keyword = "match";
  return token.kind == TokenKind::word && !token.backquoted &&
         std::equal(token.text.begin(), token.text.end(), keyword.begin(), keyword.end(),
                    [](unsigned char a, char b) { return std::tolower(a) == b; });
}

class PatternParser {
 public:
  PatternParser(const SourceText& source, std::string_view name) : source_(source), lexer_(source) {
    query_.name = name;
    advance();
  }

  Query parse() {
    if (is_match_keyword(token_)) advance();
    if (token_.kind == TokenKind::end)
      fail_here("the pattern is empty", "write paths such as (a:Account)-[:TRANSFER]->(b:Account)");
    path();
    while (token_.kind == TokenKind::comma) {
      advance();
      path();
    }
    if (token_.kind != TokenKind::end) {
      fail_expected("',' or the end of the pattern",
                    token_.kind == TokenKind::word
                        ? std::string_view("leave out conditions and everything else that is not a path")
                        : std::string_view("join paths by commas; write an edge as -[:LABEL]->, <-[:LABEL]- or -[:LABEL]-"));
    }
    name_anonymous();
    refuse_flaws(query_, places_, source_);
    return std::move(query_);
  }

 private:
  void advance() { token_ = lexer_.next(); }

  [[noreturn]] void fail_here(std::string_view what, std::string_view remedy) { source_.fail(token_.offset, what, remedy); }

  [[noreturn]] void fail_expected(std::string_view what, std::string_view remedy) {
    const std::string found = token_.kind == TokenKind::end
                                  ? "the text ends"
                                  : fmt::format("found {1}{0}{1}", shown(token_.text), token_.backquoted ? "`" : "'");
    fail_here(fmt::format("expected {}, but {}", what, found), remedy);
  }

  void expect(TokenKind kind, std::string_view what, std::string_view remedy) {
    if (token_.kind != kind) fail_expected(what, remedy);
    advance();
  }

  void path() {
    std::uint32_t left = vertex();
    while (token_.kind == TokenKind::minus || token_.kind == TokenKind::less) left = edge(left);
  }

  /// Parses one mention of a vertex and returns the vertex's index.
  std::uint32_t vertex() {
    const std::size_t offset = token_.offset;
    expect(TokenKind::left_parenthesis, "a vertex", vertex_remedy);
    std::string name;
    if (token_.kind == TokenKind::word) {
      if (token_.text.empty()) fail_here("the name is empty", "leave it out: () is a vertex without a name");
      name = std::move(token_.text);
      advance();
    }
    const std::size_t labels_offset = token_.offset;
    LabelSet labels = label_alternatives();
    if (token_.kind == TokenKind::colon) fail_here("a second ':' is not possible", "write alternatives as :A|B");
    expect(TokenKind::right_parenthesis, "')'", close_remedy);

    const auto fresh = static_cast<std::uint32_t>(query_.vertices.size());
    const std::uint32_t index = name.empty() ? fresh : indices_.try_emplace(name, fresh).first->second;
    if (index == fresh) {
      query_.vertices.push_back({std::move(name), std::move(labels)});
      places_.vertices.push_back(offset);
    } else if (LabelSet& known = query_.vertices[index].labels; known.empty()) {
      known = std::move(labels);
    } else if (!labels.empty() && labels != known) {
      source_.fail(labels_offset, fmt::format("vertex '{}' had other labels before", shown(name)),
                   "give its labels once, or the same each time");
    }
    return index;
  }

  /// Parses an edge from the vertex `left`, and the vertex after it. Returns that vertex.
  std::uint32_t edge(std::uint32_t left) {
    const std::size_t offset = token_.offset;
    const bool leftwards = token_.kind == TokenKind::less;
    if (leftwards) advance();
    expect(TokenKind::minus, "'-'", edge_remedy);
    LabelSet labels;
    if (token_.kind == TokenKind::left_bracket) {
      advance();
      if (token_.kind == TokenKind::word) fail_here("the edge has a name", "leave it out, and write labels as [:LABEL]");
      labels = label_alternatives();
      if (token_.kind == TokenKind::colon) fail_here("a second ':' is not possible", "write alternatives as :A|B");
      expect(TokenKind::right_bracket, "']'", edge_remedy);
    }
    expect(TokenKind::minus, "'-'", edge_remedy);
    const bool rightwards = token_.kind == TokenKind::greater;
    if (rightwards && leftwards)
      fail_here("the edge has two arrow heads", "write an edge of either direction as -[:LABEL]- or --");
    if (rightwards) advance();
    if (token_.kind != TokenKind::left_parenthesis) {
      fail_expected(rightwards || leftwards ? "a vertex" : "'>' or a vertex", vertex_remedy);
    }

    const std::uint32_t right = vertex();
    query_.edges.push_back({leftwards ? right : left, leftwards ? left : right, std::move(labels), leftwards || rightwards});
    places_.edges.push_back(offset);
    return right;
  }

  /// Parses labels. The result is sorted and distinct, and empty if there is no colon.
  LabelSet label_alternatives() {
    LabelSet labels;
    if (token_.kind != TokenKind::colon) return labels;
    do {
      advance();
      if (token_.kind != TokenKind::word) fail_expected("a label", label_remedy);
      labels.push_back(std::move(token_.text));
      advance();
    } while (token_.kind == TokenKind::pipe);
    std::sort(labels.begin(), labels.end());
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    return labels;
  }

  /// Names anonymous vertices _1, _2, ... in the order of mention. Skips names that are taken.
  void name_anonymous() {
    std::size_t number = 0;
    for (QueryVertex& vertex : query_.vertices) {
      while (vertex.name.empty()) {
        std::string name = fmt::format("_{}", ++number);
        if (!indices_.contains(name)) vertex.name = std::move(name);
      }
    }
  }

  const SourceText& source_;
  Lexer lexer_;
  Token token_;
  Query query_;
  std::unordered_map<std::string, std::uint32_t> indices_;  // of named vertices
  TextPositions places_;                                    // of first mentions
};

}  // namespace
}  // namespace query

Query parse_pattern(std::string_view text, std::string_view name, std::string_view where) {
  const query::SourceText source(text, where);
  return query::PatternParser(source, name).parse();
}

}  // namespace deltamatch

#include "query/label_expression.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/label_terms.hpp"
#include "base/word.hpp"
#include "deltamatch/labels.hpp"

namespace deltamatch::query {
namespace {

constexpr std::string_view remedy =
    "write labels as :A, :A|B, :A&B or :!A, with parentheses, and the empty label as two backquotes";
constexpr std::size_t most_terms = 4096;
constexpr int most_nested = 100;

/// A label expression as it was written.
struct Node {
  enum class Kind : std::uint8_t { label, any_of, all_of, none_of } kind = Kind::label;
  std::string label{};
  std::vector<Node> parts{};
};

using Term = std::map<std::string, bool>;  // by label: whether it must be there
using Terms = std::vector<Term>;           // alternatives

class Parser {
 public:
  Parser(Tokens& tokens, bool of_edge) : tokens_(tokens), of_edge_(of_edge) {}

  Node parse() {
    tokens_.enter_labels();
    tokens_.advance();
    Node first = any_of();
    while (tokens_.is(TokenKind::colon)) {  // (a:A:B), as Cypher writes it
      if (of_edge_) tokens_.fail("a second ':' is not possible", "write alternatives as :A|B");
      if (operators_) tokens_.fail("a ':' beside other operators", "write & for labels that must all be there");
      tokens_.advance();
      first = {Node::Kind::all_of, {}, {std::move(first), any_of()}};
      if (operators_) tokens_.fail("a ':' beside other operators", "write & for labels that must all be there");
    }
    tokens_.end_labels();
    return first;
  }

 private:
  Node any_of() {
    return join(TokenKind::pipe, Node::Kind::any_of, [&] { return all_of(); });
  }
  Node all_of() {
    return join(TokenKind::ampersand, Node::Kind::all_of, [&] { return negation(); });
  }

  template <class Next>
  Node join(TokenKind sign, Node::Kind kind, Next&& next) {
    Node first = next();
    if (!tokens_.is(sign)) return first;
    Node joined{kind, {}, {}};
    joined.parts.push_back(std::move(first));
    while (tokens_.is(sign)) {
      operators_ = true;
      tokens_.advance();
      joined.parts.push_back(next());
    }
    return joined;
  }

  Node negation() {  // NOLINT(misc-no-recursion)
    if (!tokens_.is(TokenKind::exclamation)) return primary();
    operators_ = true;
    bool odd = false;
    for (; tokens_.is(TokenKind::exclamation); tokens_.advance()) odd = !odd;
    Node inner = primary();
    return odd ? Node{Node::Kind::none_of, {}, {std::move(inner)}} : inner;
  }

  Node primary() {  // NOLINT(misc-no-recursion)
    if (tokens_.is(TokenKind::percent)) {
      operators_ = true;
      tokens_.advance();
      return {Node::Kind::none_of, {}, {Node{}}};
    }
    if (tokens_.is(TokenKind::left_parenthesis)) {
      operators_ = true;
      if (++nested_ > most_nested) tokens_.fail("more than 100 nested parentheses", "leave some out");
      tokens_.advance();
      Node inner = any_of();
      tokens_.expect(TokenKind::right_parenthesis, "')'", remedy);
      --nested_;
      return inner;
    }
    if (!tokens_.is(TokenKind::word)) tokens_.fail_expected("a label", remedy);
    if (is_several_labels(tokens_.now().text) || is_absence(tokens_.now().text))
      tokens_.fail("a label with the byte 0x1f, or 0x1e at its beginning", "write several labels as :A&B");
    const bool negates = tokens_.is_keyword("NOT");
    const std::size_t offset = tokens_.now().offset;
    Node label{Node::Kind::label, tokens_.take().text, {}};
    if (negates && tokens_.is(TokenKind::word) && !tokens_.is_keyword("WHERE"))
      tokens_.fail_at(offset, "unexpected 'NOT'", "write a label that must be absent as :!A");
    return label;
  }

  Tokens& tokens_;
  bool of_edge_;
  bool operators_ = false;  // other than ':'
  int nested_ = 0;
};

class Normaliser {
 public:
  Normaliser(const Tokens& tokens, std::size_t offset, bool of_edge) : tokens_(tokens), offset_(offset), of_edge_(of_edge) {}

  LabelSet normalise(const Node& node) const {
    Terms terms = alternatives(node, false);
    std::erase_if(terms, [&](Term& term) { return !simplify(term); });
    if (terms.empty()) {
      tokens_.fail_at(
          offset_, of_edge_ ? "no edge has these labels" : "no vertex has these labels",
          of_edge_ ? "an edge has one label: write alternatives as :A|B" : "leave one of those that exclude each other out");
    }
    return names(terms);
  }

 private:
  [[nodiscard]] Terms alternatives(const Node& node, bool negated) const {  // NOLINT(misc-no-recursion)
    if (node.kind == Node::Kind::label) return {{{node.label, !negated}}};
    if (node.kind == Node::Kind::none_of) return alternatives(node.parts[0], !negated);
    if ((node.kind == Node::Kind::any_of) != negated) {
      Terms all;
      for (const Node& part : node.parts) std::ranges::move(alternatives(part, negated), std::back_inserter(all));
      return check(std::move(all));
    }
    Terms product{{}};
    for (const Node& part : node.parts) product = check(both(product, alternatives(part, negated)));
    return product;
  }

  Terms check(Terms terms) const {
    if (terms.size() > most_terms) tokens_.fail_at(offset_, "the labels have more than 4096 alternatives", "write fewer");
    return terms;
  }

  /// The terms that satisfy one of `a` and one of `b`. Contradictions are left out.
  [[nodiscard]] Terms both(const Terms& a, const Terms& b) const {
    Terms product;
    for (const Term& left : a) {
      for (const Term& right : b) {
        Term joined = left;
        const bool holds =
            std::ranges::all_of(right, [&](const auto& part) { return joined.insert(part).first->second == part.second; });
        if (holds) product.push_back(std::move(joined));
      }
      if (product.size() > most_terms) return check(std::move(product));
    }
    return product;
  }

  /// Leaves out what follows from the rest. Returns false if nothing can satisfy the term.
  [[nodiscard]] bool simplify(Term& term) const {
    const auto there = std::ranges::count_if(term, [](const auto& part) { return part.second; });
    const auto empty = term.find("");
    if (there > 1 && (of_edge_ || (empty != term.end() && empty->second))) return false;
    const bool alone = of_edge_ || (empty != term.end() && empty->second);
    if (there > 0) std::erase_if(term, [&](const auto& part) { return !part.second && (alone || part.first.empty()); });
    return true;
  }

  static LabelSet names(const Terms& terms) {
    LabelSet labels;
    for (const Term& term : terms) {
      const bool implied = std::ranges::any_of(terms, [&](const Term& other) {  // by a term that asks for less
        return other.size() < term.size() && std::ranges::includes(term, other);
      });
      const bool complement = term.size() == 1 && std::ranges::any_of(terms, [&](const Term& other) {
                                return other.size() == 1 && other.begin()->first == term.begin()->first &&
                                       other.begin()->second != term.begin()->second;
                              });
      if (term.empty() || complement) return {};
      if (!implied) labels.push_back(name(term));
    }
    std::sort(labels.begin(), labels.end());
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    return labels;
  }

  static std::string name(const Term& term) {
    std::vector<std::string> parts;
    for (const auto& [label, there] : term) parts.push_back(there ? label : label_negation + label);
    return join_labels({parts.begin(), parts.end()});
  }

  const Tokens& tokens_;
  std::size_t offset_;
  bool of_edge_;
};

/// A term as a pattern writes it.
std::string term_text(std::string_view term) {
  std::string text;
  for (const std::string_view part : split_labels(term)) {
    if (!text.empty()) text += '&';
    if (is_absence(part) && part.size() == 1) {
      text += '%';
    } else {
      text += is_absence(part) ? "!" + quoted_word(part.substr(1)) : quoted_word(part);
    }
  }
  return text;
}

}  // namespace

LabelSet parse_labels(Tokens& tokens, Element::Kind of) {
  if (!tokens.is(TokenKind::colon)) return {};
  const bool of_edge = of == Element::Kind::edge;
  const std::size_t offset = tokens.now().offset;
  const Node node = Parser(tokens, of_edge).parse();
  return Normaliser(tokens, offset, of_edge).normalise(node);
}

std::string labels_text(const LabelSet& labels) {
  std::string text;
  for (const std::string& term : labels) text.append(text.empty() ? ":" : "|").append(term_text(term));
  return text;
}

}  // namespace deltamatch::query

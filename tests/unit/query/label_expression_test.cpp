// Label expressions: their normal form, which decides what they mean, and how it is written.
#include "query/label_expression.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/label_terms.hpp"
#include "deltamatch/labels.hpp"
#include "deltamatch/query.hpp"

namespace deltamatch::query {
namespace {

LabelSet labels_of(const std::string& expression) {
  return parse_pattern("(a:" + expression + ")-->(b)", "q").vertices[0].labels;
}
std::string normal(const std::string& expression) { return labels_text(labels_of(expression)); }

TEST(LabelExpression, HasANormalForm) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"A", ":A"},          {"B|A|B", ":A|B"},
      {"B&A", ":A&B"},      {"A:B", ":A&B"},
      {"A:C:B", ":A&B&C"},  {"!A", ":!A"},
      {"!!A", ":A"},        {"!A&B|C", ":!A&B|C"},
      {"A|B&C", ":A|B&C"},  {"(A|B)&C", ":A&C|B&C"},
      {"!(A|B)", ":!A&!B"}, {"!(A&B)", ":!A|!B"},
      {"A|A&B", ":A"},      {"%", ":%"},
      {"!%", ":``"},        {"!``", ":%"},
      {"A&%", ":A"},        {"!A&%", ":%&!A"},
      {"``&!A", ":``"},     {"A|``", ":``|A"},
      {"A&!A|B", ":B"},     {"A|!A", ""},
      {"%|``", ""},         {"`x y`&B", ":B&`x y`"},
  };
  for (const auto& [written, expected] : cases) EXPECT_EQ(normal(written), expected) << written;
}

TEST(LabelExpression, IsReadBackFromItsText) {
  for (const std::string written : {"A", "A&!B|C", "!(A|B)&%", "``|A&`b|c`", "%", "!A"}) {
    const Query query = parse_pattern("(a:" + written + ")-[:!T]->(b:B)", "q");
    EXPECT_EQ(parse_pattern(to_pattern(query), "q"), query) << to_pattern(query);
  }
}

TEST(LabelExpression, OfAnEdgeIsAboutOneLabel) {
  const auto of_edge = [](const std::string& written) {
    return labels_text(parse_pattern("(a)-[:" + written + "]->(b)", "q").edges[0].labels);
  };
  EXPECT_EQ(of_edge("!T"), ":!T");
  EXPECT_EQ(of_edge("!T&!U"), ":!T&!U");
  EXPECT_EQ(of_edge("T&!U"), ":T");
  EXPECT_EQ(of_edge("T&U|V"), ":V");
  EXPECT_EQ(of_edge("%"), ":%");
}

/// Whether labels satisfy an expression, by its tree. It knows one letter for a label, and no blanks.
class Tree {
 public:
  Tree(const std::string& text, const std::string& labels) : text_(text), labels_(labels) {}
  bool holds() { return any(); }

 private:
  [[nodiscard]] bool is(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool any() {
    bool holds = all();
    for (; is('|'); holds = all() || holds) ++at_;
    return holds;
  }
  bool all() {
    bool holds = one();
    for (; is('&'); holds = one() && holds) ++at_;
    return holds;
  }
  bool one() {
    const char c = text_[at_++];
    if (c == '!') return !one();
    if (c == '%') return !labels_.empty();
    if (c != '(') return labels_.find(c) != std::string::npos;
    const bool holds = any();
    ++at_;
    return holds;
  }
  const std::string& text_;
  const std::string& labels_;
  std::size_t at_ = 0;
};

std::string random_expression(std::uint32_t& seed, int depth) {
  const auto draw = [&](std::uint32_t n) { return ((seed = seed * 1664525 + 1013904223) >> 16) % n; };
  if (depth == 0 || draw(3) == 0) return std::string(1, "ABC%"[draw(4)]);
  const std::string left = random_expression(seed, depth - 1);
  if (draw(4) == 0) return "!(" + left + ")";
  return "(" + left + (draw(2) == 0 ? "&" : "|") + random_expression(seed, depth - 1) + ")";
}

TEST(LabelExpression, ItsNormalFormMeansTheSame) {
  std::uint32_t seed = 1;
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string written = random_expression(seed, 4);
    LabelSet terms;
    bool none = false;
    try {
      terms = labels_of(written);
    } catch (const std::exception&) {
      none = true;
      ++refused;
    }
    for (const std::string labels : {"", "A", "B", "C", "AB", "AC", "BC", "ABC", "D", "AD"}) {
      std::vector<std::string_view> set;
      for (std::size_t l = 0; l < labels.size(); ++l) set.push_back(std::string_view(labels).substr(l, 1));
      if (set.empty()) set.emplace_back();
      const bool found = !none && (terms.empty() || std::any_of(terms.begin(), terms.end(),
                                                                [&](const std::string& term) { return satisfies(set, term); }));
      ASSERT_EQ(found, Tree(written, labels).holds()) << written << " of " << labels;
    }
  }
  EXPECT_LT(refused, 500);
}

}  // namespace
}  // namespace deltamatch::query

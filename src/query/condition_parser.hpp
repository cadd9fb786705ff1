// Conditions as text: WHERE, {name: value} and WITHIN. By recursive descent; the weakest operator first:
//
//   condition  = conjunction {"OR" conjunction}
//   conjunction = negation {"AND" negation}
//   negation   = ["NOT"] comparison                      NOT may be repeated
//   comparison = sum {("=" | "<>" | "<" | "<=" | ">" | ">=") sum}
//              | sum "IN" "[" literal {"," literal} "]"
//              | sum "IS" ["NOT"] "NULL"
//   sum        = product {("+" | "-") product}
//   product    = factor {"*" factor}
//   factor     = ["-"] (literal | word "." word | function | "(" condition ")")
//              | "COUNT" counted | "EXISTS" counted      pattern.cpp has the rule of what is counted
//   function   = "id" "(" word ")" | "count" "(" word ")"
//              | ("prev" | "first" | "last") ("(" word ")" "." word | "(" word "." word ")")
//              | ("sum" | "min" | "max") "(" word "." word ")"
//              | ("least" | "greatest") "(" sum "," sum {"," sum} ")"
//   literal    = number | text | duration | "TRUE" | "FALSE" | "NULL" | "duration" "(" text ")" | "datetime" "(" text ")"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/condition.hpp"
#include "query/mention.hpp"
#include "query/tokens.hpp"

namespace deltamatch::query {

/// Parses the patterns of COUNT { ... } and EXISTS { ... }.
class CountedPatterns {
 public:
  virtual ~CountedPatterns() = default;
  /// Parses from the opening brace, the present token, to behind the closing one. Returns the pattern's number.
  virtual std::uint32_t parse_counted() = 0;
};

/// Parses a condition. Elements are numbers of mentions, which are appended to `mentions`. A count has the number of its
/// pattern in place of the pattern itself. Throws Error(configuration).
[[nodiscard]] Expression parse_condition(Tokens& tokens, std::vector<Mention>& mentions, CountedPatterns& counted);

/// Parses name: value {, name: value} up to the closing brace, which stays. The result says that the element has these values.
[[nodiscard]] std::vector<Expression> parse_properties(Tokens& tokens, Element element);

/// Parses a positive duration: 24h or duration('PT24H').
[[nodiscard]] Duration parse_within(Tokens& tokens);

/// What to do instead, if the token is a word of another language that a pattern does without. Empty: it is not.
[[nodiscard]] std::string_view foreign_remedy(const Token& token) noexcept;

}  // namespace deltamatch::query

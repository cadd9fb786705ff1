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
#include "query/tokens.hpp"

namespace deltamatch::query {

/// Where a condition names an element. The element may be defined further on in the text, so names are resolved at the end.
struct Mention {
  std::string name;
  std::size_t offset = 0;
  enum class Use : std::uint8_t { attribute, vertex, path, previous };
  Use use = Use::attribute;  ///< vertex: in id(). path: in a function of a path. previous: in prev()
};

/// Parses a condition. Elements are numbers of mentions, which are appended to `mentions`. Throws Error(configuration).
[[nodiscard]] Expression parse_condition(Tokens& tokens, std::vector<Mention>& mentions);

/// Parses name: value {, name: value} up to the closing brace, which stays. The result says that the element has these values.
[[nodiscard]] std::vector<Expression> parse_properties(Tokens& tokens, Element element);

/// Parses a positive duration: 24h or duration('PT24H').
[[nodiscard]] Duration parse_within(Tokens& tokens);

/// What to do instead, if the token is a word of another language that a pattern does without. Empty: it is not.
[[nodiscard]] std::string_view foreign_remedy(const Token& token) noexcept;

}  // namespace deltamatch::query

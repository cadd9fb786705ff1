#include "query/recognise.hpp"

#include <algorithm>
#include <cstddef>

#include "base/nearest.hpp"
#include "base/word.hpp"
#include "query/source_text.hpp"

namespace deltamatch::query {
namespace {

constexpr std::string_view blanks = " \t\r\f\v";

/// Returns the position of the first text that is neither a blank nor a comment of either form. Returns the text's size if
/// there is none.
std::size_t first_said(std::string_view text) noexcept {
  std::size_t at = 0;
  while (at < text.size()) {
    at = std::min(text.find_first_not_of(" \t\r\f\v\n", at), text.size());
    const std::string_view rest = text.substr(at);
    if (!rest.starts_with('#') && !rest.starts_with('%') && !rest.starts_with("//")) return at;
    at = std::min(text.find('\n', at), text.size());
  }
  return at;
}

/// Whether a line begins with MATCH, in any case. A word that is near counts before a vertex, so that the parser points at it.
bool begins_with_match(std::string_view line) {
  const std::string_view word = line.substr(0, line.find_first_of(" \t\r\f\v("));
  if (same_word(word, "MATCH")) return true;
  const std::size_t next = line.find_first_not_of(blanks, word.size());
  return next != std::string_view::npos && line[next] == '(' && !nearest(word, {"MATCH"}).empty();
}

/// Where the sign stands in `name = (a)-->(b)`; npos: the line is none such.
std::size_t name_sign(std::string_view line) noexcept {
  const std::size_t sign = line.find('=');
  if (sign == 0 || sign == std::string_view::npos || line.substr(0, sign).find('(') != std::string_view::npos) return line.npos;
  const std::size_t pattern = line.find_first_not_of(blanks, sign + 1);
  return pattern != std::string_view::npos && line[pattern] == '(' ? sign : line.npos;
}

QueryForm form_at(std::string_view text, std::size_t first) {
  const std::string_view line = text.substr(first, text.find('\n', first) - first);
  if (line.starts_with('(')) return QueryForm::pattern;
  if (begins_with_match(line)) return QueryForm::pattern;
  const std::string_view word = line.substr(0, line.find_first_of(" \t\r\f\v("));
  const bool verb = word == "t" || word == "v" || word == "e";
  return verb && line.find_first_not_of(blanks, 1) != std::string_view::npos ? QueryForm::graph : QueryForm::neither;
}

}  // namespace

QueryForm recognise_query(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  return form_at(text, first_said(text));
}

Query parse_query_text(std::string_view text, std::string_view name, bool directed, std::string_view where) {
  const SourceText source(text, where);
  const std::size_t first = first_said(source.text());
  switch (form_at(source.text(), first)) {
    case QueryForm::pattern:
      return parse_pattern(text, name, where);
    case QueryForm::graph:
      return parse_query_graph(text, name, directed, where);
    case QueryForm::neither:
      break;
  }
  const std::string_view line = source.text().substr(first, source.text().find('\n', first) - first);
  if (name_sign(line) != line.npos) {
    source.fail(first, "a name stands before the pattern", "leave the name and the = out: the query has the name of its file");
  }
  source.fail(first,
              first == source.text().size() ? "the query is empty: it is neither a pattern nor a t/v/e graph"
                                            : "the query is neither a pattern nor a t/v/e graph",
              "begin a pattern with a vertex, such as (a:Account)-[:TRANSFER]->(b:Account); write a t/v/e graph in lines "
              "'t VERTICES EDGES', 'v ID LABEL' and 'e ID ID [LABEL]'");
}

}  // namespace deltamatch::query

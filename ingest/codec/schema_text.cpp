#include "ingest/codec/schema_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {
namespace {

using Kind = AttributeType::Kind;

constexpr int most_digits = 18;
constexpr std::string_view known_types = "int, decimal(2), float, bool, symbol or time";

struct Failure {
  std::string_view where;
  [[noreturn]] void operator()(const std::string& what, const std::string& remedy) const {
    throw Error(ErrorKind::usage, where, what, remedy);
  }
};

/// The type that a word of another product means. Empty if none does.
std::string_view meant_by(std::string_view word) noexcept {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 22> words{
      {{"integer", "int"},    {"long", "int"},          {"bigint", "int"},         {"int64", "int"},
       {"int32", "int"},      {"short", "int"},         {"double", "float"},       {"real", "float"},
       {"float64", "float"},  {"number", "decimal(2)"}, {"numeric", "decimal(2)"}, {"money", "decimal(2)"},
       {"boolean", "bool"},   {"string", "symbol"},     {"str", "symbol"},         {"text", "symbol"},
       {"varchar", "symbol"}, {"enum", "symbol"},       {"timestamp", "time"},     {"datetime", "time"},
       {"date", "time"},      {"decimal", "decimal(2)"}}};
  const auto found = std::ranges::find_if(words, [&](const auto& entry) { return same_letters(entry.first, word); });
  return found == words.end() ? std::string_view() : found->second;
}

/// Reads what stands between the parentheses of decimal(...).
void read_digits(std::string_view text, AttributeColumn& column, std::string_view type, const Failure& fail) {
  const std::size_t comma = std::min(text.find(','), text.size());
  const std::string_view digits = without_blanks(text.substr(0, comma));
  std::int64_t scale = -1;
  if (parse_integer(digits, scale) != NumberFault::none || scale < 0 || scale > most_digits) {
    fail(fmt::format("{} says {} digits after the point", in_ticks(type), in_ticks(digits)),
         fmt::format("write a number from 0 to {}: decimal(2)", most_digits));
  }
  column.attribute.type.scale = static_cast<std::uint8_t>(scale);
  if (comma == text.size()) return;
  const std::string_view option = without_blanks(text.substr(comma + 1));
  if (option != "base64") {
    fail(fmt::format("{} is no option of a decimal", in_ticks(option)),
         fmt::format("write decimal({0}), or decimal({0},base64) if texts are base64 of bytes", scale));
  }
  column.base64 = true;
}

void read_type(std::string_view type, AttributeColumn& column, const Failure& fail) {
  constexpr std::array<std::pair<std::string_view, Kind>, 5> plain{
      {{"int", Kind::integer}, {"float", Kind::real}, {"bool", Kind::boolean}, {"symbol", Kind::symbol}, {"time", Kind::time}}};
  const auto found = std::ranges::find_if(plain, [&](const auto& entry) { return entry.first == type; });
  if (found != plain.end()) {
    column.attribute.type.kind = found->second;
    return;
  }
  const std::size_t open = std::min(type.find('('), type.size());
  const std::string_view word = without_blanks(type.substr(0, open));
  if (word == "decimal" && open != type.size() && type.ends_with(')')) {
    column.attribute.type.kind = Kind::decimal;
    return read_digits(type.substr(open + 1, type.size() - open - 2), column, type, fail);
  }
  if (type.empty())
    fail(fmt::format("attribute {} has no type", in_ticks(column.attribute.name)), fmt::format("write {}", known_types));
  if (word == "decimal") {
    fail(fmt::format("{} does not say how many digits are after the point", in_ticks(type)),
         "write decimal(2) for amounts such as 12.50");
  }
  const std::string_view meant = meant_by(word);
  fail(fmt::format("{} is not a type", in_ticks(type)),
       meant.empty() ? fmt::format("write {}", known_types) : fmt::format("write {}, or another of {}", meant, known_types));
}

void check_name(std::string_view name, AttributesOf of, const Failure& fail) {
  if (name.empty()) fail("an attribute has no name", "write NAME:TYPE, as in amount:decimal(2)");
  if (name.find_first_of(":=,") != std::string_view::npos) {
    fail(fmt::format("{} cannot be the name of an attribute", in_ticks(name)),
         "leave : = and , out of it; its column may have another name: amount:decimal(2)=COLUMN");
  }
  if (name == "time" && of == AttributesOf::edges) {
    fail("an attribute of an edge is not called time, which is the time of its event",
         "leave it out, since patterns have t.time anyway, or give it another name: booked:time=time");
  }
  if (std::ranges::any_of(all_roles(), [&](Role role) { return role_name(role) == name; })) {
    fail(fmt::format("attribute {} has the name of a role of columns", in_ticks(name)),
         fmt::format("give it another name, and name its column: my_{0}:TYPE={0}", name));
  }
}

/// The end of the entry that begins at `start`: the comma after it that is not in parentheses.
std::size_t end_of_entry(std::string_view text, std::size_t start) noexcept {
  bool inside = false;
  for (std::size_t at = start; at < text.size(); ++at) {
    if (text[at] == '(') inside = true;
    if (text[at] == ')' || text[at] == '=') inside = false;
    if (text[at] == ',' && !inside) return at;
  }
  return text.size();
}

}  // namespace

AttributeColumn parse_attribute(std::string_view name, std::string_view type, AttributesOf of, std::string_view where) {
  const Failure fail{where};
  AttributeColumn column;
  column.attribute.name = name;
  check_name(name, of, fail);
  const std::size_t equals = std::min(type.find('='), type.size());
  read_type(without_blanks(type.substr(0, equals)), column, fail);
  if (equals == type.size()) return column;
  column.column = without_blanks(type.substr(equals + 1));
  if (column.column.empty()) {
    fail(fmt::format("attribute {} has no column behind =", in_ticks(name)),
         "name the column or the path of the field, or leave = out if it has the attribute's name");
  }
  return column;
}

std::vector<AttributeColumn> parse_attributes(std::string_view text, AttributesOf of, std::string_view option) {
  std::vector<AttributeColumn> columns;
  const Failure fail{option};
  if (without_blanks(text).empty()) fail("it declares nothing", "write e.g. 'amount:decimal(2),channel:symbol'");
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = end_of_entry(text, start);
    const std::string_view entry = without_blanks(text.substr(start, end - start));
    start = end + 1;
    const std::size_t colon = entry.find(':');
    if (colon == std::string_view::npos) {
      fail(fmt::format("entry {}, {}, has no type", columns.size() + 1, in_ticks(entry)),
           fmt::format("write NAME:TYPE, as in amount:decimal(2); types are {}", known_types));
    }
    const std::string_view name = without_blanks(entry.substr(0, colon));
    columns.push_back(parse_attribute(name, entry.substr(colon + 1), of, option));
    const auto same = [&](const AttributeColumn& column) { return column.attribute.name == name; };
    if (std::ranges::count_if(columns, same) > 1)
      fail(fmt::format("attribute {} is declared twice", in_ticks(name)), "leave one of them out");
    if (columns.size() > max_attributes)
      fail(fmt::format("there are more than {} attributes", max_attributes), "declare those that patterns or alerts need");
  }
  return columns;
}

std::string type_text(const AttributeType& type) {
  switch (type.kind) {
    case Kind::integer:
      return "int";
    case Kind::decimal:
      return fmt::format("decimal({})", type.scale);
    case Kind::real:
      return "float";
    case Kind::boolean:
      return "bool";
    case Kind::symbol:
      return "symbol";
    case Kind::time:
      break;
  }
  return "time";
}

std::string attributes_text(const std::vector<Attribute>& attributes) {
  std::string text;
  for (const Attribute& attribute : attributes)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", attribute.name, type_text(attribute.type));
  return text;
}

std::string_view model_name(EdgeModel model) noexcept {
  switch (model) {
    case EdgeModel::simple:
      return "simple";
    case EdgeModel::keyed:
      return "keyed";
    case EdgeModel::events:
      break;
  }
  return "events";
}

void check_attributes(const CodecOptions& options) {
  if (options.edges != EdgeModel::simple || options.attributes.empty()) return;
  throw Error(ErrorKind::usage, "attributes", "edges of the model simple have no attributes",
              "choose edges: keyed if each edge has a key, or events if each record is an edge of its own");
}

Schema schema_of(const CodecOptions& options) {
  check_attributes(options);
  Schema schema{options.edges, {}, {}};
  for (const AttributeColumn& column : options.attributes) schema.edges.push_back(column.attribute);
  for (const AttributeColumn& column : options.vertex_attributes) schema.vertices.push_back(column.attribute);
  return schema;
}

}  // namespace deltamatch::ingest

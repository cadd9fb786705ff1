// Reads the option `columns`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/codec/columns.hpp"

namespace deltamatch::ingest {
namespace {

[[noreturn]] void bad_columns(std::string_view text, std::string_view what, std::string_view remedy = {}) {
  throw Error(ErrorKind::usage, "columns", fmt::format("`{}`: {}", text, what),
              remedy.empty() ? "give e.g. source,target,label,time by position (- skips one) or source=NAME,target=NAME by name"
                             : remedy);
}

/// The names of all attributes, those of edges first.
std::vector<std::string> names_of(const CodecOptions& options) {
  std::vector<std::string> names;
  for (const auto* columns : {&options.attributes, &options.vertex_attributes}) {
    for (const AttributeColumn& column : *columns) {
      if (std::ranges::find(names, column.attribute.name) == names.end()) names.push_back(column.attribute.name);
    }
  }
  return names;
}

std::optional<Role> role_by_name(std::string_view name, const ColumnSpec& spec) noexcept {
  for (const Role role : all_roles()) {
    if (role_name(role) == name) return role;
  }
  const auto found = std::ranges::find(spec.attributes, name);
  if (found == spec.attributes.end()) return std::nullopt;
  return attribute_role(static_cast<std::size_t>(found - spec.attributes.begin()));
}

/// Takes what surrounds messages from the declarations of attributes, for those that `columns` does not name.
void add_declared(const CodecOptions& options, ColumnSpec& spec) {
  for (std::size_t attribute = 0; attribute < spec.attributes.size(); ++attribute) {
    auto& name = spec.names[role_count + attribute];
    const std::string declared = attribute_column(options, spec.attributes[attribute]);
    if (!name && surrounds_message(declared)) name = declared;
  }
}

/// Throws if what surrounds messages is named for a file.
void check_surroundings(const CodecOptions& options, const ColumnSpec& spec) {
  for (const auto& name : spec.names) {
    if (options.message || !name || !surrounds_message(*name)) continue;
    bad_columns(options.columns, fmt::format("`{}` is about messages of Kafka, and this is a file", *name),
                "name a column of the file");
  }
}

/// Roles that have been read.
class Seen {
 public:
  explicit Seen(std::size_t roles) : seen_(roles) {}
  bool add(Role role) { return !std::exchange(seen_[static_cast<std::size_t>(role)], 1); }
  [[nodiscard]] bool has(Role role) const { return seen_[static_cast<std::size_t>(role)] != 0; }

 private:
  std::vector<char> seen_;
};

void check(const CodecOptions& options, const ColumnSpec& spec, const Seen& seen) {
  const std::string_view text = options.columns;
  const bool edges = seen.has(Role::source) || seen.has(Role::target);
  if (seen.has(Role::vertex) && edges) bad_columns(text, "vertex cannot be given with source or target");
  if (!spec.named() && !seen.has(Role::vertex) && !(seen.has(Role::source) && seen.has(Role::target)))
    bad_columns(text, "source and target are missing, and so is vertex");
  const auto& key = spec.name(Role::edge);
  const bool named = seen.has(Role::edge) && (!key || !key->empty());
  if (named && options.edges != EdgeModel::keyed)
    bad_columns(text, "edge is the key of an edge, and edges of this graph have none",
                "choose the model keyed (edges), or leave it out");
  if (!spec.named() && options.edges == EdgeModel::keyed && !seen.has(Role::vertex) && !named)
    bad_columns(text, "edge is missing, the column with the key of an edge", "give e.g. edge,source,target");
  const bool vertices = seen.has(Role::vertex);
  for (const std::optional<Role>& role : spec.positions) {
    if (!role || !is_attribute(*role)) continue;
    const auto& declared = vertices ? options.vertex_attributes : options.attributes;
    const std::string& name = spec.attributes[attribute_of(*role)];
    if (std::ranges::any_of(declared, [&](const AttributeColumn& column) { return column.attribute.name == name; })) continue;
    bad_columns(text, fmt::format("{} is no attribute of {}", name, vertices ? "vertices" : "edges"),
                fmt::format("write - for the column, or declare it for {}", vertices ? "vertices" : "edges"));
  }
}

}  // namespace

ColumnSpec parse_columns(const CodecOptions& options) {
  ColumnSpec spec;
  spec.attributes = names_of(options);
  spec.names.resize(role_count + spec.attributes.size());
  const std::string_view text = options.columns;
  if (std::ranges::all_of(text, [](char c) { return c == ' ' || c == '\t'; })) {
    add_declared(options, spec);
    check_surroundings(options, spec);
    return spec;
  }
  Seen seen(spec.roles());
  std::optional<bool> by_name;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::string_view entry = without_blanks(text.substr(start, end - start));
    start = end + 1;
    const std::size_t equals = entry.find('=');
    const bool has_name = equals != std::string_view::npos;
    const std::string_view name = has_name ? entry.substr(equals + 1) : std::string_view();
    const bool surrounds = surrounds_message(without_blanks(name));
    if (!surrounds && by_name.value_or(has_name) != has_name) bad_columns(text, "positions and names cannot be mixed");
    if (!surrounds) by_name = has_name;
    const std::string_view word = has_name ? without_blanks(entry.substr(0, equals)) : entry;
    const std::optional<Role> role = role_by_name(word, spec);
    if (!role && (has_name || word != "-")) {
      std::vector<std::string_view> known;
      for (const Role each : all_roles()) known.push_back(role_name(each));
      for (const std::string& attribute : spec.attributes) known.push_back(attribute);
      bad_columns(text, fmt::format("`{}` is not one of {}", word, fmt::join(known, ", ")));
    }
    if (role && !seen.add(*role)) bad_columns(text, fmt::format("{} is given twice", word));
    if (has_name) {
      spec.names[static_cast<std::size_t>(*role)] = surrounds ? std::string(without_blanks(name)) : std::string(name);
    } else {
      spec.positions.push_back(role);
    }
  }
  add_declared(options, spec);
  check(options, spec, seen);
  check_surroundings(options, spec);
  return spec;
}

std::string attribute_column(const CodecOptions& options, std::string_view attribute) {
  for (const auto* columns : {&options.attributes, &options.vertex_attributes}) {
    for (const AttributeColumn& column : *columns) {
      if (column.attribute.name == attribute && !column.column.empty()) return column.column;
    }
  }
  return {};
}

}  // namespace deltamatch::ingest

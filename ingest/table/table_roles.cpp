#include "ingest/table/table_roles.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "deltamatch/error.hpp"
#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {
namespace {

class Finder {
 public:
  Finder(const TableReader& table, const TableRoles& roles, const CodecOptions& options)
      : table_(table), roles_(roles), options_(options), spelling_(spelling_of(options)) {}

  TableLayout find() {
    TableLayout layout;
    layout.attributes = parse_columns(attributes_only()).attributes;
    const bool vertices = options_.vertices;
    for (const Role role : all_roles()) {
      if (!has_meaning(role)) continue;
      const std::optional<std::size_t> column = column_of(role);
      if (column) layout.columns.set(role, *column);
    }
    const bool keys_alone = options_.edges == EdgeModel::keyed && layout.columns.has(Role::edge) &&
                            (layout.columns.has(Role::op) || layout.columns.has(Role::deleted));
    if (vertices) {
      need(layout.columns, Role::vertex, "vertices");
    } else if (!keys_alone || layout.columns.has(Role::source) || layout.columns.has(Role::target)) {
      need(layout.columns, Role::source, "the sources of edges");
      need(layout.columns, Role::target, "the targets of edges");
    }
    if (!vertices && options_.edges == EdgeModel::keyed) need(layout.columns, Role::edge, "the keys of edges");
    for (std::size_t attribute = 0; attribute < layout.attributes.size(); ++attribute) {
      if (is_read(layout.attributes[attribute])) place_attribute(layout, attribute, keys_alone);
    }
    for (std::size_t column = 0; column < table_.columns().size(); ++column) {
      if (!is_taken(layout, column)) layout.unread.push_back(column);
    }
    layout.label_by_usual_name = layout.columns.has(Role::label) && !given(Role::label);
    return layout;
  }

 private:
  [[nodiscard]] CodecOptions attributes_only() const {
    CodecOptions options = options_;
    options.columns.clear();
    return options;
  }
  [[nodiscard]] const std::optional<std::string>& given(Role role) const { return roles_[static_cast<std::size_t>(role)]; }

  /// Whether the rows may state what the role is.
  [[nodiscard]] bool has_meaning(Role role) const {
    switch (role) {
      case Role::vertex:
      case Role::labels:
      case Role::add_labels:
      case Role::remove_labels:
        return options_.vertices;
      case Role::label:
      case Role::op:
      case Role::deleted:
      case Role::time:
        return true;
      case Role::edge:
        if (given(role) && !given(role)->empty() && options_.edges != EdgeModel::keyed)
          refuse(fmt::format("the edges of this graph have no keys, so {} means nothing", in_ticks(*given(role))),
                 fmt::format("leave {} out, or give {}", spelling_("columns", "edge=" + *given(role)),
                             spelling_.common("edges", "keyed")));
        return !options_.vertices && options_.edges == EdgeModel::keyed;
      case Role::source:
      case Role::target:
      case Role::source_label:
      case Role::target_label:
        break;
    }
    return !options_.vertices;
  }

  [[nodiscard]] std::optional<std::size_t> column_of(Role role) const {
    if (given(role)) {
      if (given(role)->empty()) return std::nullopt;
      return by_name(*given(role),
                     fmt::format("{}", spelling_("columns", fmt::format("{}={}", role_name(role), *given(role)))));
    }
    if (role == Role::deleted && given(Role::op)) return std::nullopt;
    std::vector<std::size_t> found;
    for (std::size_t column = 0; column < table_.columns().size(); ++column) {
      const std::string& name = table_.columns()[column].name();
      if (is_attribute_column(name)) continue;
      std::optional<Role> usual = role_by_usual_name(name);
      if (role == Role::edge && is_usual_key(name)) usual = Role::edge;
      if (usual == role) found.push_back(column);
    }
    if (found.empty() && role == Role::edge) return plain_id();
    if (found.size() > 1) {
      refuse(fmt::format("the columns {} and {} may both be the {}", in_ticks(name_of(found[0])), in_ticks(name_of(found[1])),
                         role_name(role)),
             fmt::format("name the one that counts: {}",
                         spelling_("columns", fmt::format("{}={}", role_name(role), name_of(found[0])))));
    }
    return found.empty() ? std::nullopt : std::optional(found[0]);
  }

  /// A column `id` holds the keys of edges if no other name says so.
  [[nodiscard]] std::optional<std::size_t> plain_id() const {
    for (std::size_t column = 0; column < table_.columns().size(); ++column) {
      if (same_letters(name_of(column), "id") && !is_attribute_column(name_of(column))) return column;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::size_t by_name(const std::string& name, const std::string& asked) const {
    const auto& columns = table_.columns();
    const auto same = [&](const Column& column) { return column.name() == name; };
    const auto found = std::ranges::find_if(columns, same);
    if (found == columns.end())
      refuse(fmt::format("there is no column {}; the columns are {}", in_ticks(name), names()), "correct " + asked);
    if (std::find_if(found + 1, columns.end(), same) != columns.end())
      refuse(fmt::format("two columns are called {}", in_ticks(name)), "give each column a name of its own");
    return static_cast<std::size_t>(found - columns.begin());
  }

  void need(const Layout& layout, Role role, std::string_view what) const {
    if (layout.has(role)) return;
    if (table_.columns().empty()) refuse("has no columns", fmt::format("give one that says {}, and further ones", what));
    refuse(fmt::format("no column says {}; the columns are {}", what, names()),
           fmt::format("name it: {}", spelling_("columns", fmt::format("{}=NAME", role_name(role)))));
  }

  /// Whether rows of this kind have the attribute.
  [[nodiscard]] bool is_read(std::string_view attribute) const {
    const auto& declared = options_.vertices ? options_.vertex_attributes : options_.attributes;
    return std::ranges::any_of(declared, [&](const AttributeColumn& column) { return column.attribute.name == attribute; });
  }
  [[nodiscard]] std::string column_of_attribute(const std::string& attribute) const {
    std::string name = attribute_column(options_, attribute);
    return name.empty() ? attribute : name;
  }
  [[nodiscard]] bool is_attribute_column(std::string_view name) const {
    const auto& declared = options_.vertices ? options_.vertex_attributes : options_.attributes;
    return std::ranges::any_of(declared, [&](const AttributeColumn& column) {
      return (column.column.empty() ? column.attribute.name : column.column) == name;
    });
  }

  void place_attribute(TableLayout& layout, std::size_t attribute, bool keys_alone) const {
    const std::string name = column_of_attribute(layout.attributes[attribute]);
    if (keys_alone && !layout.columns.has(Role::source) &&
        std::ranges::none_of(table_.columns(), [&](const Column& column) { return column.name() == name; }))
      return;
    layout.columns.set(attribute_role(attribute),
                       by_name(name, fmt::format("the attribute {}, or leave it out", in_ticks(layout.attributes[attribute]))));
  }

  [[nodiscard]] bool is_taken(const TableLayout& layout, std::size_t column) const {
    const auto at = static_cast<int>(column);
    for (const Role role : all_roles()) {
      if (layout.columns.column(role) == at) return true;
    }
    for (std::size_t attribute = 0; attribute < layout.attributes.size(); ++attribute) {
      if (layout.columns.column(attribute_role(attribute)) == at) return true;
    }
    return false;
  }

  [[nodiscard]] const std::string& name_of(std::size_t column) const { return table_.columns()[column].name(); }
  [[nodiscard]] std::string names() const {
    std::vector<std::string> names;
    for (const Column& column : table_.columns()) names.push_back(in_ticks(column.name()));
    return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
  }
  [[noreturn]] void refuse(std::string_view what, std::string_view remedy) const {
    throw Error(ErrorKind::usage, table_.name(), what, remedy);
  }

  const TableReader& table_;
  const TableRoles& roles_;
  const CodecOptions& options_;
  OptionSpelling spelling_;
};

}  // namespace

TableLayout lay_out(const TableReader& table, const TableRoles& roles, const CodecOptions& options) {
  return Finder(table, roles, options).find();
}

}  // namespace deltamatch::ingest

#include "ingest/codec/csv_properties.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ingest/codec/fields.hpp"
#include "ingest/codec/header_words.hpp"

namespace deltamatch::ingest {
namespace {

/// A header cell without the type that neo4j writes behind a colon: `amount:double`, `at:datetime{timezone:+01:00}`.
std::string_view without_type(std::string_view cell) noexcept {
  constexpr auto types = std::to_array<std::string_view>({"int", "integer", "long", "short", "byte", "float", "double",
                                                          "boolean", "char", "string", "date", "time", "localtime", "datetime",
                                                          "localdatetime", "duration", "point"});
  const std::size_t colon = cell.find(':', 1);
  if (colon == std::string_view::npos) return cell;
  std::string_view type = cell.substr(colon + 1);
  type = type.substr(0, type.find('{'));
  return std::ranges::any_of(types, [&](std::string_view known) { return same_letters(known, type); }) ? cell.substr(0, colon)
                                                                                                       : cell;
}

}  // namespace

CsvProperties::CsvProperties(const CodecOptions& options, const ColumnSpec& spec)
    : options_(options.columns),
      spelling_(spelling_of(options)),
      keyed_(options.edges == EdgeModel::keyed),
      key_(spec.name(Role::edge)),
      edges_(wanted(options.attributes, spec)),
      vertices_(wanted(options.vertex_attributes, spec)) {}

std::vector<CsvProperties::Wanted> CsvProperties::wanted(const std::vector<AttributeColumn>& attributes,
                                                         const ColumnSpec& spec) {
  std::vector<Wanted> all;
  for (const AttributeColumn& column : attributes) {
    const std::string& name = column.attribute.name;
    const auto at = std::ranges::find(spec.attributes, name) - spec.attributes.begin();
    const Role role = attribute_role(static_cast<std::size_t>(at));
    const auto& given = spec.name(role);
    const bool own = !given && column.column.empty();
    all.push_back({role, name, given ? *given : own ? name : column.column, own});
  }
  return all;
}

/// The columns that have the name. If none has, and nobody has named it, those that have it in any case.
std::vector<std::size_t> CsvProperties::columns_of(const Wanted& wanted, std::span<const std::string_view> header) {
  std::vector<std::size_t> found;
  if (wanted.column.empty()) return found;
  const auto look = [&](auto&& matches) {
    for (std::size_t column = 0; column < header.size() && found.size() < 2; ++column) {
      if (matches(header[column])) found.push_back(column);
    }
    return !found.empty();
  };
  const std::string_view name = without_blanks(wanted.column);
  if (look([&](std::string_view cell) { return cell == wanted.column || cell == name; })) return found;
  if (look([&](std::string_view cell) { return without_type(cell) == name; })) return found;
  if (wanted.own_name) look([&](std::string_view cell) { return same_letters(without_type(cell), name); });
  return found;
}

std::vector<char> CsvProperties::claimed(std::span<const std::string_view> header) const {
  std::vector<char> columns(header.size());
  const auto has = [&](Role role) {
    return std::ranges::any_of(header, [&](std::string_view cell) { return role_by_usual_name(cell) == role; });
  };
  const bool vertices = !has(Role::source) && !has(Role::target) && has(Role::vertex);
  for (const Wanted& each : vertices ? vertices_ : edges_) {
    for (const std::size_t column : columns_of(each, header)) columns[column] = 1;
  }
  return columns;
}

std::string CsvProperties::columns(const std::string& entry) const {
  return spell_columns(spelling_, with_column(options_, entry));
}

std::string CsvProperties::complete(std::string columns, std::span<const std::string_view> header) const {
  for (const Wanted& each : edges_) {
    if (each.column.empty() || !columns_of(each, header).empty()) continue;
    if (const std::string likely = likely_column(each.name, header); !likely.empty())
      columns = with_column(columns, fmt::format("{}={}", each.name, likely));
  }
  return columns;
}

std::string CsvProperties::find(std::span<const std::string_view> header, Layout& layout) {
  const bool vertices = layout.has(Role::vertex);
  if (keyed_ && !vertices) {
    if (std::string fault = find_key(header, layout); !fault.empty()) return fault;
  }
  for (const Wanted& each : vertices ? vertices_ : edges_) {
    if (each.column.empty()) continue;
    const std::vector<std::size_t> found = columns_of(each, header);
    if (found.size() == 1) {
      layout.set(each.role, found[0]);
      continue;
    }
    const std::string likely = found.empty() ? likely_column(each.name, header) : std::string();
    const std::string with = columns(fmt::format("{}={}", each.name, likely.empty() ? "NAME" : likely));
    if (found.size() > 1) {
      remedy_ = fmt::format("give {}, with the name of one of them alone", with);
      return fmt::format("has two columns {} for the attribute {}", in_ticks(each.column), each.name);
    }
    remedy_ = fmt::format("give {}, or {} if this input has no values for it", with, columns(each.name + "="));
    return fmt::format("has no column {} for the attribute {}", in_ticks(each.column), each.name);
  }
  return {};
}

/// Finds the column with the key. `id` is one only if no other is.
std::string CsvProperties::find_key(std::span<const std::string_view> header, Layout& layout) {
  if (key_ && layout.has(Role::edge)) return {};
  std::vector<std::size_t> found;
  for (std::size_t column = 0; column < header.size() && !key_; ++column) {
    if (is_usual_key(header[column])) found.push_back(column);
  }
  for (std::size_t column = 0; column < header.size() && !key_ && found.empty(); ++column) {
    if (same_letters(header[column], "id")) found.push_back(column);
  }
  if (found.size() == 1) {
    layout.set(Role::edge, found[0]);
    return {};
  }
  remedy_ = fmt::format("give {}", columns("edge=NAME"));
  if (found.size() > 1) {
    return fmt::format("has two columns that may be the key of an edge, {} and {}", in_ticks(header[found[0]]),
                       in_ticks(header[found[1]]));
  }
  return "has no column for the key of an edge, which the model keyed needs";
}

}  // namespace deltamatch::ingest

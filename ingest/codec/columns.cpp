#include "ingest/codec/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "deltamatch/error.hpp"
#include "deltamatch/labels.hpp"
#include "ingest/codec/name_doubts.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::array<std::string_view, role_count> role_names = {
    "source", "target",  "label", "source_label", "target_label", "time",         "op",
    "vertex", "deleted", "edge",  "labels",       "add_labels",   "remove_labels"};

/// The role of a header field of neo4j-admin: a name, which may be missing, and a role, which may have a space of ids.
std::optional<Role> role_in_neo4j(std::string_view field) noexcept {
  const std::size_t colon = field.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view type = field.substr(colon + 1);
  if (const std::size_t space = type.find('('); space != std::string_view::npos && type.ends_with(')'))
    type = type.substr(0, space);
  if (type == "START_ID") return Role::source;
  if (type == "END_ID") return Role::target;
  if (type == "ID") return Role::vertex;
  if (colon > 0) return std::nullopt;
  if (type == "TYPE") return Role::label;
  if (type == "LABEL") return Role::labels;
  return std::nullopt;
}

}  // namespace

std::string_view role_name(Role role) noexcept { return role_names[static_cast<std::size_t>(role)]; }

std::span<const Role> all_roles() noexcept {
  static constexpr auto roles = [] {
    std::array<Role, role_count> all{};
    for (std::size_t r = 0; r < role_count; ++r) all[r] = static_cast<Role>(r);
    return all;
  }();
  return roles;
}

std::span<const std::pair<std::string_view, Role>> usual_names() noexcept {
  static constexpr std::array<std::pair<std::string_view, Role>, 30> names = {{
      {"source", Role::source},
      {"src", Role::source},
      {"from", Role::source},
      {"u", Role::source},
      {"target", Role::target},
      {"dst", Role::target},
      {"to", Role::target},
      {"v", Role::target},
      {"label", Role::label},
      {"type", Role::label},
      {"rel", Role::label},
      {"source_label", Role::source_label},
      {"source_labels", Role::source_label},
      {"target_label", Role::target_label},
      {"target_labels", Role::target_label},
      {"time", Role::time},
      {"timestamp", Role::time},
      {"t", Role::time},
      {"ts", Role::time},
      {"op", Role::op},
      {"sign", Role::op},
      {"__op", Role::op},
      {"_change_type", Role::op},
      {"__deleted", Role::deleted},
      {"vertex", Role::vertex},
      {"id", Role::vertex},
      {"node", Role::vertex},
      {"labels", Role::labels},
      {"add_labels", Role::add_labels},
      {"remove_labels", Role::remove_labels},
  }};
  return names;
}

std::optional<Role> role_by_usual_name(std::string_view field) noexcept {
  const auto names = usual_names();
  const auto found = std::ranges::find_if(names, [&](const auto& name) { return same_letters(name.first, field); });
  return found == names.end() ? role_in_neo4j(field) : std::optional(found->second);
}

std::span<const std::string_view> usual_keys() noexcept {
  static constexpr auto names = std::to_array<std::string_view>(
      {"edge",       "edge_id",        "edgeid",        "edge_key",   "txn_id",     "txnid",        "tx_id",
       "txid",       "transaction_id", "transactionid", "trans_id",   "payment_id", "paymentid",    "transfer_id",
       "transferid", "event_id",       "eventid",       "message_id", "order_id",   "reference_id", "relationship_id",
       "rel_id",     "elementid",      "uuid",          "guid"});
  return names;
}

bool is_usual_key(std::string_view name) noexcept {
  return std::ranges::any_of(usual_keys(), [&](std::string_view known) { return same_letters(known, name); });
}

std::string time_column_advice(const OptionSpelling& spelling, std::string_view columns, std::string_view name) {
  return fmt::format("{} reads {} as the time", spell_columns(spelling, with_column(columns, fmt::format("time={}", name))),
                     in_ticks(name));
}

std::string with_column(std::string_view columns, std::string_view entry) {
  const auto role_of = [](std::string_view text) { return without_blanks(text.substr(0, text.find('='))); };
  std::string all;
  for (std::size_t at = 0; at < columns.size();) {
    const std::size_t end = std::min(columns.find(',', at), columns.size());
    const std::string_view other = columns.substr(at, end - at);
    at = end + 1;
    if (role_of(other) != role_of(entry)) all.append(other).append(",");
  }
  return all.append(entry);
}

bool may_be_time(std::string_view column) noexcept {
  constexpr auto words = std::to_array<std::string_view>(
      {"time", "date", "when", "created", "updated", "_at", "_ts", "ts_", "datum", "buchungstag"});
  const auto holds = [&](std::string_view word) {
    for (std::size_t at = 0; at + word.size() <= column.size(); ++at) {
      if (same_letters(column.substr(at, word.size()), word)) return true;
    }
    return false;
  };
  return std::ranges::any_of(words, holds) || column.ends_with("At") || same_letters(column, "day") ||
         same_letters(column, "at");
}

std::string missing_id_remedy(const OptionSpelling& spelling, bool quotes) {
  return fmt::format(" ({}{} keeps it as a name)", quotes ? "quotes around it, or " : "", spelling.common("ids", "string"));
}

Layout::Layout(const std::vector<std::optional<Role>>& positions) : Layout() {
  for (std::size_t column = 0; column < positions.size(); ++column) {
    if (positions[column]) set(*positions[column], column);
  }
}

std::string spell(const OptionSpelling& spelling, std::string_view option, std::string_view value) {
  return spelling(option, spelling.in_configuration || spelling.as_keywords ? std::string(value) : shell_quoted(value));
}

std::string spell_columns(const OptionSpelling& spelling, std::string_view value) {
  return value.empty() ? spelling("columns", value) : spell(spelling, "columns", value);
}

std::string what_of_operation(std::string_view name, std::string_view value) {
  return fmt::format("{} is ignored; its value {} looks like a deletion, but the record inserts", in_ticks(name),
                     in_ticks(value));
}

std::string remedy_of_unread(const OptionSpelling& spelling, std::string_view columns, std::string_view name,
                             std::string_view value, std::string_view insertions) {
  return fmt::format("{}, {} says that it is no operation", remedy_of_operation(spelling, columns, name, value, insertions),
                     spell_columns(spelling, with_column(columns, "op=")));
}

std::string first_two(std::size_t columns) {
  std::string positions = "source,target";
  for (std::size_t column = 2; column < columns; ++column) positions += ",-";
  return positions;
}

std::string skipping_columns(const OptionSpelling& spelling, const ColumnSpec& spec, std::size_t columns) {
  if (columns <= spec.positions.size() || spec.positions.empty()) return {};
  std::string positions;
  for (std::size_t column = 0; column < columns; ++column) {
    const bool given = column < spec.positions.size() && spec.positions[column];
    positions.append(positions.empty() ? "" : ",").append(given ? role_name(*spec.positions[column]) : "-");
  }
  return fmt::format("{} leaves the other columns out", spelling("columns", positions));
}

std::string columns_of_rows(const OptionSpelling& spelling, std::string_view columns, bool vertices) {
  std::string all(columns);
  for (const std::string_view entry : vertices ? std::array{"vertex=0", "label=1"} : std::array{"source=0", "target=1"})
    all = with_column(all, entry);
  return spell_columns(spelling, all);
}

std::string remedy_of_label(const OptionSpelling& spelling, std::string_view columns, std::string_view name) {
  const std::string op = with_column(with_column(columns, fmt::format("op={}", name)), "label=");
  return fmt::format("{} reads it as the operation, {} says that it is the label", spell_columns(spelling, op),
                     spell_columns(spelling, with_column(columns, fmt::format("label={}", name))));
}

bool is_header_of(const Layout& layout, std::span<const std::string_view> fields) noexcept {
  const auto is = [&](Role at, Role named) {
    const std::string_view field = fields[static_cast<std::size_t>(layout.column(at))];
    return field.size() > 1 && role_by_usual_name(field) == named;
  };
  if (layout.has(Role::vertex)) {
    if (!layout.has(Role::label)) return false;
    constexpr auto labels =
        std::to_array<std::string_view>({"label", "labels", "type", "kind", ":label", ":labels", "_labels"});
    const std::string_view label = fields[static_cast<std::size_t>(layout.column(Role::label))];
    return is(Role::vertex, Role::vertex) || std::ranges::any_of(labels, [&](auto name) { return same_letters(name, label); });
  }
  return (is(Role::source, Role::source) && is(Role::target, Role::target)) ||
         (is(Role::source, Role::target) && is(Role::target, Role::source));
}

std::string labels_in_cell(std::string_view cell) {
  const bool colons = cell.starts_with(':') && cell.find(';') == std::string_view::npos;
  std::vector<std::string_view> labels = split_labels(cell, colons ? ':' : ';');
  for (std::string_view& label : labels) label = without_blanks(label);
  return join_labels(std::move(labels));
}

namespace {

/// Whether a text is written as several labels usually are. One label holds commas and brackets more often than a part of a
/// list does.
bool may_be_several(std::string_view label, bool in_list) noexcept {
  if (label.size() < 2) return false;
  if (label.find_first_of(in_list ? ";|," : ";|", 1) != std::string_view::npos) return true;
  if (in_list && (label.front() == '[' || label.back() == ']')) return true;
  return label.front() == ':' && label.find(':', 1) != std::string_view::npos;
}

}  // namespace

void tell_several_labels(Doubts* doubts, std::string_view labels, LabelPlace place) {
  if (doubts == nullptr || labels.find_first_of(";|:,[]") == std::string_view::npos) return;
  const bool in_list = place == LabelPlace::list;
  for (const std::string_view label : split_labels(labels)) {
    if (!may_be_several(label, in_list) || (!in_list && is_several_labels(labels))) continue;
    if (doubts->again("several_labels")) return;
    const std::string_view remedy = in_list                     ? "write A;B"
                                    : place == LabelPlace::cell ? "write A;B in a csv column called labels"
                                                                : "write an array of labels";
    doubts->tell("several_labels", fmt::format("the label {} seems to be several labels, but is read as one", in_ticks(label)),
                 fmt::format("{}, or write it in backquotes in queries", remedy));
    return;
  }
}

}  // namespace deltamatch::ingest

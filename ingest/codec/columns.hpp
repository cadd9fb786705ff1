// The meaning of the columns of a record.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deltamatch/update.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/codec/fields.hpp"
#include "ingest/codec/operation_columns.hpp"
#include "ingest/codec/operations.hpp"

namespace deltamatch::ingest {

/// op says whether a record inserts or deletes. deleted is a flag that says whether it deletes. edge is the key of an edge. The
/// last three are lists of labels of a vertex: all of them, those to add, and those to remove. Attributes are roles too, with
/// the numbers from role_count on (attribute_role).
enum class Role : std::uint8_t {
  source,
  target,
  label,
  source_label,
  target_label,
  time,
  op,
  vertex,
  deleted,
  edge,
  labels,
  add_labels,
  remove_labels,
};
inline constexpr std::size_t role_count = 13;
inline constexpr std::array label_lists = {Role::labels, Role::add_labels, Role::remove_labels};
[[nodiscard]] constexpr bool is_label_list(Role role) noexcept {
  return role == Role::labels || role == Role::add_labels || role == Role::remove_labels;
}
/// Whether a role says labels, in a field that may have several.
[[nodiscard]] constexpr bool says_labels(Role role) noexcept {
  return role == Role::label || role == Role::source_label || role == Role::target_label || is_label_list(role);
}

[[nodiscard]] constexpr Role attribute_role(std::size_t attribute) noexcept {
  return static_cast<Role>(role_count + attribute);
}
[[nodiscard]] constexpr bool is_attribute(Role role) noexcept { return static_cast<std::size_t>(role) >= role_count; }
[[nodiscard]] constexpr std::size_t attribute_of(Role role) noexcept { return static_cast<std::size_t>(role) - role_count; }

/// The roles that are no attributes.
[[nodiscard]] std::span<const Role> all_roles() noexcept;
/// The name of a role that is no attribute.
[[nodiscard]] std::string_view role_name(Role role) noexcept;

/// A parsed `columns` option. By position: one entry per column, nothing for a column that is skipped. By name: the column's
/// name in the data if one was given (empty: there is no such column). Without a given name, the usual names hold.
struct ColumnSpec {
  std::vector<std::optional<Role>> positions;
  /// By role; those of attributes follow. A name that stands around a message's value (MessageColumns) may be beside positions.
  std::vector<std::optional<std::string>> names = std::vector<std::optional<std::string>>(role_count);
  /// The names of all attributes, of edges and of vertices, each once. Their place here is their number.
  std::vector<std::string> attributes{};
  [[nodiscard]] bool named() const noexcept { return positions.empty(); }
  [[nodiscard]] const std::optional<std::string>& name(Role role) const noexcept {
    return names[static_cast<std::size_t>(role)];
  }
  [[nodiscard]] std::size_t roles() const noexcept { return names.size(); }
  /// The name of a role, or of the attribute that it is.
  [[nodiscard]] std::string_view role_text(Role role) const noexcept {
    return is_attribute(role) ? std::string_view(attributes[attribute_of(role)]) : role_name(role);
  }
  /// Whether the usual names hold for the role, because none was given. If op has a given name, there is no usual flag either.
  [[nodiscard]] bool usual(Role role) const noexcept {
    return !name(role) && !(role == Role::deleted && name(Role::op).has_value());
  }
};

/// Throws Error(usage) for unknown or repeated roles, for a mix of positions and names, and for positions that state neither
/// edges nor vertices. Throws as well for a key of edges that have none, and for what surrounds a message if there is none. An
/// empty text names nothing.
[[nodiscard]] ColumnSpec parse_columns(const CodecOptions& options);

/// Whether a name means what surrounds a message's value: "kafka:key".
[[nodiscard]] inline bool surrounds_message(std::string_view name) noexcept { return name.starts_with("kafka:"); }

/// The name of the column or field that an attribute is declared with. Empty if it is declared without one.
[[nodiscard]] std::string attribute_column(const CodecOptions& options, std::string_view attribute);

/// Says which option reads a column or field that may hold times.
[[nodiscard]] std::string time_column_advice(const OptionSpelling& spelling, std::string_view columns, std::string_view name);
/// Adds an entry to a spec of names, in place of the one for the same role: "source=a,target=b" and "op=c".
[[nodiscard]] std::string with_column(std::string_view columns, std::string_view entry);
/// Whether the name of a column that nobody has named suggests times: `created_at`, `Date`, `event_time`.
[[nodiscard]] bool may_be_time(std::string_view column) noexcept;

/// The role of a header field by the usual names ("src", "from", "timestamp", "__op", ...), in any case. Neo4j's are among
/// them:
/// `:START_ID`, `accountId:ID(Account)`, `:LABEL`.
[[nodiscard]] std::optional<Role> role_by_usual_name(std::string_view field) noexcept;
/// All usual names, in small letters.
[[nodiscard]] std::span<const std::pair<std::string_view, Role>> usual_names() noexcept;

/// Whether a column or field is called as the keys of edges often are: `txn_id`, `payment_id`, `uuid`. In any case.
[[nodiscard]] bool is_usual_key(std::string_view name) noexcept;
/// Those names.
[[nodiscard]] std::span<const std::string_view> usual_keys() noexcept;

/// Says how to keep a word for a missing id as a name. Follows the fault in a message.
[[nodiscard]] std::string missing_id_remedy(const OptionSpelling& spelling, bool quotes);

/// Spells an option, on a command line with quotes for a shell if its value needs them: `--columns 'op=__$operation'`.
[[nodiscard]] std::string spell(const OptionSpelling& spelling, std::string_view option, std::string_view value);
/// The same for the option `columns`.
[[nodiscard]] std::string spell_columns(const OptionSpelling& spelling, std::string_view value);

/// Says that a column or field which is not read has a value that says a removal.
[[nodiscard]] std::string what_of_operation(std::string_view name, std::string_view value);
/// What to do about it. `columns` is the option as given.
[[nodiscard]] std::string remedy_of_unread(const OptionSpelling& spelling, std::string_view columns, std::string_view name,
                                           std::string_view value, std::string_view insertions = {});

/// What to do if a label column that nobody has named says the operation.
[[nodiscard]] std::string remedy_of_label(const OptionSpelling& spelling, std::string_view columns, std::string_view name);

/// The columns of edges by position, of which all but the first two are skipped: "source,target,-,-".
[[nodiscard]] std::string first_two(std::size_t columns);
/// Says how to skip the columns behind those that have a role by position. Empty if there are none.
[[nodiscard]] std::string skipping_columns(const OptionSpelling& spelling, const ColumnSpec& spec, std::size_t columns);

/// The option that reads a JSON array as a row. `columns` is the option as given.
[[nodiscard]] std::string columns_of_rows(const OptionSpelling& spelling, std::string_view columns, bool vertices);

/// Column number per role.
class Layout {
 public:
  Layout() { columns_.fill(-1); }
  Layout(const std::vector<std::optional<Role>>& positions);  // NOLINT(google-explicit-constructor)
  void set(Role role, std::size_t column) {
    if (is_attribute(role)) {
      attributes_.resize(std::max(attributes_.size(), attribute_of(role) + 1), -1);
      attributes_[attribute_of(role)] = static_cast<int>(column);
    } else {
      columns_[static_cast<std::size_t>(role)] = static_cast<int>(column);
    }
  }
  /// Of a role that is no attribute.
  void unset(Role role) noexcept { columns_[static_cast<std::size_t>(role)] = -1; }
  [[nodiscard]] int column(Role role) const noexcept {
    if (!is_attribute(role)) return columns_[static_cast<std::size_t>(role)];
    return attribute_of(role) < attributes_.size() ? attributes_[attribute_of(role)] : -1;
  }
  [[nodiscard]] bool has(Role role) const noexcept { return column(role) >= 0; }
  /// Whether a column says labels of vertices.
  [[nodiscard]] bool has_labels() const noexcept {
    return has(Role::label) || std::ranges::any_of(label_lists, [this](Role role) { return has(role); });
  }
  /// Whether the layout states edges or vertices, and not both.
  [[nodiscard]] bool complete() const noexcept { return has(Role::vertex) != (has(Role::source) && has(Role::target)); }

 private:
  std::array<int, role_count> columns_;
  std::vector<int> attributes_;  // by number; the last ones may be missing
};

/// Whether a record holds names of a header in place of ids: `source` and `target`, or of a vertex and its label `id` or
/// `label`. Names of one letter do not count.
[[nodiscard]] bool is_header_of(const Layout& layout, std::span<const std::string_view> fields) noexcept;

/// The labels in a cell of CSV that lists them, as one text (deltamatch/labels.hpp): `A;B` or `:A:B`.
[[nodiscard]] std::string labels_in_cell(std::string_view cell);

/// Where labels stand: one in a cell, or a list in it, or in JSON.
enum class LabelPlace : std::uint8_t { cell, list, json };

/// Reports a vertex of which a label looks like several: `A;B`, `A|B` or `:A:B`; in a list also `A,B` or `[A`. `doubts` may be
/// null.
void tell_several_labels(Doubts* doubts, std::string_view labels, LabelPlace place);

}  // namespace deltamatch::ingest

// The meaning of the columns of a record.
#pragma once

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

/// op says whether a record inserts or deletes. deleted is a flag that says whether it deletes.
enum class Role : std::uint8_t { source, target, label, source_label, target_label, time, op, vertex, deleted };
inline constexpr std::size_t role_count = 9;

[[nodiscard]] std::string_view role_name(Role role) noexcept;

/// A parsed `columns` option. By position: one entry per column, nothing for a column that is skipped. By name: the column's
/// name in the data if one was given (empty: there is no such column). Without a given name, the usual names hold.
struct ColumnSpec {
  std::vector<std::optional<Role>> positions;
  std::array<std::optional<std::string>, role_count> names;
  [[nodiscard]] bool named() const noexcept { return positions.empty(); }
  [[nodiscard]] const std::optional<std::string>& name(Role role) const noexcept {
    return names[static_cast<std::size_t>(role)];
  }
  /// Whether the usual names hold for the role, because none was given. If op has a given name, there is no usual flag either.
  [[nodiscard]] bool usual(Role role) const noexcept {
    return !name(role) && !(role == Role::deleted && name(Role::op).has_value());
  }
};

/// Throws Error(usage) for unknown or repeated roles, for a mix of positions and names, and for positions that state neither
/// edges nor vertices. An empty text names nothing.
[[nodiscard]] ColumnSpec parse_columns(std::string_view text);

/// Says which option reads a column or field that may hold times.
[[nodiscard]] std::string time_column_advice(const OptionSpelling& spelling, std::string_view columns, std::string_view name);
/// Adds an entry to a spec of names, in place of the one for the same role: "source=a,target=b" and "op=c".
[[nodiscard]] std::string with_column(std::string_view columns, std::string_view entry);
/// Whether the name of a column that nobody has named suggests times: `created_at`, `Date`, `event_time`.
[[nodiscard]] bool may_be_time(std::string_view column) noexcept;

/// The role of a header field by the usual names ("src", "from", "timestamp", "__op", ...), in any case.
[[nodiscard]] std::optional<Role> role_by_usual_name(std::string_view field) noexcept;
/// All usual names, in small letters.
[[nodiscard]] std::span<const std::pair<std::string_view, Role>> usual_names() noexcept;

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
  void set(Role role, std::size_t column) noexcept { columns_[static_cast<std::size_t>(role)] = static_cast<int>(column); }
  void unset(Role role) noexcept { columns_[static_cast<std::size_t>(role)] = -1; }
  [[nodiscard]] int column(Role role) const noexcept { return columns_[static_cast<std::size_t>(role)]; }
  [[nodiscard]] bool has(Role role) const noexcept { return column(role) >= 0; }
  /// Whether the layout states edges or vertices, and not both.
  [[nodiscard]] bool complete() const noexcept { return has(Role::vertex) != (has(Role::source) && has(Role::target)); }

 private:
  std::array<int, role_count> columns_;
};

/// Whether a record holds names of a header in place of ids: `source` and `target`, or of a vertex and its label `id` or
/// `label`. Names of one letter do not count.
[[nodiscard]] bool is_header_of(const Layout& layout, std::span<const std::string_view> fields) noexcept;

/// Reports a vertex whose label looks like several: `A;B`, `A|B` or `:A:B`. `doubts` may be null.
void tell_several_labels(Doubts* doubts, std::string_view label);

/// Makes updates of fields, for every format whose records have fields.
class UpdateMaker {
 public:
  /// `quotes`: a quoted field is a name, even if it is a word for a missing id.
  UpdateMaker(IdKind ids, TimeReader times, std::string edge_label, Operations operations = Operations(),
              Doubts* doubts = nullptr, OptionSpelling spelling = {}, bool quotes = false);

  /// Names the columns of the operation as the data does. Messages use the names, and flags have values of their own.
  void name_operations(std::string op, std::string deleted);

  /// Returns the update that `fields` state. There must be a field for each column of the layout. `sign` goes before an op
  /// column. Views are valid until the next call.
  Decoded make(const Layout& layout, std::span<const std::string_view> fields, std::optional<bool> sign = std::nullopt);
  /// Reports text ids that look missing or quoted, from here on. Call it if nobody has stated what ids are.
  void doubt_names() noexcept { doubts_names_ = doubts_ != nullptr; }
  /// Whether the last record has a word that may stand for a missing id or label. Then it matters whether it is quoted.
  [[nodiscard]] bool lacks_id() const noexcept { return lacks_id_; }
  /// Takes such words as names in the columns whose entry is not 0. Holds until the next call.
  void take_as_names(std::span<const char> columns) noexcept { names_ = columns; }
  Decoded refuse(RejectReason reason, std::string message);

 private:
  bool take_id(const Layout& layout, std::span<const std::string_view> fields, Role role, Id& id);
  void doubt_name(std::string_view field, std::size_t column, Role role, bool other);
  void look_at_label(std::string_view label, const Layout& layout, Role role);
  bool take_operation(const Layout& layout, std::span<const std::string_view> fields, bool& inserts);

  IdKind ids_;
  TimeReader times_;
  std::string edge_label_;
  Operations operations_;
  Doubts* doubts_ = nullptr;
  OptionSpelling spelling_;
  bool quotes_ = false;
  bool doubts_names_ = false;
  bool lacks_id_ = false;
  std::span<const char> names_;
  std::string op_name_ = "op";
  std::string deleted_name_ = "deleted";
  bool op_is_flag_ = false;
  Update update_;
  std::string message_;
};

}  // namespace deltamatch::ingest

// What the columns of a record mean.
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
#include "ingest/codec/operations.hpp"

namespace deltamatch::ingest {

/// op says whether a record inserts or deletes; deleted is a flag that says whether it deletes.
enum class Role : std::uint8_t { source, target, label, source_label, target_label, time, op, vertex, deleted };
inline constexpr std::size_t role_count = 9;

[[nodiscard]] std::string_view role_name(Role role) noexcept;

/// A parsed `columns` option. Positional: one entry per column, nothing where the column is skipped. Named: the column's name
/// in the data where one was given (empty: there is none), and where none was the usual names hold.
struct ColumnSpec {
  std::vector<std::optional<Role>> positions;
  std::array<std::optional<std::string>, role_count> names;
  [[nodiscard]] bool named() const noexcept { return positions.empty(); }
  [[nodiscard]] const std::optional<std::string>& name(Role role) const noexcept {
    return names[static_cast<std::size_t>(role)];
  }
  /// Whether the usual names hold for the role: none was given. Who says where the operation stands says that no flag is one.
  [[nodiscard]] bool usual(Role role) const noexcept {
    return !name(role) && !(role == Role::deleted && name(Role::op).has_value());
  }
};

/// Throws Error(usage) for unknown or repeated roles, a mix of positions and names, and positions that state neither edges nor
/// vertices. An empty text names nothing.
[[nodiscard]] ColumnSpec parse_columns(std::string_view text);

/// How a column or field that may hold times is read.
[[nodiscard]] std::string time_column_advice(const OptionSpelling& spelling, std::string_view columns, std::string_view name);
/// A spec that names columns with one more entry, in place of the one for the same role: "source=a,target=b" and "op=c".
[[nodiscard]] std::string with_column(std::string_view columns, std::string_view entry);
/// Whether a column that nobody has named may hold times, by its name: `created_at`, `Date`, `event_time`.
[[nodiscard]] bool may_be_time(std::string_view column) noexcept;

/// The role of a header field by the usual names ("src", "from", "timestamp", "__op", ...), letters of either case.
[[nodiscard]] std::optional<Role> role_by_usual_name(std::string_view field) noexcept;
/// All of them, in small letters.
[[nodiscard]] std::span<const std::pair<std::string_view, Role>> usual_names() noexcept;

/// How a word that stands for a missing id is kept as a name, to follow what is wrong.
[[nodiscard]] std::string missing_id_remedy(const OptionSpelling& spelling, bool quotes);

/// Tells that a column or field which is not read has a value that says a removal. `columns`: the option, as it was given.
void tell_unread_operation(Doubts& doubts, const OptionSpelling& spelling, std::string_view columns, std::string_view name,
                           std::string_view value);

/// Column number per role.
class Layout {
 public:
  Layout() { columns_.fill(-1); }
  Layout(const std::vector<std::optional<Role>>& positions);  // NOLINT(google-explicit-constructor)
  void set(Role role, std::size_t column) noexcept { columns_[static_cast<std::size_t>(role)] = static_cast<int>(column); }
  void unset(Role role) noexcept { columns_[static_cast<std::size_t>(role)] = -1; }
  [[nodiscard]] int column(Role role) const noexcept { return columns_[static_cast<std::size_t>(role)]; }
  [[nodiscard]] bool has(Role role) const noexcept { return column(role) >= 0; }
  /// Whether there are edges or vertices in it.
  [[nodiscard]] bool complete() const noexcept { return has(Role::vertex) != (has(Role::source) && has(Role::target)); }

 private:
  std::array<int, role_count> columns_;
};

/// Whether a record's ids are what headers call them, `source` and `target`, or `id` beside `label`. Names of one letter are
/// not looked at.
[[nodiscard]] bool is_header_of(const Layout& layout, std::span<const std::string_view> fields) noexcept;

/// Tells of a vertex whose label seems to be several, `A;B`, `A|B` or `:A:B`; doubts may be null.
void tell_several_labels(Doubts* doubts, std::string_view label);

/// Makes updates out of fields, for every format whose records are fields.
class UpdateMaker {
 public:
  /// `quotes`: a quoted field is a name, also where it is a word for a missing id.
  UpdateMaker(IdKind ids, TimeReader times, std::string edge_label, Operations operations = Operations(),
              Doubts* doubts = nullptr, OptionSpelling spelling = {}, bool quotes = false);

  /// What the data calls the columns of the operation, for messages and because flags have values of their own.
  void name_operations(std::string op, std::string deleted);

  /// The update that `fields` state; fields.size() covers every column of the layout. `sign` precedes an op column. Views hold
  /// until the next call.
  Decoded make(const Layout& layout, std::span<const std::string_view> fields, std::optional<bool> sign = std::nullopt);
  /// Whether the last record was refused for a word that stands for a missing id.
  [[nodiscard]] bool lacks_id() const noexcept { return lacks_id_; }
  /// Such words are names in the columns for which this holds, until it is called again.
  void take_as_names(std::span<const char> columns) noexcept { names_ = columns; }
  Decoded refuse(RejectReason reason, std::string message);

 private:
  bool take_id(const Layout& layout, std::span<const std::string_view> fields, Role role, Id& id);
  bool take_operation(const Layout& layout, std::span<const std::string_view> fields, bool& inserts);

  IdKind ids_;
  TimeReader times_;
  std::string edge_label_;
  Operations operations_;
  Doubts* doubts_ = nullptr;
  OptionSpelling spelling_;
  bool quotes_ = false;
  bool lacks_id_ = false;
  std::span<const char> names_;
  std::string op_name_ = "op";
  std::string deleted_name_ = "deleted";
  bool op_is_flag_ = false;
  Update update_;
  std::string message_;
};

}  // namespace deltamatch::ingest

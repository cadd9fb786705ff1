// What the columns of a record mean.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/update.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {

enum class Role : std::uint8_t { source, target, label, source_label, target_label, time, op, vertex };
inline constexpr std::size_t role_count = 8;

[[nodiscard]] std::string_view role_name(Role role) noexcept;

/// A parsed `columns` option. Positional: one entry per column, nothing where the column is skipped. Named: the column's name
/// in the data where one was given (empty: there is none), and where none was the usual names hold.
struct ColumnSpec {
  std::vector<std::optional<Role>> positions;
  std::array<std::optional<std::string>, role_count> names;
  [[nodiscard]] bool named() const noexcept { return positions.empty(); }
};

/// Throws Error(usage) for unknown or repeated roles, a mix of positions and names, and positions that state neither edges nor
/// vertices. An empty text names nothing.
[[nodiscard]] ColumnSpec parse_columns(std::string_view text);

/// The role of a header field by the usual names ("src", "from", "timestamp", ...), letters of either case.
[[nodiscard]] std::optional<Role> role_by_usual_name(std::string_view field) noexcept;

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

/// Makes updates out of fields, for every format whose records are fields.
class UpdateMaker {
 public:
  UpdateMaker(IdKind ids, TimeReader times, std::string edge_label);

  /// The update that `fields` state; fields.size() covers every column of the layout. `sign` precedes an op column. Views hold
  /// until the next call.
  Decoded make(const Layout& layout, std::span<const std::string_view> fields, std::optional<bool> sign = std::nullopt);
  Decoded refuse(RejectReason reason, std::string message);

 private:
  bool take_id(const Layout& layout, std::span<const std::string_view> fields, Role role, Id& id);

  IdKind ids_;
  TimeReader times_;
  std::string edge_label_;
  Update update_;
  std::string message_;
};

}  // namespace deltamatch::ingest

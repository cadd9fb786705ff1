// Words that name columns, though they are no usual names of roles.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ingest/codec/columns.hpp"

namespace deltamatch::ingest {

/// Whether a text looks like the name of a column: one of its parts is a word such as source, id, name, user or date. Parts are
/// separated by _, -, ., a blank or a capital.
[[nodiscard]] bool is_header_word(std::string_view text) noexcept;

/// The columns that say the ends of an edge, by words in their names: `payer_id`, `TARGET_SUBREDDIT`. Nothing unless exactly
/// one column fits each.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> columns_of_ends(std::span<const std::string_view> names);

/// The column that a role or an attribute most likely has, by the words in the names: `Amount EUR` is that of `amount`. Empty
/// if none or several are likely.
[[nodiscard]] std::string likely_column(std::string_view role, std::span<const std::string_view> names);

/// Whether a first field says an operation: `add`, `D`, `a`.
[[nodiscard]] bool is_operation_field(std::string_view text) noexcept;
/// Spells the positions of columns whose names are not known. The first one may say the operation, and the next one the time.
/// Else they are source and target.
[[nodiscard]] std::string columns_by_position(std::span<const std::string_view> fields);

}  // namespace deltamatch::ingest

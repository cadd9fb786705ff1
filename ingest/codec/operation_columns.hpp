// Which columns may say the operation, by their names and values.
#pragma once

#include <string>
#include <string_view>

#include "ingest/codec/doubts.hpp"

namespace deltamatch::ingest {

/// Whether a column is a deletion flag by its name: `deleted`, `isDeleted`, `_fivetran_deleted`, `removed`. Case and characters
/// other than letters and digits do not matter. Of a path, the last name counts.
[[nodiscard]] bool is_deletion_flag(std::string_view column) noexcept;
/// Whether the name of a column says that it holds the time of a deletion, or the end of a row's validity: `deleted_at`,
/// `_sdc_deleted_at`, `valid_to`.
[[nodiscard]] bool is_deletion_time(std::string_view column) noexcept;
/// Whether a column is SQL Server's `__$operation`: 1 deletes, 2 inserts, 3 and 4 are the row before and after an update.
[[nodiscard]] bool is_sql_server_operation(std::string_view column) noexcept;

/// Whether a column says by its name how often a row counts: 1 or +1 inserts, -1 deletes. `sign`, `diff`, `mz_diff`, `delta`.
[[nodiscard]] bool is_change_sign(std::string_view column) noexcept;
/// Whether a value that says a removal may be a number of things. So other numbers in the column may take the doubt back.
[[nodiscard]] bool may_count(std::string_view column, std::string_view value) noexcept;
/// Whether the letter A in a column says an insertion, for added or active: `action`, `RecordStatus`.
[[nodiscard]] bool adds_with_letter(std::string_view column) noexcept;
/// Whether a value is 1, +1 or -1.
[[nodiscard]] bool is_one(std::string_view value) noexcept;
/// Whether a column holds prose by its name, or a value by its number of words. Words in it say no operation.
[[nodiscard]] bool is_free_text(std::string_view column, std::string_view value) noexcept;
/// Whether a column holds ends of edges by its name, if it is empty in other rows: `ended_at`, `end_date`, `left_at`.
[[nodiscard]] bool is_end_in_some_rows(std::string_view column) noexcept;

/// Whether the name of a column that nobody has named suggests an operation: `action`, `row_kind`, `is_deleted`, `deleted_at`,
/// `voided`, `is_active`, `valid_to`.
[[nodiscard]] bool may_say_operation(std::string_view column) noexcept;
/// Whether a JSON object beside the data of a record has a usual name for what is said about the change: `metadata`, `_meta`,
/// `header`.
[[nodiscard]] bool is_metadata(std::string_view name) noexcept;
/// Whether a field in such an object says the operation by its name: `op`, `operation`, `OperationName`, `changeType`.
[[nodiscard]] bool is_operation_in_metadata(std::string_view name) noexcept;
/// Whether a column is a flag by its name, and the value is none of a flag. Then it counts something.
[[nodiscard]] bool counts_something(std::string_view column, std::string_view value) noexcept;
/// Whether a value of such a column says a removal. This includes words that are not read as operations: `expire`,
/// `EDGE_REMOVED`. In a column that is true as long as the edge is there, such as `is_active`, these are `false` and `0`.
[[nodiscard]] bool says_removal(std::string_view column, std::string_view value) noexcept;

/// Whether a value says an insertion, and no operation column knows it without a mapping.
[[nodiscard]] bool needs_mapping(std::string_view column, std::string_view value) noexcept;

/// Says which options read a column that has such a value. `columns` is the option as given. `insertions` are the values so far
/// that need a mapping, separated by commas.
[[nodiscard]] std::string remedy_of_operation(const OptionSpelling& spelling, std::string_view columns, std::string_view name,
                                              std::string_view value, std::string_view insertions = {});

}  // namespace deltamatch::ingest

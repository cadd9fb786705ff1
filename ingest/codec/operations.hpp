// What a record's operation says: whether it inserts or deletes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/codec/doubts.hpp"

namespace deltamatch::ingest {

/// "+" and "-": what may stand before a record.
[[nodiscard]] std::optional<bool> parse_sign(std::string_view text) noexcept;

/// Reads the values of operation columns. Known without being told, in letters of either case:
///  - insert: + i c r u insert create read update upsert replace add, their past forms, +i and +u of changelogs;
///  - delete: - d delete remove, their past forms, -d and -u of changelogs;
///  - of deletion flags (`__deleted`): true t yes y 1 delete, false f no n 0 insert.
class Operations {
 public:
  /// `mapping`: "c,r,u=+;d=-", values that are read first, as they are written. Throws Error(usage) if it is not of that form.
  explicit Operations(std::string_view mapping = {}, OptionSpelling spelling = {});

  /// Whether the value inserts; nothing: it is not known. `flag`: of a deletion flag. O(number of mapped and known values).
  [[nodiscard]] std::optional<bool> read(std::string_view value, bool flag = false) const noexcept;

  /// Why a value is not known, and what to do. `column` is what the data calls the column.
  [[nodiscard]] std::string refusal(std::string_view column, std::string_view value, bool flag) const;
  /// The same of a column and a flag that do not say the same.
  [[nodiscard]] std::string contradiction(std::string_view column, std::string_view value, std::string_view flag,
                                          std::string_view flag_value) const;

 private:
  OptionSpelling spelling_;
  std::string mapping_;  // as it was given
  std::vector<std::pair<std::string, bool>> mapped_;
};

/// Whether a column is a deletion flag by its name: the last of a path's names is `deleted` but for underscores and case, or
/// `is_deleted`, `isDeleted`.
[[nodiscard]] bool is_deletion_flag(std::string_view column) noexcept;

/// Whether a column that nobody has named may say the operation, by its name: `action`, `event_type`, `is_deleted`.
[[nodiscard]] bool may_say_operation(std::string_view column) noexcept;
/// Whether a value of such a column says that something goes, also in words that are not read: `expire`, `unfollow`.
[[nodiscard]] bool says_removal(std::string_view column, std::string_view value) noexcept;

/// What Debezium's operations t and m mean, if the value is one of them or the word for it: why it is refused, and what to do.
/// Empty for all other values.
[[nodiscard]] std::string_view debezium_refusal(std::string_view value) noexcept;

}  // namespace deltamatch::ingest

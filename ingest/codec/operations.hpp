// Reads whether a record inserts or deletes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/codec/doubts.hpp"

namespace deltamatch::ingest {

/// Reads "+" and "-", which may stand before a record.
[[nodiscard]] std::optional<bool> parse_sign(std::string_view text) noexcept;

/// Reads the values of operation columns. Known without a mapping, in any case:
/// - insert: + i c r u insert create read update upsert replace add, their past forms, +i and +u of changelogs
/// - delete: - d delete remove, their past forms, -d and -u of changelogs
/// - of deletion flags (`__deleted`): true t yes y 1 delete, false f no n 0 insert
class Operations {
 public:
  /// `mapping`: "c,r,u=+;d=-". Its values go first, and their case counts. Throws Error(usage) if it has another form.
  explicit Operations(std::string_view mapping = {}, OptionSpelling spelling = {}, std::string columns = {});

  /// Whether the value inserts. Nothing if it is unknown. `flag`: it is the value of a deletion flag. O(number of mapped and
  /// known values).
  [[nodiscard]] std::optional<bool> read(std::string_view value, bool flag = false) const noexcept;

  /// Says why a value is not known, and what to do. `column` is the column's name in the data.
  [[nodiscard]] std::string refusal(std::string_view column, std::string_view value, bool flag) const;
  /// The same for a column and a flag that contradict each other.
  [[nodiscard]] std::string contradiction(std::string_view column, std::string_view value, std::string_view flag,
                                          std::string_view flag_value) const;

 private:
  OptionSpelling spelling_;
  std::string mapping_;  // as given
  std::string columns_;  // the option, as given
  std::vector<std::pair<std::string, bool>> mapped_;
};

/// If a value is Debezium's operation t or m, or the word for it, says why it is refused and what to do. Empty for other
/// values.
[[nodiscard]] std::string_view debezium_refusal(std::string_view value) noexcept;

}  // namespace deltamatch::ingest

// Columns of a table that are not read and may say the operation.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/codec/doubts.hpp"

namespace deltamatch::ingest {

/// Watches columns that may say the operation by their names, and those that have only words for operations. Not thread-safe.
class UnreadOperations {
 public:
  /// `columns` is the option as given.
  UnreadOperations(OptionSpelling spelling, std::string columns)
      : spelling_(std::move(spelling)), columns_(std::move(columns)) {}

  /// From here on, watches these columns and no others. `names` are those of all columns.
  void watch(std::span<const std::size_t> columns, std::span<const std::string_view> names);
  void clear() noexcept { watched_.clear(); }
  /// Whether no column is watched, or no longer.
  [[nodiscard]] bool empty() const noexcept { return watched_.empty(); }
  /// Looks at the fields of a record, and tells `doubts` what it finds.
  void see(std::span<const std::string_view> fields, Doubts& doubts);

 private:
  struct Watched {
    std::size_t column;
    std::string name;
    bool by_name = false;
    std::vector<std::string> harmless = {};  // the first values that say no removal
    std::size_t other_values = 0;            // that are no words for operations
  };
  bool may_say_more(Watched& watched, std::string_view value, Doubts& doubts) const;

  OptionSpelling spelling_;
  std::string columns_;
  std::vector<Watched> watched_;
};

}  // namespace deltamatch::ingest

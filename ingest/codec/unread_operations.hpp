// Columns of a table that are not read and may say the operation.
#pragma once

#include <cstddef>
#include <optional>
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
    std::string insertions = {};             // values that insert and need a mapping, separated by commas
    std::string removal = {};                // the last value that is suspected of a removal
    bool empty_seen = false;
    bool letter_a = false;                     // the value `A`, for added
    std::optional<Doubts::Doubt> filled = {};  // the first end, until an empty value follows
  };
  void see_empty(Watched& watched, Doubts& doubts) const;
  [[nodiscard]] Doubts::Doubt doubt_about(const Watched& watched, std::string_view value, Position at) const;
  bool may_say_more(Watched& watched, std::string_view value, Doubts& doubts) const;

  OptionSpelling spelling_;
  std::string columns_;
  std::vector<Watched> watched_;
};

}  // namespace deltamatch::ingest

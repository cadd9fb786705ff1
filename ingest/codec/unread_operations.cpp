#include "ingest/codec/unread_operations.hpp"

#include <algorithm>
#include <optional>

#include "ingest/codec/columns.hpp"
#include "ingest/codec/operation_columns.hpp"
#include "ingest/codec/operation_words.hpp"

namespace deltamatch::ingest {

void UnreadOperations::watch(std::span<const std::size_t> columns, std::span<const std::string_view> names) {
  watched_.clear();
  for (const std::size_t column : columns) {
    const std::string_view name = names[column];
    watched_.push_back({.column = column, .name = std::string(name), .by_name = may_say_operation(name)});
  }
}

void UnreadOperations::see(std::span<const std::string_view> fields, Doubts& doubts) {
  std::erase_if(watched_, [&](Watched& watched) {
    const std::string_view value = fields[watched.column];
    const bool known = value.empty() || std::ranges::find(watched.harmless, value) != watched.harmless.end();
    return !known && !may_say_more(watched, value, doubts);
  });
}

/// Looks at a value. Returns whether later ones in the column matter.
bool UnreadOperations::may_say_more(Watched& watched, std::string_view value, Doubts& doubts) const {
  constexpr std::size_t most_harmless = 8;
  constexpr std::size_t most_others = 1024;
  const std::optional<bool> inserts = read_words(value);
  if (watched.by_name ? counts_something(watched.name, value) : !inserts) {
    doubts.clear_operation(watched.name);
    return false;
  }
  if (watched.by_name ? !says_removal(watched.name, value) : *inserts) {
    if (watched.harmless.size() < most_harmless) watched.harmless.emplace_back(value);
    return inserts || is_deletion_time(watched.name) || ++watched.other_values < most_others;
  }
  if (watched.by_name && doubts.again("operation_unread")) return true;
  const std::string what = what_of_operation(watched.name, value);
  const std::string remedy = remedy_of_unread(spelling_, columns_, watched.name, value);
  if (watched.by_name)
    doubts.tell("operation_unread", what, remedy);
  else
    doubts.suspect_operation(watched.name, what, remedy);
  return true;
}

}  // namespace deltamatch::ingest

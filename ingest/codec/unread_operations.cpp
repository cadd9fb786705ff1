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
    if (is_free_text(name, {})) continue;
    watched_.push_back({.column = column, .name = std::string(name), .by_name = may_say_operation(name)});
  }
}

void UnreadOperations::see(std::span<const std::string_view> fields, Doubts& doubts) {
  std::erase_if(watched_, [&](Watched& watched) {
    const std::string_view value = fields[watched.column];
    if (value.empty()) see_empty(watched, doubts);
    if (!watched.removal.empty() && value == watched.removal && doubts.suspect_again(watched.name)) return false;
    const bool known = value.empty() || std::ranges::find(watched.harmless, value) != watched.harmless.end();
    return !known && !may_say_more(watched, value, doubts);
  });
}

/// Ends of edges in all rows may be those of something else. So an empty value shows what the others mean.
void UnreadOperations::see_empty(Watched& watched, Doubts& doubts) const {
  watched.empty_seen = true;
  if (!watched.filled) return;
  const Doubts::Doubt& doubt = *watched.filled;
  for (std::uint64_t i = 0; i < doubt.count; ++i) doubts.report_at(doubt.at, doubt.code, doubt.what, doubt.remedy);
  watched.filled.reset();
}

Doubts::Doubt UnreadOperations::doubt_about(const Watched& watched, std::string_view value, Position at) const {
  return {"operation_unread", at, what_of_operation(watched.name, value),
          remedy_of_unread(spelling_, columns_, watched.name, value, watched.insertions)};
}

/// Looks at a value. Returns whether later ones in the column matter.
bool UnreadOperations::may_say_more(Watched& watched, std::string_view value, Doubts& doubts) const {
  constexpr std::size_t most_harmless = 8;
  constexpr std::size_t most_others = 1024;
  const std::optional<bool> inserts = is_free_text({}, value) ? std::nullopt : read_words(value);
  if (watched.by_name ? counts_something(watched.name, value) : !inserts) {
    doubts.clear_operation(watched.name);
    return false;
  }
  const bool removed_letter = watched.letter_a && value == "R";  // A for added, R for removed
  const bool is_action = watched.by_name && adds_with_letter(watched.name);
  watched.letter_a = watched.letter_a || (is_action && value == "A");
  if (!removed_letter && (watched.by_name ? !says_removal(watched.name, value) : *inserts)) {
    if (is_action && value == "R") return true;
    const bool maps = needs_mapping(watched.name, value) || (is_action && value == "A");
    if (maps && watched.harmless.size() < most_harmless)
      watched.insertions.append(watched.insertions.empty() ? "" : ",").append(value);
    if (watched.harmless.size() < most_harmless) watched.harmless.emplace_back(value);
    return inserts || is_deletion_time(watched.name) || ++watched.other_values < most_others;
  }
  if (is_end_in_some_rows(watched.name) && !watched.empty_seen) {
    if (watched.filled)
      ++watched.filled->count;
    else
      watched.filled = doubt_about(watched, value, doubts.position());
    return watched.filled->count < most_others;
  }
  const bool sure = watched.by_name && !may_count(watched.name, value);
  if (sure && doubts.again("operation_unread")) return true;
  const Doubts::Doubt doubt = doubt_about(watched, value, doubts.position());
  if (sure)
    doubts.tell(doubt.code, doubt.what, doubt.remedy);
  else
    doubts.suspect_operation(watched.name, doubt.what, doubt.remedy);
  if (!sure) watched.removal = value;
  return true;
}

}  // namespace deltamatch::ingest

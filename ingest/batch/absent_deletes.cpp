#include "ingest/batch/absent_deletes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace deltamatch::ingest {

void AbsentDeletes::add(std::span<const Update> updates, const Ignored& ignored) {
  std::uint64_t deletes = 0;
  for (const Update& update : updates)
    deletes += update.kind == UpdateKind::delete_edge || update.kind == UpdateKind::delete_vertex ? 1 : 0;
  deletes_ += deletes;
  if (2 * ignored.absent_delete <= deletes) {
    absent_ += ignored.absent_delete;
    return;
  }
  // The engine counts a deletion that undoes an insertion of its own batch as absent, too, so it is taken off.
  std::set<std::tuple<Id, Id, std::string_view>> inserted;
  std::set<Id> keys;
  std::uint64_t undone = 0;
  for (const Update& update : updates) {
    if (const std::optional<Id> key = update.key()) {  // the key alone says which edge it is
      if (update.kind == UpdateKind::insert_edge) keys.insert(*key);
      if (update.kind == UpdateKind::delete_edge) undone += keys.erase(*key);
      continue;
    }
    const bool swap = !directed_ && update.target < update.source;
    const std::tuple edge(swap ? update.target : update.source, swap ? update.source : update.target, update.label);
    if (update.kind == UpdateKind::insert_edge) inserted.insert(edge);
    if (update.kind == UpdateKind::delete_edge) undone += inserted.erase(edge);
  }
  absent_ += ignored.absent_delete - std::min(ignored.absent_delete, undone);
}

std::optional<Warning> AbsentDeletes::warning(std::string where) const {
  if (absent_ <= 2 || 2 * absent_ <= deletes_) return std::nullopt;
  return Warning{"absent_deletes", std::move(where),
                 fmt::format("{} of {} deletions name edges or vertices that do not exist", absent_, deletes_),
                 fmt::format("check that {}labels and ids match the insertions, or load the start graph",
                             directed_ ? "source and target are not swapped, and that " : ""),
                 absent_};
}

std::optional<Warning> AbsentDeletes::fresh(std::string where) {
  if (given_ || deletes_ < judged_at_) return std::nullopt;
  judged_at_ = 2 * deletes_;
  std::optional<Warning> found = warning(std::move(where));
  given_ = found.has_value();
  return found;
}

}  // namespace deltamatch::ingest

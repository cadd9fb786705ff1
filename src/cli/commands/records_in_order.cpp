#include "cli/commands/records_in_order.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include "ingest/batch/record_reader.hpp"

namespace deltamatch::cli {

void RecordsInOrder::add(const Update& update, ingest::Position position) {
  updates_.add(update);
  positions_.push_back(position);
}

std::vector<RecordsInOrder::Record> RecordsInOrder::records() const {
  const std::span<const Update> updates = updates_.updates();
  std::vector<Record> records;
  Timestamp time = std::numeric_limits<Timestamp>::min();
  std::size_t rises = 0;
  std::size_t falls = 0;
  for (std::size_t first = 0, end = 0; first < updates.size(); first = end) {
    for (end = first + 1; end < updates.size() && updates[end].continues;) ++end;
    const Timestamp next = ingest::largest_time(updates.subspan(first, end - first)).value_or(time);
    rises += first != 0 && next > time ? 1 : 0;
    falls += first != 0 && next < time ? 1 : 0;
    time = next;
    records.push_back({time, first});
  }
  if (falls > rises) std::ranges::reverse(records);
  std::ranges::stable_sort(records, {}, &Record::time);
  return records;
}

void RecordsInOrder::for_each(const std::function<void(const Update&, ingest::Position)>& visit) const {
  const std::span<const Update> updates = updates_.updates();
  for (const Record& record : records()) {
    std::size_t at = record.first;
    do visit(updates[at], positions_[at]);
    while (++at < updates.size() && updates[at].continues);
  }
}

}  // namespace deltamatch::cli

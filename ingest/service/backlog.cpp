#include "ingest/service/backlog.hpp"

#include "deltamatch/error.hpp"
#include "ingest/state/log.hpp"

namespace deltamatch::ingest {
namespace {

/// Calls `take` with every batch of [from, up_to] until it gives false.
template <class Take>
void for_each_batch(const StateDirectory& directory, std::uint64_t from, std::uint64_t up_to, Take take) {
  if (from > up_to) return;
  LogReader reader(directory.path(), directory.fingerprint(), {.updates_from = LogReader::none, .alerts_from = from});
  for (;;) {
    switch (reader.next()) {
      case LogReader::Entry::delivered:
        break;
      case LogReader::Entry::end:
        if (!reader.end().damage.empty() && reader.end().next_batch <= up_to) {
          throw Error(directory.path().string(), reader.end().damage,
                      "its alerts are lost: remove the segment to go on without");
        }
        return;
      case LogReader::Entry::batch:
        const LoggedBatch& batch = reader.batch();
        if (batch.mark.batch > up_to) return;
        if (batch.mark.batch >= from && !take(batch)) return;
        if (batch.mark.batch == up_to) return;
        break;
    }
  }
}

}  // namespace

std::vector<Delivery> read_back(const StateDirectory& directory, std::string_view sink, std::uint64_t from, std::uint64_t up_to,
                                std::size_t bytes) {
  std::vector<Delivery> deliveries;
  std::size_t taken = 0;
  for_each_batch(directory, from, up_to, [&](const LoggedBatch& batch) {
    for (const SinkAlerts& entry : batch.alerts) {
      if (entry.sink != sink || entry.alerts.empty()) continue;
      AlertList list;
      for (const LoggedAlert& alert : entry.alerts) list.add(alert.text);
      taken += list.bytes();
      if (taken > bytes && !deliveries.empty()) return false;
      deliveries.push_back({batch.mark.batch, std::move(list)});
    }
    return true;
  });
  return deliveries;
}

}  // namespace deltamatch::ingest

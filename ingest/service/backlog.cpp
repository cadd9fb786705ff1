#include "ingest/service/backlog.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <unordered_set>

#include "ingest/alert/alert_sinks.hpp"
#include "ingest/alert/alert_text.hpp"
#include "ingest/service/committer.hpp"
#include "ingest/state/log.hpp"

namespace deltamatch::ingest {
namespace {

/// Calls `take` with every batch of [from, up_to] that is there until it gives false, and `gap` before it for those that are
/// not.
template <class Take>
void for_each_batch(const StateDirectory& directory, std::uint64_t from, std::uint64_t up_to, const LogGap& gap, Take take) {
  if (from > up_to) return;
  LogReader reader(directory.path(), directory.fingerprint(), {.updates_from = LogReader::none, .alerts_from = from});
  std::uint64_t expected = from;  // every batch has its entry
  std::string why = "they are not there";
  const auto expect_from = [&](std::uint64_t batch) {
    if (expected < batch) gap(expected, batch, why);
    expected = batch;
  };
  for (;;) {
    switch (reader.next()) {
      case LogReader::Entry::delivered:
        break;
      case LogReader::Entry::end:
        if (!reader.end().damage.empty()) why = reader.end().damage;
        if (reader.skip_damage()) break;
        return expect_from(up_to + 1);
      case LogReader::Entry::batch:
        const LoggedBatch& batch = reader.batch();
        if (batch.mark.batch < from) break;
        expect_from(std::min(batch.mark.batch, up_to + 1));
        if (batch.mark.batch > up_to || !take(batch) || batch.mark.batch == up_to) return;
        expected = batch.mark.batch + 1;
        break;
    }
  }
}

/// Gives a file what it lacks of the batches up to `up_to`, and keeps the rest. Gives its position then.
std::string complete(AlertSink& file, const Delivered& noted, const StateDirectory& directory, std::uint64_t up_to,
                     Journal& journal) {
  constexpr std::size_t bytes = std::size_t{64} << 20;
  constexpr std::hash<std::string_view> hash;
  std::unordered_set<std::size_t> held;
  std::string position = file.keep(noted.position, [&](std::string_view alert) { held.insert(hash(alert)); });
  for (std::uint64_t from = noted.batch + 1;;) {
    const std::vector<Delivery> deliveries =
        read_back(directory, noted.sink, from, up_to, bytes, tell_lost(noted.sink, journal));
    if (deliveries.empty()) return position;
    file.begin(deliveries.back().batch);
    for (const Delivery& delivery : deliveries) {
      for (std::size_t i = 0; i < delivery.alerts.size(); ++i) {
        const std::string_view alert = delivery.alerts[i];
        if (!held.contains(hash(alert))) file.write(alert_id(alert), alert);
      }
    }
    position = file.commit();
    from = deliveries.back().batch + 1;
  }
}

}  // namespace

std::vector<Delivery> read_back(const StateDirectory& directory, std::string_view sink, std::uint64_t from, std::uint64_t up_to,
                                std::size_t bytes, const LogGap& gap) {
  std::vector<Delivery> deliveries;
  std::size_t taken = 0;
  for_each_batch(directory, from, up_to, gap, [&](const LoggedBatch& batch) {
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

LogGap tell_lost(const std::string& sink, Journal& journal) {
  return [sink, &journal](std::uint64_t from, std::uint64_t next, const std::string& why) {
    journal.tell(Level::error, "alerts are lost with the log, unless the sink had got them",
                 {{"sink", sink}, {"from", std::to_string(from)}, {"to", std::to_string(next - 1)}, {"why", why}});
  };
}

std::vector<SinkOptions> logged_sinks(const ServiceOptions& options) {
  std::vector<SinkOptions> sinks;
  for (const SinkOptions& sink : options.sinks) {
    if (sink.kind != SinkOptions::Kind::kafka) sinks.push_back(sink);
  }
  if (!options.input.dead_letter_file.empty()) {
    SinkOptions letters;
    letters.name = dead_letter_sink;
    letters.kind = SinkOptions::Kind::file;
    letters.path = options.input.dead_letter_file;
    sinks.push_back(letters);
  }
  return sinks;
}

void settle_sinks(const ServiceOptions& options, const StateDirectory& directory, Log& log, std::uint64_t committed,
                  Journal& journal) {
  const std::vector<Delivered> positions = log.positions();
  const std::uint64_t end = log.last_batch();
  for (const SinkOptions& sink : logged_sinks(options)) {
    const auto noted = std::ranges::find(positions, sink.name, &Delivered::sink);
    const std::uint64_t since = noted == positions.end() ? end : std::max(noted->batch, end);
    if (since < committed) tell_lost(sink.name, journal)(since + 1, committed + 1, "its batches are not in the log");
    if (noted == positions.end() || sink.kind != SinkOptions::Kind::file) continue;
    const std::unique_ptr<AlertSink> file = make_alert_sink(options.application, sink, journal);
    log.delivered({sink.name, std::max(noted->batch, end), complete(*file, *noted, directory, end, journal)});
  }
  log.sync();
}

}  // namespace deltamatch::ingest

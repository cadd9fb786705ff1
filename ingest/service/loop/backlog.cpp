#include "ingest/service/loop/backlog.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_set>

#include "deltamatch/error.hpp"
#include "ingest/service/alert/alert_sinks.hpp"
#include "ingest/service/alert/alert_text.hpp"
#include "ingest/service/loop/committer.hpp"
#include "ingest/service/state/log.hpp"

namespace deltamatch::ingest {
namespace {

/// Calls `take` with each existing batch of [from, up_to] until it returns false. Before that batch, calls `gap` for the
/// missing ones.
template <class Take>
void for_each_batch(const StateDirectory& directory, std::uint64_t from, std::uint64_t up_to, const LogGap& gap, Take take) {
  if (from > up_to) return;
  LogReader reader(directory.path(), directory.fingerprint(), {.updates_from = LogReader::none, .alerts_from = from});
  std::uint64_t expected = from;  // every batch has an entry
  std::string why = "the log does not hold them";
  const auto expect_from = [&](std::uint64_t batch) {
    if (expected < batch) gap(expected, batch, why);
    expected = batch;
  };
  for (;;) {
    switch (reader.next()) {
      case LogReader::Entry::delivered:
      case LogReader::Entry::piece:
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

/// Reads the streamed alerts of a sink and a batch from the log, one by one.
class StreamReader {
 public:
  StreamReader(const std::filesystem::path& folder, const std::string& fingerprint, std::uint64_t batch, std::string_view sink)
      : folder_(folder),
        batch_(batch),
        sink_(sink),
        log_(folder, fingerprint, {.updates_from = LogReader::none, .alerts_from = batch, .pieces = true}) {}

  /// The number of alerts passed.
  [[nodiscard]] std::uint64_t passed() const noexcept { return passed_; }
  /// The next alert, or nothing after the last one.
  [[nodiscard]] std::optional<std::string_view> alert() {
    while (in_piece_ ? at_ == log_.piece().alerts.size() : !ended_) find_piece();
    return in_piece_ ? std::optional(log_.piece().alerts[at_]) : std::nullopt;
  }
  void pass() noexcept {
    ++at_;
    ++passed_;
  }

 private:
  void find_piece() {
    in_piece_ = false;
    at_ = 0;
    const LogReader::Entry entry = log_.next();
    if (entry == LogReader::Entry::end) {
      throw Error(folder_.string(), "the log no longer holds the alerts of batch " + std::to_string(batch_) + "",
                  "restore the state directory from a backup");
    }
    ended_ = entry == LogReader::Entry::batch && log_.batch().mark.batch >= batch_;
    in_piece_ = entry == LogReader::Entry::piece && log_.piece().batch == batch_ && log_.piece().sink == sink_;
  }

  std::filesystem::path folder_;
  std::uint64_t batch_;
  std::string sink_;
  LogReader log_;
  bool in_piece_ = false;
  bool ended_ = false;
  std::size_t at_ = 0;
  std::uint64_t passed_ = 0;
};

/// The streamed alerts of a sink and a batch, read from the log.
class LoggedStream final : public AlertSource {
 public:
  LoggedStream(const StateDirectory& directory, std::uint64_t batch, std::string_view sink)
      : folder_(directory.path()), fingerprint_(directory.fingerprint()), batch_(batch), sink_(sink) {}

  /// Continues where the last call ended, unless the cursor is before that. So a batch that is read in many parts is read once.
  void read(AlertCursor& cursor, const TakeAlert& take) const override {
    std::unique_ptr<StreamReader> reader = take_reader();
    if (!reader || reader->passed() > cursor.alerts)
      reader = std::make_unique<StreamReader>(folder_, fingerprint_, batch_, sink_);
    while (const auto alert = reader->alert()) {
      if (reader->passed() == cursor.alerts) {
        if (!take(*alert)) break;
        ++cursor.alerts;
      }
      reader->pass();
    }
    put_back(std::move(reader));
  }

 private:
  [[nodiscard]] std::unique_ptr<StreamReader> take_reader() const {
    const std::scoped_lock lock(mutex_);
    return std::move(reader_);
  }
  void put_back(std::unique_ptr<StreamReader> reader) const {
    const std::scoped_lock lock(mutex_);
    reader_ = std::move(reader);
  }

  std::filesystem::path folder_;
  std::string fingerprint_;
  std::uint64_t batch_;
  std::string sink_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<StreamReader> reader_;  // after what was read last; null while a call uses it
};

/// What a file holds after a position.
struct Held {
  std::uint64_t batch = 0;                   ///< of the last alert; 0 if there is none
  std::uint64_t alerts = 0;                  ///< number of the first alerts of that batch; the batch may be incomplete
  std::unordered_set<std::size_t> others{};  ///< hashes of lines without a batch: dead letters
};

/// Adds to a file what the log has of the batches [from, up_to] and the file lacks. Keeps the rest of the file.
class Completion {
 public:
  Completion(AlertSink& file, std::string sink, const StateDirectory& directory, Journal& journal)
      : file_(file), sink_(std::move(sink)), directory_(directory), journal_(journal) {}

  /// Returns the file's new position. `position` is the noted one, or empty.
  std::string run(const std::string& position, std::uint64_t from, std::uint64_t up_to) {
    std::string reached = file_.keep(position, [&](std::string_view alert) { return stays(alert, up_to, !position.empty()); });
    journal_.tell(Level::warn, "the log does not cover all lines of a file, so the file keeps them",
                  {{"sink", sink_}, {"position", reached}, {"holds_alerts_up_to_batch", std::to_string(held_.batch)}});
    const LogGap lost = report_lost(sink_, journal_);
    const LogGap gap = [&](std::uint64_t first, std::uint64_t next, const std::string& why) {
      if (next > held_.batch) lost(std::max(first, held_.batch), next, why);
    };
    for (std::uint64_t next = std::max(from, held_.batch);;) {
      const std::vector<Delivery> deliveries = read_back(directory_, sink_, next, up_to, bytes, gap);
      if (deliveries.empty()) return reached;
      file_.begin(deliveries.back().batch);
      for (const Delivery& delivery : deliveries) write(delivery);
      reached = file_.commit();
      next = deliveries.back().batch + 1;
    }
  }

 private:
  static constexpr std::size_t bytes = std::size_t{64} << 20;

  bool stays(std::string_view alert, std::uint64_t committed, bool is_known) {
    const std::optional<std::uint64_t> batch = alert_batch(alert);
    if (!batch) {
      held_.others.insert(hash_(alert));
      return true;
    }
    if (*batch > committed) {
      journal_.tell(Level::warn,
                    is_known ? "alerts of an uncommitted batch are removed from a file"
                             : "a file holds alerts of an uncommitted batch, and keeps them",
                    {{"sink", sink_}, {"batch", std::to_string(*batch)}, {"committed", std::to_string(committed)}});
      return !is_known;
    }
    if (*batch != held_.batch) held_.alerts = 0;
    held_.batch = *batch;
    ++held_.alerts;
    return true;
  }

  void write(const Delivery& delivery) {
    std::uint64_t there = delivery.batch == held_.batch ? held_.alerts : 0;
    delivery.alerts.for_each([&](std::string_view alert) {
      if (there > 0) {
        --there;
      } else if (held_.others.empty() || !held_.others.contains(hash_(alert))) {
        file_.write(alert_id(alert), alert);
      }
    });
  }

  AlertSink& file_;
  const std::string sink_;
  const StateDirectory& directory_;
  Journal& journal_;
  const std::hash<std::string_view> hash_{};
  Held held_;
};

/// Notes in the log what the commit topic says of the sinks, where the log knows less. Another instance may have delivered
/// more, or the log with the positions is lost.
void take_over(const ServiceOptions& options, Log& log, std::uint64_t committed, const DeliveryNote& note) {
  const std::vector<Delivered> positions = log.positions();
  for (const SinkOptions& sink : options.sinks) {
    if (!sink.sends_requests()) continue;
    const auto own = std::ranges::find(positions, sink.name, &Delivered::sink);
    const bool is_known = own != positions.end();
    const std::uint64_t delivered = std::min(note.of(sink.name), committed);
    if (is_known ? own->batch >= delivered : log.lost().empty()) continue;
    log.delivered({sink.name, delivered, is_known ? own->position : std::string()});
  }
}

}  // namespace

bool is_logged(const StateDirectory& directory, std::uint64_t from, std::uint64_t up_to) {
  bool whole = true;
  for_each_batch(
      directory, from, up_to, [&](auto, auto, const auto&) { whole = false; }, [&](const LoggedBatch&) { return whole; });
  return whole;
}

AlertList logged_stream(const StateDirectory& directory, std::uint64_t batch, std::string_view sink, std::uint64_t alerts) {
  return {std::make_shared<LoggedStream>(directory, batch, sink), alerts};
}

std::vector<Delivery> read_back(const StateDirectory& directory, std::string_view sink, std::uint64_t from, std::uint64_t up_to,
                                std::size_t bytes, const LogGap& gap) {
  std::vector<Delivery> deliveries;
  std::size_t taken = 0;
  for_each_batch(directory, from, up_to, gap, [&](const LoggedBatch& batch) {
    for (const StreamedAlerts& entry : batch.streamed) {
      if (entry.sink != sink || entry.in_transaction) continue;
      if (!deliveries.empty()) return false;
      deliveries.push_back({batch.mark.batch, logged_stream(directory, batch.mark.batch, sink, entry.alerts)});
      return false;
    }
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

LogGap report_lost(const std::string& sink, Journal& journal) {
  return [sink, &journal](std::uint64_t from, std::uint64_t next, const std::string& why) {
    journal.tell(Level::error, "alerts are lost with the log, unless the sink already has them",
                 {{"sink", sink},
                  {"from", std::to_string(from)},
                  {"to", std::to_string(next - 1)},
                  {"why", why},
                  {"remedy", "find these alerts again with deltamatch replay --cuts"}});
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
                  Journal& journal, const std::optional<DeliveryNote>& note) {
  if (note) take_over(options, log, committed, *note);
  const std::vector<Delivered> positions = log.positions();
  const LogBreak lost = log.lost();
  for (const SinkOptions& sink : logged_sinks(options)) {
    const auto noted = std::ranges::find(positions, sink.name, &Delivered::sink);
    const bool is_known = noted != positions.end();
    if (!is_known && lost.empty()) continue;  // the sink never had an alert
    const std::uint64_t from = is_known ? noted->batch + 1 : lost.from;
    std::string position = is_known ? noted->position : std::string();
    const bool unsure = position == unsure_position;
    if (unsure) position.clear();
    if (is_known && !unsure && is_logged(directory, from, committed)) continue;  // it can redeliver what the sink removes
    if (sink.kind == SinkOptions::Kind::file) {
      const std::unique_ptr<AlertSink> file = make_alert_sink(options.application, sink, journal);
      position = Completion(*file, sink.name, directory, journal).run(position, from, committed);
    } else if (!is_known) {
      report_lost(sink.name, journal)(from, committed + 1, "the log does not hold the position of the sink");
    } else if (!read_back(directory, sink.name, from, committed, 0, [](auto, auto, const auto&) {}).empty()) {
      continue;  // the sink gets what is there, and the rest is reported then
    } else {
      report_lost(sink.name, journal)(from, committed + 1, "the log does not hold these batches");
    }
    log.delivered({sink.name, committed, position});
  }
  log.sync();
}

std::vector<DeliveryTarget> delivery_targets(const ServiceOptions& options, const StateDirectory& directory, Log& log,
                                             std::uint64_t committed, Journal& journal) {
  const std::vector<Delivered> positions = log.positions();
  const std::vector<SinkOptions> sinks = logged_sinks(options);
  std::vector<DeliveryTarget> targets;
  for (const SinkOptions& sink : sinks) {
    const auto noted = std::ranges::find(positions, sink.name, &Delivered::sink);
    DeliveryTarget& target = targets.emplace_back();
    target.name = sink.name;
    target.max_backoff = sink.max_backoff;
    target.sink = make_alert_sink(options.application, sink, journal);
    const std::uint64_t delivered = noted == positions.end() ? committed : noted->batch;
    if (noted != positions.end()) target.position = noted->position;
    target.backlog = {delivered + 1, committed, committed - std::min(committed, delivered)};
  }
  for (const Delivered& at : positions) {
    if (std::ranges::find(sinks, at.sink, &SinkOptions::name) != sinks.end()) continue;
    if (!read_back(directory, at.sink, at.batch + 1, committed, 0, report_lost(at.sink, journal)).empty()) {
      journal.tell(Level::warn, "a sink is no longer configured, so its undelivered alerts are dropped",
                   {{"sink", at.sink}, {"since_batch", std::to_string(at.batch)}});
    }
    log.delivered({at.sink, committed, at.position});
  }
  log.sync();
  return targets;
}

DeliveryHooks delivery_hooks(const StateDirectory& directory, Log& log, Journal& journal) {
  DeliveryHooks hooks;
  hooks.recovered = [&log](std::string_view sink, std::uint64_t batch, const std::string& position) {
    log.delivered({std::string(sink), batch, position});
    log.sync();
  };
  hooks.delivered = [&log](std::string_view sink, std::uint64_t batch, const std::string& position) {
    log.delivered({std::string(sink), batch, position});
  };
  hooks.read_back = [&directory, &journal](std::string_view sink, std::uint64_t from, std::uint64_t up_to, std::size_t bytes) {
    return read_back(directory, sink, from, up_to, bytes, report_lost(std::string(sink), journal));
  };
  return hooks;
}

}  // namespace deltamatch::ingest

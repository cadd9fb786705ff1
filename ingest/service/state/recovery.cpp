#include "ingest/service/state/recovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/state/log_replay.hpp"

namespace deltamatch::ingest {
namespace {

/// Snapshots are made only of committed batches. If no commit record covers one, records are missing.
void must_be_covered(const StateDirectory& directory, std::uint64_t committed) {
  for (const SnapshotFile& snapshot : directory.snapshots()) {
    if (snapshot.batch <= committed) return;
    try {
      static_cast<void>(StateDirectory::snapshot_mark(snapshot));
    } catch (const Error& error) {
      directory.set_aside(snapshot, error.what());
      continue;
    }
    throw Error(snapshot.path.string(),
                committed == 0 ? "there is no commit record of this snapshot's batch, nor of any other"
                               : fmt::format("the last commit record is of batch {}, before this snapshot's batch", committed),
                "restore the topic of commit records; or choose another application name and an empty state directory to start "
                "from nothing");
  }
}

/// Batch 0 is committed before the first entry is logged. If there are entries but no commit record, records are missing.
void must_be_without_log(const StateDirectory& directory) {
  LogReader log(directory.path(), directory.fingerprint(), {.updates_from = 0, .alerts_from = LogReader::none});
  for (;;) {
    const LogReader::Entry entry = log.next();
    if (entry == LogReader::Entry::delivered) continue;
    if (entry == LogReader::Entry::end && log.end().damage.empty()) return;
    throw Error(directory.path().string(), "the directory holds a log of batches, but there is no commit record of any batch",
                "restore the topic of commit records; or choose another application name and an empty state directory to start "
                "from nothing");
  }
}

std::optional<CommitPoint> record_of(const RecoveryInput& input, std::uint64_t batch) {
  if (input.committed && batch == input.committed->batch) return input.committed;
  return input.committed && input.record ? input.record(batch) : std::nullopt;
}

/// Whether a batch was committed as the mark describes it, as far as is known.
bool was_committed(const RecoveryInput& input, const CommitPoint& mark) {
  const std::optional<CommitPoint> record = record_of(input, mark.batch);
  return !record || *record == mark;
}

/// The newest sound snapshot that was committed.
std::optional<Base> from_snapshot(const StateDirectory& directory, const RecoveryInput& input, std::uint64_t committed) {
  std::optional<Base> base = restore_newest(directory, committed, input.engine);
  if (!base || was_committed(input, base->mark)) return base;
  const std::filesystem::path path = directory.snapshot_path(base->mark.batch);
  if (base->mark.batch > 0) {
    throw Error(path.string(), "the snapshot differs from the commit record of its batch",
                "name an empty state directory, and the service rebuilds the state from Kafka");
  }
  directory.set_aside({0, path}, "another instance committed batch 0");  // it was made before batch 0 was
                                                                         // committed
  return std::nullopt;
}

/// The last batch that stays in the log, if replaying ended before the last committed one. Batches after a damage are as
/// committed as those before it, and sinks may wait for them. The log ends before the first batch that is known to be from
/// another owner.
std::uint64_t committed_part(const StateDirectory& directory, const RecoveryInput& input, std::uint64_t replayed,
                             std::uint64_t committed) {
  LogReader log(directory.path(), directory.fingerprint(), {.updates_from = replayed + 1, .alerts_from = LogReader::none});
  for (;;) {
    const LogReader::Entry entry = log.next();
    if (entry == LogReader::Entry::end && !log.skip_damage()) return committed;
    if (entry != LogReader::Entry::batch) continue;
    const CommitPoint& mark = log.batch().mark;
    if (mark.batch > committed) return committed;
    if (!was_committed(input, mark)) return mark.batch - 1;
  }
}

/// Where the log is to end, if its last batch is not after `batch` and another owner committed it otherwise. Replaying the log
/// from `batch` would not notice that. An owner that begins drops such batches, so only the last ones can be of that kind.
std::optional<std::uint64_t> end_before_uncommitted(const StateDirectory& directory, const RecoveryInput& input,
                                                    std::uint64_t batch) {
  const auto for_each_mark = [&](const std::function<bool(const CommitPoint&)>& takes) {
    LogReader log(directory.path(), directory.fingerprint(), {.updates_from = LogReader::none, .alerts_from = 0});
    for (;;) {
      const LogReader::Entry entry = log.next();
      if (entry == LogReader::Entry::end && !log.skip_damage()) return;
      if (entry == LogReader::Entry::batch && (log.batch().mark.batch > batch || !takes(log.batch().mark))) return;
    }
  };
  std::optional<CommitPoint> last;
  for_each_mark([&](const CommitPoint& mark) {
    last = mark;
    return true;
  });
  if (!last || was_committed(input, *last)) return std::nullopt;
  std::uint64_t end = 0;
  for_each_mark([&](const CommitPoint& mark) {
    if (!was_committed(input, mark)) return false;
    end = mark.batch;
    return true;
  });
  return end;
}

Base from_beginning(const RecoveryInput& input) {
  Base base{input.begin(), {}};
  base.mark.watermark = base.engine.watermark();
  const std::optional<CommitPoint> record = record_of(input, 0);
  if (!record) return base;
  if (record->watermark != base.mark.watermark) {
    throw Error(ErrorKind::configuration, "graph.start", "the start graph differs from the one that batch 0 was committed with",
                "restore graph.start and its files for this start, or restore the state directory from a backup");
  }
  base.mark = *record;
  return base;
}

struct Restored {
  Base base;
  bool logged = true;
  std::uint64_t replayed_after = 0;  // the batch that the snapshot or the engine in memory had reached
  bool differs = false;              // the log has another version of the next batch
  std::string damage{};              // of the log, before the last committed batch
};

Restored restore(const StateDirectory& directory, const RecoveryInput& input, Journal& journal, std::optional<Warm> warm) {
  const std::uint64_t committed = std::min(input.committed ? input.committed->batch : 0, input.up_to);
  Restored restored = [&]() -> Restored {
    if (warm && warm->base.mark.batch <= committed && was_committed(input, warm->base.mark))
      return {.base = std::move(warm->base), .logged = warm->logged};
    warm.reset();
    std::optional<Base> newest = from_snapshot(directory, input, committed);
    return {.base = newest ? std::move(*newest) : from_beginning(input)};
  }();
  Base& base = restored.base;
  const std::uint64_t snapshot = restored.replayed_after = base.mark.batch;
  journal.tell(Level::info, "replaying", {{"snapshot", std::to_string(snapshot)}, {"to", std::to_string(committed)}});
  RecoveryProgress progress{.batches_total = committed - snapshot};
  ReplayHooks hooks;
  hooks.queries = input.queries;
  hooks.before = [&](const LoggedBatch& batch) { return !(restored.differs = !was_committed(input, batch.mark)); };
  hooks.after = [&](const LoggedBatch& batch) {
    ++progress.batches;
    progress.updates += batch.updates.size();
    if (input.progress) input.progress(progress);
  };
  ReplayEnd end = replay(directory, base, committed, hooks);
  if (end.damaged) restored.damage = std::move(end.why);
  return restored;
}

/// Opens the log after the batch `last`, and tells what that drops.
std::unique_ptr<Log> open_log(const StateDirectory& directory, std::uint64_t last, Journal& journal) {
  auto log = std::make_unique<Log>(directory.path(), directory.fingerprint(), last);
  if (log->dropped_bytes() > 0) {
    journal.tell(Level::info, "log_cut",
                 {{"after", std::to_string(last)},
                  {"behind", std::to_string(last)},  // deprecated: left out after 0.1
                  {"bytes", std::to_string(log->dropped_bytes())}});
  }
  return log;
}

/// Tells which batches the state directory lacks. After a take-over that is usual.
void tell_missing(Journal& journal, std::uint64_t reached, std::uint64_t committed, bool differs, const std::string& damage) {
  if (reached >= committed) return;
  const std::string from = std::to_string(reached + 1);
  const std::string to = std::to_string(committed);
  constexpr const char* effect = "they are made again from the input, or a newer snapshot";
  if (!damage.empty()) {
    journal.tell(Level::warn, "log_lost", {{"from", from}, {"to", to}, {"why", damage}, {"effect", effect}});
    return;
  }
  journal.tell(Level::info, "batches_missing",
               {{"from", from},
                {"to", to},
                {"why", differs ? "another instance committed another batch of that number" : "they are not on this instance"},
                {"effect", effect}});
}

}  // namespace

Base restore_committed(const StateDirectory& directory, const RecoveryInput& input, Journal& journal) {
  const std::uint64_t committed = input.committed ? input.committed->batch : 0;
  must_be_covered(directory, committed);
  auto [base, logged, replayed_after, differs, damage] = restore(directory, input, journal, {});
  tell_missing(journal, base.mark.batch, committed, differs, damage);
  return std::move(base);
}

Recovered recover(const StateDirectory& directory, const RecoveryInput& input, Journal& journal, std::optional<Warm> warm) {
  const std::uint64_t last_committed = input.committed ? input.committed->batch : 0;
  const std::uint64_t committed = std::min(last_committed, input.up_to);
  must_be_covered(directory, last_committed);
  if (!input.committed) must_be_without_log(directory);
  auto [base, logged, replayed_after, differs, damage] = restore(directory, input, journal, std::move(warm));
  if (logged) tell_missing(journal, base.mark.batch, committed, differs, damage);
  if (base.mark.batch == last_committed && input.begun) {
    const auto is_begun = [&](const LoggedBatch& batch) { return batch.mark == *input.begun; };
    replay(directory, base, committed + 1, {.before = is_begun, .after = {}, .queries = input.queries});
  }
  std::uint64_t last = base.mark.batch;
  if (last < committed && !differs) last = committed_part(directory, input, last, committed);
  if (const std::optional<std::uint64_t> end = end_before_uncommitted(directory, input, replayed_after))
    open_log(directory, *end, journal);
  std::unique_ptr<Log> log = open_log(directory, last, journal);
  return {std::move(base.engine), std::move(base.mark), std::move(log), logged};
}

}  // namespace deltamatch::ingest

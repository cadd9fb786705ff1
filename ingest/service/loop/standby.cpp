#include "ingest/service/loop/standby.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <stop_token>
#include <thread>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/kafka/commit_log.hpp"
#include "ingest/service/loop/backlog.hpp"
#include "ingest/service/loop/commit_records.hpp"
#include "ingest/service/loop/reading.hpp"
#include "ingest/service/loop/start_graph.hpp"
#include "ingest/service/signals_blocked.hpp"

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto patience = 10s;    // for brokers that do not answer a request
constexpr auto look_every = 5s;   // at what the input retains
constexpr auto list_every = 30s;  // what is shared
constexpr auto again_after = 2s;  // what failed
constexpr auto told_again_after = 60s;

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

struct Standby::Impl {
  Impl(const StartupContext& of, std::function<void()> change, std::function<void(const CommitPoint&)> fit)
      : context(of),
        queries_change(std::move(change)),
        must_fit(std::move(fit)),
        input(of.cluster, of.options.input),
        reading(reading_fingerprint(of.options.input)) {
    context.stop = stop.get_token();
    context.progress = [this](const std::string& now) { doing(now); };
    const SignalsBlocked for_the_threads;
    looker = std::jthread([this] { look(); });
    if (of.options.standby.warm) follower = std::jthread([this] { follow(); });
  }

  bool wait(Clock::duration time) {
    std::mutex sleep;
    std::unique_lock lock(sleep);
    std::condition_variable_any().wait_for(lock, context.stop, time, [] { return false; });
    return !context.stop.stop_requested();
  }
  void doing(const std::string& now) {
    const std::scoped_lock lock(mutex);
    shown.doing = now;
  }

  // The follower.
  void follow();
  void load();
  void load_base(kafka::CommitLog& commits, const CommitPoint& committed);
  bool fetch(kafka::CommitLog& commits, std::optional<std::uint64_t> after, std::uint64_t committed);
  void repeat();
  void save_if_due();
  void hold(bool is_logged);
  void fail(const std::string& why);

  // The one that looks whether it could take over.
  void look();
  void judge(kafka::CommitLog& records);
  std::optional<CommitPoint> begins_with(kafka::CommitLog& records, const CommitPoint& last, std::string& from);
  std::optional<CommitPoint> reach_of_directory(kafka::CommitLog& records, std::uint64_t last);
  std::optional<CommitPoint> shared_newest(kafka::CommitLog& records, std::uint64_t last);
  std::string lost_alerts(kafka::CommitLog& records);
  std::optional<CommitPoint> base_before(kafka::CommitLog& records, std::uint64_t batch);
  std::optional<CommitPoint> find_shared(kafka::CommitLog& records, std::uint64_t up_to);
  static std::optional<CommitPoint> record_of(kafka::CommitLog& records, std::uint64_t batch);

  StartupContext context;
  std::function<void()> queries_change;
  std::function<void(const CommitPoint&)> must_fit;
  std::stop_source stop;
  kafka::Input input;
  const std::string reading;

  std::optional<Base> base;  // only the follower uses it, like the next
  bool logged = false;       // the directory alone leads to it
  std::string from;
  Clock::time_point saved = Clock::now();
  Clock::time_point next_word{};
  std::string last_word;

  // Only the one that looks uses these.
  std::optional<std::uint64_t> scanned;  // the newest snapshot when the directory was looked through
  std::optional<CommitPoint> reach;      // of the directory then
  std::optional<CommitPoint> shared;     // the newest
  Clock::time_point next_list{};
  std::optional<CommitPoint> shared_before;  // the newest before the alerts that wait
  Clock::time_point next_list_before{};
  std::optional<CommitPoint> zero;           // the record of batch 0
  std::optional<std::uint64_t> lacks_after;  // the batch before the one that lacks_written is about
  std::int64_t lacks_written = -1;

  mutable std::mutex mutex;
  StandbyStatus shown;              // guarded by mutex, like all below
  std::optional<CommitPoint> held;  // base->mark
  std::optional<CommitPoint> last;  // committed
  std::int64_t last_written = -1;
  std::int64_t lacking_written = -1;  // the batch that the follower works on, or that comes after what it would begin with
  std::string failure;                // of the follower
  bool failed_for_good = false;       // not because of brokers that do not answer

  std::jthread looker;
  std::jthread follower;
};

// ---- The follower.

void Standby::Impl::fail(const std::string& why) {
  {
    const std::scoped_lock lock(mutex);
    failure = why;
    shown.doing = "waiting";
  }
  if (why == last_word && Clock::now() < next_word) return;
  last_word = why;
  next_word = Clock::now() + told_again_after;
  context.journal.tell(Level::warn, "standby_cannot_follow", {{"why", why}});
}

/// Notes what the follower holds.
void Standby::Impl::hold(bool is_logged) {
  logged = is_logged;
  const std::scoped_lock lock(mutex);
  held = base->mark;
  lacking_written = -1;
  failure.clear();
  failed_for_good = false;
}

void Standby::Impl::follow() {
  while (!context.stop.stop_requested()) {
    try {
      if (!base) load();
      if (base) {
        repeat();
      } else {
        wait(1s);
      }
    } catch (const StartupCancelled&) {
      return;
    } catch (const kafka::Unreachable& error) {
      fail(error.what());
      wait(again_after);
    } catch (const std::bad_alloc&) {
      base.reset();
      fail(
          "there is not enough memory for the graph; give this machine as much as the owner's has, or set standby.warm: false");
      {
        const std::scoped_lock lock(mutex);
        held.reset();
        failed_for_good = true;
      }
      wait(30s);
    } catch (const std::exception& error) {
      if (context.stop.stop_requested()) return;
      const bool spoiled = dynamic_cast<const OtherDigest*>(&error) != nullptr;
      fail(error.what());
      {
        const std::scoped_lock lock(mutex);
        failed_for_good = true;
        if (spoiled) held.reset();
      }
      try {
        kafka::CommitLog commits(context.cluster);
        const std::optional<CommitPoint> committed = commits.last(Clock::now() + patience);
        const std::optional<std::uint64_t> after = base ? std::optional(base->mark.batch) : std::nullopt;
        if (spoiled) base.reset();
        if (committed && context.share != nullptr && fetch(commits, after, committed->batch)) {
          base.reset();
          load_base(commits, *committed);
          continue;
        }
      } catch (const std::exception& again) {
        context.journal.tell(Level::warn, "standby_cannot_follow", {{"why", again.what()}});
      }
      wait(spoiled ? Clock::duration(30s) : Clock::duration(again_after));
    }
  }
}

void Standby::Impl::load() {
  kafka::CommitLog commits(context.cluster);
  const std::optional<CommitPoint> committed = commits.last(Clock::now() + patience);
  if (!committed) return;
  must_be_same_shard(context.options.input.shard, committed->graph);
  must_be_same_kind(context.options.engine, committed->graph);
  for (const auto& [partition, end] : committed->ends)
    static_cast<void>(entry_of(context.options.input.topics, partition.topic));
  // A start graph may be gone that the shared snapshot makes needless.
  if (context.directory.snapshots().empty()) fetch(commits, std::nullopt, committed->batch);
  load_base(commits, *committed);
  if (base->mark.batch < committed->batch && fetch(commits, base->mark.batch, committed->batch)) {
    base.reset();
    load_base(commits, *committed);
  }
  if (base->mark.batch == committed->batch) return;
  context.journal.tell(Level::info, "the standby's batches are read from the input again",
                       {{"from", std::to_string(base->mark.batch + 1)}, {"to", std::to_string(committed->batch)}});
}

/// Fetches a newer snapshot. A share that fails is no reason not to follow.
bool Standby::Impl::fetch(kafka::CommitLog& commits, std::optional<std::uint64_t> after, std::uint64_t committed) {
  if (context.share == nullptr) return false;
  try {
    const bool fetched = fetch_newer(context, commits, after, committed);
    if (fetched) from = "share";
    return fetched;
  } catch (const kafka::Unreachable&) {
    throw;
  } catch (const Error& error) {
    if (context.stop.stop_requested()) throw StartupCancelled();
    const std::scoped_lock lock(mutex);
    ++shown.share_failures;
    shown.share_error = error.what();
    return false;
  }
}

void Standby::Impl::load_base(kafka::CommitLog& commits, const CommitPoint& committed) {
  queries_change();
  doing("loading a snapshot");
  saved = Clock::now();
  if (from != "share") from = context.directory.snapshots().empty() ? "input" : "directory";
  CommitRecords records(commits, committed.batch);
  RecoveryInput wanted{
      .committed = committed,
      .record = [&](std::uint64_t batch) { return records.of(batch); },
      .begun = {},
      .engine = context.options.engine,
      .begin = [&] { return begin_engine(context.options, context.options.engine, committed.graph, context.journal); },
      .progress = {},
      .queries = context.known};
  wanted.progress = [&](const RecoveryProgress& progress) {
    if (context.stop.stop_requested()) throw StartupCancelled();
    doing(fmt::format("replaying the log: batch {} of {}", progress.batches, progress.batches_total));
  };
  base = restore_committed(context.directory, wanted, context.journal);
  base->engine.limit_labels(context.options.input.max_labels);
  hold(!context.directory.snapshots().empty());
  const std::scoped_lock lock(mutex);
  shown.from = std::exchange(from, {});
}

void Standby::Impl::repeat() {
  kafka::CommitLog commits(context.cluster);
  commits.seek(base->mark.batch + 1, Clock::now() + patience);
  Recutter recutter(context, base->engine, base->mark, context.known);
  struct Leave {
    Recutter& recutter;
    ~Leave() { recutter.leave(); }
  };
  const Leave at_the_end{recutter};
  std::vector<ActiveQuery> active = base->mark.queries;
  while (!context.stop.stop_requested()) {
    const std::optional<CommitPoint> mark = commits.follow(200ms);
    if (!mark) {
      doing("following");
      save_if_due();
      continue;
    }
    if (mark->batch <= base->mark.batch) continue;
    {
      const std::scoped_lock lock(mutex);
      lacking_written = commits.written();
      shown.doing = fmt::format("repeating batch {}", mark->batch);
    }
    if (mark->queries != active) {
      active = mark->queries;
      queries_change();
    }
    recutter.repeat(*mark);
    hold(false);
    if (Clock::now() - saved >= 2 * context.options.state.snapshot_every) save_if_due();  // while it catches up
  }
}

/// Saves the graph, so that the next start of this instance has less to repeat.
void Standby::Impl::save_if_due() {
  const std::chrono::seconds every = context.options.state.snapshot_every;
  if (logged || every.count() == 0 || Clock::now() - saved < every) return;
  saved = Clock::now();
  doing("saving a snapshot");
  try {
    base->engine.save(context.directory.snapshot_path(base->mark.batch), to_json(base->mark));
    static_cast<void>(context.directory.retain_snapshots(context.options.state.keep_snapshots));
    logged = true;
    context.journal.tell(Level::info, "snapshot_made", {{"batch", std::to_string(base->mark.batch)}});
  } catch (const std::exception& error) {
    context.journal.tell(Level::error, "snapshot_failed", {{"batch", std::to_string(base->mark.batch)}, {"why", error.what()}});
  }
}

// ---- The one that looks whether it could take over.

std::optional<CommitPoint> Standby::Impl::record_of(kafka::CommitLog& records, std::uint64_t batch) {
  records.seek(batch, Clock::now() + patience);
  std::optional<CommitPoint> mark = records.next(Clock::now() + patience);
  return mark && mark->batch == batch ? mark : std::nullopt;
}

void Standby::Impl::look() {
  std::optional<kafka::CommitLog> commits;
  auto next_look = Clock::now();
  do {
    try {
      if (!commits) {
        commits.emplace(context.cluster);
        std::optional<CommitPoint> mark = commits->last(Clock::now() + patience);
        if (mark) commits->seek(mark->batch, Clock::now() + patience);
        const std::scoped_lock lock(mutex);
        last = std::move(mark);
        if (!last) commits.reset();
      }
      while (commits && !context.stop.stop_requested()) {
        std::optional<CommitPoint> mark = commits->follow(300ms);
        if (!mark) break;
        const std::scoped_lock lock(mutex);
        last = std::move(mark);
        last_written = commits->written();
        if (Clock::now() >= next_look) break;
      }
      if (Clock::now() >= next_look) {
        if (commits) must_work_alone(*commits);
        kafka::CommitLog records(context.cluster);
        judge(records);
        next_look = Clock::now() + look_every;
      }
    } catch (const std::exception& error) {
      const std::scoped_lock lock(mutex);
      shown.could_take_over = false;
      shown.why_not = error.what();
      commits.reset();
    }
  } while (wait(commits ? Clock::duration(20ms) : Clock::duration(500ms)));
}

/// Judges whether this instance could take over, and says why not.
void Standby::Impl::judge(kafka::CommitLog& records) {
  std::optional<CommitPoint> committed;
  std::optional<CommitPoint> begin;
  std::string why;
  std::string where;
  bool follows = false;
  {
    const std::scoped_lock lock(mutex);
    committed = last;
    begin = held;
    follows = held.has_value();
    if (failed_for_good) why = failure;
  }
  std::int64_t written = -1;
  if (committed) {
    must_be_same_shard(context.options.input.shard, committed->graph);
    must_be_same_kind(context.options.engine, committed->graph);
    for (const auto& [partition, end] : committed->ends)
      static_cast<void>(entry_of(context.options.input.topics, partition.topic));
    if (!begin) begin = begins_with(records, *committed, where);
    if (!begin)
      throw Error(kafka::commit_topic(context.options.application), "the commit record of batch 0 is missing",
                  "share snapshots (state.share), or restore the state directory from a backup");
    if (begin->batch < committed->batch) {
      if (!follows && lacks_after != begin->batch) {
        lacks_written = record_of(records, begin->batch + 1) ? records.written() : -1;
        lacks_after = begin->batch;
      }
      written = lacks_written;
      if (why.empty() && !committed->reading.empty() && committed->reading != reading) {
        why = fmt::format(
            "the batches after {} were read differently than this configuration or release reads records; restore "
            "topics, formats, columns, max_record, max_ahead and max_labels",
            begin->batch);
      }
    }
    try {
      must_fit(*committed);
    } catch (const kafka::Unreachable&) {
      throw;
    } catch (const Error& error) {
      why = error.what();
    }
    // Asked even if why is known, because brokers that do not answer are the first thing to know.
    std::string lacks = not_retained(input, *begin, Clock::now() + patience);
    if (!lacks.empty()) {
      why = lacks +
            (context.share == nullptr
                 ? "; share snapshots (state.share), keep the input for longer, or restore the state directory from a backup"
                 : "; no newer shared snapshot is there: keep the input for longer than the owner takes to share one");
    }
    if (why.empty()) why = lost_alerts(records);
  }
  const std::scoped_lock lock(mutex);
  shown.could_take_over = why.empty();
  shown.why_not = why;
  if (!follows) {
    shown.from = where;
    lacking_written = written;
    shown.batch = begin ? std::optional(begin->batch) : std::nullopt;
    if (shown.doing.empty()) shown.doing = committed ? "looking" : "waiting for the first batch";
  }
  if (context.share != nullptr) shown.refused = context.share->refused();
}

/// What an instance without a graph would begin with: its own directory, a shared snapshot, or batch 0.
std::optional<CommitPoint> Standby::Impl::begins_with(kafka::CommitLog& records, const CommitPoint& committed,
                                                      std::string& where) {
  std::optional<CommitPoint> own = reach_of_directory(records, committed.batch);
  std::optional<CommitPoint> others = shared_newest(records, committed.batch);
  where = own ? "directory" : "input";
  if (others && (!own || others->batch > own->batch)) {
    where = "share";
    return others;
  }
  if (!own && !zero) zero = record_of(records, 0);
  return own ? own : zero;
}

/// The last committed batch to which the newest snapshot and the log of the state directory lead.
std::optional<CommitPoint> Standby::Impl::reach_of_directory(kafka::CommitLog& records, std::uint64_t committed) {
  const std::vector<SnapshotFile> snapshots = context.directory.snapshots();
  const std::optional<std::uint64_t> newest = snapshots.empty() ? std::nullopt : std::optional(snapshots.front().batch);
  if (scanned == newest) return reach;
  std::optional<CommitPoint> found;
  for (const SnapshotFile& snapshot : snapshots) {
    if (snapshot.batch > committed) continue;
    try {
      CommitPoint mark = StateDirectory::snapshot_mark(snapshot);
      if (record_of(records, mark.batch) != mark) continue;
      found = std::move(mark);
      break;
    } catch (const kafka::Unreachable&) {
      throw;
    } catch (const Error&) {
      continue;  // it is set aside when it is loaded
    }
  }
  if (found) {
    LogReader log(context.directory.path(), context.directory.fingerprint(),
                  {.updates_from = found->batch + 1, .alerts_from = LogReader::none});
    CommitPoint end = *found;
    for (LogReader::Entry entry{}; (entry = log.next()) != LogReader::Entry::end;) {
      if (entry != LogReader::Entry::batch || log.batch().mark.batch <= end.batch) continue;
      if (log.batch().mark.batch != end.batch + 1 || log.batch().mark.batch > committed) break;
      end = log.batch().mark;
    }
    if (record_of(records, end.batch) == end) found = std::move(end);  // a mark stands for all batches before it
  }
  scanned = newest;
  return reach = std::move(found);
}

std::optional<CommitPoint> Standby::Impl::shared_newest(kafka::CommitLog& records, std::uint64_t committed) {
  if (context.share == nullptr || Clock::now() < next_list) return shared;
  next_list = Clock::now() + list_every;
  return shared = find_shared(records, committed);
}

/// The mark of the newest shared snapshot of a batch up to `up_to`. Nothing if there is none, or if the share fails.
std::optional<CommitPoint> Standby::Impl::find_shared(kafka::CommitLog& records, std::uint64_t up_to) {
  std::string error;
  std::optional<CommitPoint> found;
  try {
    std::optional<CommitPoint> mark;
    const auto is_committed = [&](const SharedSnapshot& snapshot) {
      mark = record_of(records, snapshot.batch);
      return mark && mark_fingerprint(*mark) == snapshot.mark;
    };
    if (context.share->newest(std::nullopt, up_to, is_committed, context.stop)) found = std::move(mark);
  } catch (const kafka::Unreachable&) {
    throw;
  } catch (const Error& failed) {
    error = failed.what();
    context.journal.tell(Level::warn, "share_unreachable", {{"why", error}, {"effect", "it is looked at again"}});
  }
  const std::scoped_lock lock(mutex);
  shown.share_failures += error.empty() ? 0 : 1;
  shown.share_error = std::move(error);
  return found;
}

/// Why alerts that sinks still wait for could not be made again. Empty if they could, or if the log of this instance has them.
std::string Standby::Impl::lost_alerts(kafka::CommitLog& records) {
  const std::optional<CommitPoint> committed = records.last(Clock::now() + patience);
  const std::optional<DeliveryNote>& note = records.delivered();
  if (!committed || !note) return {};
  std::string waits;
  std::uint64_t delivered = committed->batch;
  for (const SinkOptions& sink : context.options.sinks) {
    if (!sink.sends_requests() || note->of(sink.name) >= delivered) continue;
    waits = sink.name;
    delivered = note->of(sink.name);
  }
  if (waits.empty() || is_logged(context.directory, delivered + 1, committed->batch)) return {};
  const std::optional<CommitPoint> begin = base_before(records, delivered);
  const std::string lacks =
      begin ? not_retained(input, *begin, Clock::now() + patience, &*committed) : "the commit record of batch 0 is missing";
  if (lacks.empty()) return {};
  return fmt::format(
      "alerts that '{}' waits for since batch {} could not be made again: {}; mend the sink, and keep the input for "
      "longer than it may be down",
      waits, delivered + 1, lacks);
}

/// From where the batches after `batch` would be made again: the newest snapshot up to it, its own or a shared one, or batch 0.
std::optional<CommitPoint> Standby::Impl::base_before(kafka::CommitLog& records, std::uint64_t batch) {
  std::optional<CommitPoint> found;
  for (const SnapshotFile& snapshot : context.directory.snapshots()) {
    if (found || snapshot.batch > batch) continue;
    try {
      found = StateDirectory::snapshot_mark(snapshot);
    } catch (const Error&) {
      continue;  // it is set aside when it is loaded
    }
  }
  if (context.share != nullptr) {
    if (Clock::now() >= next_list_before) {
      next_list_before = Clock::now() + list_every;
      shared_before = find_shared(records, batch);
    }
    const bool is_nearer = shared_before && shared_before->batch <= batch && (!found || shared_before->batch > found->batch);
    if (is_nearer) found = shared_before;
  }
  if (!found && !zero) zero = record_of(records, 0);
  return found ? found : zero;
}

// ---- The interface.

Standby::Standby(const StartupContext& context, std::function<void()> queries_change,
                 std::function<void(const CommitPoint& last)> must_fit)
    : impl_(std::make_unique<Impl>(context, std::move(queries_change), std::move(must_fit))) {}

Standby::~Standby() { impl_->stop.request_stop(); }

StandbyStatus Standby::status() const {
  const Impl& impl = *impl_;
  const std::scoped_lock lock(impl.mutex);
  StandbyStatus status = impl.shown;
  status.warm = impl.held.has_value();
  if (impl.held) status.batch = impl.held->batch;
  if (impl.last) status.committed = impl.last->batch;
  if (status.batch && status.committed && *status.committed > *status.batch) {
    status.behind_batches = *status.committed - *status.batch;
    const std::int64_t since = impl.lacking_written >= 0 ? impl.lacking_written : impl.last_written;
    if (since >= 0) status.behind_seconds = static_cast<double>(std::max<std::int64_t>(0, now_ms() - since)) / 1000;
  }
  if (status.why_not.empty() && !status.could_take_over) status.why_not = "it has not looked yet";
  return status;
}

std::optional<Warm> Standby::take() {
  Impl& impl = *impl_;
  impl.stop.request_stop();
  impl.looker.join();
  if (impl.follower.joinable()) impl.follower.join();
  if (!impl.base || impl.failed_for_good) return std::nullopt;
  return Warm{std::move(*impl.base), impl.logged};
}

}  // namespace deltamatch::ingest

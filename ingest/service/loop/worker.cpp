#include "ingest/service/loop/worker.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <thread>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/kafka/claim_writer.hpp"
#include "ingest/service/kafka/commit_log.hpp"
#include "ingest/service/kafka/topics.hpp"
#include "ingest/service/loop/hang_watch.hpp"
#include "ingest/service/loop/slot_threads.hpp"
#include "ingest/service/loop/start_graph.hpp"
#include "ingest/service/loop/start_up.hpp"
#include "ingest/service/loop/worker_readers.hpp"
#include "ingest/service/signals_blocked.hpp"
#include "ingest/service/workers/records.hpp"

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using workers::Step;

constexpr auto patience = 60s;       // for brokers that do not answer a request
constexpr auto longest_wait = 20ms;  // between looks at what is to be done
constexpr auto claim_every = 1s;
constexpr auto last_word = 2s;                              // for the log, before a process that hangs ends
constexpr auto stalled_after = 10s;                         // a part that waits longer is reported
constexpr std::uint64_t most_batches = 64;                  // that the engine is ahead of what is published
constexpr std::size_t most_bytes = std::size_t{256} << 20;  // of the parts that wait

/// Waits, and returns whether to go on.
bool wait_for(const std::stop_token& stop, Clock::duration time) {
  std::mutex sleep;
  std::unique_lock lock(sleep);
  std::condition_variable_any().wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

/// How long one turn of the loop may take. In one, commands may fetch a shared snapshot, within a time of their own.
std::chrono::milliseconds longest_turn(const ServiceOptions& options) {
  const ShareOptions& share = options.state.share;
  const std::chrono::milliseconds after = options.workers.hang_after;
  return after.count() == 0 || share.get.empty() ? after : after + share.timeout;
}

/// Ends the process at once: a thread that hangs cannot be stopped. It may even hang in the log.
[[noreturn]] void end_because_of(const HangWatch::Turn& turn, Journal& journal) {
  std::thread([turn, &journal] {
    journal.tell(Level::error, "worker_hangs",
                 {{"batch", std::to_string(turn.batch)},
                  {"doing", turn.doing},
                  {"effect", "the process ends, and other workers take its slots over"},
                  {"remedy",
                   "look at the disk and the memory of this machine; if a batch or a snapshot may take so long, raise "
                   "workers.hang_after"}});
    std::_Exit(EXIT_FAILURE);
  }).detach();
  std::this_thread::sleep_for(last_word);
  std::_Exit(EXIT_FAILURE);
}

}  // namespace

std::string worker_name(const WorkersOptions& options) {
  std::string name = options.name;
  if (name.empty()) {
    std::array<char, 256> host{};
    name = ::gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "worker";
  }
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
  return fmt::format("{}-{}-{}", name, ::getpid(), now.count());
}

struct Worker::Impl {
  explicit Impl(const Context& of)
      : context(of),
        options(of.starting.options),
        journal(of.starting.journal),
        starting(of.starting),
        name(worker_name(options.workers)),
        state(name, options.workers.slots),
        readers(starting.cluster, options.workers.slots, state),
        engine(starting, options.workers.slots),
        leader(starting, name, options.workers.slots, state, engine, of.metrics) {
    starting.stop = end.get_token();
    starting.progress = [this](const std::string& now) {
      turn(doing);
      context.starting.progress(now);
    };
    starting.waits = [this] { turn(doing); };
  }

  void run(const std::stop_token& stop, const std::function<void()>& ready);
  void work(const std::stop_token& stop);
  bool step();
  void restart(std::uint64_t batch);
  bool follow();
  void show();
  void look_at_leadership();
  void save_if_due();
  void save();
  void turn(HangWatch::Turn now);
  void write_claims(const std::stop_token& stop);
  [[nodiscard]] workers::Claim claim() const;

  const Context context;
  const ServiceOptions& options;
  Journal& journal;
  std::stop_source end;  // ends whatever waits
  StartupContext starting;
  const std::string name;
  WorkerState state;
  WorkerReaders readers;
  WorkerEngine engine;
  WorkerLeader leader;
  std::atomic<bool> leads = false;
  std::atomic<bool> leaves = false;
  std::atomic<std::uint64_t> updates = 0;  // that it has followed
  Clock::time_point saved = Clock::now();
  std::optional<std::uint64_t> saved_batch;
  std::optional<std::uint64_t> shown;  // the batch of `graph`
  std::optional<HangWatch> watch;      // while the loop runs
  HangWatch::Turn doing;

  mutable std::mutex mutex;
  GraphStatistics graph;  // guarded by mutex
};

void Worker::Impl::run(const std::stop_token& stop, const std::function<void()>& ready) {
  // Once a stop is requested, the worker has some time to leave. Until it works, it need not.
  std::atomic<bool> works = false;
  const SignalsBlocked for_the_threads;
  const std::jthread timer([&](const std::stop_token& over) {
    while (!stop.stop_requested() && wait_for(over, 20ms)) {
    }
    if (stop.stop_requested() && works) wait_for(over, options.shutdown_timeout);
    end.request_stop();
  });
  try {
    kafka::ensure_progress_topic(starting.cluster, options.workers.slots, Clock::now() + patience);
    kafka::ensure_claims_topic(starting.cluster, Clock::now() + patience);
    static_cast<void>(state.engine_step());  // at first: to read all
    readers.start(end.get_token());
    state.all_read();
    works = true;
    journal.tell(Level::info, "worker", {{"name", name}, {"slots", std::to_string(options.workers.slots)}});
    const SlotThreads slots(options, starting.cluster, options.workers.slots, state, readers, context.metrics, journal);
    const std::jthread claims([this](const std::stop_token& done) { write_claims(done); });
    ready();
    struct EndOfTheWatch {
      std::optional<HangWatch>& watch;
      ~EndOfTheWatch() { watch.reset(); }
    };
    const EndOfTheWatch once_the_loop_ends{watch};
    watch.emplace(longest_turn(options), [this](const HangWatch::Turn& turn) { end_because_of(turn, journal); });
    work(stop);
    if (end.stop_requested()) throw StartupCancelled();
  } catch (const StartupCancelled&) {
    journal.tell(Level::warn, "the worker stopped before it had left",
                 {{"effect", "other workers take over what it has not published"}});
  }
}

void Worker::Impl::work(const std::stop_token& stop) {
  while (!end.stop_requested()) {
    turn({"matching", (engine.holds() ? engine.mark().batch : 0) + 1});
    state.check();
    look_at_leadership();
    if (stop.stop_requested() && !leaves.exchange(true)) leader.stop_reading();
    if (leaves && !leader.committing() && state.may_leave(Clock::now())) break;
    if (!step()) state.wait(longest_wait);
    save_if_due();
  }
  if (engine.holds() && state.confirmed() == engine.mark().batch) save();
}

/// Tells the watch that the loop goes on, and with what.
void Worker::Impl::turn(HangWatch::Turn now) {
  doing = now;
  if (watch) watch->turn(now);
}

/// Does one thing. Returns false if there is nothing to do.
bool Worker::Impl::step() {
  if (const std::optional<Step> wanted = state.engine_step()) {
    if (wanted->kind != Step::Kind::restart) return true;
    turn({"loading a graph", wanted->batch});
    until_answered(starting, [&] { restart(wanted->batch); });
    return true;
  }
  // A start graph may take as long as it needs.
  if (leads && state.newest_cut() == 0) turn({.doing = "beginning", .batch = 0, .may_take_long = true});
  if (!(leads && leader.advance()) && !follow()) return false;
  show();
  return true;
}

/// Notes the engine's graph for the status, if it has taken a batch.
void Worker::Impl::show() {
  if (!engine.holds() || shown == engine.mark().batch) return;
  shown = engine.mark().batch;
  if (engine.mark().watermark) context.metrics.watermark(*engine.mark().watermark);
  const std::scoped_lock lock(mutex);
  graph = engine.graph();
}

void Worker::Impl::look_at_leadership() {
  const bool now = context.owned();
  if (leads == now) return;
  if (!now && leader.committing()) return;  // its answer comes first
  state.lead(now);
  leads = now;
  if (!now) leader.forget();
  journal.tell(Level::info, now ? "worker_leads" : "worker_leads_no_more", {{"worker", name}});
}

/// Loads the newest graph of a batch up to `batch`, and reads the cuts after it.
void Worker::Impl::restart(std::uint64_t batch) {
  journal.tell(Level::info, "worker_begins", {{"batch", std::to_string(batch)}});
  kafka::CommitLog commits(starting.cluster);
  const std::optional<CommitPoint> last = commits.last(Clock::now() + patience);
  const std::optional<workers::Cut> newest = commits.cut();
  if (!last || !newest) {
    throw Error(kafka::commit_topic(starting.cluster.application), "the cuts of the workers are gone",
                "restore the topic of commit records; or choose another application name and an empty state directory");
  }
  must_be_same_shard(options.input.shard, last->graph);
  engine.drop();
  if (starting.share != nullptr) {
    std::optional<std::uint64_t> own;
    for (const SnapshotFile& snapshot : starting.directory.snapshots()) {
      if (!own && snapshot.batch <= batch) own = snapshot.batch;
    }
    try {
      static_cast<void>(fetch_newer(starting, commits, own, last->batch, batch));
    } catch (const kafka::Unreachable&) {
      throw;
    } catch (const Error& error) {
      if (end.stop_requested()) throw StartupCancelled();
      journal.tell(Level::error, "share_unreachable", {{"why", error.what()}, {"effect", "it goes on without"}});
    }
  }
  engine.restore(commits, *last, batch);
  workers::CutBook book;
  commits.seek(batch + 1, Clock::now() + patience);
  while (commits.next(Clock::now() + patience)) {
    if (commits.cut()) book.add(*commits.cut());
  }
  if (book.empty()) book.add(*newest);
  saved = Clock::now();
  state.restarted(batch, std::move(book));
  show();
}

/// Takes the next batch of the cuts.
bool Worker::Impl::follow() {
  const auto [batches, bytes] = state.backlog();
  if (batches >= most_batches || bytes >= most_bytes) return false;
  const auto next = state.next_batch();
  if (!next) return false;
  const auto start = Clock::now();
  const std::shared_ptr<const std::vector<std::string>> names = engine.names();
  WorkerEngine::Taken taken = engine.follow(next->second, next->first.slots);
  state.applied(next->first, engine.digest(), std::move(taken.parts));
  updates += taken.result.consumed;
  context.metrics.batch(taken.result, *names, std::chrono::duration<double>(Clock::now() - start).count());
  return true;
}

/// Saves the graph now and then, so that a restart has less to repeat.
void Worker::Impl::save_if_due() {
  const std::chrono::seconds every = options.state.snapshot_every;
  if (every.count() == 0 || Clock::now() - saved < every || !engine.holds()) return;
  if (state.confirmed() == engine.mark().batch) save();
}

void Worker::Impl::save() {
  saved = Clock::now();
  const std::uint64_t batch = engine.mark().batch;
  if (saved_batch == batch) return;
  turn({"saving a snapshot", batch});
  try {
    engine.save(state.least_progress());
    saved_batch = batch;
    context.metrics.snapshot_written(Clock::now());
    journal.tell(Level::info, "snapshot_made", {{"batch", std::to_string(batch)}});
    if (context.publisher != nullptr) context.publisher->publish();
  } catch (const std::exception& error) {
    context.metrics.snapshot_failed();
    journal.tell(Level::error, "snapshot_failed", {{"batch", std::to_string(batch)}, {"why", error.what()}});
  }
}

workers::Claim Worker::Impl::claim() const {
  return {.worker = name,
          .applied = state.at().value_or(0),
          .spare = options.workers.spare,
          .leaves = leaves,
          .gone = false,
          .semantics = workers::semantics};
}

void Worker::Impl::write_claims(const std::stop_token& stop) {
  try {
    kafka::ClaimWriter writer(starting.cluster);
    bool left = false;
    for (auto next = Clock::now(); !stop.stop_requested(); wait_for(stop, 20ms)) {
      if (Clock::now() < next && left == leaves) continue;
      writer.write(to_json(claim()));
      next = Clock::now() + claim_every;
      left = leaves;
    }
    workers::Claim last = claim();
    last.gone = true;
    writer.write(to_json(last));
    writer.flush(Clock::now() + 1s);
  } catch (...) {
    state.fail(std::current_exception());
  }
}

Worker::Worker(const Context& context) : impl_(std::make_unique<Impl>(context)) {}
Worker::~Worker() = default;

void Worker::run(const std::stop_token& stop, const std::function<void()>& ready) { impl_->run(stop, ready); }

WorkerStatus Worker::status() const {
  Impl& impl = *impl_;
  WorkerStatus status;
  status.name = impl.name;
  status.leads = impl.leads;
  status.leaves = impl.leaves;
  status.batch = impl.state.at();
  status.cut = impl.state.newest_cut();
  status.published = impl.state.least_progress();
  status.mark = impl.state.published_mark();
  status.updates = impl.updates + impl.leader.updates();
  status.slots = impl.state.slots();
  std::tie(status.waiting, status.waiting_bytes) = impl.state.backlog();
  status.gate_seconds = impl.state.gate_seconds();
  status.wrong_digests = impl.state.wrong_digests();
  {
    const std::scoped_lock lock(impl.mutex);
    status.graph = impl.graph;
  }
  const auto waiting = impl.state.waiting_for(Clock::now());
  if (status.cut == 0) {
    status.waits =
        "no cut of the workers is there yet; one is made once a worker leads, so stop an instance without workers.slots";
  } else if (!status.batch) {
    status.waits = "loading a graph";
  } else if (waiting && *waiting >= stalled_after) {
    status.waits = fmt::format("no slot was published for {} s, although batch {} is waiting",
                               std::chrono::duration_cast<std::chrono::seconds>(*waiting).count(), status.published + 1);
  }
  if (status.leads) {
    status.input = impl.leader.input();
    status.refused = impl.leader.refused();
    if (status.waits.empty()) status.waits = impl.leader.stalled();
  }
  return status;
}

}  // namespace deltamatch::ingest

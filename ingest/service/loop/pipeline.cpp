#include "ingest/service/loop/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/alert/alert_sinks.hpp"
#include "ingest/service/kafka/topics.hpp"
#include "ingest/service/loop/backlog.hpp"
#include "ingest/service/loop/batch_end.hpp"
#include "ingest/service/loop/begin_reading.hpp"
#include "ingest/service/loop/reading.hpp"
#include "ingest/service/loop/start_graph.hpp"

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;

constexpr auto stalled_after = 10s;   // a commit that takes longer is reported
constexpr auto sink_time = 1s;        // for sinks at a stop, before whoever owns the application next feeds them
constexpr auto longest_wait = 200ms;  // bound on the delay of a request, or of noticing the committer's failure, without
                                      // input

SnapshotterOptions snapshotter_options(const ServiceOptions& options, const std::optional<GraphIdentity>& graph,
                                       Journal& journal, std::shared_ptr<const KnownQueries> queries,
                                       std::function<void(std::uint64_t)> made) {
  SnapshotterOptions wanted;
  wanted.made = std::move(made);
  wanted.queries = std::move(queries);
  wanted.every = options.state.snapshot_every;
  wanted.log_bytes = options.state.snapshot_log_bytes;
  wanted.keep = options.state.keep_snapshots;
  wanted.directed = options.engine.directed;
  wanted.window = options.engine.window;
  wanted.lateness = options.engine.allowed_lateness;
  wanted.schema = options.engine.schema;
  wanted.self_loops = options.engine.self_loops;
  wanted.begin = [&options, &journal, graph] {
    EngineOptions quiet;  // runs beside the working engine
    quiet.directed = options.engine.directed;
    quiet.window = options.engine.window;
    quiet.allowed_lateness = options.engine.allowed_lateness;
    quiet.schema = options.engine.schema;
    quiet.self_loops = options.engine.self_loops;
    quiet.threads = 1;
    return begin_engine(options, quiet, graph, journal);
  };
  return wanted;
}

}  // namespace

Pipeline::Pipeline(const Context& context, Recovered recovered)
    : context_(context),
      engine_(std::move(recovered.engine)),
      log_(std::move(recovered.log)),
      router_(context.options.sinks, std::chrono::steady_clock::now, alert_memory(context.directory),
              context.options.engine.schema),
      queries_(engine_, router_),
      last_(std::move(recovered.reached)),
      reading_(reading_fingerprint(context.options.input)),
      topics_(context.journal, kafka::topic_creation(context.options.kafka)),
      refused_(context.options.input, context.metrics, context.journal),
      monitor_(context.options.batching.max_match_time, context.metrics, context.journal),
      absent_deletes_(context.options.engine.directed) {
  if (context_.feed != nullptr) {
    router_.show(context_.feed->limits().per_query);
    context_.feed->begin_after(last_.batch);
  }
  engine_.spool({.memory = match_memory, .folder = context.directory.path()});
  status_.committed = last_;
  status_.graph = engine_.graph();
  for (const SinkOptions& sink : context.options.sinks) {
    if (sink.kind == SinkOptions::Kind::kafka) status_.topics[sink.name] = {};
  }
  if (!last_.reading.empty() && last_.reading != reading_) {
    context_.journal.tell(Level::warn, "the input is read differently from now on",
                          {{"after_batch", std::to_string(last_.batch)},
                           {"behind_batch", std::to_string(last_.batch)},  // deprecated: left out after 0.1
                           {"effect", "earlier batches cannot be rebuilt from the input with this configuration"}});
  }
  snapshotter_ = std::make_unique<Snapshotter>(
      context_.directory, *log_, context_.journal,
      snapshotter_options(context_.options, last_.graph, context_.journal, context_.known, context_.snapshot_made));
  snapshotter_->committed(last_.batch);
  // An instance that reads like this one can begin with a shared snapshot of the last batch that was read differently.
  if (context_.snapshot_made && !last_.reading.empty() && last_.reading != reading_) snapshotter_->save_now(engine_, last_);
  Committer::Limits limits;
  limits.give_up_after = context_.options.transaction_timeout;
  committer_ = std::make_unique<Committer>(
      context_.options, *log_, context_.transactions, context_.metrics, context_.journal, last_.ends,
      [this](Commit&& commit) { committed(std::move(commit)); }, limits);
  make_deliverer();
}

Pipeline::~Pipeline() {
  reader_.reset();
  if (deliverer_) deliverer_->stop(Clock::now());  // it calls the committer
  committer_.reset();
  snapshotter_.reset();
}

/// Finds what sinks still have to get. Each sink itself removes what it holds beyond its noted position.
void Pipeline::make_deliverer() {
  DeliveryHooks hooks = delivery_hooks(context_.directory, *log_, context_.journal);
  hooks.delivered = [this, note = hooks.delivered](std::string_view sink, std::uint64_t batch, const std::string& position) {
    note(sink, batch, position);
    committer_->delivered(sink);
  };
  deliverer_ =
      std::make_unique<Deliverer>(delivery_targets(context_.options, context_.directory, *log_, last_.batch, context_.journal),
                                  std::move(hooks), context_.journal);
}

void Pipeline::start_reading(const std::stop_token& stop) {
  const BeginReading begin = begin_reading(context_.input, last_, reading_, topics_, stop);
  last_.ends = begin.from;
  if (begin.fresh) process_empty();
  reader_ = std::make_unique<KafkaBatchSource>(context_.input, context_.journal, context_.options.input,
                                               context_.options.batching, context_.options.engine, begin.partitions, begin.from,
                                               last_.watermark, last_.times, context_.schemas, topics_);
}

void Pipeline::run(QueryWish first, const std::stop_token& stop, const std::function<void()>& ready) {
  try {
    const std::stop_callback stopping(stop, [this] { stop_soon(); });
    begin_queries(std::move(first.queries));
    start_reading(stop);
    const std::stop_callback on_stop(stop, [this] { reader_->stop(); });
    ready();
    InputBatch batch;
    for (bool more = true; more && !failure_ && !exceeded_;) {
      serve_requests();
      committer_->check();
      make_sure_of_ownership();
      switch (reader_->next_within(batch, longest_wait)) {
        case Arrival::batch:
          more = settle(batch);
          break;
        case Arrival::nothing:
          context_.metrics.partitions_missing(reader_->missing());
          if (router_.due()) process_empty();
          break;
        case Arrival::ended:
          more = false;
          break;
      }
    }
    if (!exceeded_ && router_.close_intervals()) process_empty();
    finish();
  } catch (...) {
    refuse_requests();
    throw;
  }
  refuse_requests();
  throw_ending();
}

/// Runs in the thread that requests the stop. A batch that is being matched gets half of the time, and what follows it the
/// rest.
void Pipeline::stop_soon() {
  const auto now = Clock::now();
  const std::chrono::milliseconds time = context_.options.shutdown_timeout;
  {
    const std::scoped_lock lock(mutex_);
    end_by_ = now + time;
  }
  monitor_.give_up_at(now + time / 2);
}

/// Throws if a query or a record in the input should stop the service.
void Pipeline::throw_ending() const {
  if (exceeded_) {
    throw Error(ErrorKind::record, exceeded_->where, exceeded_->what,
                "raise the query's budget, or set its budget.then to suspend to let the other queries go on. Without a change, "
                "the next start ends here again");
  }
  if (failure_) throw_for(*failure_);
}

/// Processes a batch, and what is left of it if it was cut. Returns false if the service should stop and a part was therefore
/// abandoned.
bool Pipeline::settle(InputBatch& batch) {
  do {
    if (rest_) batch = std::move(*std::exchange(rest_, std::nullopt));
    if (!settle_part(batch)) return false;
  } while (rest_ && !failure_ && !exceeded_);
  rest_.reset();
  return true;
}

bool Pipeline::settle_part(InputBatch& batch) {
  while (!process(batch)) {
    if (monitor_.gives_up()) {
      context_.journal.tell(Level::warn, "a batch was abandoned because the service stops",
                            {{"batch", std::to_string(last_.batch + 1)},
                             {"effect", "nothing of it is committed; the next start processes it again"}});
      return false;
    }
    context_.journal.tell(Level::info, "a batch was abandoned because the queries change; it is matched again",
                          {{"batch", std::to_string(last_.batch + 1)}});
    serve_requests();
  }
  return true;
}

/// Matches a batch. Returns nothing if it was abandoned; the state is then as before.
std::optional<BatchResult> Pipeline::match(const InputBatch& batch) {
  BatchOptions options;
  options.on_reject = context_.options.input.on_error == OnError::fail ? OnReject::stop : OnReject::skip;
  options.upcoming = [this](const std::stop_token& stop) { return reader_ ? reader_->upcoming(stop) : nullptr; };
  options.record_by_record = true;
  // So a batch reports the same about a query over its budget, however often it is matched.
  options.report_partial = false;
  options.progress = [this](const deltamatch::BatchProgress& progress) { monitor_.progress(progress); };
  if (!batch.updates.empty())
    options.stop = [this] { return monitor_.gives_up() || (requested_ != 0 && !monitor_.overdue().empty()); };
  BatchMonitor::Names names;
  for (const StandingQueries::Named& query : queries_.standing()) names.emplace_back(query.id, query.query->query.name);
  struct End {
    BatchMonitor& monitor;
    ~End() { monitor.end(); }
  };
  monitor_.begin(last_.batch + 1, std::move(names));
  const End end{monitor_};
  return queries_.process(batch.updates, options);
}

/// Returns false if the batch was abandoned; the state is then as before.
bool Pipeline::process(InputBatch& batch) {
  Commit commit;
  commit.queries = queries_.names();
  const Timestamp retention = engine_.retention();
  const bool watches_vertices = engine_.watches_vertices();
  std::optional<BatchResult> matched = match(batch);
  if (!matched) return false;
  commit.result = std::move(*matched);
  const BatchResult& result = commit.result;
  if (stops_here(result)) return true;
  count_alerts(commit.result, *commit.queries);
  commit.consumed = result.consumed;
  Leftover left = end_where_taken(last_, batch, result);
  rest_ = std::move(left.rest);
  if (left.failure) failure_ = std::move(left.failure);
  commit.letters = letters_of(batch, result, context_.options.input.on_error);
  note_reading(batch, result);
  suspend(result);
  last_.batch = result.batch;
  last_.ends = batch.ends;
  last_.watermark = result.watermark;
  last_.retention = retention;
  last_.watches_vertices = watches_vertices;
  last_.digest = engine_.digest();
  for (const auto& [partition, time] : batch.times) last_.times.insert_or_assign(partition, time);
  last_.queries = queries_.active();
  last_.reading = reading_;
  commit.mark = last_;
  commit.changes = std::exchange(changes_, {});
  commit.alerts = router_.take();
  commit.seen = router_.take_seen();
  commit.input = std::move(batch);
  submit(std::move(commit));
  const std::scoped_lock lock(mutex_);
  if (!free_.empty()) {
    batch = std::move(free_.back());
    free_.pop_back();
  }
  return true;
}

/// Processes a batch without updates. Such a batch is never abandoned.
void Pipeline::process_empty() {
  InputBatch none;
  none.ends = last_.ends;
  none.since = Clock::now();
  static_cast<void>(process(none));
}

void Pipeline::submit(Commit&& commit) {
  if (context_.options.engine.backend) report_backend();
  {
    const std::scoped_lock lock(mutex_);
    ++status_.processed;
    status_.updates += commit.consumed;
    status_.graph = engine_.graph();
    status_.queries = commit.mark.queries;
    status_.suspended = commit.mark.suspended;
  }
  if (reader_) context_.metrics.partitions_missing(reader_->missing());
  for (const Suppressed& suppressed : router_.take_suppressed()) {
    context_.metrics.alerts_suppressed(suppressed.query, suppressed.sink, suppressed.count);
  }
  committer_->submit(std::move(commit));
}

/// Only this thread writes status_.backend. The journal may write to a disk, so it is called without the mutex.
void Pipeline::report_backend() {
  BackendStatistics now = engine_.backend_statistics();
  if (!now.notice.empty() && (!status_.backend || status_.backend->notice != now.notice)) {
    context_.journal.tell(Level::warn, "the backend does not match as configured",
                          {{"backend", now.backend}, {"why", now.notice}});
  }
  const std::scoped_lock lock(mutex_);
  status_.backend = std::move(now);
}

/// Shows the alerts to those who look on. A failure costs nobody else anything.
void Pipeline::show(const Commit& commit) noexcept {
  try {
    if (context_.feed != nullptr) context_.feed->publish(commit.mark.batch, commit.seen);
  } catch (const std::exception& error) {
    context_.journal.tell(Level::warn, "alerts cannot be shown",
                          {{"batch", std::to_string(commit.mark.batch)}, {"why", error.what()}});
  }
}

/// Called in the committer's thread.
void Pipeline::committed(Commit&& commit) {
  show(commit);
  std::vector<std::pair<std::string, std::uint64_t>> published;
  for (std::size_t s = 0; s < commit.alerts.size(); ++s) {
    const SinkOptions& sink = context_.options.sinks[s];
    if (commit.alerts[s].empty()) continue;
    if (sink.kind == SinkOptions::Kind::kafka) {
      context_.metrics.alerts_delivered(sink.name, commit.alerts[s].size());
      published.emplace_back(sink.name, commit.alerts[s].size());
    } else {
      deliverer_->submit(sink.name, commit.mark.batch, std::move(commit.alerts[s]));
    }
  }
  if (!context_.options.input.dead_letter_file.empty() && !commit.letters.empty()) {
    deliverer_->submit(dead_letter_sink, commit.mark.batch, dead_letter_list(commit.letters));
  }
  for (const BadRecord& letter : commit.letters) context_.metrics.dead_letters(letter.reason);
  snapshotter_->committed(commit.mark.batch);
  if (commit.input.records != 0) {
    context_.metrics.step("fetch", commit.input.fetch_seconds);
    context_.metrics.step("decode", commit.input.decode_seconds);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - commit.input.since).count();
  context_.metrics.batch(commit.result, *commit.queries, seconds);
  if (commit.mark.watermark) context_.metrics.watermark(*commit.mark.watermark);
  const std::scoped_lock lock(mutex_);
  for (const auto& [sink, alerts] : published) {
    DeliveryStatistics& count = status_.topics[sink];
    ++count.batches;
    count.alerts += alerts;
  }
  count_matches(commit);
  forget_queries(commit.mark);
  if (commit.consumed != 0) status_.batch_times.add(seconds);
  status_.committed = std::move(commit.mark);
  if (free_.size() < 4) free_.push_back(std::move(commit.input));
}

/// The caller holds the mutex.
void Pipeline::count_matches(const Commit& commit) {
  for (std::size_t q = 0; q < commit.result.queries.size(); ++q) {
    const std::string& name = (*commit.queries)[q];
    const Count suppressed = commit.result.queries[q].suppressed;
    if (suppressed > 0) status_.suppressed[name] += suppressed;
    Status::Matches& matches = status_.matches[name];
    const auto active = std::ranges::lower_bound(commit.mark.queries, name, {}, &ActiveQuery::name);
    if (active != commit.mark.queries.end() && active->name == name && active->fingerprint != matches.fingerprint)
      matches = {active->fingerprint};
    matches.added += commit.result.queries[q].added;
    matches.removed += commit.result.queries[q].removed;
    matches.seconds += commit.result.queries[q].seconds;
  }
}

/// Forgets queries that are gone after this commit, so that queries which come and go leave nothing behind. The caller holds
/// the mutex.
void Pipeline::forget_queries(const CommitPoint& now) {
  const CommitPoint& before = status_.committed;
  if (before.queries == now.queries && before.suspended == now.suspended) return;
  const auto forget = [&](const std::string& name) {
    if (std::ranges::find(now.queries, name, &ActiveQuery::name) != now.queries.end() ||
        std::ranges::find(now.suspended, name, &SuspendedQuery::name) != now.suspended.end())
      return;
    status_.matches.erase(name);
    status_.suppressed.erase(name);
    context_.metrics.forget_query(name);
  };
  for (const ActiveQuery& query : before.queries) forget(query.name);
  for (const SuspendedQuery& query : before.suspended) forget(query.name);
}

void Pipeline::finish() {
  auto deadline = Clock::now() + context_.options.shutdown_timeout;
  {
    const std::scoped_lock lock(mutex_);
    if (end_by_) deadline = *end_by_;
  }
  if (!committer_->drain(deadline)) {
    throw Error("service", "the last batches could not be committed within shutdown_timeout",
                "the next start reads them again");
  }
  // If the engine has settled a batch that must not be committed, it is not saved.
  if (!exceeded_) snapshotter_->save_now(engine_, last_);
  // Another instance cannot work before this one has given the application up, and it gives the sinks what they lack. So sinks
  // only get the time to end what is under way.
  if (!deliverer_->stop(std::min(deadline, Clock::now() + sink_time))) {
    context_.journal.tell(Level::warn, "some alerts are not delivered yet; the next owner delivers them", {});
  }
  committer_->note_deliveries(deadline);
  log_->sync();
}

/// Probes whether this instance is still the owner. If the brokers of an owner do not answer for a while, the group forgets it
/// and may choose another. The new owner fences the transactions of the old one. So while transactions succeed, no other
/// instance has taken over.
void Pipeline::make_sure_of_ownership() {
  if (context_.owned() || Clock::now() - last_probe_ < 2s) return;
  last_probe_ = Clock::now();
  committer_->probe();
}

std::string Pipeline::stalled() const {
  if (std::string overdue = monitor_.overdue(); !overdue.empty()) return overdue;
  if (std::string schemas = context_.schemas.why(); !schemas.empty()) return schemas;
  if (std::string topics = topics_.why(); !topics.empty()) return topics;
  const auto since = committer_->waiting_since();
  if (!since || Clock::now() - *since < stalled_after) return {};
  return fmt::format("no batch was committed for {} s, although one is waiting",
                     std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - *since).count());
}

std::optional<std::int64_t> lag_of(const kafka::Progress& progress, const Offsets& committed) {
  const auto end = committed.find(progress.id);
  if (progress.end < 0 || end == committed.end()) return std::nullopt;
  const bool all_records = end->second >= progress.taken;
  const std::int64_t from = all_records ? std::max(end->second, progress.seen) : end->second;
  return std::max<std::int64_t>(0, progress.end - from);
}

Pipeline::Queries Pipeline::queries() const {
  const std::scoped_lock lock(mutex_);
  return {status_.committed.batch, status_.suspended, status_.matches};
}

Pipeline::Status Pipeline::status() const {
  Status status;
  {
    const std::scoped_lock lock(mutex_);
    status = status_;
  }
  status.sinks = deliverer_->statistics();
  status.snapshots = snapshotter_->statistics();
  status.commits = committer_->statistics();
  status.input = context_.input.progress();
  status.refused = refused_.seen();
  status.under_way = monitor_.now();
  return status;
}

}  // namespace deltamatch::ingest

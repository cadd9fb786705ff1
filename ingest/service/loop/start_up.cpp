#include "ingest/service/loop/start_up.hpp"
#include "ingest/codec/schema_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/loop/backlog.hpp"
#include "ingest/service/loop/begun_batch.hpp"
#include "ingest/service/loop/commit_records.hpp"
#include "ingest/service/loop/lost_alerts.hpp"
#include "ingest/service/loop/reading.hpp"
#include "ingest/service/loop/recutter.hpp"
#include "ingest/service/loop/start_graph.hpp"

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto patience = 60s;  // for brokers that do not answer a request

void save(const Engine& engine, const StateDirectory& directory, const CommitPoint& mark) {
  engine.save(directory.snapshot_path(mark.batch), to_json(mark));
}

std::vector<ActiveQuery> configured_queries(const ServiceOptions& options, bool existing_too) {
  std::vector<ActiveQuery> queries;
  for (const ServiceQuery& query : options.queries) {
    if (!existing_too && query.report_existing) continue;  // these get a batch of their own
    queries.push_back({query.query.name, query_fingerprint(query.query, query.options)});
  }
  std::sort(queries.begin(), queries.end());
  return queries;
}

void commit_mark(const ServiceOptions& options, kafka::Transactions& transactions, const CommitPoint& mark) {
  const std::string topic = kafka::commit_topic(options.application);
  const std::string value = to_json(mark);
  const kafka::OutputRecord record{topic, std::nullopt, value, {}};
  transactions.commit({&record, 1}, mark.ends, Clock::now() + patience);
}

/// Repeats the batches after recovered.reached up to `committed`. From lost.from on, the alerts are made again.
void catch_up(const StartupContext& context, Recovered& recovered, const CommitPoint& committed, kafka::CommitLog& commits,
              const LostAlerts& lost) {
  const CommitPoint& reached = recovered.reached;
  commits.seek(reached.batch, Clock::now() + patience);
  std::optional<CommitPoint> mark = commits.next(Clock::now() + patience);
  if (mark && mark->batch == reached.batch) {
    if (*mark != reached) {
      throw Error(context.directory.path().string(),
                  fmt::format("batch {} in the state directory differs from its commit record", mark->batch),
                  "name an empty state directory, and the service rebuilds the state from Kafka");
    }
    mark = commits.next(Clock::now() + patience);
  }
  Recutter recutter(context, recovered.engine, recovered.reached, context.known);
  std::optional<AlertMaker> maker;
  auto next_word = Clock::now();
  for (; mark && mark->batch <= committed.batch; mark = commits.next(Clock::now() + patience)) {
    if (mark->batch == lost.from) {
      recutter.leave();
      maker.emplace(context, recovered, lost);
    }
    if (maker) {
      const bool last = mark->batch == committed.batch;
      recutter.repeat(*mark, [&](InputBatch& batch) { maker->make(*mark, batch, commits.written(), last); });
    } else {
      recutter.repeat(*mark);
    }
    if (Clock::now() < next_word) continue;
    next_word = Clock::now() + 2s;
    context.progress(fmt::format("reading batches from the input again: {} of {}", reached.batch, committed.batch));
  }
  recutter.leave();
  if (maker) maker->finish();
  if (reached.batch != committed.batch) {
    throw Error(kafka::commit_topic(context.options.application),
                fmt::format("the commit records end at batch {}, before batch {}", reached.batch, committed.batch),
                "restore the state directory from a backup, or choose another application name");
  }
}

/// The newest snapshot of a batch up to `batch`.
std::optional<SnapshotFile> snapshot_up_to(const StateDirectory& directory, std::uint64_t batch) {
  for (const SnapshotFile& snapshot : directory.snapshots()) {
    if (snapshot.batch <= batch) return snapshot;
  }
  return std::nullopt;
}

/// From where the batches after `batch` can be made again: the newest snapshot up to it, or batch 0.
std::optional<CommitPoint> base_before(const StateDirectory& directory, CommitRecords& records, std::uint64_t batch) {
  const std::optional<SnapshotFile> snapshot = snapshot_up_to(directory, batch);
  return snapshot ? StateDirectory::snapshot_mark(*snapshot) : records.of(0);
}

/// Fetches a shared snapshot of a batch up to `batch`, if it is newer than those of the state directory up to there. One that
/// cannot be fetched is no reason not to start.
void fetch_before(const StartupContext& context, kafka::CommitLog& commits, std::uint64_t batch, std::uint64_t committed) {
  const std::optional<SnapshotFile> own = snapshot_up_to(context.directory, batch);
  try {
    const std::optional<std::uint64_t> after = own ? std::optional(own->batch) : std::nullopt;
    static_cast<void>(fetch_newer(context, commits, after, committed, batch));
  } catch (const kafka::Unreachable&) {
    throw;
  } catch (const Error& error) {
    if (context.stop.stop_requested()) throw StartupCancelled();
    context.journal.tell(Level::error, "share_unreachable", {{"why", error.what()}, {"effect", "it goes on without"}});
  }
}

/// The alerts that are to be made again. `recovered` is then at a batch before them: if it was past them, it is recovered anew
/// from an older snapshot. If that is not possible, nothing is made, and settle_sinks reports what is lost.
LostAlerts go_before_lost_alerts(const StartupContext& context, kafka::Input& input, kafka::CommitLog& commits,
                                 RecoveryInput wanted, Recovered& recovered) {
  const CommitPoint& committed = *wanted.committed;
  LostAlerts lost = find_lost_alerts(context.options, context.directory, *recovered.log, commits.delivered(), committed.batch);
  if (!lost.any() || recovered.reached.batch < lost.from) return lost;
  fetch_before(context, commits, lost.from - 1, committed.batch);
  CommitRecords records(commits, committed.batch);
  std::optional<CommitPoint> base;
  try {
    base = base_before(context.directory, records, lost.from - 1);
  } catch (const Error&) {  // a damaged snapshot
    return {};
  }
  if (base && !not_retained(input, *base, Clock::now() + patience, &committed).empty()) {
    context.journal.tell(Level::error, "alerts that waited in a lost log cannot be made again, because the input is gone",
                         {{"from", std::to_string(lost.from)}, {"to", std::to_string(committed.batch)}});
    return {};
  }
  wanted.record = [&](std::uint64_t batch) { return records.of(batch); };
  wanted.begun.reset();
  wanted.up_to = lost.from - 1;
  recovered.log.reset();
  recovered.engine = Engine(EngineOptions{});  // frees its memory first
  recovered = recover(context.directory, wanted, context.journal);
  recovered.engine.limit_labels(context.options.input.max_labels);
  return lost;
}

/// A shard without batches cannot know from its own how many shards there were. The first one does, once it has begun. Nor may
/// there be batches of the undivided application, since all would be matched again.
void must_be_as_many_as_before(const StartupContext& context) {
  const ShardOptions& shard = context.options.input.shard;
  if (!shard.divided()) return;
  const auto last_of = [&](const std::string& application) -> std::optional<CommitPoint> {
    const kafka::Cluster other{application, context.cluster.properties, context.cluster.journal};
    try {
      return kafka::CommitLog(other).last(Clock::now() + patience);
    } catch (const kafka::Unreachable&) {
      throw;
    } catch (const Error& error) {
      context.journal.tell(Level::warn, "other_shards_unknown",
                           {{"application", application},
                            {"why", error.what()},
                            {"effect", "it is not known whether the number of shards is that of earlier batches"},
                            {"remedy", fmt::format("allow it to read the topic {}, in the group {}",
                                                   kafka::commit_topic(application), application)}});
      return std::nullopt;
    }
  };
  if (const std::optional<CommitPoint> undivided = last_of(shard.of)) {
    throw Error(ErrorKind::configuration, "shards",
                fmt::format("the application {} has {} batches without shards, and shards would tell all matches again",
                            shard.of, undivided->batch),
                "choose another application name, or leave shards out");
  }
  if (shard.number == 0) return;
  if (const std::optional<CommitPoint> first = last_of(shard.application(0)))
    must_be_same_shard({.count = shard.count, .number = 0, .of = shard.of}, first->graph);
}

/// Completes a batch whose owner left after publishing only a part of it.
void end_begun(const StartupContext& context, Recovered& recovered, const BatchProgress& progress,
               kafka::Transactions& transactions) {
  context.journal.tell(Level::warn, "a batch is only partly published; the rest is published now",
                       {{"batch", std::to_string(progress.mark.batch)}});
  const BegunBatch begun{context.options, context.directory, context.journal, progress};
  if (recovered.reached != progress.mark) {
    Recutter recutter(context, recovered.engine, recovered.reached, nullptr);
    match_again(begun, recovered, recutter.next(progress.mark));
  }
  publish_rest(begun, transactions, context.progress);
}

}  // namespace

Recovered first_start(const StartupContext& context, kafka::Input& input, kafka::Transactions& transactions) {
  const ServiceOptions& options = context.options;
  must_be_as_many_as_before(context);
  Recovered recovered = recover(context.directory,
                                {.committed = std::nullopt,
                                 .record = {},
                                 .begun = {},
                                 .engine = options.engine,
                                 .begin = [&] { return begin_engine(options, options.engine, {}, context.journal); },
                                 .progress = {}},
                                context.journal);
  recovered.engine.limit_labels(options.input.max_labels);
  if (context.directory.snapshots().empty()) {
    const std::vector<kafka::InputPartition> partitions = input.discover(Clock::now() + patience).partitions;
    recovered.reached.ends = input.first_offsets(partitions, {}, Clock::now() + patience);
    recovered.reached.graph = {options.engine.directed,
                               options.engine.window,
                               start_fingerprint(recovered.engine),
                               edges_text(options.engine),
                               attributes_text(options.engine.schema.vertices),
                               options.engine.allowed_lateness,
                               shard_text(options.input.shard)};
    recovered.reached.reading = reading_fingerprint(options.input);
    recovered.reached.queries = configured_queries(options, recovered.engine.graph().vertices == 0);
    save(recovered.engine, context.directory, recovered.reached);
  }
  commit_mark(options, transactions, recovered.reached);
  context.journal.tell(Level::info, "first start",
                       {{"vertices", std::to_string(recovered.engine.graph().vertices)},
                        {"edges", std::to_string(recovered.engine.graph().edges)},
                        {"partitions", std::to_string(recovered.reached.ends.size())}});
  return recovered;
}

bool fetch_newer(const StartupContext& context, kafka::CommitLog& commits, std::optional<std::uint64_t> after,
                 std::uint64_t committed, std::uint64_t up_to) {
  if (context.share == nullptr) return false;
  const auto is_committed = [&](const SharedSnapshot& shared) {
    commits.seek(shared.batch, Clock::now() + patience);
    const std::optional<CommitPoint> mark = commits.next(Clock::now() + patience);
    return mark && mark->batch == shared.batch && mark_fingerprint(*mark) == shared.mark;
  };
  while (const auto shared = context.share->newest(after, std::min(committed, up_to), is_committed, context.stop)) {
    if (shared->batch > 0 || !after) context.progress(fmt::format("fetching the shared snapshot of batch {}", shared->batch));
    if (context.share->fetch(*shared, context.stop)) return true;
  }
  return false;
}

std::string not_retained(kafka::Input& input, const CommitPoint& mark, kafka::Deadline deadline, const CommitPoint* up_to) {
  for (const auto& [partition, end] : mark.ends) {
    if (up_to != nullptr) {
      const auto last = up_to->ends.find(partition);
      if (last == up_to->ends.end() || last->second <= end) continue;
    }
    const std::int64_t low = input.low(partition, deadline);
    if (low <= end) continue;
    return fmt::format("{}: offset {} is needed after batch {}, but the topic no longer retains it: its lowest offset is {}",
                       to_string(partition), end, mark.batch, low);
  }
  return {};
}

namespace {

/// Fetches a newer snapshot if there is one. A share that fails is waited for only if the input does not do without it.
/// `mark` is what the state directory reaches; for an empty one, the commit record of batch 0.
bool fetch_or_wait(const StartupContext& context, kafka::CommitLog& commits, kafka::Input& input,
                   std::optional<std::uint64_t> after, const std::function<std::optional<CommitPoint>()>& mark,
                   std::uint64_t committed) {
  for (auto wait = std::chrono::milliseconds(1s);; wait = std::min(2 * wait, std::chrono::milliseconds(60s))) {
    try {
      return fetch_newer(context, commits, after, committed);
    } catch (const kafka::Unreachable&) {
      throw;
    } catch (const Error& error) {
      if (context.stop.stop_requested()) throw StartupCancelled();
      const std::optional<CommitPoint> from = mark();
      const std::string lacks = from ? not_retained(input, *from, Clock::now() + patience) : std::string();
      context.journal.tell(
          Level::error, "share_unreachable",
          {{"why", error.what()}, {"effect", lacks.empty() ? "it goes on without" : "it waits for the share"}});
      if (lacks.empty()) return false;
      context.progress(fmt::format("waiting for the shared snapshots: {}", error.what()));
      std::mutex sleep;
      std::unique_lock lock(sleep);
      std::condition_variable_any().wait_for(lock, context.stop, wait, [] { return false; });
    }
  }
}

}  // namespace

void must_work_alone(const kafka::CommitLog& commits) {
  if (!commits.cut()) return;
  throw Error(ErrorKind::configuration, "workers", "workers share this application, and this instance is set up to work alone",
              fmt::format("set workers.slots to {}, or choose another application name", commits.cut()->places.size()));
}

Recovered start_up(const StartupContext& context, kafka::Input& input, kafka::Transactions& transactions,
                   std::optional<Warm> warm) {
  const ServiceOptions& options = context.options;
  kafka::CommitLog commits(context.cluster);
  const std::optional<CommitPoint> committed = commits.last(Clock::now() + patience);
  if (!committed) return first_start(context, input, transactions);
  must_work_alone(commits);
  must_be_same_shard(options.input.shard, committed->graph);
  must_be_same_kind(options.engine, committed->graph);
  for (const auto& [partition, end] : committed->ends) static_cast<void>(entry_of(options.input.topics, partition.topic));
  std::optional<BatchProgress> begun = commits.progress();
  if (begun && begun->mark.batch != committed->batch + 1) begun.reset();
  if (begun) warm.reset();  // the log may hold that batch
  const auto first = [&] {
    commits.seek(0, Clock::now() + patience);
    return commits.next(Clock::now() + patience);
  };
  // A start graph may be gone that the shared snapshot makes needless.
  if (!warm && context.share != nullptr && context.directory.snapshots().empty())
    static_cast<void>(fetch_or_wait(context, commits, input, std::nullopt, first, committed->batch));
  CommitRecords records(commits, committed->batch);
  RecoveryInput wanted{.committed = committed,
                       .record = [&](std::uint64_t batch) { return records.of(batch); },
                       .begun = begun ? std::optional(begun->mark) : std::nullopt,
                       .engine = options.engine,
                       .begin = [&] { return begin_engine(options, options.engine, committed->graph, context.journal); },
                       .progress = {},
                       .queries = context.known};
  auto next_word = Clock::now() + 2s;
  wanted.progress = [&](const RecoveryProgress& progress) {
    if (context.stop.stop_requested()) throw StartupCancelled();
    if (Clock::now() < next_word) return;
    next_word = Clock::now() + 2s;
    context.progress(fmt::format("replaying the log: batch {} of {}", progress.batches, progress.batches_total));
  };
  const auto recover_now = [&] {
    records = CommitRecords(commits, committed->batch);  // others moved the position meanwhile
    return recover(context.directory, wanted, context.journal, std::exchange(warm, std::nullopt));
  };
  std::optional<Recovered> held = recover_now();
  if (held->reached.batch < committed->batch && held->logged &&
      fetch_or_wait(
          context, commits, input, held->reached.batch, [&] { return std::optional(held->reached); }, committed->batch)) {
    held.reset();
    held = recover_now();
  }
  Recovered recovered = std::move(*held);
  recovered.engine.limit_labels(options.input.max_labels);
  const LostAlerts lost = go_before_lost_alerts(context, input, commits, wanted, recovered);
  if (recovered.reached.batch < committed->batch) {
    context.journal.tell(Level::info, "the last batches are read from the input again",
                         {{"from", std::to_string(recovered.reached.batch + 1)}, {"to", std::to_string(committed->batch)}});
    catch_up(context, recovered, *committed, commits, lost);
    recovered.logged = lost.any();  // then the batches went into a new log
  }
  if (!recovered.logged) {
    // The log lacks these batches. A later snapshot replaces them.
    save(recovered.engine, context.directory, recovered.reached);
    recovered.log.reset();
    recovered.log = std::make_unique<Log>(context.directory.path(), context.directory.fingerprint(), recovered.reached.batch);
  } else if (context.directory.snapshots().empty()) {
    save(recovered.engine, context.directory, recovered.reached);
  }
  // A snapshot replaces the graph of a damaged log, but not what the log knew about the sinks.
  settle_sinks(options, context.directory, *recovered.log, committed->batch, context.journal, commits.delivered());
  if (begun) end_begun(context, recovered, *begun, transactions);
  return recovered;
}

}  // namespace deltamatch::ingest

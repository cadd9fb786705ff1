#include "ingest/service/loop/start_up.hpp"
#include "ingest/codec/schema_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/kafka/ranges.hpp"
#include "ingest/service/kafka/topic_expression.hpp"
#include "ingest/service/loop/assembler.hpp"
#include "ingest/service/loop/backlog.hpp"
#include "ingest/service/loop/begun_batch.hpp"
#include "ingest/service/loop/lost_alerts.hpp"
#include "ingest/service/loop/reading.hpp"
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

/// Makes batch 0: the start graph and the starts of the input.
Recovered first_start(const StartupContext& context, kafka::Input& input, kafka::Transactions& transactions) {
  const ServiceOptions& options = context.options;
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
    const std::vector<kafka::InputPartition> partitions = input.discover(Clock::now() + patience);
    recovered.reached.ends = input.first_offsets(partitions, {}, Clock::now() + patience);
    recovered.reached.graph = {options.engine.directed,
                               options.engine.window,
                               start_fingerprint(recovered.engine),
                               edges_text(options.engine),
                               attributes_text(options.engine.schema.vertices),
                               options.engine.allowed_lateness};
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

/// The commit records of ascending batches. Each is read once.
class Records {
 public:
  Records(kafka::CommitLog& commits, std::uint64_t last) : commits_(commits), last_(last) {}

  [[nodiscard]] std::optional<CommitPoint> of(std::uint64_t batch) {
    if (batch > last_) return std::nullopt;
    if (!sought_) {
      commits_.seek(batch, Clock::now() + patience);
      next_ = commits_.next(Clock::now() + patience);
      sought_ = true;
    }
    while (next_ && next_->batch < batch) next_ = commits_.next(Clock::now() + patience);
    return next_ && next_->batch == batch ? next_ : std::nullopt;
  }

 private:
  kafka::CommitLog& commits_;
  std::uint64_t last_;
  bool sought_ = false;
  std::optional<CommitPoint> next_;
};

/// Reads lost batches from the input again, with the ends in the commit records.
class Recutter {
 public:
  /// `known`: the queries that remember; null: none does.
  Recutter(const StartupContext& context, Recovered& recovered, const CommitPoint& committed, const KnownQueries* known)
      : context_(context),
        recovered_(recovered),
        queries_(recovered.engine, known),
        committed_(committed),
        assembler_(lenient(context.options.input), {}, SIZE_MAX, std::nullopt, context.options.engine.window,
                   context.options.engine.schema.model != EdgeModel::simple, context.schemas.source()) {
    for (const auto& [partition, time] : recovered.reached.times) open(partition, time.largest);
  }

  /// Goes on to the last committed batch. From lost.from on, the alerts are made again.
  void run(kafka::CommitLog& commits, const LostAlerts& lost) {
    Engine& engine = recovered_.engine;
    std::optional<AlertMaker> maker;
    std::optional<CommitPoint> mark;
    commits.seek(recovered_.reached.batch, Clock::now() + patience);
    mark = commits.next(Clock::now() + patience);
    if (mark && mark->batch == recovered_.reached.batch && *mark != recovered_.reached) {
      throw Error(context_.directory.path().string(),
                  fmt::format("batch {} in the state directory differs from its commit record", mark->batch),
                  "name an empty state directory, and the service rebuilds the state from Kafka");
    }
    kafka::RangeReader ranges(context_.cluster, recovered_.reached.ends, context_.options.input.queue_bytes);
    while ((mark = commits.next(Clock::now() + patience)) && mark->batch <= committed_.batch) {
      if (mark->batch != engine.batch() + 1) {
        throw Error(kafka::commit_topic(context_.options.application),
                    fmt::format("the commit record of batch {} is missing", engine.batch() + 1),
                    "restore the state directory from a backup, or choose another application name");
      }
      if (mark->batch == lost.from) {
        queries_.leave();
        maker.emplace(context_.options, context_.directory, context_.journal, recovered_, lost);
      }
      cut(ranges, *mark);
      // Unlike the log, the input has refused records, so the limit on labels is applied again.
      if (maker) {
        maker->make(*mark, batch_, commits.time(), mark->batch == committed_.batch);
      } else {
        repeat(*mark);
      }
      must_be_digest_of(*mark, engine.digest(), kafka::commit_topic(context_.options.application),
                        "the input has changed since, or another release made the batch: restore the state directory from a "
                        "backup, or choose another application name");
      recovered_.reached = std::move(*mark);
      tell();
    }
    queries_.leave();
    if (maker) maker->finish();
    if (recovered_.reached.batch != committed_.batch) {
      throw Error(
          kafka::commit_topic(context_.options.application),
          fmt::format("the commit records end at batch {}, before batch {}", recovered_.reached.batch, committed_.batch),
          "restore the state directory from a backup, or choose another application name");
    }
  }

  /// The batch after the engine's current one.
  InputBatch next(const CommitPoint& mark) {
    kafka::RangeReader ranges(context_.cluster, recovered_.reached.ends, context_.options.input.queue_bytes);
    cut(ranges, mark);
    return std::move(batch_);
  }

 private:
  void repeat(const CommitPoint& mark) {
    queries_.stand(mark);
    BatchOptions how;
    how.on_reject = OnReject::skip;
    how.record_by_record = queries_.any();
    static_cast<void>(recovered_.engine.process(batch_.updates, how));
  }

  void cut(kafka::RangeReader& ranges, const CommitPoint& mark) {
    must_be_read_alike(mark);
    if (!mark.times.empty()) {
      for (const auto& [partition, time] : mark.times) open(partition, std::nullopt);
      assembler_.repeat(recovered_.engine.watermark(), mark.times, Clock::now());
    }
    const bool done = ranges.read(mark.ends, [&](const kafka::Message& message) { take(ranges, message); }, context_.stop);
    if (!done) throw StartupCancelled();
    assembler_.cut(batch_, Clock::now());
    batch_.updates.set_watermark(mark.watermark);
  }

  /// Records that were refused then are refused again, but not reported twice.
  static InputOptions lenient(InputOptions input) {
    input.on_error = OnError::skip;
    return input;
  }

  void must_be_read_alike(const CommitPoint& mark) const {
    if (mark.reading.empty() || mark.reading == reading_) return;
    throw Error(
        ErrorKind::configuration, "input",
        fmt::format("batch {} must be read again, but this configuration or release would read it differently", mark.batch),
        "restore topics, formats, columns, max_record, max_ahead and max_labels for this start, or restore the state directory "
        "from a backup");
  }

  void take(const kafka::RangeReader& ranges, const kafka::Message& message) {
    while (parts_.size() < ranges.partitions().size()) {
      parts_.push_back(open(ranges.partitions()[parts_.size()], std::nullopt));
    }
    message.headers(headers_);
    const InputRecord record{parts_[message.partition], message.offset, message.key.value_or(""), message.value,
                             message.timestamp,         headers_};
    const auto wait = [this] { context_.progress(context_.schemas.why()); };
    const bool read = context_.schemas.until_read([&] { static_cast<void>(assembler_.add(record, Clock::now())); },
                                                  [this] { return context_.stop.stop_requested(); }, wait);
    if (!read) throw StartupCancelled();
  }

  /// The assembler's number of a partition.
  std::size_t open(const TopicPartition& at, std::optional<Timestamp> largest) {
    const auto [place, fresh] = opened_.try_emplace(at, 0);
    if (!fresh) return place->second;
    const InputTopics& topics = context_.options.input.topics[entry_of(context_.options.input.topics, at.topic)];
    return place->second = assembler_.open(at, 0, topics, Clock::now(), largest);
  }

  void tell() {
    if (Clock::now() < next_word_) return;
    next_word_ = Clock::now() + 2s;
    context_.progress(
        fmt::format("reading batches from the input again: {} of {}", recovered_.reached.batch, committed_.batch));
  }

  const StartupContext& context_;
  Recovered& recovered_;
  RepeatedQueries queries_;
  const CommitPoint& committed_;
  const std::string reading_ = reading_fingerprint(context_.options.input);
  Assembler assembler_;
  InputBatch batch_;
  std::vector<std::size_t> parts_;  // from the reader's numbers to the assembler's
  std::map<TopicPartition, std::size_t> opened_;
  std::vector<MessageHeader> headers_;
  Clock::time_point next_word_;
};

/// Whether the brokers still have the input after a batch.
bool is_retained(kafka::Input& input, const Offsets& after, const CommitPoint& committed) {
  return std::ranges::all_of(after, [&](const auto& at) {
    const auto end = committed.ends.find(at.first);
    if (end == committed.ends.end() || end->second <= at.second) return true;
    return input.low(at.first, Clock::now() + patience) <= at.second;
  });
}

/// Where the input has to be read from to go on from the newest snapshot up to `batch`. Without one, that is after batch 0.
Offsets input_needed(const StateDirectory& directory, Records& records, std::uint64_t batch) {
  for (const SnapshotFile& snapshot : directory.snapshots()) {
    if (snapshot.batch <= batch) return StateDirectory::snapshot_mark(snapshot).ends;
  }
  const std::optional<CommitPoint> first = records.of(0);
  return first ? first->ends : Offsets();
}

/// The alerts that are to be made again. `recovered` is then at a batch before them: if it was past them, it is recovered anew
/// from an older snapshot. If that is not possible, nothing is made, and settle_sinks reports what is lost.
LostAlerts go_before_lost_alerts(const StartupContext& context, kafka::Input& input, kafka::CommitLog& commits,
                                 RecoveryInput wanted, Recovered& recovered) {
  const CommitPoint& committed = *wanted.committed;
  const LostAlerts lost =
      find_lost_alerts(context.options, context.directory, *recovered.log, commits.delivered(), committed.batch);
  if (!lost.any() || recovered.reached.batch < lost.from) return lost;
  Records records(commits, committed.batch);
  Offsets needed;
  try {
    needed = input_needed(context.directory, records, lost.from - 1);
  } catch (const Error&) {  // a damaged snapshot
    return {};
  }
  if (!is_retained(input, needed, committed)) {
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

/// Completes a batch whose owner left after publishing only a part of it.
void end_begun(const StartupContext& context, Recovered& recovered, const BatchProgress& progress,
               kafka::Transactions& transactions) {
  context.journal.tell(Level::warn, "a batch is only partly published; the rest is published now",
                       {{"batch", std::to_string(progress.mark.batch)}});
  const BegunBatch begun{context.options, context.directory, context.journal, progress};
  if (recovered.reached != progress.mark) {
    match_again(begun, recovered, Recutter(context, recovered, recovered.reached, nullptr).next(progress.mark));
  }
  publish_rest(begun, transactions, context.progress);
}

}  // namespace

std::size_t entry_of(const std::vector<InputTopics>& topics, const std::string& topic) {
  for (std::size_t i = 0; i < topics.size(); ++i) {
    if (topics[i].name == topic) return i;
  }
  for (std::size_t i = 0; i < topics.size(); ++i) {
    if (kafka::TopicExpression::is_one(topics[i].name) && kafka::TopicExpression(topics[i].name).matches(topic)) return i;
  }
  throw Error(ErrorKind::configuration, "input.topics",
              fmt::format("the topic {} was read before, but is not listed now", topic), "list it again");
}

Recovered start_up(const StartupContext& context, kafka::Input& input, kafka::Transactions& transactions) {
  const ServiceOptions& options = context.options;
  kafka::CommitLog commits(context.cluster);
  const std::optional<CommitPoint> committed = commits.last(Clock::now() + patience);
  if (!committed) return first_start(context, input, transactions);
  must_be_same_kind(options.engine, committed->graph);
  for (const auto& [partition, end] : committed->ends) static_cast<void>(entry_of(options.input.topics, partition.topic));
  Records records(commits, committed->batch);
  std::optional<BatchProgress> begun = commits.progress();
  if (begun && begun->mark.batch != committed->batch + 1) begun.reset();
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
  Recovered recovered = recover(context.directory, wanted, context.journal);
  recovered.engine.limit_labels(options.input.max_labels);
  const LostAlerts lost = go_before_lost_alerts(context, input, commits, wanted, recovered);
  if (recovered.reached.batch < committed->batch) {
    context.journal.tell(Level::warn, "the log is lost, so its batches are read from the input again",
                         {{"from", std::to_string(recovered.reached.batch + 1)}, {"to", std::to_string(committed->batch)}});
    Recutter(context, recovered, *committed, context.known).run(commits, lost);
    if (!lost.any()) {
      // The log lacks these batches. A later snapshot replaces them.
      save(recovered.engine, context.directory, recovered.reached);
      recovered.log.reset();
      recovered.log = std::make_unique<Log>(context.directory.path(), context.directory.fingerprint(), recovered.reached.batch);
    }
  } else if (context.directory.snapshots().empty()) {
    save(recovered.engine, context.directory, recovered.reached);
  }
  // A snapshot replaces the graph of a damaged log, but not what the log knew about the sinks.
  settle_sinks(options, context.directory, *recovered.log, committed->batch, context.journal, commits.delivered());
  if (begun) end_begun(context, recovered, *begun, transactions);
  return recovered;
}

}  // namespace deltamatch::ingest

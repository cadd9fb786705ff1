#include "ingest/service/loop/worker_leader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/service/kafka/commit_log.hpp"
#include "ingest/service/kafka/topics.hpp"
#include "ingest/service/loop/begin_reading.hpp"
#include "ingest/service/loop/reading.hpp"
#include "ingest/service/loop/recutter.hpp"
#include "ingest/service/loop/service.hpp"
#include "ingest/service/loop/start_graph.hpp"
#include "ingest/service/loop/start_up.hpp"
#include "ingest/service/signals_blocked.hpp"
#include "ingest/service/workers/records.hpp"

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;
using workers::LeaderStep;

constexpr auto patience = 60s;       // for brokers that do not answer a request
constexpr auto short_patience = 4s;  // until it looks for a stop
constexpr auto input_wait = 5ms;     // for the next batch of the input, before other things have their turn
constexpr auto commit_wait = 2ms;    // for a cut that is being committed
// How many cuts may wait to be published. More than one pays only if batches are full; else it adds to the delay of alerts.
constexpr std::uint64_t most_ahead = 4;

}  // namespace

WorkerLeader::WorkerLeader(const StartupContext& context, std::string worker, std::uint32_t slots, WorkerState& state,
                           WorkerEngine& engine, Metrics& metrics)
    : context_(context),
      worker_(std::move(worker)),
      slots_(slots),
      state_(state),
      engine_(engine),
      metrics_(metrics),
      topics_(context.journal, kafka::topic_creation(context.options.kafka)),
      refused_(context.options.input, metrics, context.journal) {}

WorkerLeader::~WorkerLeader() {
  if (committing_.valid()) committing_.wait();
}

bool WorkerLeader::advance() {
  if (committing_.valid()) return answer();
  if (const std::optional<LeaderStep> step = state_.with_leader([](auto& leader) { return leader.next(); })) {
    carry_out(*step);
    return true;
  }
  return state_.with_leader([](auto& leader) { return leader.ready(); }) && propose();
}

/// Tells the rules how a commit ended, if it has.
bool WorkerLeader::answer() {
  if (committing_.wait_for(commit_wait) != std::future_status::ready) return false;
  const Answer answer = committing_.get();
  if (answer != Answer::committed) transactions_.reset();
  state_.with_leader([&](workers::LeaderProtocol& leader) {
    switch (answer) {
      case Answer::committed:
        return leader.committed();
      case Answer::uncertain:
        return leader.uncertain();
      case Answer::fenced:
        return leader.fenced();
    }
  });
  return true;
}

void WorkerLeader::carry_out(const LeaderStep& step) {
  switch (step.kind) {
    case LeaderStep::Kind::initialise:
      initialise();
      break;
    case LeaderStep::Kind::read_cuts:
      until_answered(context_, [this] { read_cuts(); });
      break;
    case LeaderStep::Kind::commit:
      commit(*step.cut);
      break;
    case LeaderStep::Kind::exit:
      throw kafka::Fenced("worker", "another instance leads the workers now", "start this instance again; it then follows");
  }
}

void WorkerLeader::initialise() {
  until_answered(context_, [&] {
    transactions_.emplace(context_.cluster, context_.options.transaction_timeout, Clock::now() + short_patience);
    transactions_->must_be_there(output_topics(context_.options), Clock::now() + short_patience);
  });
  state_.with_leader([](auto& leader) { leader.initialised(); });
}

void WorkerLeader::forget() {
  reader_.reset();
  rest_.reset();
  failure_.reset();
  full_ = false;
  refused_.forget();
}

std::vector<kafka::Progress> WorkerLeader::input() const {
  std::shared_ptr<kafka::Input> input;
  {
    const std::scoped_lock lock(mutex_);
    input = input_;
  }
  return input ? input->progress() : std::vector<kafka::Progress>();
}

std::string WorkerLeader::stalled() const {
  if (std::string schemas = context_.schemas.why(); !schemas.empty()) return schemas;
  if (std::string topics = topics_.why(); !topics.empty()) return topics;
  return refused_.why();
}

void WorkerLeader::read_cuts() {
  forget();  // it may have read past the cuts
  const ServiceOptions& options = context_.options;
  auto input = std::make_shared<kafka::Input>(context_.cluster, options.input, output_topics(options), true);
  {
    const std::scoped_lock lock(mutex_);
    input_ = std::move(input);
  }
  kafka::CommitLog commits(context_.cluster);
  std::optional<CommitPoint> last = commits.last(Clock::now() + patience);
  if (!commits.cut()) {
    if (commits.progress()) {
      throw Error(
          kafka::commit_topic(context_.cluster.application),
          fmt::format("batch {} is published in part only, by an instance without workers", commits.progress()->mark.batch),
          "start the service once without workers.slots, so that it ends the batch, and stop it");
    }
    // All that may be refused is refused before the first cut, because there is no way back from it.
    static_cast<void>(input_->discover(Clock::now() + patience));
    if (last) {
      must_be_same_shard(options.input.shard, last->graph);
      must_be_same_kind(options.engine, last->graph);
      for (const auto& [partition, end] : last->ends) static_cast<void>(entry_of(options.input.topics, partition.topic));
    } else {
      last = first_start(context_, *input_, *transactions_).reached;
    }
    before_workers_ = last;
  }
  state_.with_leader([&](auto& leader) { leader.cuts_read(commits.cut()); });
}

void WorkerLeader::commit(const workers::Cut& cut) {
  const SignalsBlocked for_the_thread;
  committing_ = std::async(std::launch::async, [this, cut] {
    const std::string topic = kafka::commit_topic(context_.cluster.application);
    const std::string text = to_json(cut);
    const kafka::OutputRecord record{topic, std::nullopt, text, {}};
    try {
      transactions_->commit({&record, 1}, cut.mark.ends, Clock::now() + context_.options.transaction_timeout);
      return Answer::committed;
    } catch (const kafka::Fenced&) {
      return Answer::fenced;
    } catch (const kafka::OutcomeUnknown&) {
      return Answer::uncertain;
    } catch (const kafka::GivenUp&) {  // it is committed once the brokers answer
      return Answer::uncertain;
    }
  });
}

bool WorkerLeader::propose() {
  const WorkerState::Outlook outlook = state_.outlook(Clock::now());
  if (std::ranges::any_of(outlook.places, [](const workers::Place& place) { return place.worker.empty(); }))
    return false;  // nobody was heard yet
  const std::optional<workers::Cut> last = state_.with_leader([](auto& leader) { return leader.last(); });
  if (!last) return propose_first(outlook);
  if (!outlook.current || outlook.newest != last->batch()) return false;
  if (failure_ && outlook.published == outlook.newest) throw_for(*failure_);
  // What a dead worker owes keeps the others back until its slots are taken over.
  const bool waits = failure_ || outlook.newest - outlook.published >= (full_ ? most_ahead : 1);
  if (waits && outlook.take_overs == 0) return false;
  // Parts that are published later are matched again with the queries of their batch. Only one configuration has them.
  if (engine_.queries() != last->mark.queries && outlook.published < outlook.newest) return false;
  InputBatch batch;
  if (waits) {
    make_empty(batch);
  } else if (!next_input(outlook, batch)) {
    return false;
  }
  propose_next(outlook, batch);
  return true;
}

/// The first cut has no input. All workers read it, and begin with its map.
bool WorkerLeader::propose_first(const WorkerState::Outlook& outlook) {
  workers::Cut cut{.mark = *before_workers_, .first = before_workers_->batch + 1, .places = outlook.places};
  ++cut.mark.batch;
  cut.mark.digest.reset();
  cut.mark.suspended.clear();
  cut.mark.queries.clear();
  for (const ServiceQuery& query : context_.options.queries) {
    QueryOptions options = query.options;
    options.list = !query.sinks.empty();
    cut.mark.queries.push_back({query.query.name, query_fingerprint(query.query, options)});
  }
  std::ranges::sort(cut.mark.queries);
  state_.with_leader([&](auto& leader) { leader.propose(std::move(cut)); });
  return true;
}

/// The input of the next batch. Returns false if there is none, and no slot is to move.
bool WorkerLeader::next_input(const WorkerState::Outlook& outlook, InputBatch& batch) {
  if (rest_) {
    batch = std::move(*std::exchange(rest_, std::nullopt));
    return true;
  }
  if (reads_ && !reader_) until_answered(context_, [this] { begin_reading(); });
  if (reads_ && !fresh_) {
    switch (reader_->next_within(batch, input_wait)) {
      case Arrival::batch:
        return true;
      case Arrival::ended:
        reads_ = false;
        break;
      case Arrival::nothing:
        metrics_.partitions_missing(reader_->missing());
    }
  }
  if (!fresh_ && !outlook.moves) return false;
  make_empty(batch);
  return true;
}

void WorkerLeader::make_empty(InputBatch& batch) {
  batch = {};
  batch.ends = std::exchange(fresh_, false) ? starts_ : engine_.mark().ends;
  batch.since = Clock::now();
}

void WorkerLeader::begin_reading() {
  const CommitPoint& last = engine_.mark();
  BeginReading begin =
      ingest::begin_reading(*input_, last, reading_fingerprint(context_.options.input), topics_, context_.stop);
  fresh_ = begin.fresh;
  starts_ = begin.from;
  reader_ = std::make_unique<KafkaBatchSource>(*input_, context_.journal, context_.options.input, context_.options.batching,
                                               context_.options.engine, begin.partitions, begin.from, last.watermark,
                                               last.times, context_.schemas, topics_);
}

void WorkerLeader::propose_next(const WorkerState::Outlook& outlook, InputBatch& batch) {
  std::vector<workers::Slot> own;
  for (workers::Slot slot = 0; slot < slots_; ++slot) {
    if (outlook.places[slot].worker == worker_) own.push_back(slot);
  }
  const std::shared_ptr<const std::vector<std::string>> names = engine_.names();
  WorkerEngine::Taken taken = engine_.lead(batch, own);
  updates_ += taken.result.consumed;
  full_ = 2 * taken.result.consumed >= context_.options.batching.max_updates;
  // An empty batch may come before what is left of the last one, or before its failure is told.
  if (taken.left.rest) rest_ = std::move(taken.left.rest);
  if (taken.left.failure) failure_ = std::move(taken.left.failure);
  workers::Cut cut{.mark = engine_.mark(), .first = 0, .places = outlook.places};
  cut.first = state_.with_leader([](auto& leader) { return leader.last()->first; });
  state_.applied_ahead(cut, std::move(taken.parts));
  state_.with_leader([&](auto& leader) { leader.propose(std::move(cut)); });
  if (batch.records != 0) {
    metrics_.step("fetch", batch.fetch_seconds);
    metrics_.step("decode", batch.decode_seconds);
  }
  refused_.note(batch, taken.result);
  metrics_.batch(taken.result, *names, std::chrono::duration<double>(Clock::now() - batch.since).count());
  if (outlook.moved + outlook.take_overs > 0) {
    context_.journal.tell(Level::info, "slots_move",
                          {{"batch", std::to_string(engine_.mark().batch)},
                           {"moved", std::to_string(outlook.moved)},
                           {"taken_over", std::to_string(outlook.take_overs)}});
  }
}

}  // namespace deltamatch::ingest

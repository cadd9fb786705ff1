#include "ingest/service/loop/worker_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/loop/backlog.hpp"
#include "ingest/service/loop/commit.hpp"
#include "ingest/service/loop/commit_records.hpp"
#include "ingest/service/loop/reading.hpp"
#include "ingest/service/loop/start_graph.hpp"
#include "ingest/service/loop/start_up.hpp"
#include "ingest/service/state/recovery.hpp"

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto patience = 60s;  // for brokers that do not answer a request

}  // namespace

std::size_t SlotPart::bytes() const noexcept { return sizeof *this + waiting_bytes(alerts, letters); }

WorkerEngine::WorkerEngine(const StartupContext& context, std::uint32_t slots)
    : context_(context),
      slots_(slots),
      router_(slots, context.options.sinks, alert_memory(context.directory), context.options.engine.schema),
      reading_(reading_fingerprint(context.options.input)) {}

void WorkerEngine::drop() {
  recutter_.reset();
  standing_.reset();
  base_.reset();
}

void WorkerEngine::restore(kafka::CommitLog& commits, const CommitPoint& committed, std::uint64_t batch) {
  drop();
  must_be_same_kind(context_.options.engine, committed.graph);
  CommitRecords records(commits, committed.batch);
  RecoveryInput wanted{
      .committed = committed,
      .record = [&](std::uint64_t number) { return records.of(number); },
      .begun = {},
      .engine = context_.options.engine,
      .begin = [&] { return begin_engine(context_.options, context_.options.engine, committed.graph, context_.journal); },
      .progress = {},
      .queries = nullptr,
      .up_to = batch};
  wanted.progress = [&](const RecoveryProgress& progress) {
    if (context_.stop.stop_requested()) throw StartupCancelled();
    context_.progress(fmt::format("replaying the log: batch {} of {}", progress.batches, progress.batches_total));
  };
  base_.emplace(restore_committed(context_.directory, wanted, context_.journal));
  base_->engine.limit_labels(context_.options.input.max_labels);
  base_->engine.spool({.memory = match_memory, .folder = context_.directory.path()});
  Recutter recutter(context_, base_->engine, base_->mark, nullptr);
  auto next_word = Clock::now();
  commits.seek(base_->mark.batch + 1, Clock::now() + patience);
  while (base_->mark.batch < batch) {
    const std::optional<CommitPoint> next = commits.next(Clock::now() + patience);
    if (!next) {
      throw Error(kafka::commit_topic(context_.options.application),
                  fmt::format("the commit record of batch {} is missing", base_->mark.batch + 1),
                  "restore the topic of commit records; or choose another application name and an empty state directory");
    }
    recutter.repeat(*next);
    if (Clock::now() < next_word) continue;
    next_word = Clock::now() + 2s;
    context_.progress(fmt::format("reading batches from the input again: {} of {}", base_->mark.batch, batch));
  }
  recutter.leave();
  standing_.emplace(base_->engine, router_);
  standing_->replace(context_.options.queries, base_->mark.queries);
}

/// Throws Error unless the queries of this instance are those of the mark.
void WorkerEngine::must_stand(const CommitPoint& mark) const {
  if (standing_->active() == mark.queries) return;
  std::string names;
  for (const ActiveQuery& query : mark.queries) names += (names.empty() ? "" : ", ") + query.name;
  throw Error(ErrorKind::configuration, "queries",
              fmt::format("the leader cut batch {} with other queries than this instance has; its queries are: {}", mark.batch,
                          names.empty() ? "none" : names),
              "give all workers the same configuration. Before the queries change, stop all workers");
}

SlotParts WorkerEngine::parts(const std::vector<workers::Slot>& slots, std::vector<BadRecord> letters) {
  SlotParts parts;
  for (const workers::Slot slot : slots) {
    SlotPart part{.mark = base_->mark, .alerts = router_.take(slot), .letters = {}};
    if (slot == 0) part.letters = std::move(letters);
    parts.emplace(slot, std::make_shared<const SlotPart>(std::move(part)));
  }
  return parts;
}

WorkerEngine::Taken WorkerEngine::follow(const workers::Cut& cut, const std::vector<workers::Slot>& slots) {
  must_stand(cut.mark);
  if (!recutter_) recutter_.emplace(context_, base_->engine, base_->mark, nullptr, true);
  base_->engine.take_share(Share(slots_, slots));
  Taken taken;
  std::vector<BadRecord> letters;
  try {
    recutter_->repeat(cut.mark, [&](InputBatch& batch) {
      BatchOptions how;
      how.on_reject = OnReject::skip;
      how.record_by_record = true;
      taken.result = standing_->process(batch.updates, how).value();
      letters = letters_of(batch, taken.result, context_.options.input.on_error);
    });
  } catch (const OtherDigest&) {  // what follows from that, the rules of the workers say
    recutter_.reset();
    base_->mark = cut.mark;
  }
  taken.parts = parts(slots, std::move(letters));
  return taken;
}

WorkerEngine::Taken WorkerEngine::lead(InputBatch& batch, const std::vector<workers::Slot>& slots) {
  recutter_.reset();
  Engine& engine = base_->engine;
  engine.take_share(Share(slots_, slots));
  CommitPoint& mark = base_->mark;
  mark.retention = engine.retention();
  mark.watches_vertices = engine.watches_vertices();
  BatchOptions how;
  how.on_reject = context_.options.input.on_error == OnError::fail ? OnReject::stop : OnReject::skip;
  how.record_by_record = true;
  Taken taken;
  taken.result = standing_->process(batch.updates, how).value();
  taken.left = end_where_taken(mark, batch, taken.result);
  mark.batch = taken.result.batch;
  mark.ends = batch.ends;
  mark.watermark = taken.result.watermark;
  mark.digest = engine.digest();
  for (const auto& [partition, time] : batch.times) mark.times.insert_or_assign(partition, time);
  mark.queries = standing_->active();
  mark.reading = reading_;
  taken.parts = parts(slots, letters_of(batch, taken.result, context_.options.input.on_error));
  return taken;
}

void WorkerEngine::save(std::uint64_t needed) const {
  base_->engine.save(context_.directory.snapshot_path(base_->mark.batch), to_json(base_->mark));
  static_cast<void>(context_.directory.retain_snapshots(context_.options.state.keep_snapshots, needed));
}

}  // namespace deltamatch::ingest

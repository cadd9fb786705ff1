// The matches that a whole-graph match lists, on their way to the sink.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/id.hpp"
#include "deltamatch/match.hpp"
#include "deltamatch/result.hpp"
#include "engine/listing/delivery.hpp"
#include "engine/listing/spool.hpp"
#include "graph/data_graph.hpp"
#include "match/counted_filter.hpp"
#include "match/matcher.hpp"

namespace deltamatch::engine {

/// In a whole graph, conditions count edges that are young enough at its watermark. Edges of the time that is returned, or
/// older, are not; nullopt: all are.
[[nodiscard]] inline std::optional<Timestamp> aged_in_whole(const plan::BoundQuery& query, std::optional<Timestamp> watermark) {
  Timestamp time = 0;
  const bool any =
      query.query.within && watermark && !__builtin_sub_overflow(*watermark, query.query.within->microseconds, &time);
  return any ? std::optional(time) : std::nullopt;
}

/// Translates records in the threads that found them. These threads take turns at the sink. Everything it is given must outlive
/// it.
class WholeListing final : public match::RecordTaker {
 public:
  /// Sets `stop` once more than `limit` matches are taken. `sink` may be null. `progress` is called after each take, by one
  /// thread at a time.
  WholeListing(const graph::DataGraph& graph, std::optional<Timestamp> watermark, const match::QueryTask& task,
               const std::vector<query::Path>& paths, std::optional<std::uint64_t> limit, match::StopFlag& stop,
               MatchSink* sink, std::function<void()> progress)
      : graph_(&graph),
        watermark_(watermark),
        task_(&task),
        delivery_(*task.query, paths),
        limit_(limit),
        stop_(&stop),
        sink_(sink),
        progress_(std::move(progress)) {}

  /// From now on, matches wait for `finish`, which writes them in the order of their ids.
  void put_in_order(const SpoolOptions& options) {
    in_order_ = true;
    spool_.configure(options);
    const Spool::Shape shape{task_->query->vertices(), task_->query->edges.size()};
    spool_.open({&shape, 1}, sink_ != nullptr);
  }

  void take(const match::Records& records, match::Pass /*pass*/) override {
    if (records.plans.empty()) return;
    if (!task_->query->counts_something()) return write(delivery_.translate(*graph_, *task_, records));
    const std::vector<graph::Resolved> resolved = graph_->resolved();
    match::CountedBatch none;
    none.resolved = resolved;
    none.aged_before = aged_in_whole(*task_->query, watermark_);
    write(delivery_.translate(*graph_, *task_, match::keep_counted(*task_->query, records, match::Pass::whole, none)));
  }

  /// Takes matches of a query of one vertex.
  void take(const match::FoundMatches& found) { write(delivery_.translate(*graph_, found)); }

  /// Writes what waits, unless the run was stopped. Call it once all is taken.
  void finish() {
    if (!in_order_ || sink_ == nullptr) return;
    Delivery::Writer writer(delivery_, *graph_, {.time = watermark_}, *sink_);
    const auto goes_on = [&] { return beyond_limit_ || !stop_->load(); };
    for (Spool::Reader reader = spool_.read(0); goes_on() && reader.next();) writer.write(reader.match());
    sink_->flush();
  }

  /// The number of matches taken.
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
  [[nodiscard]] const MatchDigest& digest() const noexcept { return digest_; }
  [[nodiscard]] bool beyond_limit() const noexcept { return beyond_limit_; }

 private:
  void write(Delivery::Batch&& batch) {
    const std::scoped_lock turn(mutex_);
    if (limit_ && batch.ids.size() > *limit_ - taken_) {
      batch.keep_first(*limit_ - taken_);
      beyond_limit_ = true;
      stop_->store(true);
    }
    taken_ += batch.ids.size();
    digest_.add({batch.digest.high, batch.digest.low});
    if (in_order_) {
      spool_.add(0, std::move(batch));
    } else if (sink_ != nullptr) {
      delivery_.write(*graph_, batch, {.time = watermark_}, *sink_);
      sink_->flush();
    }
    progress_();
  }

  const graph::DataGraph* graph_;
  std::optional<Timestamp> watermark_;
  const match::QueryTask* task_;
  Delivery delivery_;
  std::optional<std::uint64_t> limit_;
  match::StopFlag* stop_;
  MatchSink* sink_;
  std::function<void()> progress_;
  bool in_order_ = false;
  Spool spool_;  // what waits
  std::mutex mutex_;
  std::uint64_t taken_ = 0;
  MatchDigest digest_;
  bool beyond_limit_ = false;
};

}  // namespace deltamatch::engine

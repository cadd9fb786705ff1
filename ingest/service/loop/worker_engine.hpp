// The engine of a worker. It takes batches as cuts tell them, or ahead of the cut if the worker leads. What it finds is kept
// apart by slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ingest/service/alert/alert_list.hpp"
#include "ingest/service/alert/slot_router.hpp"
#include "ingest/service/kafka/commit_log.hpp"
#include "ingest/service/loop/batch_end.hpp"
#include "ingest/service/loop/recutter.hpp"
#include "ingest/service/loop/standing_queries.hpp"
#include "ingest/service/loop/startup_context.hpp"
#include "ingest/service/state/log_replay.hpp"
#include "ingest/service/workers/slot_map.hpp"

namespace deltamatch::ingest {

/// What is to be published of a slot's part of a batch.
struct SlotPart {
  CommitPoint mark;
  std::vector<AlertList> alerts;   ///< by number of the sink
  std::vector<BadRecord> letters;  ///< of the whole batch, in the order of the input; only slot 0 has them
  [[nodiscard]] std::size_t bytes() const noexcept;
};
using SlotParts = std::map<workers::Slot, std::shared_ptr<const SlotPart>>;

/// Not thread-safe.
class WorkerEngine {
 public:
  /// All that the context refers to must outlive it.
  WorkerEngine(const StartupContext& context, std::uint32_t slots);

  /// Loads the newest graph of a batch up to `batch`, and repeats the batches up to there. `committed` is the last committed
  /// one. Uses the position of `commits`. Throws as restore_committed and Recutter do.
  void restore(kafka::CommitLog& commits, const CommitPoint& committed, std::uint64_t batch);
  /// Frees the graph.
  void drop();
  /// Whether there is a graph. If not, only restore() and drop() may be called.
  [[nodiscard]] bool holds() const noexcept { return base_.has_value(); }
  [[nodiscard]] const CommitPoint& mark() const noexcept { return base_->mark; }
  [[nodiscard]] RunningDigest digest() const { return base_->engine.digest(); }
  [[nodiscard]] GraphStatistics graph() const { return base_->engine.graph(); }
  [[nodiscard]] std::vector<ActiveQuery> queries() const { return standing_->active(); }
  [[nodiscard]] std::shared_ptr<const std::vector<std::string>> names() const { return standing_->names(); }

  struct Taken {
    BatchResult result;
    SlotParts parts;
    Leftover left;  ///< only of lead()
  };
  /// Reads the next batch as its cut tells it, and matches these slots. Throws as Recutter::repeat does, and
  /// Error(configuration) if the cut was made with other queries.
  Taken follow(const workers::Cut& cut, const std::vector<workers::Slot>& slots);
  /// Takes the next batch, and matches these slots. mark() is then that of the batch, which ends where the engine ended it.
  Taken lead(InputBatch& batch, const std::vector<workers::Slot>& slots);

  /// Saves the graph in the state directory. Keeps StateOptions::keep_snapshots of them, and the newest up to `needed`.
  void save(std::uint64_t needed) const;

 private:
  void must_stand(const CommitPoint& mark) const;
  [[nodiscard]] SlotParts parts(const std::vector<workers::Slot>& slots, std::vector<BadRecord> letters);

  const StartupContext& context_;
  std::uint32_t slots_;
  SlotRouter router_;
  const std::string reading_;
  std::optional<Base> base_;
  std::optional<StandingQueries> standing_;
  std::optional<Recutter> recutter_;  // at the end of the last batch; nothing after lead()
};

}  // namespace deltamatch::ingest

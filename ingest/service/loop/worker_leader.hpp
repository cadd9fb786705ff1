// What the leader of the workers does besides: it reads the input, and cuts it into batches.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ingest/service/http/metrics.hpp"
#include "ingest/service/kafka/input.hpp"
#include "ingest/service/kafka/transactions.hpp"
#include "ingest/service/loop/kafka_batch_source.hpp"
#include "ingest/service/loop/refused_records.hpp"
#include "ingest/service/loop/startup_context.hpp"
#include "ingest/service/loop/worker_engine.hpp"
#include "ingest/service/loop/worker_state.hpp"

namespace deltamatch::ingest {

/// The engine's thread calls it while the instance leads. A cut is committed while the next records arrive.
class WorkerLeader {
 public:
  /// All references must outlive it.
  WorkerLeader(const StartupContext& context, std::string worker, std::uint32_t slots, WorkerState& state, WorkerEngine& engine,
               Metrics& metrics);
  ~WorkerLeader();
  WorkerLeader(const WorkerLeader&) = delete;
  WorkerLeader& operator=(const WorkerLeader&) = delete;

  /// Does what can be done now, and waits a moment for input. Returns whether anything was done. Throws Error: if another
  /// instance leads, and what the input or the brokers make impossible. Error(record) means that a record should stop the
  /// service, and that all before it is published.
  bool advance();
  /// From now on, it cuts only to move slots.
  void stop_reading() { reads_ = false; }
  /// Drops what was read ahead. Call it when this instance leads no more.
  void forget();
  /// The number of updates that it has cut. Any thread may call it.
  [[nodiscard]] std::uint64_t updates() const noexcept { return updates_; }
  /// How far it has read, and what was refused. Then why it is not ready: it waits for a schema or a topic, or too much is
  /// refused. Empty if nothing is so. Any thread may call these.
  [[nodiscard]] std::vector<kafka::Progress> input() const;
  [[nodiscard]] RefusedRecords::Seen refused() const { return refused_.seen(); }
  [[nodiscard]] std::string stalled() const;
  /// Whether a cut is being committed.
  [[nodiscard]] bool committing() const noexcept { return committing_.valid(); }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Answer : std::uint8_t { committed, uncertain, fenced };

  bool answer();
  void carry_out(const workers::LeaderStep& step);
  void initialise();
  void read_cuts();
  void commit(const workers::Cut& cut);
  bool propose();
  bool propose_first(const WorkerState::Outlook& outlook);
  void propose_next(const WorkerState::Outlook& outlook, InputBatch& batch);
  bool next_input(const WorkerState::Outlook& outlook, InputBatch& batch);
  void make_empty(InputBatch& batch);
  void begin_reading();

  const StartupContext& context_;
  const std::string worker_;
  const std::uint32_t slots_;
  WorkerState& state_;
  WorkerEngine& engine_;
  Metrics& metrics_;
  TopicWaits topics_;
  RefusedRecords refused_;
  std::optional<kafka::Transactions> transactions_;
  std::future<Answer> committing_;
  std::optional<CommitPoint> before_workers_;  // the last mark, if there is no cut yet
  mutable std::mutex mutex_;
  std::shared_ptr<kafka::Input> input_;  // replaced under the mutex, by the engine's thread
  std::unique_ptr<KafkaBatchSource> reader_;
  bool fresh_ = false;                // the next batch names the starts of partitions
  Offsets starts_;                    // used if fresh_
  std::optional<InputBatch> rest_;    // of a batch that was cut
  std::optional<BadRecord> failure_;  // the record that stops the service, once all before it is published
  bool reads_ = true;
  bool full_ = false;  // whether the last batch had at least half of the most updates
  std::atomic<std::uint64_t> updates_ = 0;
};

}  // namespace deltamatch::ingest

// The threads of a worker that follow the topics of the workers.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <stop_token>
#include <thread>
#include <vector>

#include "ingest/service/kafka/client.hpp"
#include "ingest/service/loop/worker_state.hpp"
#include "ingest/service/workers/slot_map.hpp"

namespace deltamatch::ingest {

/// Tells the state of cuts, of the progress of slots and of claims. A failure is told, too.
class WorkerReaders {
 public:
  /// All references must outlive it. No thread runs yet.
  WorkerReaders(const kafka::Cluster& cluster, std::uint32_t slots, WorkerState& state);
  ~WorkerReaders();
  WorkerReaders(const WorkerReaders&) = delete;
  WorkerReaders& operator=(const WorkerReaders&) = delete;

  /// Starts the threads. Returns once cuts and progress are read to the ends that they had. Throws StartupCancelled if `stop`
  /// was requested, Error, Unreachable.
  void start(const std::stop_token& stop);

  /// Waits until the progress of a slot is read to the end that it has now. Returns false if `stop` was requested. Throws
  /// Error, Unreachable.
  bool read_progress(workers::Slot slot, const std::stop_token& stop) const;
  /// The same for cuts.
  bool read_cuts(const std::stop_token& stop) const;

 private:
  void follow_progress(const std::stop_token& stop, const std::vector<std::pair<TopicPartition, std::int64_t>>& from);
  void follow_cuts(const std::stop_token& stop, std::uint64_t from);
  [[nodiscard]] TopicPartition progress_of(workers::Slot slot) const;

  const kafka::Cluster& cluster_;
  const std::uint32_t slots_;
  WorkerState& state_;
  std::deque<std::atomic<std::int64_t>> told_;  // by slot: all progress before this offset was told
  std::jthread progress_;
  std::jthread cuts_;
};

}  // namespace deltamatch::ingest

// The work of an instance whose application is divided among workers: it follows the cuts, matches its slots and publishes
// them. One of the workers leads, and makes the cuts.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "ingest/service/http/metrics.hpp"
#include "ingest/service/loop/startup_context.hpp"
#include "ingest/service/loop/worker_engine.hpp"
#include "ingest/service/loop/worker_leader.hpp"
#include "ingest/service/loop/worker_state.hpp"
#include "ingest/service/state/share_publisher.hpp"

namespace deltamatch::ingest {

struct WorkerStatus {
  std::string name;
  bool leads = false;
  bool leaves = false;
  std::optional<std::uint64_t> batch;  ///< that its graph holds
  std::uint64_t cut = 0;               ///< the newest cut; 0: there is none
  std::uint64_t published = 0;         ///< by all slots
  std::optional<CommitPoint> mark;     ///< of that batch, if it is known
  std::uint64_t updates = 0;           ///< that it has applied, since the start
  std::vector<SlotStatus> slots;
  std::uint64_t waiting = 0;  ///< batches that it holds and not all slots have published
  std::size_t waiting_bytes = 0;
  double gate_seconds = 0;          ///< that matched parts have waited for the parts of other slots, since the start
  std::uint64_t wrong_digests = 0;  ///< progress records whose digest is not that of the leader, since the start
  GraphStatistics graph{};
  std::vector<kafka::Progress> input{};  ///< of the leader, who reads it for all; empty otherwise
  RefusedRecords::Seen refused{};        ///< of the leader
  std::string waits;                     ///< why it is not ready; empty if it is
};

/// The name of a worker, which no other start of a process has.
[[nodiscard]] std::string worker_name(const WorkersOptions& options);

class Worker {
 public:
  struct Context {
    const StartupContext& starting;  ///< its `stop` cancels nothing here
    Metrics& metrics;
    std::function<bool()> owned;          ///< whether this instance should lead, according to Kafka's last report
    SharePublisher* publisher = nullptr;  ///< null: no snapshots are shared
  };

  /// All that the context refers to must outlive it.
  explicit Worker(const Context& context);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Works until a stop is requested. Then other workers get its slots, and it publishes what it still owes; that takes
  /// ServiceOptions::shutdown_timeout at most. What it does not get to is taken over. `ready` is called once it has read what
  /// is there. Throws Error if it cannot continue.
  void run(const std::stop_token& stop, const std::function<void()>& ready);

  /// Any thread may call it.
  [[nodiscard]] WorkerStatus status() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deltamatch::ingest

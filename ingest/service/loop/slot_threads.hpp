// Publishes the parts of slots, each slot in a thread with a transactional id of its own.
#pragma once

#include <cstdint>
#include <stop_token>
#include <thread>
#include <vector>

#include "ingest/service/http/metrics.hpp"
#include "ingest/service/kafka/client.hpp"
#include "ingest/service/loop/worker_readers.hpp"
#include "ingest/service/loop/worker_state.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

/// Carries out the steps of slots, until it is destroyed. A failure is told to the state.
class SlotThreads {
 public:
  /// All references must outlive it.
  SlotThreads(const ServiceOptions& options, const kafka::Cluster& cluster, std::uint32_t slots, WorkerState& state,
              const WorkerReaders& readers, Metrics& metrics, Journal& journal);
  ~SlotThreads();
  SlotThreads(const SlotThreads&) = delete;
  SlotThreads& operator=(const SlotThreads&) = delete;

 private:
  class Worker;
  std::vector<std::jthread> threads_;
};

}  // namespace deltamatch::ingest

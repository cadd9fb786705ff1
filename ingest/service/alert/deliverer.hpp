// Delivers the alerts of committed batches to their sinks, each sink in a thread of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/service/alert/alert_list.hpp"
#include "ingest/service/alert/alert_sink.hpp"
#include "ingest/service/journal.hpp"

namespace deltamatch::ingest {

/// The alerts of one batch for one sink.
struct Delivery {
  std::uint64_t batch = 0;
  AlertList alerts;
};

/// Committed batches in the log whose alerts, where they have any, were not delivered: [from, up_to], none where that is empty.
struct Backlog {
  std::uint64_t from = 1;
  std::uint64_t up_to = 0;
  std::uint64_t batches = 0;  ///< how many of them have alerts for the sink, for statistics
};

struct DeliveryTarget {
  std::string name;
  std::unique_ptr<AlertSink> sink;
  std::chrono::milliseconds max_backoff{60'000};
  Backlog backlog;                      ///< what recovery found undelivered
  std::optional<std::string> position;  ///< of the sink behind the batch before the backlog, where one is noted
};

struct DelivererOptions {
  std::size_t queue_bytes = std::size_t{64} << 20;  ///< per sink; beyond it batches are read from the log again
  std::chrono::milliseconds first_backoff{100};     ///< after the first failure; doubled from try to try
};

/// Called from the sinks' threads, at the same time for different sinks, and not any more once stop() has returned. Errors that
/// they throw are told and, in read_back, tried again.
struct DeliveryHooks {
  /// The sink goes on from this position, which was not noted as that of `batch` before. It is on disk once this has returned.
  std::function<void(std::string_view sink, std::uint64_t batch, const std::string& position)> recovered;
  /// The sink has its alerts of all batches up to this one; `position` is what AlertSink::commit gave. What fails to be noted
  /// is delivered again after a restart, in files without being there twice.
  std::function<void(std::string_view sink, std::uint64_t batch, const std::string& position)> delivered;
  /// Reads committed batches in [from, up_to] that have alerts for the sink out of the log, in ascending order: as many as fit
  /// into `bytes`, but at least one if there is any.
  std::function<std::vector<Delivery>(std::string_view sink, std::uint64_t from, std::uint64_t up_to, std::size_t bytes)>
      read_back;
};

struct DeliveryStatistics {
  std::uint64_t batches = 0;  ///< delivered since the start
  std::uint64_t alerts = 0;   ///< in them
  std::uint64_t failures = 0;
  std::uint64_t dropped = 0;      ///< alerts that the sink gave up
  std::uint64_t undelivered = 0;  ///< committed batches that wait or are under way; of those not read yet, at most
  std::uint64_t latest = 0;       ///< number of the batch delivered last; 0: none since the start
  std::size_t queued_bytes = 0;   ///< in memory
  bool reads_back = false;        ///< the queue is full, or was: batches come from the log
  std::string last_error;         ///< of the latest failure; empty after a delivery
};

/// Per sink one thread and one queue, so that a sink that fails stops no other. A sink is recovered first, in its thread, and
/// that, too, is tried for ever. Batches are delivered in ascending order; one
/// that fails is tried again for ever, after waits that double up to max_backoff and are cut by up to a half at random. A batch
/// that does not fit into a sink's queue is left in the log and read back once the sink gets there, so submitting never waits.
/// Thread-safe.
class Deliverer {
 public:
  /// `journal` outlives it.
  Deliverer(std::vector<DeliveryTarget> targets, DeliveryHooks hooks, Journal& journal, const DelivererOptions& options = {});
  /// Stops at once.
  ~Deliverer();
  Deliverer(const Deliverer&) = delete;
  Deliverer& operator=(const Deliverer&) = delete;

  /// Takes over the alerts of a committed batch, whose number is above those submitted before and above the backlog's. A list
  /// without alerts is ignored. Never waits for a sink. Throws Error where no sink has this name.
  void submit(std::string_view sink, std::uint64_t batch, AlertList alerts);

  /// Delivers what is queued or in the log until `deadline`, and what fails once more not again; then cancels the sinks. True
  /// where nothing is left undelivered. A sink's thread that does not heed the cancelling within a second is left behind and
  /// told. Later calls do nothing and give the same.
  bool stop(std::chrono::steady_clock::time_point deadline);

  /// By the sink's name.
  [[nodiscard]] std::map<std::string, DeliveryStatistics, std::less<>> statistics() const;

 private:
  class Worker;
  Journal& journal_;
  std::vector<std::shared_ptr<Worker>> workers_;
  std::mutex stopping_;
  std::size_t started_ = 0;  // workers with a thread
};

}  // namespace deltamatch::ingest

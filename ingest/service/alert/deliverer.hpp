// Delivers the alerts of committed batches to their sinks. Each sink has its own thread.
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

/// A range of committed batches in the log, [from, up_to], whose alerts (if any) were not delivered. It may be empty.
struct Backlog {
  std::uint64_t from = 1;
  std::uint64_t up_to = 0;
  std::uint64_t batches = 0;  ///< at most so many of them have alerts for the sink; for statistics
};

struct DeliveryTarget {
  std::string name;
  std::unique_ptr<AlertSink> sink;
  std::chrono::milliseconds max_backoff{60'000};
  Backlog backlog;                      ///< what recovery found to be undelivered
  std::optional<std::string> position;  ///< the sink's position before the backlog, if one was noted
};

struct DelivererOptions {
  std::size_t queue_bytes = std::size_t{64} << 20;  ///< per sink; batches beyond it are read from the log again
  std::chrono::milliseconds first_backoff{100};     ///< wait after the first failure; it doubles with each try
};

/// Functions of the service. The sinks' threads call them, at the same time for different sinks, but never after stop() has
/// returned. Their errors are logged; read_back is then tried again.
struct DeliveryHooks {
  /// The sink continues from this position, which was not noted for `batch` before. The position is on disk when this returns.
  std::function<void(std::string_view sink, std::uint64_t batch, const std::string& position)> recovered;
  /// The sink has its alerts of all batches up to this one. `position` is the result of AlertSink::commit. If noting it fails,
  /// the batches are delivered again after a restart. In files they still appear once.
  std::function<void(std::string_view sink, std::uint64_t batch, const std::string& position)> delivered;
  /// Reads committed batches in [from, up_to] with alerts for the sink from the log, in ascending order. Returns as many as fit
  /// into `bytes`, but at least one if there is any.
  std::function<std::vector<Delivery>(std::string_view sink, std::uint64_t from, std::uint64_t up_to, std::size_t bytes)>
      read_back;
};

struct DeliveryStatistics {
  std::uint64_t batches = 0;  ///< delivered since the start
  std::uint64_t alerts = 0;   ///< in these batches
  std::uint64_t failures = 0;
  std::uint64_t dropped = 0;      ///< alerts that the sink gave up
  std::uint64_t left_out = 0;     ///< those of them that it never tried to send, because their batch had too many
  std::uint64_t undelivered = 0;  ///< committed batches that wait or are in progress; an upper bound for those not read yet
  std::uint64_t latest = 0;       ///< number of the last delivered batch; 0 if none since the start
  std::size_t queued_bytes = 0;   ///< in memory
  bool reads_back = false;        ///< the queue is or was full, so batches come from the log
  std::string last_error;         ///< of the latest failure; empty after a delivery
};

/// Each sink has one thread and one queue, so a failing sink does not stop the others. The thread first recovers its sink. It
/// retries that without a limit. Batches are delivered in ascending order. A batch that fails is retried without a limit. The
/// waits double up to max_backoff, and a random part of up to a half is cut off. A batch that does not fit into a sink's queue
/// stays in the log and is read back later, so submitting never waits. Thread-safe.
class Deliverer {
 public:
  /// `journal` must outlive it.
  Deliverer(std::vector<DeliveryTarget> targets, DeliveryHooks hooks, Journal& journal, const DelivererOptions& options = {});
  /// Stops at once.
  ~Deliverer();
  Deliverer(const Deliverer&) = delete;
  Deliverer& operator=(const Deliverer&) = delete;

  /// Takes over the alerts of a committed batch. Its number must exceed all numbers submitted before and those of the backlog.
  /// A list without alerts is ignored. Never waits for a sink. Throws Error if no sink has this name.
  void submit(std::string_view sink, std::uint64_t batch, AlertList alerts);

  /// Until `deadline`, delivers what is queued or in the log; deliveries that fail are not retried. Then cancels the sinks.
  /// Returns true if nothing is left undelivered. If a sink's thread does not react to the cancellation within a second, it is
  /// left behind and logged. Later calls do nothing and return the same.
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

// The thread that delivers to one sink.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "ingest/service/alert/deliverer.hpp"

namespace deltamatch::ingest {

/// What a worker asks of the service. It may be cut off from it, and then asks nothing any more.
struct DeliveryService {
  DeliveryHooks hooks;
  Journal* journal = nullptr;
};

class Deliverer::Worker {
 public:
  using Clock = std::chrono::steady_clock;

  Worker(DeliveryTarget target, const DeliveryService& service, const DelivererOptions& options);

  /// Runs a thread that holds on to its worker.
  static void start(const std::shared_ptr<Worker>& worker);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  void submit(std::uint64_t batch, AlertList alerts);
  [[nodiscard]] DeliveryStatistics statistics() const;

  void begin_stop(Clock::time_point deadline);
  /// Whether the thread's work is done, or is by `deadline`.
  bool wait_done(Clock::time_point deadline);
  void cancel();
  /// Waits for a thread that is done; leaves one that is not, cut off from the service. True where it was done.
  bool join();

 private:
  enum class Phase : std::uint8_t { running, stopping, cancelled };

  void run();
  bool step();
  void recover();
  void take_next();
  void read_back(std::unique_lock<std::mutex>& lock);
  std::string write();
  void settle(const std::string& position);
  bool failed(std::string_view event, const std::exception& error);
  std::chrono::milliseconds backoff(const std::exception* error);
  bool pause(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds wait);
  [[nodiscard]] bool over() const {
    return phase_ == Phase::cancelled || (phase_ == Phase::stopping && Clock::now() >= deadline_);
  }
  template <class Call>
  void with_service(Call&& call);

  const std::string name_;
  const std::unique_ptr<AlertSink> sink_;
  const std::chrono::milliseconds max_backoff_;
  const DelivererOptions options_;

  // The thread's own.
  std::minstd_rand random_{std::random_device{}()};
  std::optional<std::string> position_;  // noted before the start
  std::uint64_t recovered_up_to_;        // the batch that it is the position of
  bool recovered_ = false;
  std::vector<Delivery> current_;  // under way
  std::size_t tries_ = 0;          // failures since the last success
  std::uint64_t dropped_ = 0;      // of the sink, as counted

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Phase phase_ = Phase::running;
  Clock::time_point deadline_;
  bool done_ = false;
  std::deque<Delivery> queue_;  // batches before from_
  std::uint64_t from_ = 0;      // with statistics_.reads_back: the range to read; only the thread changes it then
  std::uint64_t up_to_ = 0;
  std::uint64_t submitted_ = 0;  // the latest one
  std::uint64_t unread_ = 0;     // batches in the range
  std::size_t under_way_ = 0;    // batches
  DeliveryStatistics statistics_;

  std::mutex service_mutex_;  // held while the service is asked
  std::optional<DeliveryService> service_;
  std::thread thread_;
};

}  // namespace deltamatch::ingest

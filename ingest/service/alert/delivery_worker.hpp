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

/// What a worker needs from the service. A worker that was cut off from the service calls it no more.
struct DeliveryService {
  DeliveryHooks hooks;
  Journal* journal = nullptr;
};

class Deliverer::Worker {
 public:
  using Clock = std::chrono::steady_clock;

  Worker(DeliveryTarget target, const DeliveryService& service, const DelivererOptions& options);

  /// Starts a thread that keeps its worker alive.
  static void start(const std::shared_ptr<Worker>& worker);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  void submit(std::uint64_t batch, AlertList alerts);
  [[nodiscard]] DeliveryStatistics statistics() const;

  void begin_stop(Clock::time_point deadline);
  /// Waits until `deadline` for the thread's work to be done. Returns whether it is.
  bool wait_done(Clock::time_point deadline);
  void cancel();
  /// Joins a thread that is done. Otherwise leaves it behind and cuts it off from the service. Returns whether it was done.
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

  // Only the thread uses these.
  std::minstd_rand random_{std::random_device{}()};
  std::optional<std::string> position_;  // noted before the start
  std::uint64_t recovered_up_to_;        // the batch of this position
  bool recovered_ = false;
  std::vector<Delivery> current_;  // being delivered
  std::size_t tries_ = 0;          // failures since the last success
  std::uint64_t dropped_ = 0;      // as last reported by the sink

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Phase phase_ = Phase::running;
  Clock::time_point deadline_;
  bool done_ = false;
  std::deque<Delivery> queue_;  // batches before from_
  std::uint64_t from_ = 0;      // first batch to read if statistics_.reads_back; then only the thread changes it
  std::uint64_t up_to_ = 0;
  std::uint64_t submitted_ = 0;  // the latest batch
  std::uint64_t unread_ = 0;     // batches in the range to read
  std::size_t under_way_ = 0;    // number of batches
  DeliveryStatistics statistics_;

  std::mutex service_mutex_;  // held while the service is called
  std::optional<DeliveryService> service_;
  std::thread thread_;
};

}  // namespace deltamatch::ingest

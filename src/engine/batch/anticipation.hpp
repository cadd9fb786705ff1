// Prepares the next batch, in a thread of its own, while the current batch is matched.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "deltamatch/batch.hpp"
#include "graph/batch_resolver.hpp"

namespace deltamatch::engine {

/// Asks for the next batch and has the resolver look it up. One thread calls all members. The destructor ends the thread.
class Anticipation {
 public:
  Anticipation() = default;
  ~Anticipation();
  Anticipation(const Anticipation&) = delete;
  Anticipation& operator=(const Anticipation&) = delete;

  /// Begins the work. Until `end` returns, the resolver must stay between resolve and commit or undo. `resolver` and `upcoming`
  /// are used until then. The first call throws if the thread cannot be made.
  void begin(graph::BatchResolver& resolver, const Upcoming& upcoming);

  /// Stops the work and waits until it has stopped. Does nothing if it was not begun. Returns the seconds spent on the next
  /// batch.
  double end() noexcept;

 private:
  void run();

  enum class State { idle, wanted, busy, leaving };
  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::idle;  // guarded by mutex_, as is all below
  graph::BatchResolver* resolver_ = nullptr;
  const Upcoming* upcoming_ = nullptr;
  std::stop_source stop_{std::nostopstate};
  double seconds_ = 0;
  std::thread thread_;  // made when first needed
};

}  // namespace deltamatch::engine

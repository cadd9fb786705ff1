// What can be done for the next batch while this one is matched, in a thread of its own.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "deltamatch/engine.hpp"
#include "graph/batch_resolver.hpp"

namespace deltamatch::engine {

/// Asks which batch comes next and has the resolver look it up. One thread calls it; the destructor ends its own.
class Anticipation {
 public:
  Anticipation() = default;
  ~Anticipation();
  Anticipation(const Anticipation&) = delete;
  Anticipation& operator=(const Anticipation&) = delete;

  /// Begins; the resolver is between resolve and commit or undo until `end` returns. `resolver` and `upcoming` are used up to
  /// then. Throws where the thread cannot be made, at first.
  void begin(graph::BatchResolver& resolver, const Upcoming& upcoming);

  /// Has it stop soon, and waits for that; nothing where it was not begun. Gives the seconds that were spent on the next batch.
  double end() noexcept;

 private:
  void run();

  enum class State { idle, wanted, busy, leaving };
  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::idle;  // guarded by mutex_, as all below
  graph::BatchResolver* resolver_ = nullptr;
  const Upcoming* upcoming_ = nullptr;
  std::stop_source stop_{std::nostopstate};
  double seconds_ = 0;
  std::thread thread_;  // made when first needed
};

}  // namespace deltamatch::engine

#include "engine/batch/anticipation.hpp"

#include <chrono>

#include "base/seconds.hpp"

namespace deltamatch::engine {

Anticipation::~Anticipation() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    state_ = State::leaving;
  }
  changed_.notify_all();
  thread_.join();
}

void Anticipation::begin(graph::BatchResolver& resolver, const Upcoming& upcoming) {
  std::stop_source stop;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  {
    const std::lock_guard lock(mutex_);
    stop_ = std::move(stop);
    resolver_ = &resolver;
    upcoming_ = &upcoming;
    seconds_ = 0;
    state_ = State::wanted;
  }
  changed_.notify_all();
}

double Anticipation::end() noexcept {
  std::unique_lock lock(mutex_);
  if (state_ == State::wanted) state_ = State::idle;  // the thread has not begun yet
  if (state_ == State::busy) {
    const std::stop_source stop = stop_;
    lock.unlock();  // the thread that this wakes may hold locks of its own
    stop.request_stop();
    lock.lock();
    changed_.wait(lock, [this] { return state_ != State::busy; });
  }
  return std::exchange(seconds_, 0);
}

void Anticipation::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return state_ == State::wanted || state_ == State::leaving; });
    if (state_ == State::leaving) return;
    state_ = State::busy;
    const std::stop_token stop = stop_.get_token();
    graph::BatchResolver& resolver = *resolver_;
    const Upcoming& upcoming = *upcoming_;
    lock.unlock();
    double seconds = 0;
    try {
      if (const UpdateBatch* next = upcoming(stop)) {
        const auto start = std::chrono::steady_clock::now();
        resolver.anticipate(*next, stop);
        seconds = seconds_since(start);
      }
    } catch (...) {  // NOLINT(bugprone-empty-catch): the batch meets the error in its own turn
    }
    lock.lock();
    seconds_ = seconds;
    state_ = State::idle;
    changed_.notify_all();
  }
}

}  // namespace deltamatch::engine

#include "ingest/batch/read_ahead.hpp"

#include <chrono>
#include <utility>

namespace deltamatch::ingest {
namespace {

constexpr std::chrono::milliseconds pause{50};  // between two questions whether to keep waiting

}  // namespace

ReadAhead::ReadAhead(Batcher& batcher, RecordSource& source, unsigned depth)
    : batcher_(batcher), source_(source), depth_(depth), thread_([this] { run(); }) {}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  source_.cancel();
  changed_.notify_all();
  thread_.join();
}

void ReadAhead::run() {
  std::exception_ptr failure;
  try {
    for (;;) {
      PositionedBatch batch;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stopped_ || ready_.size() < depth_; });
        if (stopped_) return;
        if (!free_.empty()) {
          batch = std::move(free_.back());
          free_.pop_back();
        }
      }
      const bool filled = batcher_.fill(batch);
      const std::lock_guard lock(mutex_);
      if (filled) ready_.push_back(std::move(batch));
      ended_ = !filled;
      changed_.notify_all();
      if (ended_) return;
    }
  } catch (...) {
    failure = std::current_exception();
  }
  // Handed over after this thread has let go of it, so that whoever rethrows it is its only owner.
  const std::lock_guard lock(mutex_);
  failure_ = std::move(failure);
  ended_ = true;
  changed_.notify_all();
}

const PositionedBatch* ReadAhead::upcoming(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, stop, [this] { return ended_ || !ready_.empty(); });
  return ready_.empty() ? nullptr : &ready_.front();
}

bool ReadAhead::next(PositionedBatch& batch, const Stop& stop) {
  std::unique_lock lock(mutex_);
  const auto is_there = [this] { return ended_ || !ready_.empty(); };
  while (stop && !changed_.wait_for(lock, pause, is_there)) {
    if (!stop()) continue;
    batcher_.stop();
    source_.cancel();
    break;
  }
  changed_.wait(lock, is_there);
  if (ready_.empty()) {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    batch.clear();
    return false;
  }
  std::swap(batch, ready_.front());
  free_.push_back(std::move(ready_.front()));
  ready_.pop_front();
  changed_.notify_all();
  return true;
}

}  // namespace deltamatch::ingest

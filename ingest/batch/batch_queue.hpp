// Hands batches from the thread that reads them to the thread that works on them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <stop_token>
#include <utility>
#include <vector>

#include "deltamatch/update.hpp"
#include "ingest/batch/batch_source.hpp"

namespace deltamatch::ingest {

/// At most `depth` batches wait in it. Their memory goes back and forth. One thread calls the functions for reading, one those
/// for working; any thread may call the others.
template <class Batch>
class BatchQueue {
 public:
  explicit BatchQueue(std::size_t depth) : depth_(depth) {}

  // For the thread that reads.

  /// Waits until fewer than `depth` batches wait. Returns false once the queue is abandoned.
  bool wait_for_room() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ready_.size() < depth_ || abandoned_; });
    return !abandoned_;
  }
  [[nodiscard]] bool has_room() const {
    const std::scoped_lock lock(mutex_);
    return ready_.size() < depth_;
  }
  /// The memory of a batch that was handed in, or a new batch. Call it as late as possible, so that fewer batches exist.
  [[nodiscard]] Batch memory() {
    const std::scoped_lock lock(mutex_);
    if (free_.empty()) return {};
    Batch batch = std::move(free_.back());
    free_.pop_back();
    return batch;
  }
  /// Adds a batch after waiting for room. Drops it if the queue is abandoned.
  void push(Batch&& batch) {
    if (!wait_for_room()) return;
    {
      const std::scoped_lock lock(mutex_);
      ready_.push_back(std::move(batch));
    }
    changed_.notify_all();
  }
  /// Says that no batch follows, because the input ended or failed. next_within() throws the failure. Release your
  /// reference first, so that whoever catches it is its only owner.
  void end(std::exception_ptr&& failure = nullptr) {
    {
      const std::scoped_lock lock(mutex_);
      failure_ = std::move(failure);
      ended_ = true;
    }
    changed_.notify_all();
  }

  // For the thread that works; see BatchSource.

  Arrival next_within(Batch& batch, std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [this] { return !ready_.empty() || ended_ || woken_; });
    woken_ = false;
    if (!ready_.empty()) {
      free_.push_back(std::exchange(batch, std::move(ready_.front())));
      ready_.pop_front();
      lock.unlock();
      changed_.notify_all();
      return Arrival::batch;
    }
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return ended_ ? Arrival::ended : Arrival::nothing;
  }
  const Batch* upcoming(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [this] { return !ready_.empty() || ended_; });
    return ready_.empty() ? nullptr : &ready_.front();
  }

  void wake() {
    {
      const std::scoped_lock lock(mutex_);
      woken_ = true;
    }
    changed_.notify_all();
  }
  /// From now on nobody waits for room, and what is pushed is dropped.
  void abandon() {
    {
      const std::scoped_lock lock(mutex_);
      abandoned_ = true;
    }
    changed_.notify_all();
  }

 private:
  const std::size_t depth_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Batch> ready_;  // guarded by mutex_, like all below
  std::vector<Batch> free_;
  std::exception_ptr failure_;
  bool ended_ = false;
  bool woken_ = false;
  bool abandoned_ = false;
};

}  // namespace deltamatch::ingest

// Shows a thread of a loop whether other threads are idle.
#pragma once

#include <atomic>
#include <cstddef>

namespace deltamatch::match {

/// Tells busy threads when others have nothing left to do, so that they give work away.
class BusyThreads {
 public:
  explicit BusyThreads(unsigned threads) noexcept : threads_(threads) {}

  /// Begins a loop over this many chunks.
  void begin(std::size_t chunks) noexcept {
    waiting_.store(chunks, std::memory_order_relaxed);
    busy_.store(0, std::memory_order_relaxed);
  }
  /// A thread takes a chunk. It calls `finish` at the end of the chunk.
  void take() noexcept {
    busy_.fetch_add(1, std::memory_order_relaxed);
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }
  void finish() noexcept { busy_.fetch_sub(1, std::memory_order_relaxed); }

  [[nodiscard]] bool idle() const noexcept {
    return threads_ > 1 && waiting_.load(std::memory_order_relaxed) == 0 && busy_.load(std::memory_order_relaxed) < threads_;
  }

 private:
  unsigned threads_;
  std::atomic<std::size_t> waiting_ = 0;
  std::atomic<unsigned> busy_ = 0;
};

}  // namespace deltamatch::match

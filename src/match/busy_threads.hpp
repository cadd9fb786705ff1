// The threads of a loop, as one of them sees the others.
#pragma once

#include <atomic>
#include <cstddef>

namespace deltamatch::match {

/// Tells busy threads when others have nothing left to do, so that they part with work.
class BusyThreads {
 public:
  explicit BusyThreads(unsigned threads) noexcept : threads_(threads) {}

  /// A loop over so many chunks begins.
  void begin(std::size_t chunks) noexcept {
    waiting_.store(chunks, std::memory_order_relaxed);
    busy_.store(0, std::memory_order_relaxed);
  }
  /// A thread takes a chunk, and is done with it.
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

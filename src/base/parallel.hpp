// Parallel loops over oneTBB, or over plain threads if DELTAMATCH_STD_THREAD is defined (ThreadSanitizer builds).
//
// Threads take chunks in ascending order from one atomic cursor, so uneven chunks balance themselves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace deltamatch {

/// A non-owning reference to a loop body `void(unsigned worker, std::size_t begin, std::size_t end)`.
class LoopBody {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, LoopBody>)
  explicit LoopBody(F& body) noexcept
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(body)))),
        call_([](void* object, unsigned worker, std::size_t begin, std::size_t end) {
          (*static_cast<F*>(object))(worker, begin, end);
        }) {}

  void operator()(unsigned worker, std::size_t begin, std::size_t end) const { call_(object_, worker, begin, end); }

 private:
  void* object_;
  void (*call_)(void*, unsigned, std::size_t, std::size_t);
};

/// The number of threads that stands for `threads`: itself, or for 0 as many as the machine has cores. Throws
/// Error(configuration) beyond Workers::max_threads.
[[nodiscard]] unsigned thread_count(unsigned threads);

/// A fixed number of threads that run loops, including the calling thread. Only one thread may call it at a time.
class Workers {
 public:
  static constexpr unsigned max_threads = 1024;

  /// `threads` = 0: as many as the machine has cores. Throws Error(configuration) beyond max_threads.
  explicit Workers(unsigned threads = 0);
  ~Workers();
  Workers(Workers&&) noexcept;
  Workers& operator=(Workers&&) noexcept;

  /// The number of threads; at least 1.
  [[nodiscard]] unsigned size() const noexcept { return size_; }

  /// The grain of a loop over n items, of which a thread should take up to `most` at a time. It is smaller if the threads would
  /// get too few chunks for an even share.
  [[nodiscard]] std::size_t grain(std::size_t n, std::size_t most) const noexcept {
    constexpr std::size_t turns = 4;
    constexpr std::size_t smallest = 8;  // as a part of `most`
    return size_ == 1 ? most : std::clamp(n / (turns * size_), std::max<std::size_t>(most / smallest, 1), most);
  }

  /// Calls body(worker, begin, end) on disjoint chunks of at most `grain` (0 counts as 1) that together cover [0, n). Returns
  /// when all chunks are done.
  /// - worker < size(). No two chunks run under the same worker at a time, so it can index scratch memory. The caller is worker
  ///   0.
  /// - With size() == 1 or n <= grain, everything runs on the caller.
  /// - After a chunk has thrown, no further chunk starts. When the running chunks have ended, the caller gets the first
  ///   exception.
  ///
  /// Throws nothing else. Must not be called from within a body.
  template <class F>
  void for_each(std::size_t n, std::size_t grain, F&& body) {
    grain = std::max<std::size_t>(grain, 1);
    if (n <= grain) {
      if (n > 0) body(0U, std::size_t{0}, n);
    } else if (size_ == 1) {
      for (std::size_t begin = 0; begin < n; begin += std::min(grain, n - begin)) {
        body(0U, begin, begin + std::min(grain, n - begin));
      }
    } else {
      run(n, grain, LoopBody(body));
    }
  }

  /// Calls body(). Threads that have taken part in one of its loops then look for the next one, instead of going to sleep. So
  /// its loops start and end sooner. The threads keep their cores busy, so the body should do little else than loops. It may
  /// call this again. Throws what the body throws.
  template <class F>
  void stand_by(F&& body) {
    const StandingBy standing_by(*this);
    body();
  }

 private:
  struct Impl;
  class Crew;
  class StandingBy {
   public:
    explicit StandingBy(Workers& workers) noexcept;
    ~StandingBy();
    StandingBy(const StandingBy&) = delete;
    StandingBy& operator=(const StandingBy&) = delete;

   private:
    Crew* crew_;  // null if it stands by already
  };

  void run(std::size_t n, std::size_t grain, LoopBody body);

  unsigned size_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deltamatch

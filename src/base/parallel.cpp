#include "base/parallel.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include "deltamatch/error.hpp"

#ifdef DELTAMATCH_STD_THREAD
#include <condition_variable>
#include <vector>
#else
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#endif

namespace deltamatch {
namespace {

/// One loop in progress. Each participant takes a worker number, then chunks until none is left or one has thrown.
class Loop {
 public:
  Loop(std::size_t n, std::size_t grain, LoopBody body) noexcept
      : n_(n), grain_(grain), chunks_(n / grain + (n % grain != 0)), body_(body) {}

  [[nodiscard]] std::size_t chunks() const noexcept { return chunks_; }

  /// Runs the caller's part. The caller is always worker 0.
  void lead() noexcept { work(0); }
  void take_part() noexcept { work(next_helper_.fetch_add(1, std::memory_order_relaxed)); }

  /// Call this after all participants have ended.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void work(unsigned worker) noexcept {
    try {
      while (!failed_.load(std::memory_order_relaxed)) {
        const std::size_t chunk = next_chunk_.fetch_add(1, std::memory_order_relaxed);
        if (chunk >= chunks_) return;
        const std::size_t begin = chunk * grain_;
        body_(worker, begin, begin + std::min(grain_, n_ - begin));
      }
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  }

  std::size_t n_;
  std::size_t grain_;
  std::size_t chunks_;
  LoopBody body_;
  std::atomic<unsigned> next_helper_{1};
  std::atomic<std::size_t> next_chunk_{0};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

/// Waits for what another thread does soon.
class Spin {
 public:
  /// Returns whether it has been called many times.
  bool once() noexcept {
    if (++calls_ < pauses) {
#ifdef __x86_64__
      __builtin_ia32_pause();
#endif
    } else {  // other threads may need the core
      std::this_thread::yield();
    }
    return calls_ >= pauses + yields;
  }

 private:
  static constexpr unsigned pauses = 1000;
  static constexpr unsigned yields = 200;
  unsigned calls_ = 0;
};

}  // namespace

/// Threads that look for loops instead of sleeping. A loop has seats. A thread takes one, and the loop ends when its seats are
/// closed and all have left theirs. So nobody waits for a thread that has no seat.
class Workers::Crew {
 public:
  explicit Crew(unsigned threads) noexcept : most_(threads - 1) {}

  [[nodiscard]] bool stands_by() const noexcept { return open_.load(std::memory_order_relaxed); }
  void stand_by(bool open) noexcept { open_.store(open, std::memory_order_release); }

  /// What a thread of the crew does, until the crew does not stand by any more, or no loop has come for long.
  void take_part() noexcept {
    std::uint64_t seen = 0;
    Spin spin;
    while (open_.load(std::memory_order_acquire)) {
      std::uint64_t now = loop_state_.load(std::memory_order_relaxed);
      if (now >> number_shift == seen || (now & seats_mask) == 0) {
        if (spin.once()) break;
      } else if (loop_state_.compare_exchange_strong(now, now - one_seat + 1, std::memory_order_acquire)) {
        seen = now >> number_shift;
        loop_->take_part();  // a thread that has a seat keeps the loop alive
        loop_state_.fetch_sub(1, std::memory_order_release);
        spin = {};
      }
    }
    members_.fetch_sub(1, std::memory_order_relaxed);
  }

  /// Runs a loop. Calls enlist(count) if it can use more threads than the crew has. They shall call take_part.
  template <class Enlist>
  void run(Loop& loop, Enlist&& enlist) noexcept {
    const auto seats = static_cast<unsigned>(std::min<std::size_t>(most_, loop.chunks() - 1));
    loop_ = &loop;
    const std::uint64_t number = (loop_state_.load(std::memory_order_relaxed) >> number_shift) + 1;
    loop_state_.store(number << number_shift | seats * one_seat, std::memory_order_release);
    if (const unsigned members = members_.load(std::memory_order_relaxed); members < seats) {
      members_.fetch_add(seats - members, std::memory_order_relaxed);
      members_.fetch_sub(seats - members - enlist(seats - members), std::memory_order_relaxed);
    }
    loop.lead();
    loop_state_.fetch_and(~seats_mask, std::memory_order_relaxed);
    for (Spin spin; (loop_state_.load(std::memory_order_acquire) & seated_mask) != 0;) spin.once();
  }

 private:
  // The state of a loop: its number, the seats that are left, and the threads that have one.
  static constexpr unsigned number_shift = 32;
  static constexpr std::uint64_t one_seat = 1U << 16;
  static constexpr std::uint64_t seated_mask = one_seat - 1;
  static constexpr std::uint64_t seats_mask = seated_mask << 16;

  unsigned most_;
  Loop* loop_ = nullptr;
  alignas(64) std::atomic<std::uint64_t> loop_state_{0};
  alignas(64) std::atomic<bool> open_{false};
  std::atomic<unsigned> members_{0};
};

unsigned thread_count(unsigned threads) {
  if (threads > Workers::max_threads) {
    throw Error(ErrorKind::configuration, "threads", std::to_string(threads) + " threads are too many",
                "ask for at most " + std::to_string(Workers::max_threads) + ", or 0 for one thread for each core");
  }
  return threads != 0 ? threads : std::clamp(std::thread::hardware_concurrency(), 1U, Workers::max_threads);
}

#ifdef DELTAMATCH_STD_THREAD

/// Helpers sleep until a loop is posted. The caller waits until every helper that entered the loop has left it.
struct Workers::Impl {
  explicit Impl(unsigned threads) : crew(std::make_shared<Crew>(threads)) {
    for (unsigned i = 1; i < threads; ++i) helpers.emplace_back([this](const std::stop_token& stop) { help(stop); });
  }

  void help(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (posted.wait(lock, stop, [this] { return seats > 0 || enlisted > 0; })) {
      if (enlisted > 0) {
        --enlisted;
        lock.unlock();
        crew->take_part();
        lock.lock();
        continue;
      }
      --seats;
      ++inside;
      Loop* joined = loop;
      lock.unlock();
      joined->take_part();
      lock.lock();
      if (--inside == 0) left.notify_one();
    }
  }

  void run(Loop& work) {
    {
      const std::lock_guard lock(mutex);
      loop = &work;
      seats = std::min(helpers.size(), work.chunks() - 1);
    }
    posted.notify_all();
    work.lead();
    std::unique_lock lock(mutex);
    seats = 0;
    left.wait(lock, [this] { return inside == 0; });
  }

  /// Lets that many helpers join the crew. Returns how many will.
  unsigned enlist(unsigned count) noexcept {
    {
      const std::lock_guard lock(mutex);
      enlisted += count;
    }
    posted.notify_all();
    return count;
  }

  std::mutex mutex;
  std::condition_variable_any posted;
  std::condition_variable left;
  std::shared_ptr<Crew> crew;
  Loop* loop = nullptr;
  std::size_t seats = 0;              ///< helpers that may still enter the loop
  std::size_t inside = 0;             ///< helpers in the loop
  std::size_t enlisted = 0;           ///< helpers that shall join the crew
  std::vector<std::jthread> helpers;  ///< declared last: joined before the other members are destroyed
};

#else

namespace {

/// Raises oneTBB's limit of threads. By default it is the number of cores. If several limits exist, the smallest one counts,
/// and oneTBB warns if an arena asks for more. So the process keeps one limit: that of the largest Workers so far.
void allow_threads(unsigned threads) {
  using Limit = tbb::global_control;
  static std::mutex mutex;
  static std::unique_ptr<Limit> limit;
  const std::lock_guard lock(mutex);
  if (Limit::active_value(Limit::max_allowed_parallelism) >= threads) return;
  limit.reset();
  limit = std::make_unique<Limit>(Limit::max_allowed_parallelism, threads);
}

}  // namespace

struct Workers::Impl {
  explicit Impl(unsigned threads) : crew(std::make_shared<Crew>(threads)), arena(static_cast<int>(threads)) {
    allow_threads(threads);
    arena.initialize();
  }

  /// Runs a loop. If oneTBB has no memory for the helpers' tasks, the caller does the work alone.
  void run(Loop& work) {
    try {
      arena.execute([&] {
        tbb::task_group group;
        const std::size_t seats = std::min<std::size_t>(static_cast<unsigned>(arena.max_concurrency()), work.chunks());
        try {
          for (std::size_t i = 1; i < seats; ++i) group.run([&work] { work.take_part(); });
        } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): then fewer threads take part
        }
        work.lead();
        group.wait();
      });
    } catch (const std::bad_alloc&) {
      work.lead();
    }
  }

  /// Lets that many threads join the crew. Returns how many will. They may outlive this object.
  unsigned enlist(unsigned count) noexcept {
    for (unsigned i = 0; i < count; ++i) {
      try {
        arena.enqueue([member = crew] { member->take_part(); });
      } catch (const std::bad_alloc&) {
        return i;
      }
    }
    return count;
  }

  std::shared_ptr<Crew> crew;
  tbb::task_arena arena;
};

#endif

Workers::Workers(unsigned threads) : size_(thread_count(threads)), impl_(size_ > 1 ? std::make_unique<Impl>(size_) : nullptr) {}
Workers::~Workers() = default;
Workers::Workers(Workers&&) noexcept = default;
Workers& Workers::operator=(Workers&&) noexcept = default;

Workers::StandingBy::StandingBy(Workers& workers) noexcept
    : crew_(workers.impl_ && !workers.impl_->crew->stands_by() ? workers.impl_->crew.get() : nullptr) {
  if (crew_ != nullptr) crew_->stand_by(true);
}

Workers::StandingBy::~StandingBy() {
  if (crew_ != nullptr) crew_->stand_by(false);
}

void Workers::run(std::size_t n, std::size_t grain, LoopBody body) {
  Loop loop(n, grain, body);
  if (impl_->crew->stands_by()) {
    impl_->crew->run(loop, [this](unsigned count) { return impl_->enlist(count); });
  } else {
    impl_->run(loop);
  }
  loop.rethrow();
}

}  // namespace deltamatch

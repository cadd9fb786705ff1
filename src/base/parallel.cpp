#include "base/parallel.hpp"

#include <atomic>
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

}  // namespace

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
  explicit Impl(unsigned threads) {
    for (unsigned i = 1; i < threads; ++i) helpers.emplace_back([this](const std::stop_token& stop) { help(stop); });
  }

  void help(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (posted.wait(lock, stop, [this] { return seats > 0; })) {
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

  std::mutex mutex;
  std::condition_variable_any posted;
  std::condition_variable left;
  Loop* loop = nullptr;
  std::size_t seats = 0;              ///< helpers that may still enter the loop
  std::size_t inside = 0;             ///< helpers in the loop
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
  explicit Impl(unsigned threads) : arena(static_cast<int>(threads)) {
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

  tbb::task_arena arena;
};

#endif

Workers::Workers(unsigned threads) : size_(thread_count(threads)), impl_(size_ > 1 ? std::make_unique<Impl>(size_) : nullptr) {}
Workers::~Workers() = default;
Workers::Workers(Workers&&) noexcept = default;
Workers& Workers::operator=(Workers&&) noexcept = default;

void Workers::run(std::size_t n, std::size_t grain, LoopBody body) {
  Loop loop(n, grain, body);
  impl_->run(loop);
  loop.rethrow();
}

}  // namespace deltamatch

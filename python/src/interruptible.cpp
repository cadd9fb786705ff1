#include "interruptible.hpp"

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace nb = nanobind;

namespace deltamatch::python {
namespace {

constexpr std::chrono::milliseconds look_every{20};  // for signals

class Run {
 public:
  explicit Run(const std::function<void(const std::atomic<bool>& stop)>& work)
      : thread_([this, &work] {
          try {
            work(stop_);
          } catch (...) {
            failure_ = std::current_exception();
          }
          const std::lock_guard lock(mutex_);
          done_ = true;
          changed_.notify_all();
        }) {}
  ~Run() {
    stop();
    thread_.join();
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void stop() noexcept { stop_.store(true); }
  bool wait_for(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [&] { return done_; });
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_; });
  }
  [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }

 private:
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // must be last: it uses the members above
};

}  // namespace

void run_interruptible(const std::function<void(const std::atomic<bool>& stop)>& work) {
  std::optional<nb::python_error> signal;
  std::exception_ptr failure;
  {
    const nb::gil_scoped_release unlocked;
    Run run(work);
    while (!run.wait_for(look_every)) {
      const nb::gil_scoped_acquire locked;
      if (PyErr_CheckSignals() == 0) continue;
      signal.emplace();  // takes the exception over
      run.stop();
      break;
    }
    run.wait();
    failure = run.failure();
  }
  if (signal) throw std::move(*signal);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace deltamatch::python

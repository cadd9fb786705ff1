// Reports the progress of a static match, as the share of its work that is done.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "deltamatch/count.hpp"
#include "deltamatch/static.hpp"

namespace deltamatch::engine {

/// Reports how far a match is, as a share of the expected work. The share never falls and never exceeds 1. Threads take turns.
class ProgressReporter {
 public:
  using Tell = std::function<void(const StaticProgress&)>;

  using Clock = std::chrono::steady_clock;

  /// `report` receives the reports. It must outlive the reporter and may be empty. Once `limit` matches are found, all work is
  /// done. `pause`: the least time between two reports of beginnings.
  explicit ProgressReporter(const Tell& report, std::optional<std::uint64_t> limit = {},
                            Clock::duration pause = std::chrono::milliseconds(50))
      : tell_(&report), limit_(limit), pause_(pause), begins_([this](std::size_t index) { begin(index); }) {}
  ProgressReporter(const ProgressReporter&) = delete;
  ProgressReporter& operator=(const ProgressReporter&) = delete;

  [[nodiscard]] bool asked() const noexcept { return static_cast<bool>(*tell_); }

  /// Sets the expected work, all of it still to be done. The reported share does not fall.
  void expect(double work);
  /// Begins the next portion. `work`: the work of each anchor or root, in the order in which they are matched. Returns the
  /// function to call as each begins (match::PassWork::begins), valid until the portion ends.
  const std::function<void(std::size_t)>* portion(const std::vector<double>& work);
  /// Ends the portion. `left`: its work that is left for later portions.
  void end_portion(Count matches, double left = 0);
  /// Reports matches that were listed while their portion still runs.
  void found(Count matches);

 private:
  void begin(std::size_t index);
  void report(double done, std::optional<Count> matches);  // the caller holds turn_

  const Tell* tell_;
  std::optional<std::uint64_t> limit_;
  Clock::duration pause_;
  std::function<void(std::size_t)> begins_;
  std::mutex turn_;
  double all_ = 1;
  double done_ = 0;                   // work in portions that have ended
  double within_ = 0;                 // work done in the current portion
  std::vector<double> before_;        // of that portion, by anchor or root: work done once it begins; then all of its work
  double told_ = 0;                   // the share that was reported last
  std::optional<Count> matches_;      // in the current portion, if matches are listed
  std::atomic<Clock::rep> next_ = 0;  // when the next beginning may be reported
};

}  // namespace deltamatch::engine

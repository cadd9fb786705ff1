// Progress of a static match, as the share of its work that is done.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "deltamatch/engine.hpp"

namespace deltamatch::engine {

/// Tells how far a match is, in efforts as they were expected: never less than before, never more than all. Threads take turns.
class ProgressReporter {
 public:
  using Tell = std::function<void(const StaticProgress&)>;

  using Clock = std::chrono::steady_clock;

  /// `tell` outlives it, and may be empty. Once `limit` matches are found, all is done. `pause`: between two beginnings that
  /// are told.
  explicit ProgressReporter(const Tell& tell, std::optional<std::uint64_t> limit = {},
                            Clock::duration pause = std::chrono::milliseconds(50))
      : tell_(&tell), limit_(limit), pause_(pause), begins_([this](std::size_t index) { begin(index); }) {}
  ProgressReporter(const ProgressReporter&) = delete;
  ProgressReporter& operator=(const ProgressReporter&) = delete;

  [[nodiscard]] bool asked() const noexcept { return static_cast<bool>(*tell_); }

  /// All work is still to be done: so much. What was told before stays told.
  void expect(double work);
  /// The next portion's anchors or roots are going to be matched, in this order: what each begins with, in work. Gives what
  /// to call as they begin (match::PassWork::begins), until the portion ends.
  const std::function<void(std::size_t)>* portion(const std::vector<double>& work);
  /// `left`: efforts of it that are still to be done, in later portions.
  void end_portion(Count matches, double left = 0);
  /// Matches were listed while their portion goes on.
  void found(Count matches);

 private:
  void begin(std::size_t index);
  void tell(double done, std::optional<Count> matches);  // in a turn

  const Tell* tell_;
  std::optional<std::uint64_t> limit_;
  Clock::duration pause_;
  std::function<void(std::size_t)> begins_;
  std::mutex turn_;
  double all_ = 1;
  double done_ = 0;                   // in portions that have ended
  double within_ = 0;                 // done in the portion that goes on
  std::vector<double> before_;        // of that portion, by anchor or root: done once it begins; and one more, of all of it
  double told_ = 0;                   // a share
  std::optional<Count> matches_;      // in the portion that goes on: where they are listed
  std::atomic<Clock::rep> next_ = 0;  // when a beginning is worth telling
};

}  // namespace deltamatch::engine

// Shows a person at a terminal how far a run is. It goes to standard error, never among results.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace deltamatch::cli {

enum class ProgressMode { automatic, always, never };

/// Shows at most five lines a second: what is done, the rate, and the time left if the end is known. On a terminal it rewrites
/// one line. With `always` and no terminal, each is a line of its own.
class Progress {
 public:
  explicit Progress(ProgressMode mode);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Whether anything is ever shown.
  [[nodiscard]] bool enabled() const noexcept { return enabled_; }
  /// `done` counts units of `what` since the start, if known. `fraction` (0 to 1) is the share of the input that is done, if
  /// known.
  void show(std::string_view what, std::optional<std::uint64_t> done, std::optional<double> fraction);
  /// Ends a phase: removes the line. The next phase's rate starts at zero.
  void clear() noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

}  // namespace deltamatch::cli

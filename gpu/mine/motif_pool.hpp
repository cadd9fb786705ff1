// The parts of a tree of traversals that are still to be walked. Devices take them from this pool.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "gpu/mine/motif_layout.hpp"

namespace deltamatch::gpu {

/// Cuts ranges of candidates, adding at most `pieces` > 0 tasks. Tasks with the fewest vertices come first. O(n log n).
[[nodiscard]] inline std::vector<MotifTask> split(const std::vector<MotifTask>& tasks, std::uint64_t pieces) {
  std::uint64_t candidates = 0;
  for (const MotifTask& task : tasks) candidates += task.last - task.first;
  const std::uint64_t most = std::max<std::uint64_t>((candidates + pieces - 1) / pieces, 1);
  std::vector<MotifTask> cut;
  for (const MotifTask& task : tasks) {
    MotifTask piece = task;
    do {
      piece.last = static_cast<std::uint32_t>(std::min<std::uint64_t>(piece.first + most, task.last));
      cut.push_back(piece);
      piece.first = piece.last;
    } while (piece.first < task.last);
  }
  std::stable_sort(cut.begin(), cut.end(), [](const MotifTask& a, const MotifTask& b) { return a.size < b.size; });
  return cut;
}

class MotifPool {
 public:
  struct Roots {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };
  /// Work for one launch. Empty if there was nothing to take at the moment.
  struct Portion {
    std::vector<MotifTask> tasks;
    Roots roots;

    [[nodiscard]] bool empty() const noexcept { return tasks.empty() && roots.first == roots.last; }
  };

  MotifPool(std::uint32_t roots, std::size_t devices) : devices_(devices), total_(roots) { give({}, {0, roots}); }

  /// Takes up to `most` tasks, and no more than an even share if there are several devices. If that gives fewer tasks, takes
  /// roots, too.
  ///
  /// A device that has taken something returns what is left of it with `done`. Waits a little if there is nothing now.
  [[nodiscard]] Portion take(std::size_t most) {
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, std::chrono::milliseconds(5), [&] { return !tasks_.empty() || !roots_.empty() || busy_ == 0; });
    Portion portion;
    const std::size_t count = std::min(most, (tasks_.size() + devices_ - 1) / devices_);
    // Takes the tasks with the most vertices. They leave the fewest others behind, so the pool stays small.
    std::nth_element(tasks_.begin(), tasks_.end() - static_cast<std::ptrdiff_t>(count), tasks_.end(),
                     [](const MotifTask& a, const MotifTask& b) { return a.size < b.size; });
    portion.tasks.assign(tasks_.end() - static_cast<std::ptrdiff_t>(count), tasks_.end());
    tasks_.resize(tasks_.size() - count);
    if (count < most && !roots_.empty()) {
      Roots& rest = roots_.back();
      const std::uint32_t size = rest.last - rest.first;
      const auto share = static_cast<std::uint32_t>(devices_ == 1 ? size : size / (2 * devices_) + 1);
      portion.roots = {rest.first, rest.first + share};
      rest.first += share;
      if (rest.first == rest.last) roots_.pop_back();
      held_ += share;
    }
    if (!portion.empty()) ++busy_;
    return portion;
  }

  /// Returns what is left of a portion that was not empty.
  void done(const std::vector<MotifTask>& tasks, Roots roots) {
    const std::lock_guard lock(mutex_);
    --busy_;
    held_ -= roots.last - roots.first;
    give(tasks, roots);
    ready_.notify_all();
  }

  /// Whether nothing is left to take and no device is working.
  [[nodiscard]] bool idle() {
    const std::lock_guard lock(mutex_);
    return busy_ == 0 && tasks_.empty() && roots_.empty();
  }
  /// The share of the roots that have been begun.
  [[nodiscard]] double share() {
    const std::lock_guard lock(mutex_);
    return total_ == 0 ? 1 : static_cast<double>(held_) / static_cast<double>(total_);
  }

 private:
  void give(const std::vector<MotifTask>& tasks, Roots roots) {
    tasks_.insert(tasks_.end(), tasks.begin(), tasks.end());
    if (roots.first < roots.last) roots_.push_back(roots);
  }

  std::mutex mutex_;
  std::condition_variable ready_;
  std::size_t devices_;
  std::uint64_t total_;
  std::uint64_t held_ = 0;  // roots that were taken and not returned
  std::vector<MotifTask> tasks_;
  std::vector<Roots> roots_;
  std::size_t busy_ = 0;  // devices
};

}  // namespace deltamatch::gpu

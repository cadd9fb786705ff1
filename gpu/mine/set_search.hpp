// Counts sets that lack a few of their edges on one device, in spaces that it takes from a queue.
#pragma once

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "gpu/mine/device_dense_sets.hpp"

namespace deltamatch::gpu {

/// Makes spaces when they are taken. Any thread may take them.
class SpaceQueue {
 public:
  explicit SpaceQueue(const match::MakeSpaces& make) : make_(make) {}

  [[nodiscard]] match::DenseSpaces take(std::uint64_t words) {
    const std::lock_guard lock(mutex_);
    match::DenseSpaces spaces = make_(words);
    share_ = spaces.share;
    return spaces;
  }
  /// Does not wait for a thread that takes spaces.
  [[nodiscard]] double share() const noexcept { return share_; }
  /// Leaves a space to the caller of the run.
  void leave(VertexId root) {
    const std::lock_guard lock(mutex_);
    left_.push_back(root);
  }
  [[nodiscard]] std::vector<VertexId> left() { return std::move(left_); }

 private:
  const match::MakeSpaces& make_;
  std::mutex mutex_;
  std::atomic<double> share_ = 0;
  std::vector<VertexId> left_;
};

struct SetJob {
  const match::LaterLists& graph;
  unsigned k;
  unsigned budget;
  const DenseSettings& settings;
  SpaceQueue& queue;
};

/// Counts sets by missing edges, until no spaces are left or `go_on` returns false. Calls queue.leave for spaces that do not
/// fit into memory.
[[nodiscard]] std::vector<Count> search_sets(DenseOps& ops, const SetJob& job, const match::GoOn& go_on);

}  // namespace deltamatch::gpu

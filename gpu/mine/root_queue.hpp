// The roots whose cliques are counted, by the width of their spaces. Devices take roots from this queue.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "gpu/mine/dense_ops.hpp"
#include "match/dense_set_counter.hpp"

namespace deltamatch::gpu {

/// The roots of one width.
struct RootClass {
  Width width;
  std::vector<VertexId> roots;  ///< in the order of taking: the graph's last vertex first
  std::uint64_t rows = 0;       ///< of all of their spaces
  unsigned largest = 0;         ///< size of the largest space
};

class RootQueue {
 public:
  /// Takes all vertices with at least `least` later neighbours. Those too wide for all kernels are left to the caller.
  RootQueue(const match::LaterLists& graph, unsigned least) : graph_(graph) {
    for (std::size_t c = 0; c < classes_.size(); ++c) classes_[c].width = clique_widths[c];
    for (VertexId v = graph.vertices(); v-- > 0;) {
      const std::size_t size = graph.later(v).size();
      if (size < least) continue;
      const auto found =
          std::find_if(classes_.begin(), classes_.end(), [&](const RootClass& each) { return size <= each.width.members(); });
      if (found == classes_.end()) {
        left_.push_back(v);
        continue;
      }
      found->roots.push_back(v);
      found->rows += size;
      found->largest = std::max(found->largest, static_cast<unsigned>(size));
      rows_ += size;
    }
  }

  [[nodiscard]] const RootClass& of(std::size_t index) const noexcept { return classes_[index]; }

  /// Takes the next roots of a class: at most `most` rows, but at least one root. With several `devices`, it takes no more than
  /// half of an even share. Returns nothing if all roots are taken. Any thread may call it.
  [[nodiscard]] std::vector<VertexId> take(std::size_t index, std::uint64_t most, std::size_t devices) {
    const std::lock_guard lock(mutex_);
    const RootClass& from = classes_[index];
    std::size_t& next = next_[index];
    if (devices > 1) most = std::min(most, (from.rows - taken_[index]) / (2 * devices) + 1);
    const std::size_t first = next;
    for (std::uint64_t rows = 0; next < from.roots.size(); ++next) {
      rows += graph_.later(from.roots[next]).size();
      if (rows > most && next > first) break;
      taken_[index] += graph_.later(from.roots[next]).size();
    }
    return {from.roots.begin() + static_cast<std::ptrdiff_t>(first), from.roots.begin() + static_cast<std::ptrdiff_t>(next)};
  }

  /// Adds `rows` to the rows that are done. Returns the share of all rows that is done.
  [[nodiscard]] double done(std::uint64_t rows) {
    const std::lock_guard lock(mutex_);
    done_ += rows;
    return rows_ == 0 ? 1 : static_cast<double>(done_) / static_cast<double>(rows_);
  }

  void leave(std::span<const VertexId> roots) {
    const std::lock_guard lock(mutex_);
    left_.insert(left_.end(), roots.begin(), roots.end());
  }

  /// Returns roots that were left, and those that were not taken. Call it when no device works any more.
  [[nodiscard]] std::vector<VertexId> left() {
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      const auto& roots = classes_[c].roots;
      left_.insert(left_.end(), roots.begin() + static_cast<std::ptrdiff_t>(next_[c]), roots.end());
    }
    return std::move(left_);
  }

 private:
  const match::LaterLists& graph_;
  std::array<RootClass, clique_widths.size()> classes_{};
  std::array<std::size_t, clique_widths.size()> next_{};
  std::array<std::uint64_t, clique_widths.size()> taken_{};  // rows
  std::uint64_t rows_ = 0;
  std::uint64_t done_ = 0;
  std::vector<VertexId> left_;
  std::mutex mutex_;
};

}  // namespace deltamatch::gpu

// Decides which nodes of a search tree are expanded next, and where their children go.
//
// Nodes lie in one piece of memory, in segments. A segment holds nodes of one level; the next one holds children of some of
// them. A launch takes nodes from the end of the last segment and makes a new segment behind it. The new segment gets a fair
// share of the memory that is left for all further levels.
//
// So the tree is searched breadth first within portions, and depth first between them, in memory of a fixed size. Nodes whose
// children find no room are given back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace deltamatch::gpu {

class NodeStack {
 public:
  /// Nodes to be expanded, and where their children may go.
  struct Portion {
    std::uint64_t first;
    std::uint64_t count;
    std::uint64_t output;
    std::uint64_t capacity;
  };

  /// The stack has room for `capacity` nodes. `levels` levels of the tree have children. A launch expands at most `portion`
  /// nodes. Each portion has room for at least (capacity - nodes of level 0) / levels children.
  NodeStack(std::uint64_t capacity, unsigned levels, std::uint64_t portion)
      : capacity_(capacity), levels_(levels), portion_(portion) {}

  /// Starts with nodes of level 0, which lie at the beginning.
  void start(std::uint64_t count) {
    segments_.clear();
    if (count > 0) segments_.push_back({0, count});
  }

  [[nodiscard]] bool empty() const noexcept { return segments_.empty(); }
  /// The level of the next portion.
  [[nodiscard]] unsigned level() const noexcept { return static_cast<unsigned>(segments_.size()) - 1; }

  /// The next portion. If its nodes are `childless`, one launch takes the whole segment.
  [[nodiscard]] Portion next(bool childless) const {
    const Segment& top = segments_.back();
    if (childless) return {top.first, top.count, top.first + top.count, 0};
    const std::uint64_t end = top.first + top.count;
    const std::uint64_t room = (capacity_ - end) / (levels_ > level() ? levels_ - level() : 1);
    const std::uint64_t count = std::min({top.count, portion_, std::max<std::uint64_t>(room / 2, 1)});
    return {end - count, count, end, room};
  }

  /// Ends the portion from next(). `deferred` of its nodes lie at its beginning again, and `children` in its output.
  void done(const Portion& portion, std::uint64_t deferred, std::uint64_t children) {
    segments_.back().count -= portion.count - deferred;
    if (children > 0) segments_.push_back({portion.output, children});
    while (!segments_.empty() && segments_.back().count == 0) segments_.pop_back();
  }

 private:
  struct Segment {
    std::uint64_t first;
    std::uint64_t count;
  };
  std::uint64_t capacity_;
  unsigned levels_;
  std::uint64_t portion_;
  std::vector<Segment> segments_;
};

}  // namespace deltamatch::gpu

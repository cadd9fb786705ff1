// What the writer of a plan's kernels (kernel_writer.hpp) must know of the plan. Which work may wait in queues? Which lists
// does it read? Which counts do not depend on the loops around them? Internal to gpu/made.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/made/kernel_writer.hpp"

namespace deltamatch::gpu {

/// A list of a matched vertex: its position and the number of its way.
struct Read {
  std::uint32_t position;
  std::uint32_t way;
  friend auto operator<=>(const Read&, const Read&) = default;
};

/// A loop, or a count, whose work may wait in a queue. `depth` is that of its candidates: 1 right below the anchor.
struct WaitingWork {
  std::uint32_t node;
  std::uint32_t depth;
  bool counts;
};

/// Depths of steps are those of the partial matches that they run on: the vertices up to position depth + 1. `flat` and
/// `program` outlive this object.
class PlanShape {
 public:
  PlanShape(const FlatPrograms& flat, const Program& program);

  [[nodiscard]] const Step& step(std::uint32_t index) const { return flat_.steps[index]; }
  [[nodiscard]] const Node& node(std::uint32_t index) const { return flat_.nodes[index]; }
  /// The number of a node within its program.
  [[nodiscard]] std::uint32_t number(std::uint32_t node) const { return node - first_node_; }
  [[nodiscard]] const std::vector<WaitingWork>& works() const noexcept { return works_; }
  [[nodiscard]] const WaitingWork* work_of(std::uint32_t node) const;
  [[nodiscard]] std::uint32_t deepest() const noexcept { return deepest_; }        ///< of the waiting works
  [[nodiscard]] std::uint32_t kept_sets() const noexcept { return kept_sets_; }    ///< depths up to the last that keeps a set
  [[nodiscard]] std::uint32_t root_works() const noexcept { return root_works_; }  ///< loops right below an anchor
  [[nodiscard]] const std::vector<WayOf>& ways() const noexcept { return ways_; }

  /// The lists that a node reads, other than the set that stands for some. By ascending position.
  [[nodiscard]] std::vector<Read> own_reads(const Node& node) const;
  /// The lists that steps and all below them read. Ascending, each once.
  [[nodiscard]] std::vector<Read> reads_below(std::uint32_t first, std::uint32_t end) const;
  /// The lists of matched vertices that waiting work reads. Ascending, each once.
  [[nodiscard]] std::vector<Read> reads_of(const WaitingWork& work) const;
  [[nodiscard]] std::vector<Read> closing_reads() const;
  /// How many lists a node's candidates are in, where a set counts as one.
  [[nodiscard]] static std::uint32_t lists(const Node& node) { return node.base != 0 ? node.rest + 1U : node.probes; }
  /// Positions to differ from, then to exceed, then to stay below.
  [[nodiscard]] std::span<const std::uint8_t> positions(const Node& node) const;
  /// How a candidate is compared with the vertex at number `p` of these positions.
  [[nodiscard]] static const char* sign(const Node& node, std::uint32_t p) {
    return p < node.distinct ? "!=" : p < node.distinct + 0U + node.above ? ">" : "<";
  }
  [[nodiscard]] bool ordered(const Node& node) const { return program_.ordered != 0 && node.above + node.below > 0; }

  /// Whether the range of waiting work is one of a set that was found before, not one of a list.
  [[nodiscard]] bool ranges_over_set(const WaitingWork& work) const;
  /// Whether a loop's steps have loops among them.
  [[nodiscard]] bool has_loops(const Node& loop) const;
  /// Whether a count is the last factor of its product, so that what lanes find can be added without being gathered.
  [[nodiscard]] bool adds_up(std::uint32_t step) const;
  /// Whether a count is the length of one list.
  [[nodiscard]] bool is_length(const Node& node) const { return lists(node) == 1 && !ordered(node); }
  /// The last position, from 1, whose vertex decides what a count's lists are.
  [[nodiscard]] std::uint32_t decided_at(const Node& node) const;
  /// Whether a count among the steps at `depth` is found once for several partial matches. Each of these may be a candidate
  /// itself, but nothing else makes their counts differ.
  [[nodiscard]] bool is_hoisted(const Node& node, std::uint32_t depth) const;

 private:
  void note_steps(std::uint32_t first, std::uint32_t end, std::uint32_t depth, bool whole);
  void note_ways(std::uint32_t first, std::uint32_t end);
  [[nodiscard]] std::uint32_t way_of(const Probe& probe) const;
  void note_reads(std::uint32_t first, std::uint32_t end, std::vector<Read>& reads) const;

  const FlatPrograms& flat_;
  const Program& program_;
  std::uint32_t first_node_ = 0;
  std::vector<WayOf> ways_;
  std::vector<WaitingWork> works_;
  std::uint32_t deepest_ = 0;
  std::uint32_t kept_sets_ = 0;
  std::uint32_t root_works_ = 0;
};

}  // namespace deltamatch::gpu

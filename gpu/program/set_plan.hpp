// Which loops of a program read again what a loop above them has found, and when that pays. Needs no device.
//
// A node below a loop may read all of the loop's lists. Then it finds its candidates in the loop's set and in its other lists.
// Sets hold ids only. So two kinds of loops make no sets:
// - their lists may hold an id several times, or have tagged entries
// - they have conditions of an induced match
//
// Finding a set first has a cost. The loop must wait for all of it, and an idle warp that takes over a part of the work finds
// the set again. So a program reuses sets only if that is expected to halve its work.
// That is so if the innermost loops read sets. They run most often, above all if lists are long and one warp has most of the
// work.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gpu/program/choices.hpp"
#include "graph/data_graph.hpp"
#include "plan/program.hpp"

namespace deltamatch::gpu {

/// How a node uses sets. Depths are those of loops: 1 is the outermost.
struct SetUse {
  std::uint32_t parent = 0;         ///< node of the loop above; 0 for the outermost, too
  std::uint32_t sets_read = 0;      ///< bits of the depths whose sets this node or one below it reads
  std::uint8_t base = 0;            ///< depth of the loop whose set it reads; 0: none
  std::uint8_t rest = 0;            ///< lists that the set does not replace
  bool uncut = false;               ///< order constraints must not cut its set, since some node that reads it lacks them
  std::vector<plan::Probe> probes;  ///< of the node; the first `rest` are not replaced by the set
};

/// Plans the use of sets by node. If a program has no order constraints that count, `uncut` means nothing. O(nodes x depth x
/// lists^2).
[[nodiscard]] std::vector<SetUse> plan_sets(const plan::Program& program, std::span<const graph::Resolved> resolved);

/// A plan in which no loop reads what another has found.
[[nodiscard]] std::vector<SetUse> plan_no_sets(const plan::Program& program);

/// Expected work for an anchor: entries that are read, once for each list that they are in or searched in.
struct SetWork {
  double anew = 0;     ///< if every loop reads its lists
  double reusing = 0;  ///< if loops read sets
  [[nodiscard]] bool pays() const noexcept { return 2 * reusing < anew; }
};

/// Estimates the work. `shortest`: by node, the expected entries of its shortest list. `closure`: how likely one of them is in
/// the other lists, too. O(nodes).
[[nodiscard]] SetWork expected_work(const plan::Program& program, std::span<const SetUse> uses,
                                    std::span<const double> shortest, double closure);

/// The expected length of each node's shortest list, by node. A walk along edges meets lists in proportion to their length.
/// O(probes).
[[nodiscard]] std::vector<double> shortest_lists(const plan::Program& program, std::span<const graph::Resolved> resolved);

/// Chooses the use of sets for programs that run on one graph.
class SetChoice {
 public:
  explicit SetChoice(GpuReuse reuse = GpuReuse::automatic) noexcept : reuse_(reuse) {}

  /// Returns the plan of plan_sets, or no sets. If the graph has doubled or halved since the last sample, it takes a new one.
  [[nodiscard]] std::vector<SetUse> choose(const plan::Program& program, const graph::DataGraph& graph,
                                           std::span<const graph::Resolved> resolved);

 private:
  [[nodiscard]] double closure(const graph::DataGraph& graph);

  GpuReuse reuse_;
  std::optional<double> closure_;
  std::uint64_t sampled_edges_ = 0;  // edges of the graph when closure_ was sampled
};

}  // namespace deltamatch::gpu

// Which loops of a program read again what a loop above them has found, and where that pays. Pure bookkeeping: no device.
//
// Where all lists of a loop are among those of a node below it, that node finds its candidates in the loop's set and the lists
// that are left. Sets hold ids alone, so lists that may hold an id several times, or whose entries bear tags, make none, nor
// does what an induced match asks of other edges.
//
// To find a set first costs something, too: all of it must be there before the loop goes on, and an idle warp that takes over a
// part of the work finds it once more. So a program reuses sets only where that is expected to halve its work, which it does
// where the innermost loops read sets: they run most often, above all where lists are long and one warp has most to do.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "deltamatch/gpu.hpp"
#include "graph/data_graph.hpp"
#include "plan/program.hpp"

namespace deltamatch::gpu {

/// Of a node. Depths are those of loops: 1 the outermost.
struct SetUse {
  std::uint32_t parent = 0;         ///< node of the loop above; 0 for the outermost, too
  std::uint32_t sets_read = 0;      ///< bits of the depths whose sets it, or a node below it, reads
  std::uint8_t base = 0;            ///< depth of the loop whose set it reads; 0: none
  std::uint8_t rest = 0;            ///< lists that the set does not stand for
  bool uncut = false;               ///< order constraints must not cut its set: some node that reads it lacks them
  std::vector<plan::Probe> probes;  ///< of the node; the first `rest` are those that are left
};

/// By node. Where a program has no order constraints that count, `uncut` means nothing. O(nodes x depth x lists^2).
[[nodiscard]] std::vector<SetUse> plan_sets(const plan::Program& program, std::span<const graph::Resolved> resolved);

/// No loop reads what another has found.
[[nodiscard]] std::vector<SetUse> plan_no_sets(const plan::Program& program);

/// Expected work for an anchor: entries that are read, once for each list that they are in or looked for in.
struct SetWork {
  double anew = 0;     ///< every loop reads its lists
  double reusing = 0;  ///< with sets
  [[nodiscard]] bool pays() const noexcept { return 2 * reusing < anew; }
};

/// `shortest`: by node, the expected entries of its shortest list; `closure`: how likely one of them is in the other lists,
/// too. O(nodes).
[[nodiscard]] SetWork expected_work(const plan::Program& program, std::span<const SetUse> uses,
                                    std::span<const double> shortest, double closure);

/// By node: as a walk along edges meets lists, long ones in proportion to their length. O(probes).
[[nodiscard]] std::vector<double> shortest_lists(const plan::Program& program, std::span<const graph::Resolved> resolved);

/// Chooses for the programs that run on one graph.
class SetChoice {
 public:
  explicit SetChoice(GpuReuse reuse = GpuReuse::automatic) noexcept : reuse_(reuse) {}

  /// What plan_sets plans, or no sets. Where the graph has doubled or halved since that was done last, takes a sample of it.
  [[nodiscard]] std::vector<SetUse> choose(const plan::Program& program, const graph::DataGraph& graph,
                                           std::span<const graph::Resolved> resolved);

 private:
  [[nodiscard]] double closure(const graph::DataGraph& graph);

  GpuReuse reuse_;
  std::optional<double> closure_;
  std::uint64_t sampled_edges_ = 0;  // of the graph that closure_ was taken from
};

}  // namespace deltamatch::gpu

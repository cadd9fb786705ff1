// What kernels can run: which queries, and which sums can be counted with tables. It needs no device. The matcher also hands
// queries to the CPU for want of room, or if a sum overflows. docs/guide/gpu.md lists these limits for users.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "deltamatch/match.hpp"
#include "gpu/loops/kernel.hpp"
#include "gpu/tables/table_sums.hpp"
#include "graph/data_graph.hpp"
#include "match/matcher.hpp"
#include "plan/plan.hpp"

namespace deltamatch::gpu {

/// What kernels can name and number. Queries that need more are left to the CPU. Tests set lower limits.
struct KernelLimits {
  /// Query relations that a probe can name.
  std::uint32_t query_relations = std::uint32_t{1} << (8 * sizeof(Probe::query_relation));
  /// Entries of a list that is read, before and after the batch.
  ///
  /// The children of 32 partial matches are numbered together in 32 bits. A match's children may come from the list before the
  /// batch and from what the batch adds. So the children may be as many as 64 lists hold. Flags share words with lengths.
  std::uint32_t longest_list = std::uint32_t{1} << 25;
};

/// Whether kernels take queries of a mode over a whole graph. If vertices may coincide, only a whole match tells whether it is
/// induced, and kernels have no test of whole matches.
[[nodiscard]] constexpr bool runs_whole(MatchMode mode, bool induced) noexcept {
  return !induced || mode == MatchMode::isomorphism;
}

/// Whether kernels read a graph at all. They know the lists of a graph whose edges are their ends and label, and no others.
[[nodiscard]] inline bool reads_graph(const graph::DataGraph& graph) noexcept {
  return graph.edge_table == nullptr && !graph.keeps_loops();
}

/// Whether kernels can run a task, apart from the room that frames need. `rooted`: it is matched from roots.
[[nodiscard]] bool runs_on_kernels(const match::QueryTask& task, std::span<const graph::Resolved> resolved, bool rooted,
                                   const KernelLimits& limits = {});

/// Whether the frames of a launch can be addressed. `needs`: by depth, of all tasks in the launch.
[[nodiscard]] bool fits_frames(const std::vector<DepthNeeds>& needs, bool sums, bool weighted);

/// Tables of the kernel of sums beside those of a root.
inline constexpr std::uint32_t working_tables = 2;

/// Whether the kernel can evaluate a count plan. The plan must have no prefix, and must not order the anchor's ends. It must
/// read only lists of base relations without parallel edges.
[[nodiscard]] bool fits_tables(const plan::CountPlan& count, const std::vector<plan::Probe>& closing,
                               std::span<const graph::Resolved> resolved);

/// The same for a rooted plan.
[[nodiscard]] bool fits_tables(const plan::RootedPlan& plan, std::span<const graph::Resolved> resolved);

}  // namespace deltamatch::gpu

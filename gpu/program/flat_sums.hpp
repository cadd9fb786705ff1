// Count plans, flattened for the kernel that counts with tables, with their work. Needs no device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "gpu/tables/table_sums.hpp"
#include "graph/data_graph.hpp"
#include "match/matcher.hpp"
#include "plan/plan.hpp"

namespace deltamatch::gpu {

/// Where a flat program comes from.
struct ProgramOrigin {
  std::uint32_t pass;  ///< index into the passes
  std::uint32_t task;
  std::uint32_t plan;
  bool sums;
  bool list;
};

/// Flattened count plans and their work. Probes and positions are stored with those of all programs.
struct FlatSums {
  std::vector<SumProgram> programs;
  std::vector<ProgramOrigin> origins;        ///< by program
  std::vector<std::uint64_t> anchor_counts;  ///< by program; a plan's anchors count for one of its programs only
  std::vector<SumTerm> terms;
  std::vector<SumFactor> factors;
  std::vector<SumVertex> vertices;
  std::vector<SumEdge> edges;
  std::vector<Anchor> anchors;
  std::vector<std::uint32_t> degrees;  ///< by anchor, as match::table_degree
  std::vector<SumItem> light;          ///< for blocks of one warp; long work first
  std::vector<SumItem> heavy;          ///< for blocks of many warps; long work first
  std::uint32_t root_tables = 0;       ///< the most of any program
  std::uint32_t sets_at_once = 0;      ///< the most that any program holds

  [[nodiscard]] bool empty() const noexcept { return light.empty() && heavy.empty(); }
};

/// The count plan of a delta plan. The levels that the plan enumerates first become bound vertices of every term.
[[nodiscard]] plan::CountPlan bind_prefix(const plan::Plan& plan);

/// Whether tables beat nested loops: in some tree, ways from several matched vertices meet at a vertex that is adjacent to no
/// matched one.
[[nodiscard]] bool meets_in_the_middle(const plan::CountPlan& count);

/// A count plan as programs. Terms that enumerate candidates are kept apart, since their work is split finely.
struct SplitSums {
  SumProgram summed;
  SumProgram enumerated;
};

/// Flattens a count plan for which fits_tables holds. The pass is not set.
[[nodiscard]] SplitSums flatten_sums(const plan::CountPlan& count, const std::vector<plan::Probe>& closing,
                                     std::size_t root_tables, FlatSums& into, std::vector<Probe>& probes,
                                     std::vector<std::uint8_t>& positions);

/// Adds the work of a plan's programs on anchors. Uses the threads of `workers` unless it is null.
void add_anchors(const graph::DataGraph& graph, std::span<const Anchor> anchors, SplitSums programs, std::uint8_t pass,
                 const ProgramOrigin& origin, FlatSums& into, Workers* workers);
/// Adds the work of a rooted plan on those `roots` that have every list which the query reads there.
void add_roots(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved, const match::QueryTask& task,
               std::span<const VertexId> roots, SplitSums programs, std::uint8_t pass, const ProgramOrigin& origin,
               FlatSums& into, Workers* workers);

/// Sorts items so that long work comes first, by degree to within a sixteenth. Call it after all work is added. O(items).
void order_items(FlatSums& sums);

}  // namespace deltamatch::gpu

// Count plans, flattened for the kernel that counts with tables, and what each is to work. Pure bookkeeping: no device.
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

/// What a flat program stands for.
struct ProgramOrigin {
  std::uint32_t pass;  ///< index into the passes
  std::uint32_t task;
  std::uint32_t plan;
  bool sums;
  bool list;
};

/// Flattened count plans and their work. Probes and positions lie with those of all programs.
struct FlatSums {
  std::vector<SumProgram> programs;
  std::vector<ProgramOrigin> origins;        ///< by program
  std::vector<std::uint64_t> anchor_counts;  ///< by program: anchors that no other program of the plan has
  std::vector<SumTerm> terms;
  std::vector<SumFactor> factors;
  std::vector<SumVertex> vertices;
  std::vector<SumEdge> edges;
  std::vector<Anchor> anchors;
  std::vector<std::uint32_t> degrees;  ///< by anchor, as match::table_degree
  std::vector<SumItem> light;          ///< for blocks of one warp each, those that take long first
  std::vector<SumItem> heavy;          ///< the same for blocks of many warps
  std::uint32_t root_tables = 0;       ///< the most of a program
  std::uint32_t sets_at_once = 0;      ///< the most that a program holds

  [[nodiscard]] bool empty() const noexcept { return light.empty() && heavy.empty(); }
};

/// The count plan of a delta plan, with the levels that it enumerates first as bound vertices of every term.
[[nodiscard]] plan::CountPlan bind_prefix(const plan::Plan& plan);

/// Whether the kernel can evaluate a count plan without a prefix: it reads lists of base relations without parallel edges, and
/// knows nothing of an order of the anchor's ends.
[[nodiscard]] bool fits_tables(const plan::CountPlan& count, const std::vector<plan::Probe>& closing,
                               std::span<const graph::Resolved> resolved);

/// The same of a rooted plan.
[[nodiscard]] bool fits_tables(const plan::RootedPlan& plan, std::span<const graph::Resolved> resolved);

/// Whether tables pay against nested loops: in some tree, ways from several matched vertices meet at a vertex that is next to
/// none.
[[nodiscard]] bool meets_in_the_middle(const plan::CountPlan& count);

/// A count plan as programs. Terms that enumerate candidates lie apart: their work is split finely.
struct SplitSums {
  SumProgram summed;
  SumProgram enumerated;
};

/// Without the pass. The plan must fit.
[[nodiscard]] SplitSums flatten_sums(const plan::CountPlan& count, const std::vector<plan::Probe>& closing,
                                     std::size_t root_tables, FlatSums& into, std::vector<Probe>& probes,
                                     std::vector<std::uint8_t>& positions);

/// Adds the work of a plan's programs on anchors. On all threads, unless `workers` is null.
void add_anchors(const graph::DataGraph& graph, std::span<const Anchor> anchors, SplitSums programs, std::uint8_t pass,
                 const ProgramOrigin& origin, FlatSums& into, Workers* workers);
/// The same of a rooted plan on the vertices among `roots` that have every list that the query reads there.
void add_roots(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved, const match::QueryTask& task,
               std::span<const VertexId> roots, SplitSums programs, std::uint8_t pass, const ProgramOrigin& origin,
               FlatSums& into, Workers* workers);

/// Once all work is added: puts items that take long first, as far as degrees tell to a sixteenth. O(items).
void order_items(FlatSums& sums);

}  // namespace deltamatch::gpu

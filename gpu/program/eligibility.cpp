#include "gpu/program/eligibility.hpp"

#include <algorithm>

#include "match/programs.hpp"

namespace deltamatch::gpu {

namespace {

using plan::Candidates;
using plan::Factor;

constexpr std::size_t max_query_edges = 64;  // size of the kernel's local arrays

// Whether some matched vertices may have fewer data edges than the query needs. For isomorphism, query edges that must differ
// may lie between the same two vertices. For edge-distinct matching, lists may hold parallel edges.
//
// The kernel would notice only after trying all combinations. The CPU notices it first.
bool may_lack_edges(const plan::BoundQuery& query, std::span<const graph::Resolved> resolved) {
  if (query.mode == MatchMode::isomorphism) return query.edges_may_coincide();
  return query.mode == MatchMode::edge_distinct && match::reads_parallels(query, resolved);
}

// Whether a query's query relations can be named, and its lists numbered without a wrap.
bool keeps_to(const KernelLimits& limits, const plan::BoundQuery& query, std::span<const graph::Resolved> resolved) {
  const auto fits = [&](graph::QueryRelationId query_relation) {
    const graph::Resolved& where = resolved[query_relation];
    return query_relation < limits.query_relations &&
           (where.store == nullptr || where.store->longest(where.relation) <= limits.longest_list);
  };
  return std::ranges::all_of(query.any_edge, fits) && std::ranges::all_of(query.edges, [&](const plan::BoundEdge& edge) {
           return std::ranges::all_of(edge.query_relation, fits);
         });
}

bool readable(graph::QueryRelationId query_relation, std::span<const graph::Resolved> resolved) {
  return !resolved[query_relation].derived && !resolved[query_relation].parallel;
}

bool readable(const std::vector<plan::Probe>& probes, std::span<const graph::Resolved> resolved) {
  return probes.size() <= max_sum_probes &&
         std::ranges::all_of(probes, [&](const plan::Probe& probe) { return readable(probe.query_relation, resolved); });
}

bool fits(const std::vector<Factor>& factors, std::size_t binds, std::span<const graph::Resolved> resolved) {
  return std::ranges::all_of(factors, [&](const Factor& factor) {
    const bool bind = factor.kind == Factor::Kind::bind;
    return binds + (bind ? 1 : 0) <= max_sum_binds && factor.vertices.size() <= max_positions &&
           std::ranges::all_of(factor.vertices, [&](const Candidates& wanted) { return readable(wanted.probes, resolved); }) &&
           std::ranges::all_of(factor.edges,
                               [&](const plan::TreeEdge& edge) {
                                 return readable(edge.a_to_b, resolved) && readable(edge.b_to_a, resolved);
                               }) &&
           fits(factor.inner, binds + 1, resolved) && fits(factor.others, binds, resolved);
  });
}

}  // namespace

bool runs_on_kernels(const match::QueryTask& task, std::span<const graph::Resolved> resolved, bool rooted,
                     const KernelLimits& limits) {
  const plan::BoundQuery& query = *task.query;
  if (query.conditional() || !reads_graph(query.graph())) return false;  // kernels read no attributes, times, slots and loops
  return runs_whole(query.mode, query.induced) && query.edges.size() <= max_query_edges && !may_lack_edges(query, resolved) &&
         keeps_to(limits, query, resolved) && (!rooted || fits_tables(*task.plans->rooted, resolved));
}

bool fits_frames(const std::vector<DepthNeeds>& needs, bool sums, bool weighted) {
  return make_layout(needs, sums, weighted).has_value();
}

bool fits_tables(const plan::CountPlan& count, const std::vector<plan::Probe>& closing,
                 std::span<const graph::Resolved> resolved) {
  return !count.terms.empty() && count.prefix == 0 && !count.ordered && readable(closing, resolved) &&
         std::ranges::all_of(count.terms, [&](const plan::Term& term) { return fits(term.factors, 0, resolved); });
}

bool fits_tables(const plan::RootedPlan& plan, std::span<const graph::Resolved> resolved) {
  return plan.tables + working_tables <= max_sum_tables && fits_tables(plan.count, {}, resolved);
}

}  // namespace deltamatch::gpu

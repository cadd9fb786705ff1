#include "match/programs.hpp"

#include <algorithm>

#include "match/plan_index.hpp"

namespace deltamatch::match {

namespace {

bool chooses_parallels(const plan::Program& program, std::span<const graph::Resolved> resolved) {
  return std::any_of(program.nodes.begin(), program.nodes.end(), [&](const plan::Node& node) {
    return node.choose > 1 && std::any_of(node.candidates.probes.begin(), node.candidates.probes.end(),
                                          [&](const plan::Probe& probe) { return resolved[probe.query_relation].parallel; });
  });
}

// If no two vertices are joined twice, the query's one edge is the only one.
void drop_implied(std::vector<plan::Joined>& joined, std::span<const graph::Resolved> resolved) {
  std::erase_if(joined, [&](const plan::Joined& pair) { return pair.edges == 1 && !resolved[pair.query_relation].parallel; });
}

}  // namespace

bool is_plain(const plan::BoundQuery& query, const plan::Plan& plan, std::span<const graph::Resolved> resolved) {
  if (query.edges_may_coincide() || query.mode != MatchMode::isomorphism || query.conditional()) return false;
  for (std::uint32_t e = 0; e < query.edges.size(); ++e) {
    if (e != plan.anchor.edge && resolved[query.edges[e].query_relation[0]].tagged) return false;
  }
  return true;
}

bool reads_parallels(const plan::BoundQuery& query, std::span<const graph::Resolved> resolved) {
  const auto parallel = [&](graph::QueryRelationId query_relation) { return resolved[query_relation].parallel; };
  return std::ranges::any_of(query.edges,
                             [&](const plan::BoundEdge& edge) { return std::ranges::any_of(edge.query_relation, parallel); });
}

AnchorProgram program_for(const QueryTask& task, const plan::Plan& plan, std::span<const graph::Resolved> resolved,
                          bool may_sum) {
  AnchorProgram made;
  made.plain = is_plain(*task.query, plan, resolved);
  if (may_sum && !task.list && !must_walk(plan.count, resolved)) {
    made.program = plan::make_sums(*task.query, plan);
    made.sums = !chooses_parallels(made.program, resolved);
  }
  if (!made.sums) made.program = plan::make_walk(plan, ordered(task), task.list, made.plain);
  drop_implied(made.program.joined, resolved);
  for (plan::Node& node : made.program.nodes) drop_implied(node.joined, resolved);
  return made;
}

Programs make_programs(std::span<const QueryTask> tasks, std::span<const graph::Resolved> resolved) {
  Programs made;
  for (const QueryTask& task : tasks) {
    auto& programs = made.emplace_back();
    const std::vector<plan::Plan>& plans = task.plans->plans;
    for (const plan::Plan& plan : plans) programs.push_back(program_for(task, plan, resolved, true));
    // Plans from one query edge are exact only together (must_walk_together).
    const auto same_edge = [&](const plan::Plan& plan) { return plan.anchor.edge == plans[0].anchor.edge; };
    const auto walks = [](const AnchorProgram& program) { return !program.sums; };
    if (!std::ranges::all_of(plans, same_edge) || !std::ranges::any_of(programs, walks)) continue;
    for (std::size_t p = 0; p < plans.size(); ++p) {
      if (programs[p].sums) programs[p] = program_for(task, plans[p], resolved, false);
    }
  }
  return made;
}

}  // namespace deltamatch::match

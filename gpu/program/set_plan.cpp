#include "gpu/program/set_plan.hpp"

#include <algorithm>
#include <limits>

#include "plan/estimates.hpp"

namespace deltamatch::gpu {

namespace {

// Reading a single list again saves nothing.
constexpr std::size_t least_lists = 2;

bool same_list(const plan::Probe& a, const plan::Probe& b) {
  return a.position == b.position && a.query_relation == b.query_relation && a.inclusive == b.inclusive;
}

bool among(const plan::Probe& probe, const std::vector<plan::Probe>& all) {
  return std::ranges::any_of(all, [&](const plan::Probe& other) { return same_list(probe, other); });
}

// Whether the order constraints of `inner` exclude all that those of `outer` exclude.
bool implies(const plan::Candidates& inner, const plan::Candidates& outer) {
  const auto part = [](const std::vector<plan::Position>& of, const std::vector<plan::Position>& all) {
    return std::ranges::all_of(of, [&](plan::Position p) { return std::ranges::find(all, p) != all.end(); });
  };
  return part(outer.above, inner.above) && part(outer.below, inner.below);
}

class SetPlanner {
 public:
  SetPlanner(const plan::Program& program, std::span<const graph::Resolved> resolved)
      : program_(program), resolved_(resolved), uses_(plan_no_sets(program)) {}

  std::vector<SetUse> run() && {
    static_cast<void>(visit(0, program_.root_steps));
    return std::move(uses_);
  }

 private:
  // Plans the nodes of some steps below the loops in path_. Returns bits of the depths whose sets are read there.
  std::uint32_t visit(std::uint32_t first, std::uint32_t count) {
    std::uint32_t read = 0;
    for (std::uint32_t i = first; i < first + count; ++i) {
      const plan::Step& step = program_.steps[i];
      const bool loops = step.kind == plan::Step::Kind::loop;
      if (!loops && step.kind != plan::Step::Kind::count) continue;
      const plan::Node& node = program_.nodes[step.node];
      SetUse& use = uses_[step.node];
      use.parent = path_.empty() ? 0 : path_.back();
      choose_base(node, use);
      if (use.base != 0) use.sets_read |= 1U << use.base;
      if (loops) {
        path_.push_back(step.node);
        use.sets_read |= visit(node.first_step, node.steps);
        path_.pop_back();
      }
      read |= use.sets_read;
    }
    return read;
  }

  // Chooses the loop above that has the most of the node's lists.
  void choose_base(const plan::Node& node, SetUse& use) {
    std::size_t most = least_lists - 1;
    for (std::size_t d = 0; d < path_.size(); ++d) {
      const plan::Node& above = program_.nodes[path_[d]];
      const auto& probes = above.candidates.probes;
      if (probes.size() <= most || !makes_set(above)) continue;
      if (!std::ranges::all_of(probes, [&](const plan::Probe& probe) { return among(probe, use.probes); })) continue;
      most = probes.size();
      use.base = static_cast<std::uint8_t>(d + 1);
    }
    if (use.base == 0) return;
    const auto& probes = program_.nodes[path_[use.base - 1U]].candidates.probes;
    const auto left = std::stable_partition(use.probes.begin(), use.probes.end(),
                                            [&](const plan::Probe& probe) { return !among(probe, probes); });
    use.rest = static_cast<std::uint8_t>(left - use.probes.begin());
    // A set that lacks vertices makes sets found in it lack them, too. So all sets up the chain must be uncut.
    for (std::uint8_t at = use.base; at != 0; at = uses_[path_[at - 1U]].base) {
      SetUse& above = uses_[path_[at - 1U]];
      above.uncut = above.uncut || !implies(node.candidates, program_.nodes[path_[at - 1U]].candidates);
    }
  }

  // Whether a node finds exactly the ids that its lists have in common.
  [[nodiscard]] bool makes_set(const plan::Node& node) const {
    return node.joined.empty() && std::ranges::none_of(node.candidates.probes, [&](const plan::Probe& probe) {
             return resolved_[probe.query_relation].parallel || resolved_[probe.query_relation].derived;
           });
  }

  const plan::Program& program_;
  std::span<const graph::Resolved> resolved_;
  std::vector<SetUse> uses_;
  std::vector<std::uint32_t> path_;  // the loops above, outermost first
};

// Adds up the expected work of a program's nodes.
class WorkSum {
 public:
  WorkSum(const plan::Program& program, std::span<const SetUse> uses, std::span<const double> shortest, double closure)
      : program_(program), uses_(uses), shortest_(shortest), closure_(closure) {}

  SetWork run() && {
    visit(0, program_.root_steps, 1);
    return work_;
  }

 private:
  // `partials`: expected partial matches for an anchor that the steps run on.
  void visit(std::uint32_t first, std::uint32_t count, double partials) {
    for (std::uint32_t i = first; i < first + count; ++i) {
      const plan::Step& step = program_.steps[i];
      const bool loops = step.kind == plan::Step::Kind::loop;
      if (!loops && step.kind != plan::Step::Kind::count) continue;
      const plan::Node& node = program_.nodes[step.node];
      const SetUse& use = uses_[step.node];
      const std::size_t lists = node.candidates.probes.size();
      if (!loops && lists < 2) continue;  // the length is the count
      const double anew = partials * shortest_[step.node] * static_cast<double>(lists);
      work_.anew += anew;
      work_.reusing += use.base == 0 ? anew : partials * sets_[use.base - 1U] * (use.rest + 1.0);
      if (!loops) continue;
      sets_.push_back(lists < 2 ? shortest_[step.node] : shortest_[step.node] * closure_);
      visit(node.first_step, node.steps, partials * sets_.back());
      sets_.pop_back();
    }
  }

  const plan::Program& program_;
  std::span<const SetUse> uses_;
  std::span<const double> shortest_;
  double closure_;
  std::vector<double> sets_;  // sizes of the sets of the loops above, outermost first
  SetWork work_;
};

}  // namespace

std::vector<SetUse> plan_sets(const plan::Program& program, std::span<const graph::Resolved> resolved) {
  return SetPlanner(program, resolved).run();
}

std::vector<SetUse> plan_no_sets(const plan::Program& program) {
  std::vector<SetUse> uses(program.nodes.size());
  for (std::size_t i = 0; i < uses.size(); ++i) uses[i].probes = program.nodes[i].candidates.probes;
  return uses;
}

// All lists beyond the first reduce a set as if they were one list. An edge's ends share neighbours because of where they lie
// in the graph, much more than by chance. Most partial matches lie where most neighbours are shared.
// Example: on a graph of communities, this estimate gives sets of 1.8 vertices. Sets of two to five lists had 0.5 to 2.3 on
// average.
SetWork expected_work(const plan::Program& program, std::span<const SetUse> uses, std::span<const double> shortest,
                      double closure) {
  return WorkSum(program, uses, shortest, closure).run();
}

std::vector<double> shortest_lists(const plan::Program& program, std::span<const graph::Resolved> resolved) {
  std::vector<double> shortest;
  for (const plan::Node& node : program.nodes) {
    double least = std::numeric_limits<double>::infinity();
    for (const plan::Probe& probe : node.candidates.probes) {
      const graph::Resolved& where = resolved[probe.query_relation];
      const auto figures = where.store == nullptr ? std::span<const graph::RelationFigures>{} : where.store->figures();
      const graph::RelationFigures own = where.relation < figures.size() ? figures[where.relation] : graph::RelationFigures{};
      least = std::min(least, own.entries == 0 ? 0 : own.squares / static_cast<double>(own.entries));
    }
    shortest.push_back(least);
  }
  return shortest;
}

std::vector<SetUse> SetChoice::choose(const plan::Program& program, const graph::DataGraph& graph,
                                      std::span<const graph::Resolved> resolved) {
  if (reuse_ == GpuReuse::never) return plan_no_sets(program);
  std::vector<SetUse> uses = plan_sets(program, resolved);
  if (reuse_ == GpuReuse::always || std::ranges::all_of(uses, [](const SetUse& use) { return use.base == 0; })) return uses;
  const SetWork work = expected_work(program, uses, shortest_lists(program, resolved), closure(graph));
  return work.pays() ? uses : plan_no_sets(program);
}

double SetChoice::closure(const graph::DataGraph& graph) {
  const std::uint64_t edges = graph.edges();
  if (!closure_ || edges > 2 * sampled_edges_ || 2 * edges < sampled_edges_) {
    closure_ = plan::triangle_closure(graph);
    sampled_edges_ = edges;
  }
  return *closure_;
}

}  // namespace deltamatch::gpu

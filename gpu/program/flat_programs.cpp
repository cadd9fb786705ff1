#include "gpu/program/flat_programs.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "match/plan_index.hpp"

namespace deltamatch::gpu {

namespace {

constexpr std::uint32_t max_chunk = 32;
// Anchors that a thread takes at a time. Fewer are not worth waking another thread.
constexpr std::size_t share_grain = std::size_t{1} << 11;

Probe flat_probe(const plan::Probe& probe) {
  return {static_cast<std::uint16_t>(probe.query_relation), probe.position, static_cast<std::uint8_t>(probe.inclusive ? 1 : 0)};
}

StepKind flat_kind(plan::Step::Kind kind) {
  switch (kind) {
    case plan::Step::Kind::term:
      return StepKind::term;
    case plan::Step::Kind::count:
      return StepKind::count;
    case plan::Step::Kind::loop:
      return StepKind::loop;
    case plan::Step::Kind::edges:
      return StepKind::edges;
    case plan::Step::Kind::add:
      return StepKind::add;
    case plan::Step::Kind::emit:
      return StepKind::emit;
  }
  return StepKind::add;
}

class Flattener {
 public:
  Flattener(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved, const match::QueryTask& task,
            const plan::Plan& plan, const match::AnchorProgram& program, std::span<const SetUse> sets, FlatPrograms& into)
      : graph_(graph), resolved_(resolved), task_(task), plan_(plan), program_(program), sets_(sets), into_(into) {}

  // Flattens the program. The pass is not set.
  Program run() {
    const plan::Program& from = program_.program;
    const plan::BoundQuery& query = *task_.query;
    Program made{};
    made.first_closing = static_cast<std::uint32_t>(into_.probes.size());
    made.closing = static_cast<std::uint8_t>(plan_.closing.size());
    for (const plan::Probe& probe : plan_.closing) into_.probes.push_back(flat_probe(probe));
    made.unmixed = unmixed(plan_.closing) ? 1 : 0;
    std::tie(made.first_joined, made.joined) = add_joined(from.joined);
    const auto node_base = static_cast<std::uint32_t>(into_.nodes.size());
    const auto step_base = static_cast<std::uint32_t>(into_.steps.size());
    for (std::size_t n = 0; n < from.nodes.size(); ++n) {
      into_.nodes.push_back(flat_node(from.nodes[n], sets_[n], node_base, step_base));
    }
    for (const plan::Step& step : from.steps) {
      into_.steps.push_back(
          {flat_kind(step.kind), static_cast<std::uint8_t>(step.tail ? 1 : 0), 0, node_base + step.node, step.coefficient});
    }
    made.first_step = step_base;
    made.end_step = step_base + from.root_steps;
    made.first_vertex = static_cast<std::uint32_t>(into_.positions.size());
    made.first_edge = static_cast<std::uint32_t>(into_.edges.size());
    made.vertices = static_cast<std::uint8_t>(query.vertices());
    made.edges = static_cast<std::uint8_t>(query.edges.size());
    if (!program_.sums) {
      std::vector<std::uint8_t> position(query.vertices());
      position[plan_.tail] = 0;
      position[plan_.head] = 1;
      for (std::size_t i = 0; i < plan_.levels.size(); ++i) position[plan_.levels[i].vertex] = static_cast<std::uint8_t>(i + 2);
      into_.positions.insert(into_.positions.end(), position.begin(), position.end());
      for (std::uint32_t e = 0; e < query.edges.size(); ++e) {
        const plan::BoundEdge& edge = query.edges[e];
        const bool inclusive = query.mode == MatchMode::homomorphism && e > plan_.anchor.edge;
        into_.edges.push_back({position[edge.source], position[edge.target], static_cast<std::uint8_t>(inclusive ? 1 : 0), 0,
                               edge.query_relation[0]});
      }
    }
    made.anchor_edge = static_cast<std::uint8_t>(plan_.anchor.edge);
    made.anchor_reversed = plan_.anchor.reversed && graph_.directed() ? 1 : 0;
    made.anchor_above = plan_.anchor_above ? 1 : 0;
    made.anchor_below = plan_.anchor_below ? 1 : 0;
    made.ordered = from.ordered ? 1 : 0;
    made.weighted = from.weighted ? 1 : 0;
    made.plain = program_.plain ? 1 : 0;
    made.distinct_edges = query.mode != MatchMode::homomorphism ? 1 : 0;
    return made;
  }

 private:
  // Returns the first index and the number.
  std::pair<std::uint32_t, std::uint8_t> add_joined(const std::vector<plan::Joined>& joined) {
    const auto first = static_cast<std::uint32_t>(into_.joined.size());
    for (const plan::Joined& pair : joined) {
      into_.joined.push_back({static_cast<std::uint16_t>(pair.query_relation), pair.position, pair.edges});
    }
    return {first, static_cast<std::uint8_t>(joined.size())};
  }

  Node flat_node(const plan::Node& node, const SetUse& sets, std::uint32_t node_base, std::uint32_t step_base) {
    Node made{};
    made.first_probe = static_cast<std::uint32_t>(into_.probes.size());
    made.probes = static_cast<std::uint8_t>(sets.probes.size());
    for (const plan::Probe& probe : sets.probes) into_.probes.push_back(flat_probe(probe));
    std::tie(made.first_joined, made.joined) = add_joined(node.joined);
    made.first_position = static_cast<std::uint32_t>(into_.positions.size());
    const auto add = [&](const std::vector<plan::Position>& positions) {
      into_.positions.insert(into_.positions.end(), positions.begin(), positions.end());
      return static_cast<std::uint8_t>(positions.size());
    };
    made.distinct = add(node.candidates.distinct);
    made.above = add(node.candidates.above);
    made.below = add(node.candidates.below);
    made.choose = node.choose;
    made.first_step = step_base + node.first_step;
    made.end_step = made.first_step + node.steps;
    made.parent = node_base + sets.parent;
    made.sets_read = sets.sets_read;
    made.base = sets.base;
    made.rest = sets.rest;
    made.uncut = sets.uncut ? 1 : 0;
    made.unmixed = node.joined.empty() && unmixed(sets.probes) ? 1 : 0;
    return made;
  }

  // Whether all these lists lie in the base store and hold an id once.
  [[nodiscard]] bool unmixed(const std::vector<plan::Probe>& probes) const {
    return std::ranges::all_of(probes, [&](const plan::Probe& probe) {
      const graph::Resolved& where = resolved_[probe.query_relation];
      return where.store != nullptr && where.kind() == graph::StoreKind::base && !where.derived && !where.parallel;
    });
  }

  const graph::DataGraph& graph_;
  std::span<const graph::Resolved> resolved_;  // by query relation
  const match::QueryTask& task_;
  const plan::Plan& plan_;
  const match::AnchorProgram& program_;
  std::span<const SetUse> sets_;  // by node
  FlatPrograms& into_;
};

// Raises `needs` to what nodes need: those in the steps [first, first + count) at a depth, and those below.
void note_needs(const plan::Program& program, std::span<const SetUse> sets, std::uint32_t first, std::uint32_t count,
                std::size_t depth, std::vector<DepthNeeds>& needs) {
  for (std::uint32_t i = first; i < first + count; ++i) {
    const plan::Step& step = program.steps[i];
    if (step.kind != plan::Step::Kind::count && step.kind != plan::Step::Kind::loop) continue;
    const plan::Node& node = program.nodes[step.node];
    if (needs.size() <= depth) needs.resize(depth + 1);
    needs[depth].probes = std::max(needs[depth].probes, static_cast<std::uint32_t>(node.candidates.probes.size()));
    needs[depth].distinct = std::max(needs[depth].distinct, static_cast<std::uint32_t>(node.candidates.distinct.size()));
    needs[depth].joined = std::max(needs[depth].joined, static_cast<std::uint32_t>(node.joined.size()));
    const bool loops = step.kind == plan::Step::Kind::loop;
    needs[depth].loops = needs[depth].loops || loops;
    needs[depth].sums = needs[depth].sums || !loops || !step.tail;
    needs[depth].sets = needs[depth].sets || (sets[step.node].sets_read >> depth & 1U) != 0;
    if (loops) note_needs(program, sets, node.first_step, node.steps, depth + 1, needs);
  }
}

// Gathers the programs of a batch by pass, then task, then plan.
class Collector {
 public:
  Collector(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved, std::span<const match::PassWork> passes,
            std::span<const match::QueryTask> tasks, const match::Programs& programs, SetChoice& choice, FlatPrograms& into,
            Workers* workers, const KernelLimits& limits)
      : graph_(graph),
        resolved_(resolved),
        passes_(passes),
        tasks_(tasks),
        programs_(programs),
        choice_(choice),
        into_(into),
        workers_(workers),
        limits_(limits),
        first_plan_(tasks.size() + 1) {
    for (std::size_t t = 0; t < tasks.size(); ++t) first_plan_[t + 1] = first_plan_[t] + tasks[t].plans->plans.size();
    sets_.resize(first_plan_.back());
    for (FlatWork* work : {&into_.sums, &into_.walks}) work->needs.assign(1, {});
  }

  void run(std::vector<bool>& left_out) {
    share_out();
    left_out.assign(tasks_.size(), false);
    for (std::uint32_t t = 0; t < tasks_.size(); ++t) left_out[t] = !make_room(t);
    std::vector<Program> flat(first_plan_.back());
    std::vector<SplitSums> flat_tables(first_plan_.back());
    std::vector<bool> made(first_plan_.back());
    for (std::uint32_t p = 0; p < passes_.size(); ++p) {
      for (std::uint32_t t = 0; t < tasks_.size(); ++t) {
        if (left_out[t]) continue;
        if (!passes_[p].roots.empty()) add_rooted(p, t);
        for (std::uint32_t i = 0; i < tasks_[t].plans->plans.size(); ++i) {
          if (anchors_of(p, t, i) == 0) continue;
          const std::size_t index = first_plan_[t] + i;
          const plan::Plan& plan = tasks_[t].plans->plans[i];
          const match::AnchorProgram& program = programs_[t][i];
          const bool first = !made[index];
          made[index] = true;
          const auto pass = static_cast<std::uint8_t>(passes_[p].pass);
          if (program.tables) {
            SplitSums& own = flat_tables[index];
            if (first) own = flatten_sums(*program.tables, plan.closing, 0, into_.tables, into_.probes, into_.positions);
            std::vector<Anchor> anchors;
            append_anchors(p, t, i, anchors);
            add_anchors(graph_, anchors, own, pass, {p, t, i, true, false}, into_.tables, workers_);
            continue;
          }
          if (first) flat[index] = Flattener(graph_, resolved_, tasks_[t], plan, program, sets_[index], into_).run();
          FlatWork& work = work_of(program);
          flat[index].pass = pass;
          work.programs.push_back(flat[index]);
          work.origins.push_back({p, t, i, program.sums, tasks_[t].list});
          work.first_anchor.push_back(static_cast<std::uint32_t>(work.anchors.size()));
          append_anchors(p, t, i, work.anchors);
        }
      }
    }
    for (FlatWork* work : {&into_.sums, &into_.walks}) {
      work->first_anchor.push_back(static_cast<std::uint32_t>(work->anchors.size()));
    }
    order_items(into_.tables);
  }

 private:
  // A share of a pass's anchors, by plan. Joined, the shares are in the order of the anchors.
  using Share = std::vector<std::vector<Anchor>>;

  [[nodiscard]] std::size_t anchors_of(std::size_t pass, std::uint32_t task, std::uint32_t plan) const {
    std::size_t count = 0;
    for (const Share& share : shares_[pass]) count += share[first_plan_[task] + plan].size();
    return count;
  }
  void append_anchors(std::size_t pass, std::uint32_t task, std::uint32_t plan, std::vector<Anchor>& into) const {
    for (const Share& share : shares_[pass]) {
      const std::vector<Anchor>& own = share[first_plan_[task] + plan];
      into.insert(into.end(), own.begin(), own.end());
    }
  }
  [[nodiscard]] FlatWork& work_of(const match::AnchorProgram& program) { return program.sums ? into_.sums : into_.walks; }

  void add_rooted(std::uint32_t pass, std::uint32_t task) {
    const plan::RootedPlan& plan = *tasks_[task].plans->rooted;
    const SplitSums made = flatten_sums(plan.count, {}, plan.tables, into_.tables, into_.probes, into_.positions);
    add_roots(graph_, resolved_, tasks_[task], passes_[pass].roots, made, static_cast<std::uint8_t>(passes_[pass].pass),
              {pass, task, 0, true, false}, into_.tables, workers_);
  }

  // Finds the plans of each anchor.
  void share_out() {
    shares_.resize(passes_.size());
    for (std::size_t p = 0; p < passes_.size(); ++p) {
      const std::span<const graph::Edge> anchors = passes_[p].anchors;
      shares_[p].assign(anchors.size() / share_grain + 1, Share(first_plan_.back()));
      const auto share_out = [&](unsigned, std::size_t first, std::size_t last) {
        match::PlanIndex plan_index(graph_, tasks_, resolved_);
        for (std::size_t share = first; share < last; ++share) {
          for (const graph::Edge& edge :
               anchors.subspan(share * share_grain).first(std::min(share_grain, anchors.size() - share * share_grain))) {
            for (const match::PlanRef& plan : plan_index.of(edge)) {
              shares_[p][share][first_plan_[plan.task] + plan.plan].push_back({edge.tail, edge.head, edge.which});
            }
          }
        }
      };
      workers_ == nullptr ? share_out(0, 0, shares_[p].size()) : workers_->for_each(shares_[p].size(), 1, share_out);
    }
  }

  // Whether the kernel can run a task together with the earlier ones. If so, notes what it needs.
  bool make_room(std::uint32_t task) {
    const bool rooted = std::ranges::any_of(passes_, [](const match::PassWork& pass) { return !pass.roots.empty(); });
    if (!runs_on_kernels(tasks_[task], resolved_, rooted, limits_)) return false;
    const bool weighted = match::reads_parallels(*tasks_[task].query, resolved_);
    struct Wanted {
      FlatWork* work;
      bool sums;
      bool some = false;
      std::vector<DepthNeeds> needs;
    };
    Wanted wanted[] = {{&into_.sums, true, false, into_.sums.needs}, {&into_.walks, false, false, into_.walks.needs}};
    for (std::uint32_t i = 0; i < tasks_[task].plans->plans.size(); ++i) {
      bool concerned = false;
      for (std::size_t p = 0; p < passes_.size(); ++p) concerned = concerned || anchors_of(p, task, i) > 0;
      const match::AnchorProgram& program = programs_[task][i];
      if (!concerned || program.tables) continue;
      Wanted& kind = wanted[program.sums ? 0 : 1];
      kind.some = true;
      std::vector<SetUse>& sets = sets_[first_plan_[task] + i];
      sets = choice_.choose(program.program, graph_, resolved_);
      note_needs(program.program, sets, 0, program.program.root_steps, 1, kind.needs);
    }
    for (const Wanted& kind : wanted) {
      if (kind.some && !fits_frames(kind.needs, kind.sums, kind.work->weighted || weighted)) return false;
    }
    for (Wanted& kind : wanted) {
      if (!kind.some) continue;
      kind.work->needs = std::move(kind.needs);
      kind.work->weighted = kind.work->weighted || weighted;
    }
    return true;
  }

  const graph::DataGraph& graph_;
  std::span<const graph::Resolved> resolved_;
  std::span<const match::PassWork> passes_;
  std::span<const match::QueryTask> tasks_;
  const match::Programs& programs_;
  SetChoice& choice_;
  FlatPrograms& into_;
  Workers* workers_;
  KernelLimits limits_;
  std::vector<std::size_t> first_plan_;     // by task, then the end
  std::vector<std::vector<Share>> shares_;  // by pass
  std::vector<std::vector<SetUse>> sets_;   // by plan that has anchors, then by node
};

}  // namespace

void choose_tables(std::span<const match::QueryTask> tasks, std::span<const graph::Resolved> resolved, GpuTables tables,
                   match::Programs& programs) {
  if (tables == GpuTables::never) return;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    for (std::size_t i = 0; i < tasks[t].plans->plans.size(); ++i) {
      const plan::Plan& plan = tasks[t].plans->plans[i];
      match::AnchorProgram& program = programs[t][i];
      // The rare condition is checked first, because binding a prefix copies the plan. Binding does not change the answer.
      if (!program.sums || (tables == GpuTables::automatic && !meets_in_the_middle(plan.count))) continue;
      plan::CountPlan bound = bind_prefix(plan);
      if (fits_tables(bound, plan.closing, resolved)) program.tables = std::move(bound);
    }
  }
}

void flatten(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved, std::span<const match::PassWork> passes,
             std::span<const match::QueryTask> tasks, const match::Programs& programs, SetChoice& choice, FlatPrograms& into,
             std::vector<bool>& left_out, Workers* workers, const KernelLimits& limits) {
  // A whole graph has millions of anchors, in one call after the other. So their memory is kept.
  std::vector<Anchor> sums = std::move(into.sums.anchors);
  std::vector<Anchor> walks = std::move(into.walks.anchors);
  into = {};
  sums.clear();
  walks.clear();
  into.sums.anchors = std::move(sums);
  into.walks.anchors = std::move(walks);
  Collector(graph, resolved, passes, tasks, programs, choice, into, workers, limits).run(left_out);
}

std::vector<Chunk> make_chunks(const FlatWork& work, std::uint32_t warps, std::uint32_t share, std::uint32_t shares) {
  const auto total = static_cast<std::uint32_t>(work.anchors.size());
  // Makes several chunks for each warp, so that no warp is busy long after the others.
  const std::uint32_t size = std::clamp(total / std::max(1U, shares * warps * 4), 1U, max_chunk);
  std::vector<Chunk> chunks;
  std::uint32_t number = 0;
  for (std::uint32_t p = 0; p < work.programs.size(); ++p) {
    if (work.made_of(p) != nullptr) continue;
    for (std::uint32_t at = work.first_anchor[p]; at < work.first_anchor[p + 1]; at += size) {
      if (number++ % shares != share) continue;
      chunks.push_back({p, at, std::min(size, work.first_anchor[p + 1] - at)});
    }
  }
  return chunks;
}

}  // namespace deltamatch::gpu

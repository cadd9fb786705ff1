#include "estimate/level_walks.hpp"

#include <algorithm>

#include "estimate/counter_random.hpp"
#include "match/plan_index.hpp"

namespace deltamatch::estimate {

namespace {

// The most anchors of a pass from which walks start.
constexpr std::size_t most_anchors = 4096;
constexpr std::uint64_t seed = 1;

struct Start {
  std::uint32_t pass;
  const graph::Edge* anchor;
};

class LevelDraws final : public match::Chooser {
 public:
  LevelDraws(Random& random, std::vector<LevelFigures>& figures) noexcept : random_(&random), figures_(&figures) {}
  void restart() noexcept { weight_ = 1; }
  std::size_t below(std::size_t n) override { return random_->below(n); }
  void arrived(std::size_t level, std::size_t candidates) override {
    LevelFigures& here = (*figures_)[level];
    ++here.walks;
    here.partial_matches += weight_;
    weight_ *= static_cast<double>(candidates);
    here.candidates += weight_;
  }

 private:
  Random* random_;
  std::vector<LevelFigures>* figures_;
  double weight_ = 1;
};

// The anchors from which the walks of each plan start. Plans that begin with the same arc have the same anchors.
class Starts {
 public:
  Starts(const graph::DataGraph& graph, std::span<const match::PassWork> passes, const match::QueryTask& task,
         std::span<const graph::Resolved> resolved) {
    plan::QueryPlans first;  // one plan per arc
    for (const plan::Plan& plan : task.plans->plans) {
      auto at = std::ranges::find(first.plans, plan.anchor, &plan::Plan::anchor);
      if (at == first.plans.end()) at = first.plans.insert(at, plan);
      arc_.push_back(static_cast<std::size_t>(at - first.plans.begin()));
    }
    by_arc_.resize(first.plans.size());
    const match::QueryTask firsts{task.query, &first, task.list};
    match::PlanIndex plan_index(graph, {&firsts, 1}, resolved);
    for (std::uint32_t p = 0; p < passes.size(); ++p) {
      const std::span<const graph::Edge> anchors = passes[p].anchors;
      const std::size_t count = std::min(anchors.size(), most_anchors);
      for (std::size_t i = 0; i < count; ++i) {
        const graph::Edge& anchor = anchors[i * anchors.size() / count];
        for (const match::PlanRef& plan : plan_index.of(anchor)) by_arc_[plan.plan].push_back({p, &anchor});
      }
    }
  }
  [[nodiscard]] const std::vector<Start>& of(std::size_t plan) const { return by_arc_[arc_[plan]]; }

 private:
  std::vector<std::size_t> arc_;  // by plan
  std::vector<std::vector<Start>> by_arc_;
};

}  // namespace

std::vector<std::vector<LevelFigures>> walk_levels(const graph::DataGraph& graph, std::span<const match::PassWork> passes,
                                                   const match::QueryTask& task, std::size_t walks, const StopFlag* stop) {
  const std::vector<graph::Resolved> resolved = graph.resolved();
  const Starts all(graph, passes, task, resolved);
  std::vector<std::vector<LevelFigures>> found(task.plans->plans.size());
  match::Scratch scratch;
  for (std::size_t plan = 0; plan < found.size(); ++plan) {
    found[plan].resize(task.plans->plans[plan].levels.size());
    const std::vector<Start>& starts = all.of(plan);
    if (starts.empty()) continue;
    for (std::uint32_t pass = 0; pass < passes.size(); ++pass) {
      match::Partial partial(match::Lists(graph.base(), resolved, graph.directed(), passes[pass].pass), scratch);
      match::Enumerator enumerator(partial, *task.query, false, nullptr);
      Random choose(seed, plan, 0);  // each pass draws the same starts and uses only its own
      Random random(seed, plan, pass + 1);
      LevelDraws draws(random, found[plan]);
      for (std::size_t i = 0; i < walks; ++i) {
        throw_if_stopped(stop);
        const Start& start = starts[choose.below(starts.size())];
        if (start.pass != pass) continue;
        partial.begin(task.plans->plans[plan], *start.anchor);
        draws.restart();
        static_cast<void>(enumerator.walk_vertices(draws));
      }
    }
  }
  return found;
}

}  // namespace deltamatch::estimate

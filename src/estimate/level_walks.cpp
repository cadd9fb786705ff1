#include "estimate/level_walks.hpp"

#include <algorithm>

#include "estimate/random.hpp"
#include "match/concern.hpp"

namespace deltamatch::estimate {

namespace {

// Anchors of a pass that walks start from.
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

std::vector<std::vector<Start>> starts_of(const graph::DataGraph& graph, std::span<const match::PassWork> passes,
                                          const match::QueryTask& task, std::span<const graph::Resolved> resolved) {
  std::vector<std::vector<Start>> starts(task.plans->plans.size());
  match::Concern concern(graph, {&task, 1}, resolved);
  for (std::uint32_t p = 0; p < passes.size(); ++p) {
    const std::span<const graph::Edge> anchors = passes[p].anchors;
    const std::size_t count = std::min(anchors.size(), most_anchors);
    for (std::size_t i = 0; i < count; ++i) {
      const graph::Edge& anchor = anchors[i * anchors.size() / count];
      for (const match::PlanRef& plan : concern.of(anchor)) starts[plan.plan].push_back({p, &anchor});
    }
  }
  return starts;
}

}  // namespace

std::vector<std::vector<LevelFigures>> walk_levels(const graph::DataGraph& graph, std::span<const match::PassWork> passes,
                                                   const match::QueryTask& task, std::size_t walks) {
  const std::vector<graph::Resolved> resolved = graph.resolved();
  const auto starts = starts_of(graph, passes, task, resolved);
  std::vector<std::vector<LevelFigures>> found(starts.size());
  match::Scratch scratch;
  for (std::size_t plan = 0; plan < starts.size(); ++plan) {
    found[plan].resize(task.plans->plans[plan].levels.size());
    if (starts[plan].empty()) continue;
    for (std::uint32_t pass = 0; pass < passes.size(); ++pass) {
      match::Partial partial(match::Lists(graph.base(), resolved, graph.directed(), passes[pass].pass), scratch);
      match::Enumerator enumerator(partial, *task.query, false, nullptr);
      Random choose(seed, plan, 0);  // the same starts for each pass, which takes its own of them
      Random random(seed, plan, pass + 1);
      LevelDraws draws(random, found[plan]);
      for (std::size_t i = 0; i < walks; ++i) {
        const Start& start = starts[plan][choose.below(starts[plan].size())];
        if (start.pass != pass) continue;
        partial.begin(task.plans->plans[plan], *start.anchor);
        draws.restart();
        static_cast<void>(enumerator.walk(draws));
      }
    }
  }
  return found;
}

}  // namespace deltamatch::estimate

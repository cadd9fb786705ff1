#include "estimate/sampler.hpp"

#include "estimate/counter_random.hpp"
#include "match/plan_index.hpp"

namespace deltamatch::estimate {

namespace {

// Walks between two checks of whether to stop.
constexpr std::uint64_t unwatched = 64;

class RandomChooser final : public match::Chooser {
 public:
  explicit RandomChooser(Random& random) noexcept : random_(&random) {}
  std::size_t below(std::size_t n) override { return random_->below(n); }

 private:
  Random* random_;
};

}  // namespace

Sampler::Sampler(const graph::DataGraph& graph, const match::QueryTask& task, Workers& workers, std::size_t replicates,
                 const match::StopFlag& stop)
    : graph_(&graph),
      task_(&task),
      workers_(&workers),
      stop_(&stop),
      resolved_(graph.resolved()),
      scratch_(workers.size()),
      sums_(replicates) {
  match::PlanIndex plan_index(graph, {task_, 1}, resolved_);
  for (VertexId v = 0; v < graph.dictionary.capacity() && !stop.load(); ++v) {
    graph.for_each_edge(v, false, [&](const graph::Edge& edge, Timestamp) {
      for (const match::PlanRef& plan : plan_index.of(edge)) pieces_.push_back({edge, plan.plan});
    });
  }
}

bool Sampler::round(std::uint64_t walks, std::uint64_t seed, std::uint64_t number) {
  std::vector<Sum> found(sums_.size());
  workers_->for_each(sums_.size(), 1, [&](unsigned worker, std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) found[r] = walk(walks, seed, number, r, scratch_[worker]);
  });
  if (stop_->load()) return false;
  for (std::size_t r = 0; r < sums_.size(); ++r) {
    sums_[r] += found[r].weight;
    hits_ += found[r].hits;
  }
  walks_ += walks;
  return true;
}

Sampler::Sum Sampler::walk(std::uint64_t walks, std::uint64_t seed, std::uint64_t number, std::size_t replicate,
                           match::Scratch& scratch) const {
  Random random(seed, number, replicate);
  RandomChooser draws(random);
  match::Partial partial(match::Lists(graph_->base(), resolved_, graph_->directed(), match::Pass::whole), scratch);
  match::Enumerator enumerator(partial, *task_->query, false, nullptr);
  Sum sum;
  for (std::uint64_t i = 0; i < walks; ++i) {
    if (i % unwatched == 0 && stop_->load(std::memory_order_relaxed)) break;
    const Piece& piece = pieces_[draws.below(pieces_.size())];
    partial.begin(task_->plans->plans[piece.plan], piece.anchor);
    const double weight = enumerator.walk(draws);
    sum.weight += weight;
    sum.hits += weight > 0 ? 1 : 0;
  }
  return sum;
}

std::vector<double> Sampler::means() const {
  std::vector<double> means;
  means.reserve(sums_.size());
  for (const double sum : sums_) {
    means.push_back(sum * static_cast<double>(pieces_.size()) / static_cast<double>(walks_));
  }
  return means;
}

}  // namespace deltamatch::estimate

// A backend around another one. Its launches take long, so that a filter begins late on any machine.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

#include "match/backend.hpp"
#include "unit/engine/idle_backend.hpp"

namespace deltamatch::test {

/// For one match of a whole graph.
struct Patience {
  unsigned opened = 0;
  bool waits = false;             ///< the second launch on the graph's own lists lasts until it is told to stop
  unsigned on_graph = 0;          ///< launches that read the graph's own lists
  unsigned among_candidates = 0;  ///< launches that read lists of candidates
  std::uint64_t kept = 0;         ///< anchors that were done when the second launch began
};

class PatientMatcher final : public match::Matcher {
 public:
  /// `least_appetite` is a device's, if the matcher within has none. `no_roots_on_graph`: roots are taken among candidates
  /// only.
  PatientMatcher(std::unique_ptr<match::Matcher> within, Patience& patience, std::size_t least_appetite, bool no_roots_on_graph)
      : within_(std::move(within)),
        patience_(&patience),
        least_appetite_(least_appetite),
        no_roots_on_graph_(no_roots_on_graph) {}

  void open(const graph::DataGraph& graph) override {
    ++patience_->opened;
    within_->open(graph);
  }
  void match(const graph::DataGraph& graph, std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks,
             std::span<match::QueryResult> results, const match::StopFlag* stop, match::MatchSteps& steps) override {
    if (graph.lent() != nullptr) {
      ++patience_->among_candidates;
    } else if (++patience_->on_graph == 2) {
      for (const match::PlanResult& plan : results[0].plans) patience_->kept += plan.anchors;
      if (patience_->waits) wait(*stop);
    }
    within_->match(graph, passes, tasks, results, stop, steps);
  }

  [[nodiscard]] filter::CandidateSteps* candidate_steps() override { return within_->candidate_steps(); }
  [[nodiscard]] bool takes_whole(MatchMode mode, bool induced) const noexcept override {
    return within_->takes_whole(mode, induced);
  }
  [[nodiscard]] bool takes_root(const plan::RootedPlan& plan,
                                std::span<const graph::Resolved> resolved) const noexcept override {
    const bool among_candidates = std::ranges::any_of(resolved, &graph::Resolved::lent);
    return (among_candidates || !no_roots_on_graph_) && within_->takes_root(plan, resolved);
  }
  [[nodiscard]] std::size_t preferred_anchors() const noexcept override {
    return std::max(within_->preferred_anchors(), least_appetite_);
  }
  [[nodiscard]] std::size_t bytes() const noexcept override { return within_->bytes(); }
  [[nodiscard]] BackendStatistics statistics() const override { return within_->statistics(); }

 private:
  static void wait(const match::StopFlag& stop) {
    // Far longer than any filter waits. A fault should make a test fail, not hang.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!stop.load() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  std::unique_ptr<match::Matcher> within_;
  Patience* patience_;
  std::size_t least_appetite_;
  bool no_roots_on_graph_;
};

/// For one engine. The matchers of `within` match; null: the CPU does.
class PatientBackend final : public IdleBackend {
 public:
  explicit PatientBackend(std::shared_ptr<Backend> within = nullptr, std::size_t least_appetite = 1)
      : within_(std::move(within)), least_appetite_(least_appetite) {}
  [[nodiscard]] BackendCapabilities capabilities() const noexcept override {
    return within_ ? within_->capabilities() : IdleBackend::capabilities();
  }
  graph::SlabAllocator& slabs() noexcept override { return within_ ? within_->slabs() : graph::heap_slabs(); }
  std::unique_ptr<match::Matcher> make_matcher(Workers& workers) override {
    return std::make_unique<PatientMatcher>(within_ ? within_->make_matcher(workers) : match::make_cpu_matcher(workers),
                                            patience, least_appetite_, no_roots_on_graph);
  }
  Patience patience;
  bool no_roots_on_graph = false;  ///< set it before an engine is made

 private:
  std::shared_ptr<Backend> within_;
  std::size_t least_appetite_;
};

}  // namespace deltamatch::test

// Backends that need no device keep what every backend promises. The line of each is all that the suite needs.
#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "match/backend.hpp"
#include "unit/engine/backend_conformance.hpp"

namespace deltamatch::test {
namespace {

/// Matches batches on CPU cores, and nothing else. It keeps its copies of lists on a tape, but the tape is always empty.
class TapeMatcher final : public match::Matcher {
 public:
  explicit TapeMatcher(Workers& workers) : cpu_(match::make_cpu_matcher(workers)) {}

  void match(const graph::DataGraph& graph, std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks,
             std::span<match::QueryResult> results, const match::StopFlag* stop, match::MatchSteps& steps) override {
    for (const match::PassWork& pass : passes) {
      EXPECT_NE(pass.pass, match::Pass::whole) << "it said that it takes none";
      misses_ += pass.anchors.size();
    }
    cpu_->match(graph, passes, tasks, results, stop, steps);
  }
  [[nodiscard]] bool separates_tasks() const noexcept override { return cpu_->separates_tasks(); }
  [[nodiscard]] std::size_t bytes() const noexcept override { return cpu_->bytes(); }
  [[nodiscard]] BackendStatistics statistics() const override {
    using Kind = BackendMetric::Kind;
    BackendStatistics made;
    for (const std::string_view name : {backend_metrics::hits, backend_metrics::copied_bytes}) {
      made.metrics.push_back({std::string(name), std::uint64_t{0}, Kind::counter, "Always 0."});
    }
    for (const std::string_view name : {backend_metrics::cached_lists, backend_metrics::cached_bytes}) {
      made.metrics.push_back({std::string(name), std::uint64_t{0}, Kind::gauge, "Always 0."});
    }
    made.metrics.push_back(
        {std::string(backend_metrics::misses), misses_, Kind::counter, "Anchors, whose lists are on no tape."});
    return made;
  }

 private:
  std::unique_ptr<match::Matcher> cpu_;
  std::uint64_t misses_ = 0;
};

class TapeBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "tape"; }
  [[nodiscard]] BackendCapabilities capabilities() const noexcept override {
    return {.own_memory = true, .frees_cores = true, .whole_graph = false, .devices = 1};
  }
  [[nodiscard]] graph::SlabAllocator& slabs() noexcept override { return graph::heap_slabs(); }
  [[nodiscard]] std::unique_ptr<match::Matcher> make_matcher(Workers& workers) override {
    return std::make_unique<TapeMatcher>(workers);
  }
};

DELTAMATCH_CONFORMS(Cpu, make_cpu_backend);
DELTAMATCH_CONFORMS(Tape, [] { return std::make_shared<TapeBackend>(); });

}  // namespace
}  // namespace deltamatch::test

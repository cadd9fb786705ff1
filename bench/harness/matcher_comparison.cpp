#include "matcher_comparison.hpp"
#include "base/seconds.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "base/seconds.hpp"

namespace deltamatch::bench {

namespace {

using Clock = std::chrono::steady_clock;

// Raises the flag after a time, unless it is destroyed before.
class Alarm {
 public:
  Alarm(std::chrono::duration<double> after, match::StopFlag& flag)
      : watcher_([this, after, &flag](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          if (!wake_.wait_for(lock, stop, after, [&] { return stop.stop_requested(); })) flag.store(true);
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread watcher_;
};

}  // namespace

class MatcherComparison::All final : public match::Matcher {
 public:
  All(MatcherComparison& comparison, Workers& workers) : comparison_(&comparison) {
    for (const ComparedMatcher& matcher : comparison.matchers_) matchers_.push_back(matcher.make(workers));
  }

  void match(const graph::DataGraph& graph, std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks,
             std::span<match::QueryResult> results, const match::StopFlag*, match::MatchSteps& steps) override {
    comparison_->runs_.assign(matchers_.size(), {});
    // The first one finds the batch's lists cold, so they take turns at being first.
    const std::size_t first = batches_++;
    for (std::size_t i = 0; i < matchers_.size(); ++i) {
      const std::size_t at = (first + i) % matchers_.size();
      if (comparison_->present_[at]) run(at, graph, passes, tasks, results, steps);
    }
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    std::size_t sum = 0;
    for (const auto& matcher : matchers_) sum += matcher->bytes();
    return sum;
  }

 private:
  void run(std::size_t at, const graph::DataGraph& graph, std::span<const match::PassWork> passes,
           std::span<const match::QueryTask> tasks, std::span<match::QueryResult> results, match::MatchSteps& steps) {
    MatcherRun& run = comparison_->runs_[at];
    std::vector<match::QueryResult> own(results.size());
    for (std::size_t i = 0; i < results.size(); ++i) own[i].plans.resize(results[i].plans.size());
    match::MatchSteps other;
    match::StopFlag stop{false};
    const auto start = Clock::now();
    try {
      const Alarm alarm(comparison_->patience_, stop);
      matchers_[at]->match(graph, passes, tasks, own, &stop, other);
    } catch (const std::exception& error) {
      run.error = error.what();
      return;
    }
    const double seconds = seconds_since(start);
    run.estimate = other.estimate;
    run.cache = other.cache;
    run.match = seconds - other.estimate - other.cache;
    run.statistics = matchers_[at]->statistics();
    run.complete = !stop.load();
    steps.estimate += other.estimate;
    steps.cache += other.cache;
    if (!run.complete) return;
    for (std::size_t i = 0; i < own.size(); ++i) run.counts.push_back(match::total(tasks[i % tasks.size()], own[i].plans));
    if (comparison_->matchers_[at].corrupt) ++run.counts.front();
    for (std::size_t i = 0; i < results.size(); ++i) results[i] = std::move(own[i]);
  }

  MatcherComparison* comparison_;
  std::vector<std::unique_ptr<match::Matcher>> matchers_;
  std::size_t batches_ = 0;
};

MatcherComparison::MatcherComparison(graph::SlabAllocator& slabs, std::vector<ComparedMatcher> matchers,
                                     std::chrono::duration<double> patience)
    : slabs_(&slabs), matchers_(std::move(matchers)), patience_(patience), present_(matchers_.size(), true) {}

std::unique_ptr<match::Matcher> MatcherComparison::make_matcher(Workers& workers) {
  return std::make_unique<All>(*this, workers);
}

bool KnownCounts::agrees(const std::string& batch, const std::vector<Count>& counts) {
  Known& known = known_.try_emplace(batch, Known{counts}).first->second;
  ++known.counted_by;
  return known.counts == counts;
}

}  // namespace deltamatch::bench

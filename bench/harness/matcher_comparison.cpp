#include "contest.hpp"
#include "base/seconds.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

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

class Contest::All final : public match::Matcher {
 public:
  All(Contest& contest, Workers& workers) : contest_(&contest) {
    for (const Contestant& contestant : contest.contestants_) matchers_.push_back(contestant.make(workers));
  }

  void match(const graph::DataGraph& graph, std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks,
             std::span<match::QueryResult> results, const match::StopFlag*, match::MatchSteps& steps) override {
    contest_->heats_.assign(matchers_.size(), {});
    // The first one finds the batch's lists cold, so they take turns at being first.
    const std::size_t first = batches_++;
    for (std::size_t i = 0; i < matchers_.size(); ++i) {
      const std::size_t at = (first + i) % matchers_.size();
      if (contest_->present_[at]) run(at, graph, passes, tasks, results, steps);
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
    Heat& heat = contest_->heats_[at];
    std::vector<match::QueryResult> own(results.size());
    for (std::size_t i = 0; i < results.size(); ++i) own[i].plans.resize(results[i].plans.size());
    match::MatchSteps other;
    match::StopFlag stop{false};
    const auto start = Clock::now();
    try {
      const Alarm alarm(contest_->patience_, stop);
      matchers_[at]->match(graph, passes, tasks, own, &stop, other);
    } catch (const std::exception& error) {
      heat.error = error.what();
      return;
    }
    const double seconds = seconds_since(start);
    heat.estimate = other.estimate;
    heat.cache = other.cache;
    heat.match = seconds - other.estimate - other.cache;
    heat.statistics = matchers_[at]->statistics();
    heat.complete = !stop.load();
    steps.estimate += other.estimate;
    steps.cache += other.cache;
    if (!heat.complete) return;
    for (std::size_t i = 0; i < own.size(); ++i) heat.counts.push_back(match::total(tasks[i % tasks.size()], own[i].plans));
    if (contest_->contestants_[at].corrupt) ++heat.counts.front();
    for (std::size_t i = 0; i < results.size(); ++i) results[i] = std::move(own[i]);
  }

  Contest* contest_;
  std::vector<std::unique_ptr<match::Matcher>> matchers_;
  std::size_t batches_ = 0;
};

Contest::Contest(graph::SlabAllocator& slabs, std::vector<Contestant> contestants, std::chrono::duration<double> patience)
    : slabs_(&slabs), contestants_(std::move(contestants)), patience_(patience), present_(contestants_.size(), true) {}

std::unique_ptr<match::Matcher> Contest::make_matcher(Workers& workers) { return std::make_unique<All>(*this, workers); }

bool Ledger::agrees(const std::string& batch, const std::vector<Count>& counts) {
  Known& known = known_.try_emplace(batch, Known{counts}).first->second;
  ++known.counted_by;
  return known.counts == counts;
}

}  // namespace deltamatch::bench

#include "gpu/record_collector.hpp"

#include <utility>

namespace deltamatch::gpu {

namespace {

// With this many full portions per worker, they are handed over before the round ends.
constexpr std::size_t most_waiting = 2;

}  // namespace

void RecordCollector::add(const ProgramOrigin& origin, std::span<const std::uint32_t> words) {
  const match::QueryTask& task = tasks_[origin.task];
  match::Records& records = results_[origin.pass * tasks_.size() + origin.task].records;
  const bool enough = task.beyond_limit != nullptr && records.plans.size() > task.limit;
  if (enough) return;  // until the kernels stop, many times the limit may arrive
  records.words.insert(records.words.end(), words.begin(), words.end());
  records.plans.insert(records.plans.end(), words.size() / (task.query->vertices() + task.query->edges.size()), origin.plan);
  if (task.beyond_limit != nullptr && records.plans.size() > task.limit) {
    task.beyond_limit->store(true, std::memory_order_relaxed);
  } else if (task.taker != nullptr && records.plans.size() >= match::taker_portion) {
    match::Records empty;
    if (!spare_.empty()) {
      empty = std::move(spare_.back());
      spare_.pop_back();
    }
    full_.push_back({task.taker, passes_[origin.pass].pass, std::exchange(records, std::move(empty))});
    if (full_.size() >= most_waiting * workers_->size()) run();
  }
}

void RecordCollector::run() {
  workers_->for_each(full_.size(), 1, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) full_[i].taker->take(full_[i].records, full_[i].pass);
  });
  for (Portion& portion : full_) {
    portion.records.clear();
    spare_.push_back(std::move(portion.records));
  }
  full_.clear();
}

}  // namespace deltamatch::gpu

// Records the matches that a walk finds, on their way to the results of its thread.
#pragma once

#include <cstdint>

#include "match/enumerator.hpp"
#include "match/matcher.hpp"

namespace deltamatch::match {

/// Keeps matches as records. Hands them over once there are many. For one thread.
class Recorder final : public FoundSink {
 public:
  /// Begins to record. The arguments must stay valid while matches are found.
  void open(Records& records, std::uint32_t plan, const QueryTask& task, Pass pass) noexcept {
    records_ = &records;
    plan_ = plan;
    task_ = &task;
    pass_ = pass;
  }
  void found(const Found& match) override {
    records_->plans.push_back(plan_);
    records_->words.insert(records_->words.end(), match.vertices.begin(), match.vertices.end());
    records_->words.insert(records_->words.end(), match.tags.begin(), match.tags.end());
    if (task_->beyond_limit != nullptr && records_->plans.size() > task_->limit) {
      task_->beyond_limit->store(true, std::memory_order_relaxed);
    } else if (task_->taker != nullptr && records_->plans.size() >= taker_portion) {
      task_->taker->take(*records_, pass_);
      records_->clear();
    }
  }

 private:
  Records* records_ = nullptr;
  std::uint32_t plan_ = 0;
  const QueryTask* task_ = nullptr;
  Pass pass_ = Pass::whole;
};

}  // namespace deltamatch::match

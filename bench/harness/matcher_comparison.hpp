// Compares matchers on one engine. Each batch is matched by all of them, one after the other, on the same graph and the same
// staged updates. Their counts are compared and their times taken.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/parallel.hpp"
#include "deltamatch/count.hpp"
#include "deltamatch/engine.hpp"
#include "match/backend.hpp"

namespace deltamatch::bench {

/// What one contestant did with one batch.
struct MatcherRun {
  double estimate = 0;
  double cache = 0;
  double match = 0;
  BackendStatistics statistics;  ///< since the matcher was made
  std::vector<Count> counts;     ///< of matches that vanished, by query; then of those that appeared
  bool complete = true;          ///< false: it ran out of time, so its counts mean nothing
  std::string error;             ///< why it failed
};

/// A matcher of a contest. `corrupt` adds one to its first count, to see that the comparison notices it.
struct ComparedMatcher {
  std::string name;
  std::function<std::unique_ptr<match::Matcher>(Workers&)> make;
  bool corrupt = false;
};

/// The backend of the engine on which the contest takes place.
class MatcherComparison final : public Backend {
 public:
  /// `slabs` must be readable by all contestants and outlive the contest. A contestant that takes longer than `patience` for a
  /// batch is stopped.
  MatcherComparison(graph::SlabAllocator& slabs, std::vector<ComparedMatcher> matchers, std::chrono::duration<double> patience);

  [[nodiscard]] std::string_view name() const noexcept override { return "contest"; }
  [[nodiscard]] BackendCapabilities capabilities() const noexcept override { return {.own_memory = true, .frees_cores = true}; }
  [[nodiscard]] graph::SlabAllocator& slabs() noexcept override { return *slabs_; }
  [[nodiscard]] std::unique_ptr<match::Matcher> make_matcher(Workers& workers) override;

  /// Sets the contestants of the next batches.
  void admit(std::vector<bool> present) { present_ = std::move(present); }
  /// Results of the last batch, by contestant. Those that were absent have no counts.
  [[nodiscard]] const std::vector<MatcherRun>& runs() const noexcept { return runs_; }

 private:
  class All;

  graph::SlabAllocator* slabs_;
  std::vector<ComparedMatcher> matchers_;
  std::chrono::duration<double> patience_;
  std::vector<bool> present_;
  std::vector<MatcherRun> runs_;
};

/// The counts that were seen first for each batch. Later counts are compared with them.
class KnownCounts {
 public:
  /// False if other counts are known.
  bool agrees(const std::string& batch, const std::vector<Count>& counts);
  [[nodiscard]] const std::vector<Count>& known(const std::string& batch) const { return known_.at(batch).counts; }
  /// Whether more than one contestant has counted the batch.
  [[nodiscard]] bool compared(const std::string& batch) const { return known_.at(batch).counted_by > 1; }

 private:
  struct Known {
    std::vector<Count> counts;
    unsigned counted_by = 0;
  };
  std::map<std::string, Known> known_;
};

}  // namespace deltamatch::bench

// Passes records from device pages to those who take them. Internal to gpu.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "gpu/program/flat_programs.hpp"
#include "match/matcher.hpp"

namespace deltamatch::gpu {

/// Collects records in portions, and lets all workers hand over full portions side by side.
///
/// One thread empties the pages, and taking records is slower than that, so full portions wait for the workers. Meanwhile pages
/// fill up, then warps wait, so more is ready for the next round.
class RecordCollector {
 public:
  /// All spans are by pass and task, and outlive this object. Nobody else uses the workers.
  RecordCollector(Workers& workers, std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks,
                  std::span<match::QueryResult> results)
      : workers_(&workers), passes_(passes), tasks_(tasks), results_(results) {}

  /// Adds records of one plan, given as the words of its matches. What takers throw is thrown here or by `run`.
  void add(const ProgramOrigin& origin, std::span<const std::uint32_t> words);
  /// Hands over full portions. The rest stays in the results.
  void run();

 private:
  struct Portion {
    match::RecordTaker* taker;
    match::Pass pass;
    match::Records records;
  };

  Workers* workers_;
  std::span<const match::PassWork> passes_;
  std::span<const match::QueryTask> tasks_;
  std::span<match::QueryResult> results_;
  std::vector<Portion> full_;
  std::vector<match::Records> spare_;  // empty records with capacity
};

}  // namespace deltamatch::gpu

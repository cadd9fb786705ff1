// Records from the pages of devices on their way to those who take them. Internal to gpu.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "gpu/program/flat_programs.hpp"
#include "match/matcher.hpp"

namespace deltamatch::gpu {

/// One thread empties pages, and what takers do with records takes longer than that: so full portions wait until all workers
/// hand them over side by side. While they do, pages fill up and then warps wait, so that more is ready the next time.
class Handover {
 public:
  /// By pass and task; all of it outlives this. The workers are used by nobody else.
  Handover(Workers& workers, std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks,
           std::span<match::QueryResult> results)
      : workers_(&workers), passes_(passes), tasks_(tasks), results_(results) {}

  /// Records of one plan, by the words of their matches. What takers throw is thrown here or by `run`.
  void add(const ProgramOrigin& origin, std::span<const std::uint32_t> words);
  /// Hands over what is full. What is not stays in the results.
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
  std::vector<match::Records> spare_;  // empty ones with room
};

}  // namespace deltamatch::gpu

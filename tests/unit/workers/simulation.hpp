// Several workers and a broker in memory, driven by a seeded scheduler: one small step of somebody at a time, and faults
// between any two. What is committed is compared with what each part must hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "ingest/service/workers/assignment.hpp"
#include "ingest/service/workers/leader_protocol.hpp"
#include "ingest/service/workers/worker_protocol.hpp"
#include "unit/workers/broker.hpp"

namespace deltamatch::ingest::workers {

struct Setting {
  std::size_t workers = 3;
  std::uint32_t slots = 3;
  std::uint64_t records = 12;  ///< of the input
  std::size_t steps = 1200;    ///< with faults; then everything goes on without, to its end
  std::size_t alert_partitions = 2;
  unsigned faults = 20;  ///< how many steps in a thousand are faults
};

/// What a run found. `fault` is empty if all is well.
struct Outcome {
  std::string fault;
  std::vector<std::string> trace;  ///< the last steps, the newest last
  std::size_t steps = 0;
  std::uint64_t cuts = 0;
  std::size_t moves = 0, take_overs = 0, restarts = 0, fenced = 0, lost_answers = 0, digests = 0, elections = 0;
};

/// Runs one schedule. Equal arguments give equal runs.
[[nodiscard]] Outcome simulate(const Setting& setting, std::uint64_t seed);

}  // namespace deltamatch::ingest::workers

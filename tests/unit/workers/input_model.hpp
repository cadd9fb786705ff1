// What the simulated workers read and find: an input whose records lead to alerts, and a graph that is no more than a hash.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "deltamatch/digest.hpp"
#include "ingest/service/workers/slot_map.hpp"
#include "unit/workers/broker.hpp"

namespace deltamatch::ingest::workers {

inline const TopicPartition input_partition{.topic = "input", .partition = 0};

/// What stands for a graph: where its input ends, and a hash of where its batches ended.
struct Graph {
  std::uint64_t batch = 0;
  std::uint64_t end = 0;
  std::uint64_t hash = 0;
  bool diverged = false;

  /// The next batch, as its mark cuts it.
  void take(const CommitPoint& mark);
  [[nodiscard]] RunningDigest digest() const;
};

/// The candidates for alerts that the records of (begin, end] lead to, of one slot. Odd records make a match appear, and the
/// record behind it makes it vanish. Each third record is found by a query with ALERT ONCE, too, and has one of two bindings.
/// Slots follow from record and binding, so the ends of a match lie in different ones.
[[nodiscard]] std::vector<Alert> part_of(std::uint64_t begin, std::uint64_t end, Slot slot, std::uint32_t slots);

/// The alerts of a part that are published, once ALERT ONCE has left its repetitions out. `known` are the bindings so far.
[[nodiscard]] std::vector<Alert> published_of(const std::vector<Alert>& part, std::set<std::uint64_t>& known);

}  // namespace deltamatch::ingest::workers

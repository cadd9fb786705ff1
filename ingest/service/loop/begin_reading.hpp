// Where a new reader of the input begins.
#pragma once

#include <stop_token>
#include <vector>

#include "ingest/service/kafka/input.hpp"
#include "ingest/service/loop/topic_waits.hpp"
#include "ingest/service/state/commit_point.hpp"

namespace deltamatch::ingest {

struct BeginReading {
  std::vector<kafka::InputPartition> partitions;
  Offsets from;        ///< of each partition, also of those that are gone
  bool fresh = false;  ///< the mark does not name all of them, so a batch must do so before they are read
};

/// Finds the partitions of the input, and where to go on after the batch of this mark. If one that was read before is missing,
/// tries again for a while, because brokers that have just started may not report all. Partitions that the mark does not name
/// begin as Input::first_offsets says. If the application goes on, they begin at their first record: they were made meanwhile.
/// Throws Error if a topic is gone, Unreachable.
[[nodiscard]] BeginReading begin_reading(kafka::Input& input, const CommitPoint& last, TopicWaits& topics,
                                         const std::stop_token& stop, bool goes_on = false);

}  // namespace deltamatch::ingest

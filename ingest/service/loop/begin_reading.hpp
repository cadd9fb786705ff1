// Where a new reader of the input begins.
#pragma once

#include <stop_token>
#include <string_view>
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
/// tries again for a while, because brokers that have just started may not report all.
///
/// `reading`: how the input is read from now on (reading_fingerprint). If the batch was read so, too, partitions that its mark
/// does not name were made since. They begin at their first record. Otherwise they begin as Input::first_offsets says. Throws
/// Error if a topic is gone, Unreachable.
[[nodiscard]] BeginReading begin_reading(kafka::Input& input, const CommitPoint& last, std::string_view reading,
                                         TopicWaits& topics, const std::stop_token& stop);

}  // namespace deltamatch::ingest

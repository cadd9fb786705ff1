// Metadata requests about topics, over an existing client. Any thread may call them. Only for ingest/service/kafka.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "ingest/service/kafka/handle.hpp"
#include "ingest/service/state/commit_point.hpp"

namespace deltamatch::ingest::kafka {

/// All visible topics and their numbers of partitions. For a topic without a leader, the number that is known. Throws Error,
/// Unreachable. Client may be Consumer or Producer.
template <class T>
[[nodiscard]] std::map<std::string, int> all_topics(Client<T>& client, Deadline deadline);

/// The number of partitions, or 0 if there is no such topic. Asking does not create it. Throws Error if it may not be seen,
/// Unreachable.
[[nodiscard]] int count_partitions(Consumer& client, const std::string& topic, Deadline deadline);

/// The lowest retained offset, and the end. For a client that reads only committed records, the end is the start of the first
/// open transaction. Throws Error, Unreachable.
[[nodiscard]] std::pair<std::int64_t, std::int64_t> watermarks(Consumer& client, const TopicPartition& partition,
                                                               Deadline deadline);

/// The offset of the first record at or after `time` (milliseconds since the epoch). Returns nothing if all records are
/// earlier. Throws Error, Unreachable.
[[nodiscard]] std::optional<std::int64_t> offset_at(Consumer& client, const TopicPartition& partition, std::int64_t time,
                                                    Deadline deadline);

}  // namespace deltamatch::ingest::kafka

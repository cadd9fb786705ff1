// Questions about topics, over a client that is there. Any thread. Inside ingest/service/kafka only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "ingest/service/kafka/handle.hpp"
#include "ingest/service/state/mark.hpp"

namespace deltamatch::ingest::kafka {

/// The topics that may be seen, with their numbers of partitions; of one without a leader those that are known. Throws Error,
/// Unreachable. For Consumer and Producer.
template <class T>
[[nodiscard]] std::map<std::string, int> all_topics(Client<T>& client, Deadline deadline);

/// 0: there is no such topic; none is made by asking. Throws Error if it may not be seen, Unreachable.
[[nodiscard]] int count_partitions(Consumer& client, const std::string& topic, Deadline deadline);

/// The lowest offset that is retained, and the end: for a client of committed records only, where the first open transaction
/// begins. Throws Error, Unreachable.
[[nodiscard]] std::pair<std::int64_t, std::int64_t> watermarks(Consumer& client, const TopicPartition& partition,
                                                               Deadline deadline);

/// The offset of the first record that is not earlier (milliseconds since the epoch); none if all are. Throws Error,
/// Unreachable.
[[nodiscard]] std::optional<std::int64_t> offset_at(Consumer& client, const TopicPartition& partition, std::int64_t time,
                                                    Deadline deadline);

}  // namespace deltamatch::ingest::kafka

// Follows the topics of workers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ingest/service/kafka/client.hpp"
#include "ingest/service/kafka/kafka_message.hpp"

namespace deltamatch::ingest::kafka {

/// Reads the committed records of some partitions, and goes on with what is written. Only one thread may use it.
class TopicFollower {
 public:
  /// Begins at these offsets. Contacts no broker yet.
  TopicFollower(const Cluster& cluster, const std::vector<std::pair<TopicPartition, std::int64_t>>& from);
  ~TopicFollower();
  TopicFollower(const TopicFollower&) = delete;
  TopicFollower& operator=(const TopicFollower&) = delete;

  /// The next record, whose partition is an index into `from`. Nothing if none comes within `wait`. Throws Error if a partition
  /// is gone, or lacks what is needed next.
  [[nodiscard]] std::optional<Message> poll(std::chrono::milliseconds wait);
  /// Everything before this offset was polled. It passes ends of transactions, too.
  [[nodiscard]] std::int64_t seen(std::size_t index) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// For each partition its lowest retained offset, and the end of all records, also of those in open transactions. Throws Error,
/// Unreachable.
[[nodiscard]] std::vector<std::pair<std::int64_t, std::int64_t>> bounds_of(const Cluster& cluster,
                                                                           const std::vector<TopicPartition>& partitions,
                                                                           Deadline deadline);

}  // namespace deltamatch::ingest::kafka

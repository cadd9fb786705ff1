// What Input and RangeReader share: a consumer, its partitions, the progress of each, and the meaning of its errors. Only for
// ingest/service/kafka.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "ingest/service/kafka/handle.hpp"
#include "ingest/service/kafka/kafka_message.hpp"

namespace deltamatch::ingest::kafka {

/// The limits of one librdkafka queue.
struct FetchLimits {
  std::size_t bytes = std::size_t{64} << 20;
  std::size_t records = 200'000;
};

/// The brokers no longer know a partition.
class PartitionGone : public Error {
 public:
  PartitionGone(std::uint32_t index, const std::string& name)
      : Error(name, "the brokers no longer know this partition", "restore the topic, or remove it from input.topics"),
        partition(index) {}
  std::uint32_t partition;
};

/// Only one thread may use it, except for functions that allow any thread.
class Reader {
 public:
  Reader(const Cluster& cluster, std::string_view name, FetchLimits limits);

  /// Starts to read another partition at this offset. Returns its index.
  std::uint32_t add(const TopicPartition& partition, std::int64_t offset);
  /// leave() stops fetching a partition. resume() continues after the last offset seen.
  void leave(std::uint32_t partition);
  void resume(std::uint32_t partition);
  /// Call this after adding; it starts fetching.
  void fetch_added();

  [[nodiscard]] const std::vector<TopicPartition>& partitions() const noexcept { return partitions_; }
  /// Everything before this offset has been taken. Any thread may call it for a partition that was added.
  [[nodiscard]] std::int64_t seen(std::uint32_t partition) const { return seen_[partition].load(std::memory_order_relaxed); }
  /// The offset after the last record taken from it, or 0 if none was. Any thread may call it.
  [[nodiscard]] std::int64_t taken(std::uint32_t partition) const { return taken_[partition].load(std::memory_order_relaxed); }
  /// The high watermark that the last fetch reported, or -1 if there was none. Any thread may call it.
  [[nodiscard]] std::int64_t end(const TopicPartition& partition);

  /// Turns the message into a record and advances seen() past it. Returns nothing if the message only says how far its
  /// partition goes, or reports a temporary error. Throws PartitionGone, or Error for another permanent error.
  [[nodiscard]] std::optional<Message> take(Message::Handle message);

  /// Call this regularly. If many records were taken since the last time, it makes fetching resume at once.
  void wake_fetchers();

  [[nodiscard]] Consumer& client() noexcept { return client_; }

 private:
  [[nodiscard]] std::uint32_t index_of(const rd_kafka_message_t& message);
  void refuse(const rd_kafka_message_t& message);
  [[noreturn]] void refuse_offset(std::uint32_t partition);

  Consumer client_;
  const FetchLimits limits_;
  std::vector<TopicPartition> partitions_;
  std::deque<std::atomic<std::int64_t>> seen_;
  std::deque<std::atomic<std::int64_t>> taken_;
  std::size_t fetching_ = 0;                                               // how many partitions are being fetched
  std::map<std::pair<const void*, std::int32_t>, std::uint32_t> indices_;  // by librdkafka's topic object
  std::pair<const void*, std::int32_t> last_{nullptr, -1};
  std::uint32_t last_index_ = 0;
  std::size_t bytes_since_wake_ = 0;
  std::size_t records_since_wake_ = 0;
};

}  // namespace deltamatch::ingest::kafka

// What Input and RangeReader share: a consumer with its partitions, how far each has been read, and what its errors mean.
// Inside ingest/service/kafka only.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "ingest/service/kafka/handle.hpp"
#include "ingest/service/kafka/message.hpp"

namespace deltamatch::ingest::kafka {

/// What one queue of librdkafka may hold.
struct FetchLimits {
  std::size_t bytes = std::size_t{64} << 20;
  std::size_t records = 200'000;
};

/// The brokers do not know a partition any more.
class PartitionGone : public Error {
 public:
  PartitionGone(std::uint32_t index, const std::string& name)
      : Error(name, "the brokers do not know this partition any more", "restore the topic, or take it out of the input"),
        partition(index) {}
  std::uint32_t partition;
};

/// One thread uses it, save where said otherwise.
class Reader {
 public:
  Reader(const Cluster& cluster, std::string_view name, FetchLimits limits);

  /// Begins to read a partition as well, at this offset; the index that it gets.
  std::uint32_t add(const TopicPartition& partition, std::int64_t offset);
  /// Fetches nothing more of a partition, and from where it was seen to last on again.
  void leave(std::uint32_t partition);
  void resume(std::uint32_t partition);
  /// After adding: fetching begins.
  void fetch_added();

  [[nodiscard]] const std::vector<TopicPartition>& partitions() const noexcept { return partitions_; }
  /// Everything before this offset has been taken. Any thread, for a partition that has been added.
  [[nodiscard]] std::int64_t seen(std::uint32_t partition) const { return seen_[partition].load(std::memory_order_relaxed); }
  /// Behind the last record of it that has been taken; 0: none has. Any thread.
  [[nodiscard]] std::int64_t taken(std::uint32_t partition) const { return taken_[partition].load(std::memory_order_relaxed); }
  /// The high watermark as the last fetch told it; -1: none has yet. Any thread.
  [[nodiscard]] std::int64_t end(const TopicPartition& partition);

  /// The message as a record, and its partition has been seen beyond it. None for what is no record, but tells how far its
  /// partition goes, or of an error that passes. Throws PartitionGone, and Error for another that does not.
  [[nodiscard]] std::optional<Message> take(Message::Handle message);

  /// To be called now and then: where much was taken since the last time, fetching goes on at once.
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
  std::size_t fetching_ = 0;                                               // how many of the partitions are being fetched
  std::map<std::pair<const void*, std::int32_t>, std::uint32_t> indices_;  // by librdkafka's topic object
  std::pair<const void*, std::int32_t> last_{nullptr, -1};
  std::uint32_t last_index_ = 0;
  std::size_t bytes_since_wake_ = 0;
  std::size_t records_since_wake_ = 0;
};

}  // namespace deltamatch::ingest::kafka

// Reads the records of all partitions of the input topics, in the order of arrival.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ingest/service/kafka/client.hpp"
#include "ingest/service/kafka/kafka_message.hpp"

namespace deltamatch::ingest::kafka {

/// How far a partition has been read, and where it ends.
struct Progress {
  TopicPartition id;
  std::int64_t seen = 0;   ///< everything before this offset has been polled
  std::int64_t taken = 0;  ///< the offset after the last polled record; there are no records between this and `seen`
  std::int64_t end = -1;   ///< from the last fetch or Input::ends, whichever is later; -1 if unknown
};

/// What the brokers have of the input.
struct Discovery {
  std::vector<InputPartition> partitions;  ///< ascending
  std::vector<std::string> absent;         ///< topics that are named and do not exist
};

/// Throws Error if one of the `absent` topics was read: `known` holds a partition of it.
void must_not_be_gone(const std::vector<std::string>& absent, const Offsets& known);

/// Throws Error(configuration) if the number of partitions of a topic is no multiple of the number of shards. Producers choose
/// the partition by a hash of the key modulo the number of partitions. If that is a multiple, the shard of a key is the hash
/// modulo the number of shards. So it is the same in all topics, and after partitions were added.
void must_divide(const ShardOptions& shard, const std::string& topic, int partitions);

/// Reads committed records only. The offsets of each partition ascend; partitions are mixed as they arrive. Partitions are
/// assigned, not balanced. The reader joins no group, so a caller that does not poll for long loses nothing.
///
/// Fetching ahead stops at InputOptions::queue_bytes (payloads and keys) or queue_records. It resumes when the caller polls
/// again.
///
/// One thread polls and adds. Meanwhile, other threads may call discover, first_offsets, low, ends and progress.
class Input {
 public:
  /// Contacts no broker yet. `never` names the topics that the service writes to; no regular expression matches them.
  /// Expressions never match the commit topic or topics that begin with "__" either. Throws Error for bad properties or
  /// expressions. If records may have to be read again, compacted topics are refused.
  Input(const Cluster& cluster, const InputOptions& options, std::vector<std::string> never = {}, bool read_again = false);
  /// Closes within 5 seconds. Otherwise a thread that ends with the process closes the client.
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  /// All current partitions of the topics, or those of the shard. If several entries match a topic, the first one counts; names
  /// precede expressions. Throws Error for a named topic that may not be read. So it does for a topic that does not fit the
  /// shards (must_divide), or is compacted and must not be. Throws Unreachable.
  [[nodiscard]] Discovery discover(Deadline deadline);

  /// Where to begin in those of the `partitions` that `known` lacks. If `known` holds another partition of the topic, reading
  /// begins at the first record. Otherwise InputOptions::start decides. If it is a time that no record has reached, reading
  /// begins at the end. Throws Unreachable.
  [[nodiscard]] Offsets first_offsets(const std::vector<InputPartition>& partitions, const Offsets& known, Deadline deadline);

  /// The current ends of the partitions that are being read, by index. Each is the end for a reader of committed records. An
  /// end is -1 if it is unknown at the deadline or the partition was left. Sends one request to each broker. Any thread may
  /// call it.
  [[nodiscard]] std::vector<std::int64_t> ends(Deadline deadline);

  /// The lowest offset of a partition that the brokers still hold. Throws Error, Unreachable.
  [[nodiscard]] std::int64_t low(const TopicPartition& partition, Deadline deadline);

  /// Starts to read these partitions as well. `from` must hold the offset of each. Indices follow the order of calls and never
  /// change. Fetched records of other partitions are kept.
  void add(const std::vector<InputPartition>& partitions, const Offsets& from);

  /// leave() stops fetching a partition that is gone. resume() continues after the last offset seen.
  void leave(std::uint32_t partition);
  void resume(std::uint32_t partition);

  /// Whether the brokers disowned a partition since the last call. discover() returns those that remain.
  [[nodiscard]] bool disowned() noexcept;

  /// The partitions in the order of their indices. The reference is stable while nobody adds.
  [[nodiscard]] const std::vector<InputPartition>& partitions() const noexcept;

  /// The next record. Returns nothing if none arrived within the timeout. Transport failures are waited out and reported to the
  /// journal. Throws Error if a named topic is gone or a topic may not be read. Also throws if the next offset of a partition
  /// is out of range. That message names topic, partition, the offset needed and the lowest retained one.
  [[nodiscard]] std::optional<Message> poll(std::chrono::milliseconds timeout);

  /// Everything in this partition before this offset has been polled. The offset passes the last record if only entries without
  /// data follow: ends of transactions, aborted records and compacted ones.
  [[nodiscard]] std::int64_t seen(std::uint32_t partition) const;

  /// The progress of all partitions. Costs no round trip.
  [[nodiscard]] std::vector<Progress> progress() const;

 private:
  class Portion;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deltamatch::ingest::kafka

// The records of all partitions of the input topics, as they come.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ingest/service/kafka/client.hpp"
#include "ingest/service/kafka/message.hpp"

namespace deltamatch::ingest::kafka {

/// How far a partition has been read and how far it goes.
struct Progress {
  TopicPartition id;
  std::int64_t seen = 0;   ///< everything before this offset has been polled
  std::int64_t taken = 0;  ///< behind the last record that has been polled; what lies between this and `seen` is no record
  std::int64_t end = -1;   ///< as the last fetch or Input::ends told it, whichever is later; -1: neither has yet
};

/// Reads committed records only, each partition in ascending order of offsets, partitions mixed as they arrive. Partitions are
/// assigned, not balanced: no group is joined, and a caller that stops polling for long loses nothing.
///
/// Fetching ahead stops at InputOptions::queue_bytes (payloads and keys) or queue_records and goes on once the caller polls
/// again.
///
/// One thread polls and adds; discover, first_offsets, low, ends and progress may be called by others meanwhile.
class Input {
 public:
  /// Contacts nobody yet. `never` names topics that a regular expression must not match: those that the service writes to.
  /// Topics that begin with "__" and the commit topic are never matched either. Throws Error for bad properties or expressions.
  Input(const Cluster& cluster, const InputOptions& options, std::vector<std::string> never = {});
  /// Closes within 5 seconds, or leaves the client to a thread that ends with the process.
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  /// All partitions that the topics have now, ascending. Of several entries that match a topic the first listed counts; names
  /// go before expressions. Throws Error for a named topic that does not exist or may not be read, and Unreachable.
  [[nodiscard]] std::vector<InputPartition> discover(Deadline deadline);

  /// Where to begin in those of the `partitions` that `known` lacks: at the first record if `known` holds another partition of
  /// the topic, else as InputOptions::start says (with a time that no record has reached: at the end). Throws Unreachable.
  [[nodiscard]] Offsets first_offsets(const std::vector<InputPartition>& partitions, const Offsets& known, Deadline deadline);

  /// Where the partitions that are being read end now, by their indices: what a reader of committed records can get to. -1
  /// where that was not told by the deadline, or the partition was left. One question to each of the brokers. Any thread.
  [[nodiscard]] std::vector<std::int64_t> ends(Deadline deadline);

  /// The lowest offset that the brokers still hold of a partition. Throws Error, Unreachable.
  [[nodiscard]] std::int64_t low(const TopicPartition& partition, Deadline deadline);

  /// Begins to read these partitions as well, each from its offset in `from`, which names all of them. Indices are given in the
  /// order of calls and never change. What was fetched of the others stays.
  void add(const std::vector<InputPartition>& partitions, const Offsets& from);

  /// Fetches nothing more of a partition that is gone; resume goes on where it was seen to.
  void leave(std::uint32_t partition);
  void resume(std::uint32_t partition);

  /// Whether, since the last call, the brokers disowned a partition: `discover` tells which are there.
  [[nodiscard]] bool disowned() noexcept;

  /// In the order of their indices. Stable while nobody adds.
  [[nodiscard]] const std::vector<InputPartition>& partitions() const noexcept;

  /// The next record; none if none came within the timeout. Failures of transport are waited out and told to the journal.
  /// Throws Error if a topic that is named is gone, one may not be read, or if a partition's next offset is out of range: then
  /// the message names topic, partition, the offset needed and the lowest retained.
  [[nodiscard]] std::optional<Message> poll(std::chrono::milliseconds timeout);

  /// Everything of this partition before this offset has been polled. Goes beyond the last record where only records follow
  /// that are no data: ends of transactions, aborted records, compacted ones.
  [[nodiscard]] std::int64_t seen(std::uint32_t partition) const;

  /// Costs no round trip.
  [[nodiscard]] std::vector<Progress> progress() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deltamatch::ingest::kafka

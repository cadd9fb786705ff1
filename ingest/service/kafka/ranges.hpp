// Reads the input again, cut where it was cut before.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "ingest/service/kafka/client.hpp"
#include "ingest/service/kafka/message.hpp"

namespace deltamatch::ingest::kafka {

/// Yields the committed records between two maps of offsets in the order (topic, partition, offset), one range after the other,
/// fetching ahead in all partitions; memory is bounded by `queue_bytes` for all partitions together. One thread uses it.
class RangeReader {
 public:
  /// Begins at `start`. Contacts nobody yet.
  RangeReader(const Cluster& cluster, const Offsets& start, std::size_t queue_bytes = std::size_t{64} << 20);
  /// Closes within 5 seconds, or leaves the client to a thread that ends with the process.
  ~RangeReader();
  RangeReader(const RangeReader&) = delete;
  RangeReader& operator=(const RangeReader&) = delete;

  /// All partitions that start or an `ends` named so far; Message::partition is an index into it.
  [[nodiscard]] const std::vector<TopicPartition>& partitions() const noexcept;

  /// Hands over every record from where the last call ended (start at first) up to, not including, `ends`. A partition that is
  /// named for the first time begins at its end: nothing of it is read before the next call. A partition that `ends` lacks, or
  /// whose end lies behind, stays where it is. False if `stop` was requested first; then no further call is allowed.
  /// Throws Error if records in the range are no longer retained or the partition ends before, and what `take` throws. Brokers
  /// that do not answer are waited for and told to the journal.
  bool read(const Offsets& ends, const std::function<void(Message&&)>& take, const std::stop_token& stop = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deltamatch::ingest::kafka

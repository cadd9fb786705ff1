// Reads the input again, in the same ranges as before.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "ingest/service/kafka/client.hpp"
#include "ingest/service/kafka/kafka_message.hpp"

namespace deltamatch::ingest::kafka {

/// Yields the committed records between two maps of offsets, in the order (topic, partition, offset). Ranges are read one after
/// the other, but all partitions fetch ahead. `queue_bytes` limits the memory of all partitions together. Only one thread may
/// use it.
class RangeReader {
 public:
  /// Begins at `start`. Contacts no broker yet.
  RangeReader(const Cluster& cluster, const Offsets& start, std::size_t queue_bytes = std::size_t{64} << 20);
  /// Closes within 5 seconds. Otherwise a thread that ends with the process closes the client.
  ~RangeReader();
  RangeReader(const RangeReader&) = delete;
  RangeReader& operator=(const RangeReader&) = delete;

  /// All partitions that `start` or any `ends` named so far. Message::partition is an index into it.
  [[nodiscard]] const std::vector<TopicPartition>& partitions() const noexcept;

  /// Passes every record from the end of the last call (at first, from `start`) up to `ends`, exclusive, to `take`. A new
  /// partition starts at its end, so nothing of it is read before the next call. A partition does not move if `ends` lacks it
  /// or names an earlier end. Returns false if `stop` was requested first; then no further call is allowed. Throws Error if
  /// records in the range are no longer retained, or if the partition ends before. Also throws what `take` throws. Waits for
  /// brokers that do not answer, and reports them to the journal. While no record comes, it calls `waits` again and again.
  bool read(const Offsets& ends, const std::function<void(Message&&)>& take, const std::stop_token& stop = {},
            const std::function<void()>& waits = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deltamatch::ingest::kafka

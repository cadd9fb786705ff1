// The interface of what batches come from: files (stream.hpp) and topics (service/loop/kafka_batch_source.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>

#include "deltamatch/update.hpp"

namespace deltamatch::ingest {

/// Whether next_within() brought a batch. `nothing`: none came in time, or wake() was called. `ended`: none will come.
enum class Arrival : std::uint8_t { batch, nothing, ended };

/// Yields batches one by one. `Batch` has a member `updates` of type UpdateBatch, and says for each update where it comes from.
///
/// - Order: batches follow the input, and so do the updates of a batch. In a batch of several partitions they are ordered by
///   topic, partition and offset. A record is never split.
/// - Ownership: a batch belongs to the caller, which may move it away. The memory of what the caller hands in is used again.
/// - Errors: if the input cannot be read further, next() and next_within() throw Error after every batch before that point.
/// - Commit: a source does not know what became of its batches. How far a batch reaches is a part of the batch, and whoever
///   commits it stores that with the results. In a file that is its last position. In topics it is the end of each partition.
///
/// One thread uses it. Other threads may call upcoming(), stop() and wake().
template <class Batch>
class BatchSource {
 public:
  virtual ~BatchSource() = default;

  /// Exchanges `batch` for the next one.
  virtual Arrival next_within(Batch& batch, std::chrono::milliseconds timeout) = 0;
  /// The updates that the next call will most likely return, once they are there; see deltamatch::Upcoming. Null if `stop` is
  /// requested or nothing more comes. Call it between two calls of next() or next_within().
  virtual const UpdateBatch* upcoming(const std::stop_token& stop) = 0;
  /// Ends reading. The complete records read so far are the last batch.
  virtual void stop() = 0;
  /// Ends a next_within() that waits.
  virtual void wake() = 0;

  /// Waits for the next batch. Returns false at the end. If `stop` says so while it waits, calls stop(). `stop` is called some
  /// twenty times a second.
  bool next(Batch& batch, const std::function<bool()>& stop = {}) {
    constexpr std::chrono::milliseconds pause{50};
    for (bool stopped = false;;) {
      const bool asks = stop && !stopped;
      const Arrival arrival = next_within(batch, asks ? pause : std::chrono::milliseconds(std::chrono::hours(1)));
      if (arrival != Arrival::nothing) return arrival == Arrival::batch;
      if (!asks || !stop()) continue;
      stopped = true;
      this->stop();
    }
  }
};

}  // namespace deltamatch::ingest

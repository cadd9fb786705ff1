// What all sources of batches have in common: files (stream.hpp) and topics (service/loop/kafka_batch_source.hpp).
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <stop_token>

#include "deltamatch/update.hpp"

namespace deltamatch::ingest {

/// Whether next_within() brought a batch. `nothing`: none came in time, or wake() was called. `ended`: none will come.
enum class Arrival : std::uint8_t { batch, nothing, ended };

/// A source yields batches one by one. `Batch` has a member `updates` of type UpdateBatch, and says for each update where it
/// comes from. It is a concept and no base class, because batches of files and of topics have different types.
///
/// - next_within(batch, timeout) exchanges `batch` for the next one.
/// - upcoming(stop) returns the updates that the next call will most likely return, once they are there; see
///   deltamatch::Upcoming. Null if `stop` is requested or nothing more comes. Call it between two calls of next_within().
/// - stop() ends reading. The complete records read so far are the last batch.
/// - wake() ends a next_within() that waits.
///
/// All sources promise this:
/// - Order: batches follow the input, and so do the updates of a batch. In a batch of several partitions they are ordered by
///   topic, partition and offset. A record is never split.
/// - Ownership: a batch belongs to the caller, which may move it away. The memory of what the caller hands in is used again.
/// - Errors: if the input cannot be read further, next_within() throws Error after every batch before that point.
/// - Commit: a source does not know what became of its batches. How far a batch reaches is a part of the batch, and whoever
///   commits it stores that with the results. In a file that is its last position. In topics it is the end of each partition.
///
/// The compiler checks the shape alone: the names of these functions, and what they take and return. Tests check the promises
/// (batch_queue_test.cpp).
///
/// One thread uses it. Other threads may call upcoming(), stop() and wake().
template <class Source, class Batch>
concept BatchSource = requires(Source& source, Batch& batch, std::chrono::milliseconds timeout, const std::stop_token& stop) {
  { source.next_within(batch, timeout) } -> std::same_as<Arrival>;
  { source.upcoming(stop) } -> std::same_as<const UpdateBatch*>;
  source.stop();
  source.wake();
};

/// Waits for the next batch of any source. Returns false at the end. If `stop` says so while it waits, calls source.stop().
/// `stop` is called some twenty times a second. A caller that has more to do than to wait calls next_within() itself: the
/// service also serves requests, and looks after its transactions.
template <class Batch, BatchSource<Batch> Source>
bool next_batch(Source& source, Batch& batch, const std::function<bool()>& stop = {}) {
  constexpr std::chrono::milliseconds pause{50};
  for (bool stopped = false;;) {
    const bool asks = stop && !stopped;
    const Arrival arrival = source.next_within(batch, asks ? pause : std::chrono::milliseconds(std::chrono::hours(1)));
    if (arrival != Arrival::nothing) return arrival == Arrival::batch;
    if (!asks || !stop()) continue;
    stopped = true;
    source.stop();
  }
}

}  // namespace deltamatch::ingest

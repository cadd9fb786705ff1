// The interface of sinks for alerts of committed batches.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {

/// A failed delivery whose sink said when to try again.
class TryLater : public Error {
 public:
  TryLater(std::chrono::milliseconds wait, std::string_view where, std::string_view what, std::string_view remedy = {})
      : Error(where, what, remedy), wait_(wait) {}
  [[nodiscard]] std::chrono::milliseconds wait() const noexcept { return wait_; }

 private:
  std::chrono::milliseconds wait_;
};

/// Takes the alerts of one batch: begin, write*, and then commit or abort. Only one thread calls it. Temporary failures (a full
/// disk, a server that does not answer) are Errors. The caller then aborts, waits and delivers the same batch again.
class AlertSink {
 public:
  virtual ~AlertSink() = default;
  virtual void begin(std::uint64_t batch) = 0;
  /// `id` has 32 hexadecimal digits. It is empty if `alert` reports suppressed alerts. `alert` is one JSON object without a
  /// line end (docs/reference/formats.md).
  virtual void write(std::string_view id, std::string_view alert) = 0;
  /// The batch is delivered; a file is synced to disk. Returns the position after it, which the log notes. The position is
  /// empty if the sink keeps none.
  virtual std::string commit() = 0;
  virtual void abort() noexcept = 0;
  /// Whether several batches may be delivered as one, under the number of the last. That saves commits.
  [[nodiscard]] virtual bool joins_batches() const noexcept { return false; }
  /// Called before the first batch after a start. Removes what is beyond the noted position (empty if none was noted). The
  /// batches after it can then be delivered again without duplicates. Sinks that cannot remove anything do nothing.
  ///
  /// Returns the position from which the sink continues. If none was noted, this one must be noted before the first batch is
  /// delivered. Otherwise a crash during that delivery could not be told from earlier contents.
  virtual std::string recover(std::string_view position) = 0;
  /// Called instead of recover() if the log has lost batches. Then not everything beyond the noted position can be delivered
  /// again, so the sink keeps it. If no position is known, it keeps everything. Calls `stays` in order with each alert beyond
  /// the position, or in the newest file if no position is known. When `stays` returns false, that alert and all after it are
  /// removed, because they belong to no committed batch. Sinks that cannot remove anything just recover.
  virtual std::string keep(std::string_view position, const std::function<bool(std::string_view alert)>& stays) {
    static_cast<void>(stays);
    return recover(position);
  }
  /// Called before each try. Batches up to `latest` are committed and wait for this delivery.
  virtual void await(std::uint64_t latest) { static_cast<void>(latest); }
  /// Whether the sink gives up the batch without another try, because its options allow no more.
  [[nodiscard]] virtual bool gives_up(std::uint64_t batch) const {
    static_cast<void>(batch);
    return false;
  }
  /// Makes a waiting call fail soon, and every later call that would wait. It cannot be undone. Any thread may call it.
  virtual void cancel() noexcept {}
  /// The number of alerts that the sink gave up, as its options allow. Any thread may call it.
  [[nodiscard]] virtual std::uint64_t dropped() const noexcept { return 0; }
  /// How many of these it never tried to send, because their batch had too many. Any thread may call it.
  [[nodiscard]] virtual std::uint64_t left_out() const noexcept { return 0; }
};

}  // namespace deltamatch::ingest

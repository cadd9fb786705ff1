// Where alerts go, once the batch that they belong to is committed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {

/// A delivery that failed, where its sink said when to try again.
class TryLater : public Error {
 public:
  TryLater(std::chrono::milliseconds wait, std::string_view where, std::string_view what, std::string_view remedy = {})
      : Error(where, what, remedy), wait_(wait) {}
  [[nodiscard]] std::chrono::milliseconds wait() const noexcept { return wait_; }

 private:
  std::chrono::milliseconds wait_;
};

/// Takes the alerts of one batch: begin, write*, commit; or abort in place of commit. One thread calls it. Failures that may
/// pass (a full disk, a server that does not answer) are Errors: the caller aborts, waits and delivers the same batch again.
class AlertSink {
 public:
  virtual ~AlertSink() = default;
  virtual void begin(std::uint64_t batch) = 0;
  /// `id` is 32 hexadecimal digits, or empty where `alert` tells what was suppressed; `alert` is one JSON object without a line
  /// end (docs/reference/formats.md).
  virtual void write(std::string_view id, std::string_view alert) = 0;
  /// The batch is delivered: in a file, synced to disk. Gives the position after it, which is noted in the log; empty where the
  /// sink keeps none.
  virtual std::string commit() = 0;
  virtual void abort() noexcept = 0;
  /// Whether several batches may come as one, under the number of the last: each commit then costs less.
  [[nodiscard]] virtual bool joins_batches() const noexcept { return false; }
  /// Before the first batch after a start: takes back what lies beyond the noted position (empty: none was noted), so that the
  /// batches behind it can be delivered again without being there twice. Sinks that cannot take back do nothing. Gives the
  /// position from which it goes on: where none was noted it has to be noted before the first batch is delivered, or a crash
  /// within that delivery could not be told from what was there before.
  virtual std::string recover(std::string_view position) = 0;
  /// In place of recover, if the log has lost batches, so that what lies beyond the noted position cannot all be delivered
  /// again: keeps it. If no position is known it keeps all. Calls `stays` with each alert that is there beyond the position, or
  /// in the newest file if none is known, of whatever batch, in order. The first alert for which it gives false is taken back,
  /// and all behind it: it is known to belong to no committed batch. Sinks that cannot take back just recover.
  virtual std::string keep(std::string_view position, const std::function<bool(std::string_view alert)>& stays) {
    static_cast<void>(stays);
    return recover(position);
  }
  /// Before each try: batches up to this one are committed, and wait for it.
  virtual void await(std::uint64_t latest) { static_cast<void>(latest); }
  /// Whether it gives up the batch without another try, since its options do not let it try any longer.
  [[nodiscard]] virtual bool gives_up(std::uint64_t batch) const {
    static_cast<void>(batch);
    return false;
  }
  /// From any thread: a call that waits, and every later one that would, fails soon. For good.
  virtual void cancel() noexcept {}
  /// Alerts that the sink gave up, as its options allow. From any thread.
  [[nodiscard]] virtual std::uint64_t dropped() const noexcept { return 0; }
};

}  // namespace deltamatch::ingest

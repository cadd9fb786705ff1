// Where alerts go, once the batch that they belong to is committed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace deltamatch::ingest {

/// Takes the alerts of one batch: begin, write*, commit; or abort in place of commit. One thread calls it. Failures that may
/// pass (a full disk, a server that does not answer) are Errors: the caller aborts, waits and delivers the same batch again.
class AlertSink {
 public:
  virtual ~AlertSink() = default;
  virtual void begin(std::uint64_t batch) = 0;
  /// `id` is 32 hexadecimal digits, `alert` one JSON object without a line end (docs/formats.md).
  virtual void write(std::string_view id, std::string_view alert) = 0;
  /// The batch is delivered: in a file, synced to disk. Gives the position after it, which is noted in the log; empty where the
  /// sink keeps none.
  virtual std::string commit() = 0;
  virtual void abort() noexcept = 0;
  /// Before the first batch after a start: takes back what lies beyond the noted position (empty: none was noted), so that the
  /// batches behind it can be delivered again without being there twice. Sinks that cannot take back do nothing.
  virtual void recover(std::string_view position) = 0;
};

}  // namespace deltamatch::ingest

// Records that are lines of a byte stream.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "ingest/source/byte_buffer.hpp"
#include "ingest/source/bytes.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

/// Lines end with LF or CR LF, which are not part of the record; the last may lack its end. A UTF-8 byte order mark at the
/// start is skipped. A line of more than `max_record` bytes is a record with the fault too_long and the first bytes of the
/// line; the rest is passed over without being held. With set_quoted_separator, a quoted field (RFC 4180) may span lines.
class LineSource final : public RecordSource {
 public:
  LineSource(ByteBuffer bytes, std::size_t max_record);
  LineSource(std::unique_ptr<ByteSource> bytes, std::size_t max_record)
      : LineSource(ByteBuffer(std::move(bytes)), max_record) {}

  bool next(Record& record) override;
  [[nodiscard]] std::string where(Position position) const override;
  [[nodiscard]] Progress progress() const noexcept override;
  void cancel() noexcept override { bytes_.cancel(); }

  /// The first whole lines, at least `telling` that are neither blank nor a comment and about 64 KiB at most, unless those need
  /// more; all there is if there is less. Waits for them. Holds until next() or head(). Call it before next().
  [[nodiscard]] std::string_view head(std::size_t telling = 1);
  /// Quoted fields may span lines from here on; 0: they may not.
  void set_quoted_separator(char separator) noexcept { separator_ = separator; }
  [[nodiscard]] const std::string& name() const noexcept { return bytes_.name(); }
  /// The bytes that were not handed over, for another source to read; the end of this one.
  [[nodiscard]] ByteBuffer release() && { return std::move(bytes_); }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  void skip_mark();
  std::size_t line_end(std::size_t from);
  std::size_t quoted_end(std::size_t first_end, std::uint64_t& lines);
  void take_long(Record& record);

  ByteBuffer bytes_;
  std::size_t max_record_;
  char separator_ = 0;
  bool started_ = false;
  std::string prefix_;  // of a line that is too long
  std::uint64_t line_ = 0;
  std::atomic<std::uint64_t> lines_ = 0;
};

}  // namespace deltamatch::ingest

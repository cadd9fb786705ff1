// A source of records that are lines of a byte stream.
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

/// Lines end with LF or CR LF, which are not part of the record. The last line may lack its end. A UTF-8 byte order mark at the
/// start is skipped. A line of more than `max_record` bytes becomes a record with the fault too_long and the first bytes of the
/// line. The rest of such a line is skipped without being held. After set_quoted_separator, a quoted field (RFC 4180) may span
/// lines.
class LineSource final : public RecordSource {
 public:
  LineSource(ByteBuffer bytes, std::size_t max_record);
  LineSource(std::unique_ptr<ByteSource> bytes, std::size_t max_record)
      : LineSource(ByteBuffer(std::move(bytes)), max_record) {}

  bool next(Record& record) override;
  [[nodiscard]] std::string where(Position position) const override;
  [[nodiscard]] Progress progress() const noexcept override;
  void cancel() noexcept override { bytes_.cancel(); }

  /// The first whole lines, of which at least `telling` are neither blank nor comments. They have about 64 KiB at most, unless
  /// those lines need more. If the stream has less, all of it is returned. Waits for the lines. Call it before next(). The
  /// result is valid until next() or head().
  [[nodiscard]] std::string_view head(std::size_t telling = 1);
  /// From now on, quoted fields may span lines. With 0 they may not.
  void set_quoted_separator(char separator) noexcept { separator_ = separator; }
  [[nodiscard]] const std::string& name() const noexcept { return bytes_.name(); }
  [[nodiscard]] std::size_t max_record() const noexcept { return max_record_; }
  /// The bytes that were not handed over, for another source to read. This source ends.
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
  std::string prefix_;  // the start of a line that is too long
  std::uint64_t line_ = 0;
  std::atomic<std::uint64_t> lines_ = 0;
};

/// The first line of a head that is not empty, without its end.
[[nodiscard]] std::string_view first_line(std::string_view head) noexcept;

}  // namespace deltamatch::ingest

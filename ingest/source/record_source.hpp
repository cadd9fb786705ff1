// Records: the pieces of a stream that a codec reads, each with its position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace deltamatch::ingest {

/// Where a record stands. In a file `number` is the line, from 1, and `part` is 0, or in a JSON array the element, from 0;
/// sources with parts (partitions of a topic) number within each.
struct Position {
  std::uint64_t number = 0;
  std::uint32_t part = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

enum class RecordFault : std::uint8_t {
  none,
  too_long,           ///< beyond the length limit: `bytes` holds a prefix of it
  unterminated_quote  ///< a quoted field that does not end within the limit
};

/// One record. `bytes` holds until the next call of next().
struct Record {
  /// Bytes behind a padded record that may be read, whatever they hold: some codecs then need no copy of it.
  static constexpr std::size_t padding = 64;

  std::string_view bytes;
  Position position;
  RecordFault fault = RecordFault::none;
  std::uint64_t length = 0;  ///< bytes of the record in the source; larger than bytes.size() only where too long
  bool padded = false;
};

/// How far a source is, in bytes as they are stored (compressed ones where they are). May be read from any thread.
struct Progress {
  std::uint64_t records = 0;
  std::uint64_t bytes_read = 0;
  std::optional<std::uint64_t> bytes_total;  ///< nothing where the end is unknown (a pipe)
};

/// Yields records in order.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  /// False at the end. Throws Error where the source cannot be read (an I/O error, a truncated or corrupt archive).
  virtual bool next(Record& record) = 0;
  /// "file:line" or its like, for messages.
  [[nodiscard]] virtual std::string where(Position position) const = 0;
  [[nodiscard]] virtual Progress progress() const noexcept = 0;
  /// Makes a next() that waits for input, in another thread, end. Every later next() is false.
  virtual void cancel() noexcept = 0;
};

}  // namespace deltamatch::ingest

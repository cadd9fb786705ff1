// Records, the pieces of a stream that a codec reads, and the interface of their sources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace deltamatch::ingest {

/// The position of a record. In a file, `number` is the line, from 1, and `part` is 0. In a JSON array, `part` is the number of
/// the element, from 0. If a source has parts (the partitions of a topic), `number` counts within each part.
struct Position {
  std::uint64_t number = 0;
  std::uint32_t part = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

enum class RecordFault : std::uint8_t {
  none,
  too_long,           ///< longer than the limit; `bytes` holds a prefix
  unterminated_quote  ///< a quoted field that does not end within the limit
};

/// One record. `bytes` is valid until the next call of next().
struct Record {
  /// The number of bytes behind a padded record that can be read; their values mean nothing. Some codecs then need no copy.
  static constexpr std::size_t padding = 64;

  std::string_view bytes{};
  Position position{};
  RecordFault fault = RecordFault::none;
  std::uint64_t length = 0;  ///< bytes of the record in the source; larger than bytes.size() only for too_long
  bool padded = false;
};

/// How far a source has been read, in bytes as stored (before unpacking). Can be read from any thread.
struct Progress {
  std::uint64_t records = 0;
  std::uint64_t bytes_read = 0;
  std::optional<std::uint64_t> bytes_total{};  ///< nothing if the end is unknown (a pipe)
};

/// Yields records in order.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  /// Returns false at the end. Throws Error if the source cannot be read (an I/O error, a truncated or corrupt archive).
  virtual bool next(Record& record) = 0;
  /// "file:line" or similar, for messages.
  [[nodiscard]] virtual std::string where(Position position) const = 0;
  [[nodiscard]] virtual Progress progress() const noexcept = 0;
  /// Ends a next() that waits for input in another thread. It and every later call return false.
  virtual void cancel() noexcept = 0;
};

}  // namespace deltamatch::ingest

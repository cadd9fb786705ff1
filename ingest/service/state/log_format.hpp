// The bytes of the log (docs/reference/formats.md, "State directory"): heads of segments, frames of entries, and their
// contents. Nothing here touches a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "deltamatch/update.hpp"
#include "encoding/checksum.hpp"
#include "ingest/service/state/log.hpp"

namespace deltamatch::ingest::log_format {

inline constexpr std::uint32_t version = 3;
inline constexpr std::uint32_t oldest_version = 1;  ///< the oldest version that is read; it has no streamed alerts
inline constexpr std::uint32_t packed_updates = 3;  ///< the first version with updates in the packed form
inline constexpr std::size_t fingerprint_size = 32;
using encoding::checksum_size;
inline constexpr std::size_t head_size = 8 + 4 + 8 + fingerprint_size + checksum_size;
inline constexpr std::size_t frame_size = checksum_size + 4 + 4;
// A payload is compressed at most by this factor; otherwise it is stored as it is. So short files cannot demand much memory.
inline constexpr std::uint64_t max_ratio = 256;

/// "log-<20 digits>.dmlog"; the digits are the segment's first batch.
[[nodiscard]] std::string segment_name(std::uint64_t first);
/// The number in such a name, or nothing for any other name.
[[nodiscard]] std::optional<std::uint64_t> segment_number(std::string_view name);

struct Head {
  std::uint32_t version = 0;
  std::uint64_t first = 0;
  std::string fingerprint;
};
[[nodiscard]] std::string to_bytes(const Head& head);
/// Returns nothing if the bytes are no head, or a damaged one. `bytes` must have head_size bytes.
[[nodiscard]] std::optional<Head> read_head(std::string_view bytes);

enum class Kind : std::uint8_t { batch = 1, delivered = 2, piece = 3, streamed_batch = 4 };

/// These append the payload of an entry.
void put_batch(std::string& out, const CommitPoint& mark, std::span<const Update> updates, std::optional<Timestamp> watermark,
               std::span<const SinkAlerts> alerts, std::span<const StreamedAlerts> streamed = {},
               std::optional<std::span<const WatermarkStep>> steps = {});
void put_delivered(std::string& out, const Delivered& delivered);

/// Creates the payloads of pieces.
class PieceWriter {
 public:
  /// Calls `write` with each payload.
  PieceWriter(std::uint64_t batch, std::string_view sink, std::function<void(std::string_view payload)> write)
      : batch_(batch), sink_(sink), write_(std::move(write)) {}
  void add(std::string_view alert);
  /// Call this at the end.
  void flush();

 private:
  std::uint64_t batch_;
  std::string_view sink_;
  std::function<void(std::string_view payload)> write_;
  std::uint64_t alerts_ = 0;
  std::string texts_;
  std::string payload_;
};

/// The kind of a payload, or nothing if it is unknown.
[[nodiscard]] std::optional<Kind> kind_of(std::string_view payload);
/// Where a payload comes from.
struct Origin {
  std::string where;  ///< for messages
  std::uint32_t version = log_format::version;
};
/// These return false if the payload is malformed. The alerts' texts are views into it. Throws Error if a batch has updates
/// with fields that this version does not read.
[[nodiscard]] bool read_batch(std::string_view payload, const Origin& origin, LogReader::Wanted wanted, LoggedBatch& batch);
[[nodiscard]] bool read_delivered(std::string_view payload, Delivered& delivered);
[[nodiscard]] bool read_piece(std::string_view payload, LoggedPiece& piece);

/// Turns payloads into entries.
class Packer {
 public:
  Packer();
  ~Packer();
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;
  /// Appends to `out` the entry for `offset` of its segment. Throws Error at `where` for a payload of more than 4 GiB.
  void pack(std::string_view payload, std::uint64_t offset, std::string_view where, std::string& out);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

struct Frame {
  std::uint32_t size = 0;         ///< of the payload
  std::uint32_t stored_size = 0;  ///< of the bytes in the file
};
/// `bytes` must have frame_size bytes.
[[nodiscard]] Frame read_frame(std::string_view bytes);

/// Turns entries into payloads.
class Unpacker {
 public:
  Unpacker();
  ~Unpacker();
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  /// The payload of a complete entry (frame and stored bytes) at `offset`. It is a view into the entry or into this object.
  /// Returns nothing if the entry is not sound.
  [[nodiscard]] std::optional<std::string_view> unpack(std::string_view entry, std::uint64_t offset);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace deltamatch::ingest::log_format

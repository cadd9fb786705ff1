// Sources of bytes: a file, standard input or memory. Compressed data is unpacked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace deltamatch::ingest {

/// A sequence of bytes. One thread reads; bytes_read and cancel may be called from any thread.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Reads at most buffer.size() > 0 bytes. Returns 0 at the end. Throws an Error that names the source if reading fails.
  virtual std::size_t read(std::span<char> buffer) = 0;
  /// Bytes read so far, as stored.
  [[nodiscard]] virtual std::uint64_t bytes_read() const noexcept = 0;
  /// The total number of bytes, as stored, if it is known.
  [[nodiscard]] virtual std::optional<std::uint64_t> bytes_total() const noexcept = 0;
  /// Ends a read that waits for input. It and every later call return 0.
  virtual void cancel() noexcept = 0;
  /// The name for messages: a path, or "stdin".
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;
};

/// Opens a file without unpacking it; "-" is standard input. Throws Error if it cannot be opened or is a directory.
[[nodiscard]] std::unique_ptr<ByteSource> open_file(const std::string& path);

/// A source of bytes in memory. The caller keeps them alive.
[[nodiscard]] std::unique_ptr<ByteSource> memory_bytes(std::string_view bytes, std::string name);

/// Unpacks gzip, xz and zstd data, recognised by its first bytes, including several members or frames in a row. Anything else
/// passes unchanged. If an archive is truncated or corrupt, read() first returns all that could be unpacked. Then it throws an
/// Error with the offset. Throws Error at once for archives that are recognised but not supported (zip, bzip2).
[[nodiscard]] std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> packed);

/// The name of the archive whose first bytes these are: "gzip", "tar". Empty if they begin none that is known.
[[nodiscard]] std::string_view archive_in(std::string_view bytes) noexcept;

}  // namespace deltamatch::ingest

// Bytes of a stream: from a file, standard input or memory; unpacked where they are compressed.
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
  /// Reads at most buffer.size() > 0 bytes; 0 = the end. Throws Error naming the source where reading fails.
  virtual std::size_t read(std::span<char> buffer) = 0;
  /// Bytes read so far, as stored.
  [[nodiscard]] virtual std::uint64_t bytes_read() const noexcept = 0;
  /// Bytes there are, as stored, where that is known.
  [[nodiscard]] virtual std::optional<std::uint64_t> bytes_total() const noexcept = 0;
  /// Ends a read that waits for input; it and every later one give 0.
  virtual void cancel() noexcept = 0;
  /// The name for messages: a path, or "stdin".
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;
};

/// A file as it is stored; "-" = standard input. Throws Error where it cannot be opened or is a directory.
[[nodiscard]] std::unique_ptr<ByteSource> open_file(const std::string& path);

/// Bytes that the caller keeps alive.
[[nodiscard]] std::unique_ptr<ByteSource> memory_bytes(std::string_view bytes, std::string name);

/// Unpacks gzip, xz and zstd data, recognised by their first bytes, members or frames one after the other among them; anything
/// else passes unchanged. Its read throws Error with the offset where an archive is truncated or corrupt, after having given
/// all that could be unpacked. Throws Error at once for archives it recognises and cannot read (zip, bzip2).
[[nodiscard]] std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> packed);

}  // namespace deltamatch::ingest

// The compact binary record: one update in a few bytes, read without parsing. docs/reference/formats.md defines every byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "deltamatch/attribute.hpp"
#include "deltamatch/update.hpp"
#include "ingest/codec/codec.hpp"

namespace deltamatch::ingest {

/// A binary stream begins with these bytes and its version. The first byte is no text. A program that converts line ends
/// changes the last bytes. Streams may be joined.
///
/// In version 1, records follow, each after its length; nothing shows whether they are damaged. In version 2, the same bytes
/// come in blocks, each after a head with checksums. In version 3, the first block states the schema of the records.
inline constexpr std::string_view binary_magic(
    "\x8f"
    "DMUPD\r\n",
    8);
inline constexpr std::size_t binary_preamble_size = binary_magic.size() + 1;
inline constexpr char binary_version_with_schema = 3;

/// Follow the versions 2 and 3. A reader of version 1 finds no length of a record here, so a damaged version is noticed.
inline constexpr std::string_view binary_seal("\x80\x00", 2);
inline constexpr std::string_view binary_seal_with_schema("\x81\x00", 2);

/// The head of each block of the versions 2 and 3, all little-endian:
/// - the size of the block's bytes (u32)
/// - their checksum (xxh3, 64 bits)
/// - the checksum of these twelve bytes (the low 32 bits of xxh3)
///
/// The number of the block in its stream is the seed of both checksums. So a block that is lost, or comes twice, is noticed. A
/// block without bytes ends the stream.
struct BinaryBlock {
  static constexpr std::size_t head_size = 16;
  static constexpr std::size_t most_bytes = std::size_t{1} << 20;  ///< a reader refuses a larger one
  using Head = std::array<char, head_size>;

  std::uint32_t size = 0;
  std::uint64_t checksum = 0;

  [[nodiscard]] static Head head_of(std::string_view contents, std::uint64_t number) noexcept;
  /// Returns nothing if the head is damaged or out of place.
  [[nodiscard]] static std::optional<BinaryBlock> read(std::string_view head, std::uint64_t number) noexcept;
  [[nodiscard]] bool holds(std::string_view contents, std::uint64_t number) const noexcept;
};

/// Appends a record as a message holds it: an update in the plain form (encoding/updates.hpp). Equal updates give equal bytes.
void append_binary(std::string& out, const Update& update);

/// Appends a record with its length before it, as a stream holds it.
void append_binary_framed(std::string& out, const Update& update);

/// Writes a stream of version 3, or of version 2 if edges are of the model `simple` and there are no attributes.
class BinaryStreamWriter {
 public:
  /// Begins the stream. Records have what `schema` declares. Throws Error if no stream can state it.
  explicit BinaryStreamWriter(std::string& out, const Schema& schema = {});
  /// Adds a record. Appends to `out` in whole blocks; records wait until there are enough for one.
  void add(std::string& out, const Update& update);
  /// Writes the waiting records as a block, so that the reader of a pipe gets them.
  void flush(std::string& out);
  /// Ends the stream. Without it the stream is torn.
  void finish(std::string& out);

 private:
  void append_block(std::string& out, std::string_view bytes);

  std::string waiting_;
  std::uint64_t blocks_ = 0;
};

/// Throws Error(usage) for options about how text is read.
[[nodiscard]] std::unique_ptr<Codec> make_binary_codec(const CodecOptions& options);

}  // namespace deltamatch::ingest

// The compact binary record: one update in a few bytes, read without parsing. docs/formats.md has it byte by byte.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "deltamatch/update.hpp"
#include "ingest/codec/codec.hpp"

namespace deltamatch::ingest {

/// A binary stream begins with these bytes and its version; records follow, each behind its length. The first byte is no text,
/// the last ones are changed by what converts line ends. Streams may be joined.
inline constexpr std::string_view binary_magic(
    "\x8f"
    "DMUPD\r\n",
    8);
inline constexpr char binary_version = 1;
inline constexpr std::size_t binary_preamble_size = binary_magic.size() + 1;

/// Begins a stream.
void append_binary_preamble(std::string& out);

/// Appends a record, as a message holds it. Equal updates, equal bytes.
void append_binary(std::string& out, const Update& update);

/// Appends a record with its length before it, as a stream holds it.
void append_binary_framed(std::string& out, const Update& update);

/// Throws Error(usage) for options that say how text is read.
[[nodiscard]] std::unique_ptr<Codec> make_binary_codec(const CodecOptions& options);

}  // namespace deltamatch::ingest

// The schema that a binary stream states. docs/reference/formats.md, "Binary streams", defines every byte.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "deltamatch/attribute.hpp"
#include "ingest/source/byte_buffer.hpp"

namespace deltamatch::ingest {

/// The contents of the block that states a schema. Throws Error if it is not valid, or does not fit one block.
[[nodiscard]] std::string schema_bytes(const Schema& schema);

/// Reads them. Returns nothing if they are none.
[[nodiscard]] std::optional<Schema> read_schema(std::string_view bytes);

/// The schema that a binary stream states at its beginning. Reads ahead, and drops nothing. Returns nothing if the bytes are
/// something else, state none, or are damaged.
[[nodiscard]] std::optional<Schema> stated_schema(ByteBuffer& bytes);

}  // namespace deltamatch::ingest

// The records of an Avro container file, each as a JSON text.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/codec/codec.hpp"
#include "ingest/schema/avro_record.hpp"
#include "ingest/schema/avro_schema.hpp"
#include "ingest/source/byte_buffer.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

/// How an Avro container file begins.
inline constexpr std::string_view avro_magic{"Obj\1", 4};

/// Reads the header with the schema, then block by block. A block may be compressed by deflate, zstandard or xz.
///
/// If the file is torn or damaged, next() throws Error with the offset, because no record can be found behind that place. All
/// records before that have been given.
[[nodiscard]] std::unique_ptr<RecordSource> open_avro(ByteBuffer bytes, const CodecOptions& options, std::size_t max_record);

}  // namespace deltamatch::ingest

#include "ingest/codec/binary_schema.hpp"

#include <cstddef>

#include "deltamatch/error.hpp"
#include "encoding/numbers.hpp"
#include "encoding/schema.hpp"
#include "ingest/codec/binary.hpp"

namespace deltamatch::ingest {

std::string schema_bytes(const Schema& schema) {
  validate(schema);
  std::string bytes;
  encoding::ByteWriter out(bytes);
  encoding::put_schema(out, schema);
  if (bytes.size() <= BinaryBlock::most_bytes) return bytes;
  throw Error(ErrorKind::usage, "attributes", "their names take more than 1 MiB, which a binary stream cannot hold",
              "give them shorter names");
}

std::optional<Schema> read_schema(std::string_view bytes) {
  encoding::ByteReader in(bytes);
  Schema schema = encoding::take_schema(in);
  if (!in.finished()) return std::nullopt;
  try {
    validate(schema);
  } catch (const Error&) {
    return std::nullopt;
  }
  return schema;
}

std::optional<Schema> stated_schema(ByteBuffer& bytes) {
  const auto hold = [&bytes](std::size_t size) {
    while (bytes.held().size() < size && bytes.more()) {
    }
    return bytes.held().size() >= size;
  };
  constexpr std::size_t head_at = binary_preamble_size + binary_seal.size();
  constexpr std::size_t schema_at = head_at + BinaryBlock::head_size;
  if (!bytes.begins_with(binary_magic) || !hold(binary_preamble_size)) return std::nullopt;
  if (bytes.held()[binary_magic.size()] != binary_version_with_schema || !hold(schema_at)) return std::nullopt;
  const auto block = BinaryBlock::read(bytes.held().substr(head_at, BinaryBlock::head_size), 0);
  if (!block || block->size > BinaryBlock::most_bytes || !hold(schema_at + block->size)) return std::nullopt;
  const std::string_view contents = bytes.held().substr(schema_at, block->size);
  return block->holds(contents, 0) ? read_schema(contents) : std::nullopt;
}

}  // namespace deltamatch::ingest

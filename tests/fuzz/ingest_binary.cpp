// Binary records and streams. If the first byte is even, the rest is one record. What is accepted is what is written again.
// If it is odd, the rest is a stream. Its next two bits say which:
// - the records of a stream of version 1
// - the records of a stream of version 2, which are put into its blocks
// - any bytes behind its preamble
// - a schema after its length, and the records of a stream of version 3. It is read with what it states
// However the stream is cut into batches, and wherever it is torn, what stands before is read alike.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/codec/binary.hpp"
#include "ingest/codec/binary_schema.hpp"
#include "ingest/stream.hpp"

namespace {

using namespace deltamatch;
using namespace deltamatch::ingest;

void check_record(std::string_view record) {
  const auto codec = make_message_codec(Format::binary, {});
  const Decoded decoded = codec->decode(record);
  if (decoded.refused.has_value() == (decoded.updates.size() == 1)) std::abort();
  if (decoded.refused) return;
  const Update& update = decoded.updates[0];
  if (update.source.is_text() && update.source.text().empty()) std::abort();
  std::string again;
  append_binary(again, update);
  if (again == record) return;
  // An empty edge label may be written, and is left out: its flag, and its length.
  if (!update.label.empty() || again.size() + 1 != record.size() || (record[1] & 4) == 0) std::abort();
}

struct Outcome {
  std::string updates;
  std::uint64_t refused = 0;
  std::string error;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

void declare(CodecOptions& codec, const Schema& schema) {
  codec.edges = schema.model;
  for (const Attribute& attribute : schema.edges) codec.attributes.push_back({attribute});
  for (const Attribute& attribute : schema.vertices) codec.vertex_attributes.push_back({attribute});
}

Outcome read(std::string_view bytes, std::size_t batch) {
  ReadOptions options;
  options.format = Format::binary;
  options.on_error = OnError::skip;
  options.max_record = 64;
  options.read_ahead = 0;
  options.limits.max_updates = batch;
  Outcome outcome;
  try {
    Input input = memory_input(bytes, "fuzz");
    if (input.schema) declare(options.codec, *input.schema);
    const auto stream = open_stream(std::move(input), options);
    PositionedBatch positioned;
    try {
      while (stream->next(positioned)) {
        for (const Update& update : positioned.updates.updates()) append_binary_framed(outcome.updates, update);
        stream->settle(positioned, {});
      }
    } catch (const Error& error) {
      outcome.error = error.what();
    }
    outcome.refused = stream->refused().total();
  } catch (const Error& error) {
    outcome.error = error.what();
  }
  return outcome;
}

std::string stream_of(unsigned kind, std::string_view records) {
  std::string bytes(binary_magic);
  bytes += kind == 0 ? '\1' : kind == 3 ? binary_version_with_schema : '\2';
  if (kind == 0) return bytes.append(records);
  bytes.append(kind == 3 ? binary_seal_with_schema : binary_seal);
  if (kind == 2) return bytes.append(records);
  std::uint64_t number = 0;
  const auto append_block = [&](std::string_view block) {
    const BinaryBlock::Head head = BinaryBlock::head_of(block, number++);
    bytes.append(head.data(), head.size()).append(block);
  };
  if (kind == 3) {
    const std::size_t size = records.empty() ? 0 : static_cast<unsigned char>(records[0]);
    const std::string_view schema = records.substr(std::min<std::size_t>(1, records.size()), size);
    append_block(schema);
    records.remove_prefix(std::min(records.size(), size + 1));
    // A schema has one form.
    if (const auto stated = read_schema(schema); stated && schema_bytes(*stated) != schema) std::abort();
  }
  for (;;) {
    const std::string_view block = records.substr(0, 7);
    append_block(block);
    if (block.empty()) return bytes;
    records.remove_prefix(block.size());
  }
}

void check_stream(const std::string& bytes) {
  const Outcome whole = read(bytes, 0);
  if (read(bytes, 1) != whole) std::abort();
  const Outcome torn = read(std::string_view(bytes).substr(0, bytes.size() / 2), 0);
  if (!whole.updates.starts_with(torn.updates) || torn.refused > whole.refused) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0)
    check_record(rest);
  else
    check_stream(stream_of(data[0] >> 1 & 3U, rest));
  return 0;
}

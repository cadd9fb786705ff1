// Schemas and records of Avro and Protobuf: any schema with any record is read or refused, in bounded time and memory.
//
// The first byte chooses the format and how the schema is known. The next two are the length of the schema's text, which
// follows. The rest is a message.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "deltamatch/error.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/codec/formats.hpp"
#include "ingest/schema/avro_record.hpp"
#include "ingest/schema/schema.hpp"

namespace {

using namespace deltamatch;
using namespace deltamatch::ingest;

/// A registry that has one schema under every id.
class OneSchema final : public SchemaSource {
 public:
  explicit OneSchema(const SchemaText& text) : schema_(std::make_shared<const RecordSchema>(text)) {}
  std::shared_ptr<const RecordSchema> find(std::uint32_t id) override { return id == 0 ? nullptr : schema_; }

 private:
  std::shared_ptr<const RecordSchema> schema_;
};

void check(const Decoded& decoded) {
  if (!decoded.remedy.empty() || (decoded.refused && !decoded.updates.empty())) std::abort();
  for (const Update& update : decoded.updates) {
    if (update.source.is_text() && update.source.text().empty()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t head = 3;
  if (size < head) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + head, size - head);
  const std::size_t length = std::min<std::size_t>(rest.size(), std::size_t{data[1]} << 8 | data[2]);
  const std::string schema(rest.substr(0, length));
  const std::string_view message = rest.substr(length);
  const Format format = (data[0] & 1) != 0 && reads_protobuf() ? Format::protobuf : Format::avro;
  OneSchema source({format == Format::avro ? "AVRO" : "PROTOBUF", schema, {}});
  CodecOptions options;
  if ((data[0] & 2) != 0) {
    options.schema.framed = true;
    options.schemas = &source;
  } else {
    options.schema.text = schema;
  }
  if ((data[0] & 4) != 0) options.envelope = Envelope::debezium;
  if ((data[0] & 8) != 0) {
    options.schemas = &source;
    options.key_format = format;
    options.columns = "source=kafka:key.source,target=kafka:key.target";
  }
  std::unique_ptr<Codec> codec;
  try {
    codec = make_message_codec(format, options);
  } catch (const Error&) {
    return 0;  // a schema that cannot be read
  }
  const std::string key = std::string("\0\0\0\0\7", 5) + std::string(message);
  const MessageFrame frame{.key = key, .headers = {}, .time = 5};
  check(codec->decode_message(message, frame));
  check(codec->decode_message(std::nullopt, frame));
  check(codec->decode_message(key, frame));
  return 0;
}

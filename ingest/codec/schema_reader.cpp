#include "ingest/codec/schema_reader.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/codec/delimited.hpp"
#include "ingest/codec/formats.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t frame_size = 5;

TicksOfUnit ticks_of(std::optional<TimeUnit> unit) noexcept {
  switch (unit.value_or(TimeUnit::microseconds)) {
    case TimeUnit::seconds:
      return 1'000'000;
    case TimeUnit::milliseconds:
      return 1'000;
    case TimeUnit::microseconds:
      break;
  }
  return 1;
}

/// Takes a zig-zag varint. Nothing if the bytes do not begin with one.
std::optional<std::int64_t> take_varint(std::string_view& bytes) noexcept {
  std::uint64_t sum = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    sum |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) == 0) return static_cast<std::int64_t>(sum >> 1 ^ (~(sum & 1) + 1));
  }
  return std::nullopt;
}

/// Takes the place of the message in its file.
ProtoSchema::Message take_place(const ProtoSchema& schema, std::string_view& bytes) {
  constexpr std::int64_t deepest = 64;
  const std::optional<std::int64_t> count = take_varint(bytes);
  if (!count || *count < 0 || *count > deepest) return nullptr;
  std::vector<std::int64_t> place;
  for (std::int64_t i = 0; i < *count; ++i) {
    const std::optional<std::int64_t> index = take_varint(bytes);
    if (!index) return nullptr;
    place.push_back(*index);
  }
  if (place.empty()) place.push_back(0);
  return schema.at(place);
}

/// Reads messages of a format that has schemas.
class SchemaCodec final : public Codec {
 public:
  SchemaCodec(Format format, const CodecOptions& options)
      : reader_(options.schema.framed ? SchemaReader(format, options.schemas, options.time_unit)
                                      : SchemaReader(format, options.schema, options.time_unit)),
        rows_(make_jsonl_codec(options)) {}

  Decoded decode(std::string_view record) override {
    if (const std::optional<std::string_view> text = reader_.read(record)) return rows_->decode_padded(*text);
    return {{}, RejectReason::malformed, reader_.fault(), {}};
  }
  void surround(const MessageFrame* frame) override { rows_->surround(frame); }
  [[nodiscard]] std::string advice(RejectReason reason, std::string_view /*record*/) const override {
    return rows_->advice(reason, {});
  }

 private:
  SchemaReader reader_;
  std::unique_ptr<Codec> rows_;
};

/// In a file, the source of records has read the schema, and gives JSON.
std::unique_ptr<Codec> make_schema_codec(Format format, const CodecOptions& options) {
  if (!options.message) return make_jsonl_codec(options);
  return std::make_unique<SchemaCodec>(format, options);
}

}  // namespace

std::string_view schema_type(Format format) noexcept { return format == Format::protobuf ? "PROTOBUF" : "AVRO"; }

SchemaReader::SchemaReader(Format format, const SchemaOptions& schema, std::optional<TimeUnit> unit)
    : format_(format), text_(ticks_of(unit)) {
  const std::string_view name = format_name(format);
  if (schema.text.empty()) {
    throw Error(ErrorKind::usage, "schema", fmt::format("{} messages need a schema", name),
                "name its file, or the registry that has it");
  }
  alone_ = std::make_shared<const RecordSchema>(SchemaText{std::string(schema_type(format)), schema.text, schema.imports});
  if (!alone_->fault.empty()) {
    throw Error(ErrorKind::usage, "schema", fmt::format("the schema cannot be read: {}", alone_->fault), "correct its file");
  }
  if (format != Format::protobuf) {
    if (schema.message.empty()) return;
    throw Error(ErrorKind::usage, "schema", "only a Protobuf schema has messages to choose from", "leave the message out");
  }
  const auto& read = std::get<std::shared_ptr<const ProtoSchema>>(alone_->read);
  message_ = read->named(schema.message);
  if (message_ != nullptr) return;
  throw Error(ErrorKind::usage, "schema",
              schema.message.empty() ? "the schema does not have one message alone"
                                     : fmt::format("the schema has no message {}", schema.message),
              fmt::format("name one of its messages: {}", read->names()));
}

SchemaReader::SchemaReader(Format format, SchemaSource* schemas, std::optional<TimeUnit> unit)
    : format_(format), schemas_(schemas), text_(ticks_of(unit)) {
  if (format != Format::protobuf || reads_protobuf()) return;
  throw Error(ErrorKind::usage, "format", "this build reads no Protobuf", "configure it with -DDELTAMATCH_PROTOBUF=ON");
}

std::nullopt_t SchemaReader::fail(std::string what) {
  fault_ = std::move(what);
  return std::nullopt;
}

std::optional<std::string_view> SchemaReader::read(std::string_view record) {
  if (alone_ == nullptr) return read_framed(record);
  if (record.empty()) return fail("the message is empty");
  if (const auto* const avro = std::get_if<AvroSchema>(&alone_->read)) return read_avro(*avro, record);
  return read_message(std::get<std::shared_ptr<const ProtoSchema>>(alone_->read), message_, record);
}

std::optional<std::string_view> SchemaReader::read_framed(std::string_view record) {
  if (record.size() < frame_size || record.front() != 0) {
    return fail(
        "the message does not begin with a byte 0 and the 4 bytes of a schema's id; for messages without them, name "
        "the file of their schema");
  }
  std::uint32_t id = 0;
  for (std::size_t i = 1; i < frame_size; ++i) id = id << 8 | static_cast<unsigned char>(record[i]);
  const std::shared_ptr<const RecordSchema> schema = schema_of(id);
  if (schema == nullptr) return fail(fmt::format("the registry has no schema {}", id));
  if (schema->type != schema_type(format_))
    return fail(fmt::format("the schema {} is of the type {}, not {}", id, schema->type, schema_type(format_)));
  if (!schema->fault.empty()) return fail(fmt::format("the schema {} cannot be read: {}", id, schema->fault));
  std::string_view bytes = record.substr(frame_size);
  const auto of_schema = [&](std::optional<std::string_view> text) {
    if (!text) fault_ += fmt::format(" (schema {})", id);
    return text;
  };
  if (const auto* const avro = std::get_if<AvroSchema>(&schema->read)) return of_schema(read_avro(*avro, bytes));
  const auto& proto = std::get<std::shared_ptr<const ProtoSchema>>(schema->read);
  const ProtoSchema::Message message = take_place(*proto, bytes);
  if (message == nullptr) return fail(fmt::format("the message names no message of the schema {}", id));
  return of_schema(read_message(proto, message, bytes));
}

/// The schema of an id. One that is there is remembered, because an id never changes its meaning.
std::shared_ptr<const RecordSchema> SchemaReader::schema_of(std::uint32_t id) {
  if (const auto found = known_.find(id); found != known_.end()) return found->second;
  if (schemas_ == nullptr) return nullptr;
  std::shared_ptr<const RecordSchema> schema = schemas_->find(id);
  if (schema != nullptr) known_.emplace(id, schema);
  return schema;
}

std::optional<std::string_view> SchemaReader::read_avro(const AvroSchema& schema, std::string_view bytes) {
  if (avro_.read(schema, bytes, text_)) return text_.padded();
  return fail(avro_.fault());
}

std::optional<std::string_view> SchemaReader::read_message(const std::shared_ptr<const ProtoSchema>& schema,
                                                           ProtoSchema::Message message, std::string_view bytes) {
  if (proto_.read(schema, message, bytes, text_)) return text_.padded();
  return fail(proto_.fault());
}

std::unique_ptr<Codec> make_avro_codec(const CodecOptions& options) { return make_schema_codec(Format::avro, options); }
std::unique_ptr<Codec> make_protobuf_codec(const CodecOptions& options) { return make_schema_codec(Format::protobuf, options); }

}  // namespace deltamatch::ingest

// Reads records that only a schema explains: Avro and Protobuf. A record becomes a JSON text, which the codec of JSON reads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/codec/codec.hpp"
#include "ingest/schema/avro_record.hpp"
#include "ingest/schema/proto_schema.hpp"
#include "ingest/schema/record_text.hpp"
#include "ingest/schema/schema.hpp"

namespace deltamatch::ingest {

/// Reads records, one after the other.
///
/// A record of a registry begins with a byte 0 and the schema's id, 4 bytes with the high one first. In Protobuf the place of
/// the message follows: a count and so many numbers, or the byte 0 for the first message. All of them are zig-zag varints.
class SchemaReader {
 public:
  /// Reads records of one schema, without such a beginning. Throws Error(usage) if the schema cannot be read.
  SchemaReader(Format format, const SchemaOptions& schema, std::optional<TimeUnit> unit);
  /// Reads records of a registry. `schemas` must outlive the reader; null: no record can be read.
  SchemaReader(Format format, SchemaSource* schemas, std::optional<TimeUnit> unit);

  /// The record as JSON. Valid until the next call; Record::padding bytes behind it can be read. Returns nothing if the record
  /// cannot be read; fault() says why. Throws SchemaUnavailable.
  [[nodiscard]] std::optional<std::string_view> read(std::string_view record);
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

 private:
  [[nodiscard]] std::optional<std::string_view> read_framed(std::string_view record);
  [[nodiscard]] std::optional<std::string_view> read_avro(const AvroSchema& schema, std::string_view bytes);
  [[nodiscard]] std::optional<std::string_view> read_message(const std::shared_ptr<const ProtoSchema>& schema,
                                                             ProtoSchema::Message message, std::string_view bytes);
  [[nodiscard]] std::shared_ptr<const RecordSchema> schema_of(std::uint32_t id);
  std::nullopt_t fail(std::string what);

  Format format_;
  SchemaSource* schemas_ = nullptr;
  std::shared_ptr<const RecordSchema> alone_;  // of records without an id
  ProtoSchema::Message message_ = nullptr;     // of `alone_`
  std::map<std::uint32_t, std::shared_ptr<const RecordSchema>> known_;
  RecordText text_;
  AvroRecord avro_;
  ProtoRecord proto_;
  std::string fault_;
};

/// What a format's schemas are called in a registry.
[[nodiscard]] std::string_view schema_type(Format format) noexcept;

[[nodiscard]] std::unique_ptr<Codec> make_avro_codec(const CodecOptions& options);
[[nodiscard]] std::unique_ptr<Codec> make_protobuf_codec(const CodecOptions& options);

}  // namespace deltamatch::ingest

// Schemas of records: read, and found by the ids that registries give them.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ingest/schema/avro_schema.hpp"
#include "ingest/schema/proto_schema.hpp"

namespace deltamatch::ingest {

/// The text of a schema, with the schemas that it refers to.
struct SchemaText {
  std::string type = "AVRO";  ///< as registries call it: AVRO, PROTOBUF or JSON
  std::string text;
  /// By name, each after those that it refers to itself. In Protobuf, a name is what `import` says.
  std::vector<std::pair<std::string, std::string>> references;
  friend bool operator==(const SchemaText&, const SchemaText&) = default;
};

/// A schema that has been read, or what is wrong with it. It never changes, so threads can share it.
struct RecordSchema {
  explicit RecordSchema(const SchemaText& text);

  std::string type;
  std::string fault;  ///< why it cannot be read; empty if it could
  std::variant<std::monostate, AvroSchema, std::shared_ptr<const ProtoSchema>> read;
};

/// A schema cannot be had now. The record that needs it was not read, and can be read later.
class SchemaUnavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where schemas are found by their ids. Several threads may ask at once.
class SchemaSource {
 public:
  virtual ~SchemaSource() = default;
  /// The schema of this id. Null if there is none. Throws SchemaUnavailable. An id means the same schema for ever.
  [[nodiscard]] virtual std::shared_ptr<const RecordSchema> find(std::uint32_t id) = 0;
};

}  // namespace deltamatch::ingest

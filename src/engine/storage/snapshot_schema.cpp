#include "engine/storage/snapshot_schema.hpp"

#include <vector>

#include "deltamatch/error.hpp"

namespace deltamatch::engine {
namespace {

void write(SectionWriter& out, const std::vector<Attribute>& attributes) {
  out.number(attributes.size());
  for (const Attribute& attribute : attributes) {
    out.text(attribute.name);
    out.number(static_cast<std::uint64_t>(attribute.type.kind));
    out.number(attribute.type.scale);
  }
}

void read(SectionReader& in, std::vector<Attribute>& attributes) {
  attributes.resize(in.number(max_attributes));
  for (Attribute& attribute : attributes) {
    in.text(attribute.name);
    attribute.type.kind = static_cast<AttributeType::Kind>(in.number(static_cast<std::uint64_t>(AttributeType::Kind::time)));
    attribute.type.scale = static_cast<std::uint8_t>(in.number(UINT8_MAX));
  }
}

}  // namespace

void write_schema(SectionWriter& out, const Schema& schema) {
  out.begin(Section::schema);
  out.number(static_cast<std::uint64_t>(schema.model));
  write(out, schema.edges);
  write(out, schema.vertices);
}

Schema read_schema(SectionReader& in) {
  in.begin(Section::schema);
  Schema schema;
  schema.model = static_cast<EdgeModel>(in.number(static_cast<std::uint64_t>(EdgeModel::events)));
  read(in, schema.edges);
  read(in, schema.vertices);
  try {
    validate(schema);
  } catch (const Error& error) {
    in.refuse(error.what());
  }
  return schema;
}

}  // namespace deltamatch::engine

// Binary streams of any schema: what is written is read again with the same schema and with no other, and text loses nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "deltamatch/misfit.hpp"
#include "ingest/codec/binary.hpp"
#include "ingest/codec/text_records.hpp"
#include "ingest/stream.hpp"
#include "property/draw.hpp"
#include "property/reading_draw.hpp"

namespace deltamatch::property {
namespace {

using Kind = AttributeType::Kind;

Attribute draw_attribute(std::size_t number) {
  Attribute attribute{fmt::format("{}{}", pick({"x", "Größe ", "a-"}), number), {static_cast<Kind>(*below(6))}};
  if (attribute.type.kind == Kind::decimal) attribute.type.scale = static_cast<std::uint8_t>(*below(19));
  return attribute;
}

Schema draw_schema() {
  Schema schema{static_cast<EdgeModel>(*below(3)), {}, {}};
  const auto draw = [](std::vector<Attribute>& attributes) {
    for (int left = *below(5); left > 0; --left) attributes.push_back(draw_attribute(attributes.size()));
  };
  if (schema.model != EdgeModel::simple) draw(schema.edges);
  draw(schema.vertices);
  return schema;
}

/// Changes one thing. The result may be equal, or no schema.
Schema draw_other(Schema schema) {
  std::vector<Attribute>& attributes = coin() ? schema.edges : schema.vertices;
  const auto any = [&]() -> Attribute& {
    return attributes[static_cast<std::size_t>(*below(static_cast<int>(attributes.size())))];
  };
  const int change = *below(attributes.empty() ? 2 : 6);
  if (change == 0) schema.model = static_cast<EdgeModel>(*below(3));
  if (change == 1) attributes.push_back(draw_attribute(attributes.size()));
  if (change == 2) attributes.pop_back();
  if (change == 3) std::swap(any(), any());
  if (change == 4) any().type = draw_attribute(0).type;
  if (change == 5) any().name += "'";
  return schema;
}

/// Updates that own what they point to.
struct Drawn {
  std::deque<std::string> texts;
  std::deque<std::vector<AttributeValue>> rows;
  std::deque<Properties> properties;
  std::vector<Update> updates;

  std::string_view text() { return texts.emplace_back("s" + word("abcXYZ .:'%$", 0) + "z"); }
  AttributeValue value(const AttributeType& type) {
    if (coin(5)) return {};
    const std::int64_t number = coin(8) ? INT64_MIN : (coin() ? 1 : -1) * std::int64_t{*below(1'000'000'000)};
    if (type.kind == Kind::boolean) return coin();
    if (type.kind == Kind::real) return static_cast<double>(number) / 1024;
    if (type.kind == Kind::symbol) return text();
    return type.kind == Kind::time ? number / 1024 : number;
  }
};

Drawn draw_updates(const Schema& schema) {
  Drawn drawn;
  for (int left = 1 + *below(12); left > 0; --left) {
    Update update;
    update.kind = static_cast<UpdateKind>(*below(4));
    const bool edge = update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::delete_edge;
    update.source = Id(std::int64_t{*below(9)});
    if (edge) update.target = Id(drawn.text());
    if (coin()) update.time = *below(1'000'000);
    Properties& properties = drawn.properties.emplace_back();
    if (edge && schema.model == EdgeModel::keyed) properties.key = coin() ? Id(drawn.text()) : Id(std::int64_t{*below(99)});
    const std::vector<Attribute>& declared = edge ? schema.edges : schema.vertices;
    if (update.kind == UpdateKind::insert_edge || (update.kind == UpdateKind::insert_vertex && coin())) {
      std::vector<AttributeValue>& row = drawn.rows.emplace_back();
      for (const Attribute& attribute : declared) row.push_back(drawn.value(attribute.type));
      properties.attributes = row;
    }
    if (properties.key || !properties.attributes.empty()) update.properties = &properties;
    drawn.updates.push_back(update);
  }
  return drawn;
}

ingest::ReadOptions declared(const Schema& schema) {
  ingest::ReadOptions options;
  options.codec.edges = schema.model;
  for (const Attribute& attribute : schema.edges) options.codec.attributes.push_back({attribute});
  for (const Attribute& attribute : schema.vertices) options.codec.vertex_attributes.push_back({attribute});
  options.read_ahead = 0;
  return options;
}

/// Reads a stream, and writes it as a binary one. Nothing if it is refused.
std::optional<std::string> again(const std::string& bytes, const Schema& schema, std::optional<ingest::Format> format) {
  std::string out;
  try {
    ingest::ReadOptions options = declared(schema);
    options.format = format;
    const auto stream = ingest::open_memory(bytes, "drawn", options);
    ingest::BinaryStreamWriter writer(out, schema);
    for (ingest::PositionedBatch batch; stream->next(batch); stream->settle(batch, {})) {
      for (const Update& update : batch.updates.updates()) {
        RC_ASSERT(!find_misfit(schema, update));
        writer.add(out, update);
      }
    }
    writer.finish(out);
  } catch (const Error& error) {
    RC_LOG() << error.what() << '\n';
    return std::nullopt;
  }
  return out;
}

TEST(BinarySchema, AStreamIsReadWithItsSchemaAndNoOther) {
  hold(300, [] {
    const Schema schema = draw_schema();
    const Drawn drawn = draw_updates(schema);
    std::string binary;
    ingest::BinaryStreamWriter writer(binary, schema);
    for (const Update& update : drawn.updates) writer.add(binary, update);
    writer.finish(binary);
    const bool stated = schema != Schema{};
    RC_LOG() << to_text(schema) << '\n';
    RC_ASSERT(ingest::memory_input(binary, "drawn").schema == (stated ? std::optional(schema) : std::nullopt));
    RC_ASSERT(again(binary, schema, std::nullopt) == std::optional(binary));
    if (const Schema other = draw_other(schema); stated && other != schema) RC_ASSERT(!again(binary, other, std::nullopt));
  });
}

TEST(BinarySchema, JsonLosesNothingOfAStream) {
  hold(300, [] {
    const Schema schema = draw_schema();
    const Drawn drawn = draw_updates(schema);
    std::string binary;
    std::string lines;
    ingest::BinaryStreamWriter writer(binary, schema);
    for (const Update& update : drawn.updates) {
      writer.add(binary, update);
      ingest::append_jsonl(lines, update, schema);
    }
    writer.finish(binary);
    RC_LOG() << to_text(schema) << '\n' << lines;
    RC_ASSERT(again(lines, schema, ingest::Format::jsonl) == std::optional(binary));
  });
}

}  // namespace
}  // namespace deltamatch::property

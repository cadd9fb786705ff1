// Messages with a registry's framing, their keys, and compacted topics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ingest/codec/schema_text.hpp"
#include "unit/schema/support.hpp"

namespace deltamatch::ingest {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view edge_schema =
    R"({"type":"record","name":"Edge","fields":[{"name":"source","type":"string"},{"name":"target","type":"string"},)"
    R"({"name":"amount","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}},)"
    R"({"name":"time","type":{"type":"long","logicalType":"timestamp-millis"}}]})";

std::string edge(std::string_view source, std::string_view target, std::string_view amount, std::int64_t time) {
  return avro(source) + avro(target) + avro(from_hex(amount)) + avro(time);
}

CodecOptions framed_options(Schemas& schemas) {
  CodecOptions options;
  options.schema.framed = true;
  options.schemas = &schemas;
  return options;
}

CodecOptions keyed(CodecOptions options, std::string columns) {
  options.edges = EdgeModel::keyed;
  options.attributes = parse_attributes("amount:decimal(2)", AttributesOf::edges, "");
  options.columns = std::move(columns);
  return options;
}

TEST(Framing, TheSchemaIsThatOfTheId) {
  Schemas schemas;
  schemas.texts[7] = {"AVRO", std::string(edge_schema), {}};
  schemas.texts[8] = {
      "AVRO",
      R"({"type":"record","name":"Edge","fields":[{"name":"target","type":"long"},{"name":"source","type":"long"}]})",
      {}};
  const auto codec = make_message_codec(Format::avro, framed_options(schemas));
  EXPECT_THAT(said(*codec, framed(7, edge("a", "b", "04d2", 5))), ElementsAre("+ 'a' -> 'b' @5000"));
  EXPECT_THAT(said(*codec, framed(8, avro(1) + avro(2))), ElementsAre("+ 2 -> 1"));
  EXPECT_THAT(said(*codec, framed(7, edge("b", "c", "05", 6))), ElementsAre("+ 'b' -> 'c' @6000"));
  EXPECT_EQ(schemas.asked, 2);
}

TEST(Framing, WhatCannotBeReadIsRefusedWithItsReason) {
  Schemas schemas;
  schemas.texts[7] = {"AVRO", std::string(edge_schema), {}};
  schemas.texts[8] = {"JSON", "{}", {}};
  schemas.texts[9] = {"AVRO", "{", {}};
  const auto codec = make_message_codec(Format::avro, framed_options(schemas));
  EXPECT_THAT(said(*codec, ""), ElementsAre(HasSubstr("! malformed: the message does not begin with a byte 0")));
  EXPECT_THAT(said(*codec, R"({"source":1})"), ElementsAre(HasSubstr("does not begin with a byte 0")));
  EXPECT_THAT(said(*codec, framed(5, "")), ElementsAre("! malformed: the registry has no schema 5"));
  EXPECT_THAT(said(*codec, framed(8, "")), ElementsAre("! malformed: the schema 8 is of the type JSON, not AVRO"));
  EXPECT_THAT(said(*codec, framed(9, "")), ElementsAre(HasSubstr("! malformed: the schema 9 cannot be read: it is not JSON")));
  EXPECT_THAT(said(*codec, framed(7, "\2")), ElementsAre(HasSubstr("within a value that needs 1 more (schema 7)")));
  EXPECT_THAT(said(*codec, framed(7, edge("", "b", "05", 6))), ElementsAre(HasSubstr("! bad_id: source ``")));
}

TEST(Framing, ARegistryThatIsDownRefusesNothing) {
  Schemas schemas;
  schemas.down = true;
  schemas.texts[7] = {"AVRO", std::string(edge_schema), {}};
  const auto codec = make_message_codec(Format::avro, framed_options(schemas));
  const std::string message = framed(7, edge("a", "b", "04d2", 5));
  EXPECT_THROW(said(*codec, message), SchemaUnavailable);
  EXPECT_THROW(said(*codec, message), SchemaUnavailable);
  schemas.down = false;
  EXPECT_THAT(said(*codec, message), ElementsAre("+ 'a' -> 'b' @5000"));
  schemas.down = true;
  EXPECT_THAT(said(*codec, message), ElementsAre("+ 'a' -> 'b' @5000"));
}

TEST(Framing, ProtobufNamesTheMessageByItsPlace) {
  if (!reads_protobuf()) GTEST_SKIP() << "this build reads no Protobuf";
  Schemas schemas;
  schemas.texts[3] = {"PROTOBUF",
                      R"(syntax = "proto3"; message Other { message Edge { string source = 1; string target = 2; } }
message Edge { int64 source = 1; int64 target = 2; })",
                      {}};
  const auto codec = make_message_codec(Format::protobuf, framed_options(schemas));
  EXPECT_THAT(said(*codec, framed(3, avro(1) + avro(1) + from_hex("08011002"))), ElementsAre("+ 1 -> 2"));
  EXPECT_THAT(said(*codec, framed(3, avro(2) + avro(0) + avro(0) + from_hex("0a0161120162"))), ElementsAre("+ 'a' -> 'b'"));
  EXPECT_THAT(said(*codec, framed(3, std::string(1, '\0'))), ElementsAre(HasSubstr("! wrong_arity: there is no source")));
  for (const std::string& place : {std::string(), avro(1), avro(1) + avro(2), avro(-1), avro(1000), std::string(11, '\xff')}) {
    EXPECT_THAT(said(*codec, framed(3, place)), ElementsAre("! malformed: the message names no message of the schema 3"));
  }
}

TEST(Framing, ASchemaOfAFileNeedsNoFrame) {
  CodecOptions options;
  options.schema.text = edge_schema;
  const auto codec = make_message_codec(Format::avro, options);
  EXPECT_THAT(said(*codec, edge("a", "b", "05", 1)), ElementsAre("+ 'a' -> 'b' @1000"));
  options.schema.message = "Edge";
  EXPECT_THAT(error_of([&] { (void)make_message_codec(Format::avro, options); }), HasSubstr("leave the message out"));
  EXPECT_THAT(error_of([] { (void)make_message_codec(Format::avro, {}); }), HasSubstr("avro messages need a schema"));
  options.schema.text = "{";
  EXPECT_THAT(error_of([&] { (void)make_message_codec(Format::avro, options); }), HasSubstr("the schema cannot be read"));
  EXPECT_THAT(error_of([&] { (void)make_message_codec(Format::jsonl, options); }), HasSubstr("jsonl records have none"));
}

TEST(Framing, PathsAttributesAndLabelsAreThoseOfJson) {
  CodecOptions options;
  options.schema.text =
      R"({"type":"record","name":"P","fields":[{"name":"payer","type":{"type":"record","name":"Party","fields":[)"
      R"({"name":"id","type":"long"},{"name":"kinds","type":{"type":"array","items":"string"}}]}},{"name":"payee","type":["null","Party"]},)"
      R"({"name":"rate","type":"double"},{"name":"at","type":"long"}]})";
  options.columns = "source=payer.id,target=payee.id,source_label=payer.kinds,time=at";
  options.time_unit = TimeUnit::milliseconds;
  const auto codec = make_message_codec(Format::avro, options);
  const auto party = [](std::int64_t id, std::string_view kind) { return avro(id) + avro(1) + avro(kind) + avro(0); };
  const std::string rate(8, '\0');
  EXPECT_THAT(said(*codec, party(1, "Bank") + avro(1) + party(2, "Shop") + rate + avro(7)),
              ElementsAre("+ 1 -> 2 (Bank -> ?) @7000"));
  EXPECT_THAT(said(*codec, party(1, "Bank") + avro(0) + rate + avro(7)),
              ElementsAre(HasSubstr("! wrong_arity: there is no payee.id")));
}

TEST(Framing, ChangeEventsOfDebeziumAreRead) {
  CodecOptions options;
  options.envelope = Envelope::debezium;
  options.schema.text =
      R"({"type":"record","name":"Envelope","namespace":"bank","fields":[{"name":"before","type":["null",{"type":"record","name":"Value",)"
      R"("fields":[{"name":"id","type":"long"},{"name":"source","type":"string"},{"name":"target","type":"string"},)"
      R"({"name":"amount","type":{"type":"bytes","scale":2,"precision":9,"connect.name":"org.apache.kafka.connect.data.Decimal","logicalType":"decimal"}}]}]},)"
      R"({"name":"after","type":["null","Value"]},{"name":"op","type":"string"},{"name":"ts_ms","type":["null","long"]}]})";
  options = keyed(options, "edge=id");
  const auto codec = make_message_codec(Format::avro, options);
  const auto row = [](std::int64_t id, std::string_view to, std::string_view amount) {
    return avro(1) + avro(id) + avro("a") + avro(to) + avro(from_hex(amount));
  };
  const std::string none = avro(0);
  EXPECT_THAT(said(*codec, none + row(7, "b", "04d2") + avro("c") + none), ElementsAre("+ 'a' -> 'b' #7 {1234}"));
  EXPECT_THAT(said(*codec, row(7, "b", "04d2") + row(7, "c", "04d3") + avro("u") + none),
              ElementsAre("+ 'a' -> 'c' #7 {1235}"));
  EXPECT_THAT(said(*codec, row(7, "c", "04d3") + none + avro("d") + none), ElementsAre("- #7"));
  EXPECT_THAT(said(*codec, std::nullopt), IsEmpty());
}

TEST(Keys, OfSchemasAreReadAsJsonIs) {
  Schemas schemas;
  schemas.texts[1] = {"AVRO", R"("string")", {}};
  schemas.texts[2] = {"AVRO", R"({"type":"record","name":"Key","fields":[{"name":"id","type":"long"}]})", {}};
  schemas.texts[7] = {"AVRO", std::string(edge_schema), {}};
  CodecOptions options = keyed(framed_options(schemas), "edge=kafka:key");
  options.key_format = Format::avro;
  const auto codec = make_message_codec(Format::avro, options);
  const std::string value = framed(7, edge("a", "b", "04d2", 5));
  const std::string text = framed(1, avro("tx-1"));
  EXPECT_THAT(said(*codec, value, with_key(text)), ElementsAre("+ 'a' -> 'b' @5000 #'tx-1' {1234}"));
  EXPECT_THAT(said(*codec, std::nullopt, with_key(text)), ElementsAre("- #'tx-1'"));
  options.columns = "edge=kafka:key.id";
  const auto fields = make_message_codec(Format::avro, options);
  const std::string record = framed(2, avro(77));
  EXPECT_THAT(said(*fields, value, with_key(record)), ElementsAre("+ 'a' -> 'b' @5000 #77 {1234}"));
  EXPECT_THAT(said(*fields, std::nullopt, with_key(record)), ElementsAre("- #77"));
  EXPECT_THAT(said(*fields, std::nullopt, with_key("77")),
              ElementsAre(HasSubstr("! malformed: the message's key cannot be read: the message does not begin")));
  schemas.down = true;
  EXPECT_THROW(said(*codec, value, with_key(framed(9, ""))), SchemaUnavailable);
  schemas.down = false;
  EXPECT_THAT(said(*codec, value, with_key(text)), ElementsAre("+ 'a' -> 'b' @5000 #'tx-1' {1234}"));
  options.key_format = Format::csv;
  EXPECT_THAT(error_of([&] { (void)make_message_codec(Format::avro, options); }), HasSubstr("csv has no schemas of keys"));
}

TEST(Tombstones, DeleteAnEdgeByItsEndsIfTheKeyHasThem) {
  CodecOptions options;
  options.columns = "source=kafka:key.from,target=kafka:key.to,label=kafka:key.kind";
  const auto codec = make_message_codec(Format::jsonl, options);
  const MessageFrame frame = with_key(R"({"from":"a","to":7,"kind":"PAYS"})");
  EXPECT_THAT(said(*codec, R"({"time":5})", frame), ElementsAre("+ 'a' -> 7 [PAYS] @5"));
  EXPECT_THAT(said(*codec, std::nullopt, frame), ElementsAre("- 'a' -> 7 [PAYS]"));
  EXPECT_THAT(said(*codec, std::nullopt, with_key(R"({"from":"a","kind":"PAYS"})")),
              ElementsAre(HasSubstr("has no kafka:key.to")));
}

TEST(Tombstones, WithoutALabelAreRefusedUnlessNoRecordHasOne) {
  CodecOptions options;
  options.columns = "source=kafka:key.from,target=kafka:key.to";
  options.edge_label = "PAYS";
  const MessageFrame frame = with_key(R"({"from":1,"to":2})");
  const auto codec = make_message_codec(Format::jsonl, options);
  EXPECT_THAT(said(*codec, R"({"label":"OWNS"})", frame), ElementsAre("+ 1 -> 2 [OWNS]"));
  EXPECT_THAT(said(*codec, std::nullopt, frame),
              ElementsAre(HasSubstr("! malformed: a message without a value does not say the label")));
  options.columns += ",label=";
  const auto alike = make_message_codec(Format::jsonl, options);
  EXPECT_THAT(said(*alike, R"({"label":"OWNS"})", frame), ElementsAre("+ 1 -> 2 [PAYS]"));
  EXPECT_THAT(said(*alike, std::nullopt, frame), ElementsAre("- 1 -> 2 [PAYS]"));
}

TEST(Tombstones, OfEndsNeedEdgesThatAreTheirEnds) {
  CodecOptions options;
  options.columns = "source=kafka:key.from,target=kafka:key.to,label=";
  for (const EdgeModel model : {EdgeModel::keyed, EdgeModel::events}) {
    options.edges = model;
    const auto codec = make_message_codec(Format::jsonl, options);
    EXPECT_THAT(said(*codec, R"({"edge":7})", with_key(R"({"from":1,"to":2})")), ElementsAre(HasSubstr("+ 1 -> 2")));
    EXPECT_THAT(said(*codec, std::nullopt, with_key(R"({"from":1,"to":2})")),
                ElementsAre(HasSubstr("! malformed: a message without a value has the ends of its edge, but")));
  }
}

}  // namespace
}  // namespace deltamatch::ingest

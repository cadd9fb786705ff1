// Keys and attributes of records in every format that has them.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "ingest/codec/schema_text.hpp"
#include "ingest/codec/text_records.hpp"
#include "unit/ingest/support.hpp"

namespace deltamatch::ingest {
namespace {

using ::testing::AllOf;
using testing::decode;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::read_all;
using testing::text_of;

CodecOptions graph(EdgeModel model, std::string_view attributes = {}, const std::string& columns = {}) {
  CodecOptions options;
  options.edges = model;
  if (!attributes.empty()) options.attributes = parse_attributes(attributes, AttributesOf::edges, "attributes");
  options.columns = columns;
  return options;
}
constexpr EdgeModel keyed = EdgeModel::keyed;
constexpr EdgeModel events = EdgeModel::events;

/// What ends the reading of a file.
std::string end_of(std::string_view text, const CodecOptions& codec, ReadOptions options = {}) {
  options.codec = codec;
  return error_of([&] { static_cast<void>(read_all(text, options)); });
}

std::vector<std::string> warnings_of(std::string_view text, const CodecOptions& codec) {
  ReadOptions options;
  options.codec = codec;
  const auto stream = open_memory(text, "test", options);
  read_all(*stream);
  std::vector<std::string> codes;
  for (const Warning& warning : stream->warnings()) codes.push_back(warning.code + ": " + warning.what + "; " + warning.remedy);
  return codes;
}

TEST(Properties, CsvFindsKeyAndAttributesByName) {
  const CodecOptions options = graph(keyed, "amount:decimal(2),channel:symbol");
  EXPECT_THAT(decode(Format::csv, {"from,to,txn_id,Amount,channel,note", "a,b,tx-1,12.5,web,x", "a,b,7,,,y"}, options),
              ElementsAre("+ 'a' -> 'b' #'tx-1' {1250, 'web'}", "+ 'a' -> 'b' #7 {null, null}"));
}

TEST(Properties, CsvColumnsCanBeNamed) {
  EXPECT_THAT(decode(Format::csv, {"from,to,ref,amt", "a,b,1,2.5"},
                     graph(keyed, "amount:decimal(2)=amt", "source=from,target=to,edge=ref")),
              ElementsAre("+ 'a' -> 'b' #1 {250}"));
  EXPECT_THAT(decode(Format::csv, {"from,to,amt", "a,b,2.5"}, graph(events, "amount:decimal(2)", "amount=amt")),
              ElementsAre("+ 'a' -> 'b' {250}"));
  EXPECT_THAT(decode(Format::csv, {"from,to", "a,b"}, graph(events, "amount:decimal(2)", "amount=")),
              ElementsAre("+ 'a' -> 'b' {null}"));
  EXPECT_THAT(decode(Format::csv, {"a,2.5,b,9"}, graph(keyed, "amount:decimal(2)", "source,amount,target,edge")),
              ElementsAre("+ 'a' -> 'b' #9 {250}"));
}

TEST(Properties, NamesOfNeo4jHaveTypes) {
  EXPECT_THAT(decode(Format::csv, {"from,to,amount:double,at:datetime{timezone:Z}", "a,b,2.5,1970-01-01T00:00:01Z"},
                     graph(events, "amount:decimal(2),at:time")),
              ElementsAre("+ 'a' -> 'b' {250, 1000000}"));
}

TEST(Properties, GephisIdIsTheKeyIfNoOtherColumnIs) {
  EXPECT_THAT(
      decode(Format::csv, {"Source,Target,Type,Id,Label,Weight", "a,b,Directed,5,pays,1.5"}, graph(keyed, "Weight:float")),
      ElementsAre("+ 'a' -> 'b' [pays] #5 {1.5r}"));
  EXPECT_THAT(decode(Format::csv, {"id,from,to,uuid", "1,a,b,u-1"}, graph(keyed)), ElementsAre("+ 'a' -> 'b' #'u-1'"));
}

TEST(Properties, AnAttributeTakesItsColumnFromTheUsualNames) {
  EXPECT_THAT(decode(Format::csv, {"from,to,type", "a,b,web"}, graph(events, "type:symbol")),
              ElementsAre("+ 'a' -> 'b' {'web'}"));
  EXPECT_THAT(decode(Format::csv, {"from,to,type", "a,b,web"}, graph(events, "type:symbol", "label=type")),
              ElementsAre("+ 'a' -> 'b' [web] {'web'}"));
  EXPECT_THAT(decode(Format::jsonl, {R"({"from":"a","to":"b","type":"web"})"}, graph(events, "type:symbol")),
              ElementsAre("+ 'a' -> 'b' {'web'}"));
}

TEST(Properties, AHeaderThatLacksAColumnNamesThoseThereAre) {
  EXPECT_THAT(end_of("from,to,amt\na,b,1\n", graph(events, "amount:decimal(2)")),
              AllOf(HasSubstr("the CSV header `from,to,amt` has no column `amount` for the attribute amount"),
                    HasSubstr("--columns amount=NAME"), HasSubstr("--columns amount=")));
  EXPECT_THAT(end_of("from,to,amount,AMOUNT\na,b,1,2\n", graph(events, "Amount:int")), HasSubstr("has two columns `Amount`"));
  EXPECT_THAT(end_of("from,to,ref\na,b,1\n", graph(keyed)), HasSubstr("has no column for the key of an edge"));
  EXPECT_THAT(end_of("from,to,txn_id,uuid\na,b,1,2\n", graph(keyed)),
              AllOf(HasSubstr("two columns that may be the key"), HasSubstr("--columns edge=NAME")));
}

TEST(Properties, FormatsWithoutNamesNeedPositions) {
  EXPECT_THAT(
      decode(Format::tsv, {"a\tb\t1\t9.5", "-\ta\tb\t1\t"}, graph(keyed, "amount:decimal(1)", "source,target,edge,amount")),
      ElementsAre("+ 'a' -> 'b' #1 {95}", "- 'a' -> 'b' #1"));
  EXPECT_THAT(decode(Format::snap, {"1 2 tx-1 0.5"}, graph(keyed, "amount:decimal(1)", "source,target,edge,amount")),
              ElementsAre("+ 1 -> 2 #'tx-1' {5}"));
  EXPECT_THAT(error_of([] { decode(Format::snap, {}, graph(events, "amount:int")); }), HasSubstr("source,target,time,amount"));
  EXPECT_THAT(error_of([] { decode(Format::tsv, {}, graph(keyed)); }), HasSubstr("the key of an edge"));
  EXPECT_THAT(error_of([] { decode(Format::tsv, {}, graph(keyed, {}, "source,target")); }), HasSubstr("edge is missing"));
  EXPECT_THAT(error_of([] { decode(Format::tve, {}, graph(keyed)); }), HasSubstr("choose another model"));
  EXPECT_THAT(warnings_of("e 1 2\n", graph(events, "amount:int")), ElementsAre(HasSubstr("attribute_absent")));
}

TEST(Properties, ColumnsAreCheckedAgainstTheModel) {
  EXPECT_THAT(error_of([] { decode(Format::csv, {}, graph(events, {}, "edge=id")); }), HasSubstr("choose the model keyed"));
  EXPECT_THAT(error_of([] { decode(Format::csv, {}, graph(events, "amount:int", "betrag=b")); }),
              HasSubstr("`betrag` is not one of source, target, label, source_label, target_label, time, op, vertex, deleted, "
                        "edge, labels, add_labels, remove_labels, amount"));
  CodecOptions vertices = graph(events);
  vertices.vertex_attributes = parse_attributes("risk:int", AttributesOf::vertices, "v");
  vertices.columns = "source,target,risk";
  EXPECT_THAT(error_of([&] { decode(Format::csv, {}, vertices); }), HasSubstr("risk is no attribute of edges"));
  EXPECT_THAT(error_of([] { decode(Format::csv, {}, graph(keyed, {}, "edge=kafka:key")); }), HasSubstr("this is a file"));
}

TEST(Properties, RefusalsNameColumnAndValue) {
  EXPECT_THAT(decode(Format::csv, {"from,to,txn_id,amt", "a,b,1,\"1,20\"", "a,b,,1", "a,b,NULL,1", "a,b,2,1"},
                     graph(keyed, "amount:decimal(2)=amt")),
              ElementsAre(AllOf(HasSubstr("! bad_value: amt `1,20` has a comma"), HasSubstr("write a point")),
                          HasSubstr("! missing_key: there is no txn_id, the key of the edge"),
                          HasSubstr("! missing_key: txn_id `NULL`"), "+ 'a' -> 'b' #2 {100}"));
  EXPECT_THAT(decode(Format::jsonl, {R"({"source":1,"target":2,"p":{"amt":true}})"}, graph(events, "amount:int=p.amt")),
              ElementsAre(HasSubstr("! bad_value: p.amt `true` is true or false, not an int")));
}

TEST(Properties, AWordForAMissingSymbolIsReported) {
  EXPECT_THAT(warnings_of("from,to,channel\na,b,N/A\na,b,NULL\n", graph(events, "channel:symbol")),
              ElementsAre(HasSubstr("missing_as_value: channel `N/A`")));
  EXPECT_THAT(warnings_of("from,to,channel\na,b,web\n", graph(events, "channel:symbol")), IsEmpty());
}

TEST(Properties, AnAttributeWithoutAnyValueIsReported) {
  EXPECT_THAT(
      warnings_of("{\"from\":1,\"to\":2,\"amt\":5}\n", graph(events, "amount:int")),
      ElementsAre(AllOf(HasSubstr("attribute_absent: no record has a value of `amount`"), HasSubstr("--columns amount=NAME"))));
  EXPECT_THAT(warnings_of("{\"from\":1,\"to\":2,\"amt\":5}\n", graph(events, "amount:int", "amount=")), IsEmpty());
}

TEST(Properties, JsonByPathsInArraysAndNested) {
  EXPECT_THAT(
      decode(
          Format::jsonl,
          {R"({"id":"t1","parties":[{"n":"a"},{"n":"b"}],"payload":{"amt":"12.50","ok":true}})",
           R"([{"id":1,"parties":[{"n":1},{"n":2}],"payload":{"amt":1e1}},{"id":2,"parties":[{"n":1},{"n":3}],"payload":null}])"},
          graph(keyed, "amount:decimal(2)=payload.amt,ok:bool=payload.ok", "edge=id,source=parties.0.n,target=parties.1.n")),
      ElementsAre("+ 'a' -> 'b' #'t1' {1250, yes}", "+ 1 -> 2 #1 {1000, null}", "+ 1 -> 3 #2 {null, null}"));
  EXPECT_THAT(decode(Format::jsonl, {R"([7,1,2,"3.5"])"}, graph(keyed, "amount:decimal(2)=3", "edge=0,source=1,target=2")),
              ElementsAre("+ 1 -> 2 #7 {350}"));
}

TEST(Properties, JsonKnowsUsualNamesOfKeys) {
  EXPECT_THAT(decode(Format::jsonl,
                     {R"({"from":1,"to":2,"txn_id":"a"})", R"({"from":1,"to":2,"UUID":"b","id":5})",
                      R"({"from":1,"to":2,"id":5})", R"({"from":1,"to":2,"edge":9})"},
                     graph(keyed)),
              ElementsAre("+ 1 -> 2 #'a'", "+ 1 -> 2 #'b'", "+ 1 -> 2 #5", "+ 1 -> 2 #9"));
  EXPECT_THAT(decode(Format::jsonl, {R"({"from":1,"to":2,"txn_id":"a","uuid":"b"})", R"({"from":1,"to":2})"}, graph(keyed)),
              ElementsAre(HasSubstr("two fields say the edge; --columns edge="), HasSubstr("! missing_key: there is no edge")));
}

TEST(Properties, DeletionsByKeyNeedNoEnds) {
  EXPECT_THAT(decode(Format::jsonl,
                     {R"({"op":"d","txn_id":7})", R"({"op":"d","txn_id":7,"from":1,"to":2})",
                      R"({"op":"d","txn_id":"t","from":1,"time":5})", R"({"op":"d","from":1,"to":2})"},
                     graph(keyed)),
              ElementsAre("- #7", "- 1 -> 2 #7", "- #'t' @5", HasSubstr("! missing_key")));
  EXPECT_THAT(decode(Format::csv, {"op,from,to,txn_id,type", "-,,,7,x", "+,,,7,x"}, graph(keyed)),
              ElementsAre("- #7", HasSubstr("! bad_id")));
  EXPECT_THAT(decode(Format::jsonl, {R"({"op":"d","txn_id":7})"}, graph(events)), ElementsAre(HasSubstr("! wrong_arity")));
}

CodecOptions debezium(EdgeModel model, std::string_view attributes, const std::string& columns) {
  CodecOptions options = graph(model, attributes, columns);
  options.envelope = Envelope::debezium;
  return options;
}

TEST(Properties, ChangeEventsReplaceAndDeleteByKey) {
  const CodecOptions options = debezium(keyed, "amount:decimal(2)", "edge=id,source=a,target=b");
  EXPECT_THAT(decode(Format::jsonl,
                     {R"({"op":"c","before":null,"after":{"id":7,"a":1,"b":2,"amount":"1.50"}})",
                      R"({"op":"u","before":{"id":7,"a":1,"b":2,"amount":"1.50"},"after":{"id":7,"a":1,"b":3,"amount":1.75}})",
                      R"({"op":"u","before":null,"after":{"id":7,"a":1,"b":2,"amount":null}})",
                      R"({"op":"u","before":{"id":7},"after":{"id":8,"a":1,"b":2}})",
                      R"({"op":"d","before":{"id":8,"a":0,"b":0},"after":null})", R"({"op":"d","before":null,"after":null})"},
                     options),
              ElementsAre("+ 1 -> 2 #7 {150}", "+ 1 -> 3 #7 {175}", "+ 1 -> 2 #7 {null}", "- #7", "+ 1 -> 2 #8 {null}", "- #8",
                          HasSubstr("! wrong_arity")));
}

TEST(Properties, ChangeEventsOfEventsCompareAttributes) {
  const CodecOptions options = debezium(events, "amount:decimal(2)", "source=a,target=b");
  EXPECT_THAT(decode(Format::jsonl,
                     {R"({"op":"u","before":{"a":1,"b":2,"amount":1},"after":{"a":1,"b":2,"amount":2}})",
                      R"({"op":"u","before":{"a":1,"b":2,"amount":"1.0"},"after":{"a":1,"b":2,"amount":1}})"},
                     options),
              ElementsAre("- 1 -> 2", "+ 1 -> 2 {200}"));
}

TEST(Properties, DecimalsOfDebeziumInAllEncodings) {
  const auto read = [](std::string_view attributes, const std::string& value) {
    return decode(Format::jsonl, {R"({"from":1,"to":2,"amount":)" + value + "}"}, graph(events, attributes)).at(0);
  };
  EXPECT_EQ(read("amount:decimal(2)", R"("4.82")"), "+ 1 -> 2 {482}");
  EXPECT_EQ(read("amount:decimal(2)", "4.82"), "+ 1 -> 2 {482}");
  EXPECT_EQ(read("amount:decimal(2)", R"({"scale":2,"value":"AeI="})"), "+ 1 -> 2 {482}");
  EXPECT_EQ(read("amount:decimal(2)", R"({"value":"AeI=","scale":3})"),
            "! bad_value: amount `AeI=` has more than 2 digits after "
            "the point; declare it with more digits");
  EXPECT_EQ(read("amount:decimal(2,base64)", R"("AeI=")"), "+ 1 -> 2 {482}");
  EXPECT_THAT(read("amount:decimal(2)", R"({"value":"AeI="})"), HasSubstr("name the field in it"));
  EXPECT_THAT(read("amount:decimal(2)", "0.30000000000000004"), HasSubstr("more than 2 digits"));
}

CodecOptions with_risk() {
  CodecOptions options = graph(EdgeModel::simple);
  options.vertex_attributes = parse_attributes("risk:int,vip:bool", AttributesOf::vertices, "v");
  return options;
}

TEST(Properties, VerticesKeepTheirValuesIfARecordSaysNone) {
  EXPECT_THAT(decode(Format::jsonl,
                     {R"({"vertex":"a","risk":5})", R"({"vertex":"a","label":"A"})", R"({"vertex":"a","vip":null})",
                      R"({"op":"d","vertex":"a","risk":1})", R"({"source":1,"target":2,"risk":7})"},
                     with_risk()),
              ElementsAre("+ 'a' {5, null}", "+ 'a' (A)", "+ 'a' {null, null}", "- 'a'", "+ 1 -> 2"));
  EXPECT_THAT(decode(Format::csv, {"vertex,label,risk,vip", "a,A,5,yes"}, with_risk()), ElementsAre("+ 'a' (A) {5, yes}"));
  EXPECT_THAT(end_of("vertex,label,risk\na,A,5\n", with_risk()), HasSubstr("has no column `vip`"));
  EXPECT_THAT(decode(Format::csv, {"from,to", "a,b"}, with_risk()), ElementsAre("+ 'a' -> 'b'"));
}

TEST(Properties, LongKeysAndSymbolsAreRefused) {
  const std::string name(max_name + 1, 'x');
  const auto read = [&](const std::string& line) {
    const auto codec = make_codec(Format::jsonl, graph(keyed, "s:symbol"));
    return *within_max_name(codec->decode(line)).refused;
  };
  EXPECT_EQ(read(R"({"from":1,"to":2,"edge":")" + name + R"("})"), RejectReason::bad_id);
  EXPECT_EQ(read(R"({"from":1,"to":2,"edge":1,"s":")" + name + R"("})"), RejectReason::too_long);
}

TEST(Properties, WrittenJsonIsReadAgain) {
  CodecOptions options = graph(keyed, "amount:decimal(2),n:int,x:float,b:bool,s:symbol,at:time");
  options.vertex_attributes = parse_attributes("risk:decimal(3)", AttributesOf::vertices, "v");
  const std::vector<std::string> records{
      R"({"source":1,"target":2,"edge":"t","amount":"-0.05","n":-9223372036854775808,"x":0.1,"b":false,"s":"a\"b","at":5})",
      R"({"source":1,"target":2,"edge":7,"time":9})", R"({"op":"-","edge":7,"time":10})", R"({"vertex":"a","risk":12.5})"};
  const auto codec = make_codec(Format::jsonl, options);
  std::vector<std::string> written;
  std::vector<std::string> meant;
  for (const std::string& record : records) {
    const Decoded decoded = codec->decode(record);
    ASSERT_EQ(decoded.updates.size(), 1U) << decoded.message;
    meant.push_back(text_of(decoded.updates[0]));
    append_jsonl(written.emplace_back(), decoded.updates[0], schema_of(options));
    written.back().pop_back();
  }
  EXPECT_EQ(decode(Format::jsonl, written, options), meant);
  EXPECT_THAT(written[0], HasSubstr(R"("edge":"t","amount":"-0.05")"));
}

std::vector<std::string> read_message(Codec& codec, std::optional<std::string_view> value, const MessageFrame& frame) {
  const Decoded decoded = codec.decode_message(value, frame);
  std::vector<std::string> out;
  for (const Update& update : decoded.updates) out.push_back(text_of(update));
  if (decoded.refused) out.push_back(fmt::format("! {}: {}", reject_name(*decoded.refused), decoded.message));
  return out;
}

TEST(Properties, WhatSurroundsAMessageCanBeColumns) {
  const auto codec = make_message_codec(
      Format::jsonl, graph(keyed, "channel:symbol", "edge=kafka:key,time=kafka:timestamp,channel=kafka:header.channel"));
  const std::vector<MessageHeader> headers{{"channel", "old"}, {"other", "x"}, {"channel", "web"}};
  EXPECT_THAT(read_message(*codec, R"({"from":1,"to":2})", {.key = "tx-1", .headers = headers, .time = 5}),
              ElementsAre("+ 1 -> 2 @5 #'tx-1' {'web'}"));
  EXPECT_THAT(read_message(*codec, R"({"from":1,"to":2})", {.key = "77", .headers = {}, .time = {}}),
              ElementsAre("+ 1 -> 2 #77 {null}"));
  EXPECT_THAT(read_message(*codec, R"({"from":1,"to":2})", {}), ElementsAre(HasSubstr("! missing_key: there is no kafka:key")));
  EXPECT_THAT(read_message(*codec, std::nullopt, {.key = "77", .headers = {}, .time = 6}), ElementsAre("- #77 @6"));
}

TEST(Properties, KeysOfMessagesCanBeJson) {
  const auto codec = make_message_codec(Format::jsonl, debezium(keyed, {}, "edge=kafka:key.id,source=a,target=b"));
  const std::string_view event = R"({"op":"c","before":null,"after":{"a":1,"b":2}})";
  EXPECT_THAT(read_message(*codec, event, {.key = R"({"id":7})", .headers = {}, .time = {}}), ElementsAre("+ 1 -> 2 #7"));
  EXPECT_THAT(read_message(*codec, event, {.key = R"({"schema":{},"payload":{"id":"x"}})", .headers = {}, .time = {}}),
              ElementsAre("+ 1 -> 2 #'x'"));
  EXPECT_THAT(read_message(*codec, std::nullopt, {.key = R"({"id":7})", .headers = {}, .time = {}}), ElementsAre("- #7"));
  EXPECT_THAT(read_message(*codec, std::nullopt, {.key = "7", .headers = {}, .time = {}}),
              ElementsAre(HasSubstr("! malformed: the message's key `7` has no kafka:key.id")));
  EXPECT_THAT(read_message(*codec, std::nullopt, {.key = "{", .headers = {}, .time = {}}),
              ElementsAre(HasSubstr("is not JSON")));
}

TEST(Properties, SurroundingsStandBesidePositions) {
  const auto codec = make_message_codec(Format::csv, graph(keyed, "n:int", "source,target,edge=kafka:key,n=kafka:header.n"));
  const std::vector<MessageHeader> headers{{"n", "5"}};
  EXPECT_THAT(read_message(*codec, "a,b", {.key = "k", .headers = headers, .time = {}}), ElementsAre("+ 'a' -> 'b' #'k' {5}"));
  const std::vector<MessageHeader> wrong{{"n", "five"}};
  EXPECT_THAT(read_message(*codec, "a,b", {.key = "k", .headers = wrong, .time = {}}),
              ElementsAre(HasSubstr("! bad_value: kafka:header.n `five` is not an int")));
  EXPECT_THAT(error_of([] { static_cast<void>(make_message_codec(Format::jsonl, graph(events, {}, "time=kafka:offset"))); }),
              HasSubstr("write kafka:key, kafka:key.NAME, kafka:header.NAME or kafka:timestamp"));
  EXPECT_THAT(
      error_of([] { static_cast<void>(make_message_codec(Format::jsonl, graph(events, {}, "source=kafka:timestamp"))); }),
      HasSubstr("is a time, and no source"));
}

TEST(Properties, TombstonesThatAreNotReadAreReported) {
  Doubts doubts;
  CodecOptions options = graph(keyed);
  options.doubts = &doubts;
  const auto codec = make_message_codec(Format::jsonl, options);
  EXPECT_THAT(read_message(*codec, std::nullopt, {.key = "7", .headers = {}, .time = {}}), IsEmpty());
  ASSERT_EQ(doubts.all(0).size(), 1U);
  EXPECT_EQ(doubts.all(0)[0].code, "tombstone_unread");
  const auto vertices = make_message_codec(Format::jsonl, graph(EdgeModel::simple, {}, "vertex=kafka:key"));
  EXPECT_THAT(read_message(*vertices, std::nullopt, {.key = "acct-1", .headers = {}, .time = {}}), ElementsAre("- 'acct-1'"));
  EXPECT_THAT(read_message(*vertices, R"({"label":"A"})", {.key = "acct-1", .headers = {}, .time = {}}),
              ElementsAre("+ 'acct-1' (A)"));
}

}  // namespace
}  // namespace deltamatch::ingest

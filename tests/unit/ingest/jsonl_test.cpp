#include "ingest/codec/text_records.hpp"
#include "ingest/source/record_source.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::decode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Jsonl, EdgesAndVertices) {
  EXPECT_THAT(
      decode(
          Format::jsonl,
          {R"({"op":"+","source":"acct-1","target":7,"label":"PAYS","source_label":"A","target_label":"B","time":1700000000000000})",
           R"( {"target":2, "source":1, "op":"delete"} )", R"({"op":"+","vertex":"a","label":"Account"})",
           R"({"op":"-","vertex":-5})", "", R"({"source":1,"target":2,"time":"2023-11-14T22:13:20Z","label":5})"}),
      ElementsAre("+ 'acct-1' -> 7 [PAYS] (A -> B) @1700000000000000", "- 1 -> 2", "+ 'a' (Account)", "- -5",
                  "+ 1 -> 2 [5] @1700000000000000"));
}

TEST(Jsonl, StringsAreStringsAndNumbersNumbersUnlessToldOtherwise) {
  const std::vector<std::string> record = {R"({"source":"7","target":7})"};
  EXPECT_THAT(decode(Format::jsonl, record), ElementsAre("+ '7' -> 7"));
  CodecOptions options;
  options.ids = IdKind::integer;
  EXPECT_THAT(decode(Format::jsonl, record, options), ElementsAre("+ 7 -> 7"));
  options.ids = IdKind::string;
  EXPECT_THAT(decode(Format::jsonl, record, options), ElementsAre("+ '7' -> '7'"));
}

TEST(Jsonl, EscapesAndIgnoredFields) {
  EXPECT_THAT(
      decode(
          Format::jsonl,
          {R"({"s\u006furce":"a\"\u00e9\n","target":"b","memo":{"x":[1,2.5e300,null,true,{"y":""}]},"n":12345678901234567890123})"}),
      ElementsAre("+ 'a\"\xc3\xa9\n' -> 'b'"));
}

TEST(Jsonl, BytesThatAreNotUtf8AreReadAsTheyAreWritten) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  Update update;
  update.source = std::string_view(all);
  update.target = std::string_view("\xc3\xa9\xed\xb2\x80\xf0\x9f\x92\xa9\xff");
  std::string line;
  append_jsonl(line, update);
  const auto codec = make_codec(Format::jsonl, {});
  const Decoded decoded = codec->decode(line);
  ASSERT_EQ(decoded.updates.size(), 1) << decoded.message;
  EXPECT_EQ(decoded.updates[0].source, update.source);
  EXPECT_EQ(decoded.updates[0].target, update.target);
}

TEST(Jsonl, EscapesOfEveryKind) {
  const auto label = [](const std::string& escaped) {
    const auto out = decode(Format::jsonl, {R"({"source":1,"target":2,"x":")" + escaped + R"(","label":")" + escaped + "\"}"});
    return out.at(0);
  };
  EXPECT_EQ(label(R"(\"\\\/\b\f\n\r\t)"), "+ 1 -> 2 [\"\\/\b\f\n\r\t]");
  EXPECT_EQ(label(R"(a\u0041\u00e9\u20ACz)"), "+ 1 -> 2 [aA\xc3\xa9\xe2\x82\xacz]");
  EXPECT_EQ(label(R"(\ud83d\udca9\uD800\uDC00\udbff\udfff)"), "+ 1 -> 2 [\xf0\x9f\x92\xa9\xf0\x90\x80\x80\xf4\x8f\xbf\xbf]");
  EXPECT_EQ(label(R"(\udc80\udcff)"), "+ 1 -> 2 [\x80\xff]");
  for (const char* bad : {R"(\q)", R"(\u12)", R"(\u12g4)", R"(\u+123)", R"(\ud83d)", R"(\ud83dx)", R"(\ud83d\n)",
                          R"(\ud83d\u0041)", R"(\udc7f)", R"(\udd00)", R"(\udfff)", R"(\ud800\ud800)"}) {
    EXPECT_THAT(label(bad), HasSubstr("! malformed")) << bad;
    EXPECT_THAT(decode(Format::jsonl, {std::string(R"({"source":1,"target":2,"x":")") + bad + "\"}"}),
                ElementsAre(HasSubstr("! malformed")));
  }
}

TEST(Jsonl, NullIsAbsent) {
  EXPECT_THAT(decode(Format::jsonl, {R"({"source":1,"target":2,"label":null,"time":null,"source_label":null,"op":null})",
                                     R"({"source":null,"target":2})"}),
              ElementsAre("+ 1 -> 2", "! wrong_arity: there is no source"));
}

TEST(Jsonl, FieldNamesOfTheUsersOwn) {
  CodecOptions options;
  options.columns = "source=payer,target=payee,time=";
  EXPECT_THAT(decode(Format::jsonl, {R"({"payer":1,"payee":2,"source":"bank","time":"never","label":"x"})"}, options),
              ElementsAre("+ 1 -> 2 [x]"));
}

TEST(Jsonl, WhatIsThereInPlaceOfAnEdgeIsTold) {
  const auto one = [](const std::string& record) { return decode(Format::jsonl, {record}).at(0); };
  EXPECT_EQ(one(R"({"a":1,"b":2})"), "! wrong_arity: there is no source among `a`, `b`; --columns source=NAME names it");
  EXPECT_EQ(one(R"([{"source":1,"target":2},{"a":1,"target":2}])"),
            "! wrong_arity: element 1, from 0: there is no source among `a`; --columns source=NAME names it");
  EXPECT_EQ(
      one(R"({"source":{"id":1},"target":{"x":{"key":2}}})"),
      "! malformed: field `source` is neither a string nor a number; --columns source=source.id,target=target.x.key reads the "
      "fields in it");
  EXPECT_EQ(
      one(R"({"nodes":[{"id":1}],"links":[{"source":1,"target":1}]})"),
      "! wrong_arity: there is no source; `links` holds an array of records, and `jq -c '.links[]'` makes a line of each");
  EXPECT_EQ(one(R"({"x":[{"id":1}],"my y":[{"a":1}]})"),
            "! wrong_arity: there is no source; it holds arrays of records, and one of `jq -c '.x[]'`, `jq -c '.\"my y\"[]'` "
            "makes lines "
            "of those that are edges");
  EXPECT_EQ(one(R"({"payload":{"op":"c","after":{"source":1}}})"),
            "! wrong_arity: there is no source; --envelope debezium reads a change event of Debezium");
  EXPECT_EQ(
      one("[1,2]"),
      "! malformed: element 0, from 0: the array holds values and no objects; --columns source=0,target=1 reads it as a row");
}

TEST(Jsonl, RefusesEachByItsReason) {
  const auto refusal = [](const char* record) {
    const auto out = decode(Format::jsonl, {record});
    return out.size() == 1 ? out[0].substr(0, out[0].find(':')) : "not one";
  };
  EXPECT_EQ(refusal(R"({"source":1})"), "! wrong_arity");
  EXPECT_EQ(refusal(R"({})"), "! wrong_arity");
  EXPECT_EQ(refusal(R"({"vertex":1,"source":2,"target":3})"), "! wrong_arity");
  EXPECT_EQ(refusal(R"({"source":1.5,"target":2})"), "! bad_id");
  EXPECT_EQ(refusal(R"({"source":"","target":2})"), "! bad_id");
  EXPECT_EQ(refusal(R"({"source":9223372036854775808,"target":2})"), "! bad_id");
  EXPECT_EQ(refusal(R"({"source":99999999999999999999999,"target":2})"), "! bad_id");
  EXPECT_EQ(refusal(R"({"source":1e3,"target":2})"), "! bad_id");
  EXPECT_EQ(refusal(R"({"source":1,"target":2,"time":"x"})"), "! bad_time");
  EXPECT_EQ(refusal(R"({"source":1,"target":2,"time":99999999999999999999})"), "! bad_time");
  EXPECT_EQ(refusal(R"({"source":1,"target":2,"op":"*"})"), "! bad_operation");
  EXPECT_EQ(refusal(R"({"source":1,"target":2,"op":1})"), "! bad_operation");
}

TEST(Jsonl, BrokenJsonIsMalformedWhereverItBreaks) {
  for (const char* record : {"{",
                             "}",
                             "[",
                             "]",
                             "1",
                             "null",
                             "\"x\"",
                             "nonsense",
                             R"({"source":1,"target":2)",
                             R"({"source":1,"target":2} x)",
                             R"({"source":1,"target":2}{"source":1,"target":2})",
                             R"({"source":NaN,"target":2})",
                             R"({"source":1 "target":2})",
                             R"({"source":1,,"target":2})",
                             R"({"source":1,"target":2,})",
                             R"({"source":01,"target":2})",
                             R"({"source":1,"target":2,"x":tru})",
                             R"({"source":1,"target":2,"x":nul})",
                             R"({"source":1,"target":2,"label":nul$})",
                             R"({"source":1,"target":2,"x":[{"y":nul$}]})",
                             R"({"source":1,"target":2,"x":falsy})",
                             R"({"source":1,"target":2,"x":[1,]})",
                             R"({"source":1,"target":2,"x":1.})",
                             R"({"source":1,"target":2,"x":"\q"})",
                             R"({"source":1,"source":3,"target":2})",
                             R"({"source":[1],"target":2})",
                             R"({"source":true,"target":2})",
                             R"({"source":{"a":1},"target":2})",
                             "{\"source\":\"\xff\",\"target\":2}",
                             R"({"source":"a,"target":2})",
                             R"({"source":1,"target":2,"x":{"y"}})",
                             R"({"source":1,"target":2,"x":{"y":"z":3},"w":4}})",
                             R"({"source":1,"target":2,"x":["y":3,{"z":4}]]})",
                             R"({"x":{"source":"y":3},"source":1,"target":2}})",
                             R"({source:1,"target":2})",
                             R"({"source":12abc,"target":2})"}) {
    EXPECT_THAT(decode(Format::jsonl, {record, R"({"source":1,"target":2})"}),
                ElementsAre(HasSubstr("! malformed"), "+ 1 -> 2"))
        << record;
  }
  EXPECT_THAT(decode(Format::jsonl, {std::string(100000, '[')}), ElementsAre(HasSubstr("! malformed")));
  EXPECT_THAT(decode(Format::jsonl, {R"({"source":1,"target":2,"x":)" + std::string(5000, '[') + std::string(5000, ']') + "}"}),
              ElementsAre(HasSubstr("! malformed")));
}

TEST(Jsonl, BytesBehindABrokenRecordDoNotChangeItsMessage) {
  const auto codec = make_codec(Format::jsonl, {});
  for (const std::string record : {R"({"source":1,"target":2,["edge":"t","z":{"n":"x"},"b":true})",
                                   R"([{"source":1,"target":[2])", R"({"source":1,"target":2,"z":{"n":1})",
                                   R"({"source":1,"target":2)", R"({"source":1}},"n":1})", R"([{}]])", "{", "[", "}"}) {
    const std::string alone(codec->decode(record).message);
    EXPECT_NE(alone, "");
    for (const char behind : {'}', ']', '"', ',', '{', '1', ' ', '\0'}) {
      const std::string padded = record + std::string(Record::padding, behind);
      const Decoded decoded = codec->decode_padded(std::string_view(padded).substr(0, record.size()));
      EXPECT_EQ(decoded.refused, RejectReason::malformed);
      EXPECT_EQ(decoded.message, alone) << record << " before " << behind;
    }
  }
}

}  // namespace
}  // namespace deltamatch::ingest

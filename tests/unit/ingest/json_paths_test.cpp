#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::decode;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

CodecOptions columns(std::string text, Envelope envelope = Envelope::none) {
  CodecOptions options;
  options.columns = std::move(text);
  options.envelope = envelope;
  return options;
}

TEST(JsonPaths, DescendIntoObjects) {
  const CodecOptions options = columns("source=payer.id,target=payee.account.id,label=kind,source_label=payer.kind");
  EXPECT_THAT(decode(Format::jsonl,
                     {R"({"payee":{"account":{"id":7,"open":true},"name":"x"},"kind":"PAYS","payer":{"kind":"A","id":"a"}})",
                      R"({"payer":{"id":1},"payee":{"account":{"id":2}},"source":3,"target":4})"},
                     options),
              ElementsAre("+ 'a' -> 7 [PAYS] (A -> ?)", "+ 1 -> 2"));
}

TEST(JsonPaths, DotsWithinNamesAreEscaped) {
  EXPECT_THAT(decode(Format::jsonl, {R"({"a.b":{"c\\d":1},"a":{"b":9},"t":2})"}, columns(R"(source=a\.b.c\\d,target=t)")),
              ElementsAre("+ 1 -> 2"));
}

TEST(JsonPaths, OneFieldMayHaveSeveralRoles) {
  EXPECT_THAT(
      decode(Format::jsonl, {R"({"a":1,"b":2,"kind":"K"})"}, columns("source=a,target=b,source_label=kind,target_label=kind")),
      ElementsAre("+ 1 -> 2 (K -> K)"));
}

TEST(JsonPaths, WhatStandsInTheWayIsAbsentOrMalformed) {
  const auto one = [](const char* record) { return decode(Format::jsonl, {record}, columns("source=p.id,target=q.id")).at(0); };
  EXPECT_EQ(one(R"({"p":null,"q":{"id":1}})"), "! wrong_arity: there is no p.id");
  EXPECT_EQ(one(R"({"p":{},"q":{"id":1}})"), "! wrong_arity: there is no p.id");
  EXPECT_EQ(one(R"({"p":{"id":null},"q":{"id":1}})"), "! wrong_arity: there is no p.id");
  EXPECT_EQ(one(R"({"p":5,"q":{"id":1}})"), "! malformed: field `p` is no object");
  EXPECT_EQ(
      one(R"({"p":[{"id":5}],"q":{"id":1}})"),
      "! malformed: field `p` is no object; p.0 is the first of its elements alone, and `jq -c '.p[]'` makes a record of each");
  EXPECT_EQ(one(R"({"p":{"id":{}},"q":{"id":1}})"), "! malformed: field `p.id` is neither a string nor a number");
  EXPECT_EQ(one(R"({"p":{"id":1},"q":{"id":1},"p":{"id":2}})"), "! malformed: field `p` is there twice");
  EXPECT_EQ(one(R"({"p":{"id":1,"id":1},"q":{"id":1}})"), "! malformed: field `p.id` is there twice");
  EXPECT_EQ(one(R"({"p":{"id":"a"},"q":{"id":1.5}})"), "! bad_id: q.id `1.5` is not an integer");
  EXPECT_THAT(one(R"({"p":{"id":1},"q":{"id":1})"), HasSubstr("! malformed"));
}

TEST(JsonPaths, BadPathsAreWrongUsage) {
  const auto error = [](const char* text, Envelope envelope = Envelope::none) {
    return error_of([&] { (void)make_codec(Format::jsonl, columns(text, envelope)); });
  };
  EXPECT_THAT(error("source=a..b,target=c"), HasSubstr("`a..b` has an empty name"));
  EXPECT_THAT(error("source=a.,target=c"), HasSubstr("has an empty name"));
  EXPECT_THAT(error(R"(source=a\b,target=c)"), HasSubstr(R"(has a \ before neither . nor \)"));
  EXPECT_THAT(error(R"(source=a\,target=c)"), HasSubstr(R"(has a \ before neither . nor \)"));
  EXPECT_THAT(error("source=.a,target=c"), HasSubstr("starts at an envelope, and there is none"));
  EXPECT_THAT(error("source=a,target=a.b"), HasSubstr("`a` cannot be an object and a value at once"));
  EXPECT_THAT(error("source=label.x"), HasSubstr("`label` cannot be an object and a value at once"));
  EXPECT_THAT(error("op=kind", Envelope::debezium), HasSubstr("a change event has its own op"));
  EXPECT_THAT(error("source=.,target=x", Envelope::debezium), HasSubstr("has an empty name"));
  EXPECT_THAT(error("time=.payload.ts_ms", Envelope::debezium), HasSubstr("names the payload"));
  EXPECT_THAT(error_of([] { (void)make_codec(Format::csv, columns("", Envelope::debezium)); }),
              HasSubstr("envelope: csv records have none"));
}

TEST(Debezium, RowsThatComeGoAndChange) {
  const CodecOptions options = columns("source=from,target=to,label=kind", Envelope::debezium);
  EXPECT_THAT(
      decode(Format::jsonl,
             {R"({"before":null,"after":{"from":1,"to":2,"kind":"K","time":5},"source":{"ts_ms":9},"op":"c","ts_ms":10})",
              R"({"op":"r","after":{"from":1,"to":3}})", R"({"op":"d","before":{"from":1,"to":2,"kind":"K"},"after":null})",
              R"({"op":"u","before":{"from":1,"to":2,"time":1},"after":{"from":1,"to":4,"time":2}})",
              R"({"op":"u","before":{"from":1,"to":2,"amount":1},"after":{"from":1,"to":2,"amount":2}})",
              R"({"op":"u","before":{"from":1,"to":2,"time":1},"after":{"from":1,"to":2,"time":2}})"},
             options),
      ElementsAre("+ 1 -> 2 [K] @5", "+ 1 -> 3", "- 1 -> 2 [K]", "- 1 -> 2 @2", "+ 1 -> 4 @2", "- 1 -> 2 @2", "+ 1 -> 2 @2"));
}

TEST(Debezium, RowsMayHaveColumnsOfAnOperationsName) {
  EXPECT_THAT(decode(Format::jsonl,
                     {R"({"op":"c","after":{"source":1,"target":2,"op":"transfer","sign":"-"}})",
                      R"({"op":"d","before":{"source":1,"target":2,"op":{"kind":3}},"after":null})"},
                     columns("", Envelope::debezium)),
              ElementsAre("+ 1 -> 2", "- 1 -> 2"));
}

TEST(JsonNames, WordsGoBeforeSingleLetters) {
  EXPECT_THAT(decode(Format::jsonl,
                     {R"({"from":1,"to":2,"v":7})", R"({"v":7,"from":1,"to":2})", R"({"u":8,"v":7,"src":1,"dst":2})",
                      R"({"u":3,"v":4})", R"({"from":1,"dst":2,"to":3})", R"({"v":7,"from":1,"to":{"id":2}})"},
                     columns("")),
              ElementsAre("+ 1 -> 2", "+ 1 -> 2", "+ 1 -> 2", "+ 3 -> 4",
                          ::testing::StartsWith("! malformed: two fields say the target"),
                          ::testing::StartsWith("! malformed: field `to` is neither a string nor a number")));
}

TEST(Debezium, APayloadBesideItsSchemaIsPassedThrough) {
  const CodecOptions options = columns("", Envelope::debezium);
  EXPECT_THAT(
      decode(
          Format::jsonl,
          {R"({"schema":{"type":"struct","fields":[{"field":"before"}]},"payload":{"op":"c","after":{"source":1,"target":2}}})",
           R"({"payload":{"op":"d","before":{"source":1,"target":2}},"schema":null})", R"({"schema":null,"payload":null})"},
          options),
      ElementsAre("+ 1 -> 2", "- 1 -> 2"));
}

TEST(Debezium, PathsFromADotStartAtTheEnvelope) {
  CodecOptions options = columns("label=.source.table,time=.source.ts_ms", Envelope::debezium);
  options.time_unit = TimeUnit::milliseconds;
  EXPECT_THAT(
      decode(
          Format::jsonl,
          {R"({"op":"c","after":{"source":1,"target":2},"source":{"table":"pays","ts_ms":7}})",
           R"({"payload":{"op":"d","before":{"source":1,"target":2,"time":1},"source":{"table":"pays","ts_ms":8}}})",
           R"({"op":"u","before":{"source":1,"target":2},"after":{"source":1,"target":2},"source":{"table":"p","ts_ms":9}})"},
          options),
      ElementsAre("+ 1 -> 2 [pays] @7000", "- 1 -> 2 [pays] @8000"));
}

TEST(Debezium, AVertexThatChangesKeepsItsEdges) {
  const CodecOptions options = columns("vertex=id,label=kind", Envelope::debezium);
  EXPECT_THAT(
      decode(Format::jsonl,
             {R"({"op":"c","after":{"id":1,"kind":"A"}})",
              R"({"op":"u","before":{"id":1,"kind":"A"},"after":{"id":1,"kind":"B"}})",
              R"({"op":"u","before":{"id":1,"kind":"A"},"after":{"id":2,"kind":"A"}})", R"({"op":"d","before":{"id":1}})"},
             options),
      ElementsAre("+ 1 (A)", "+ 1 (B)", "- 1 (A)", "+ 2 (A)", "- 1"));
}

TEST(Debezium, RefusesEachByItsReason) {
  const auto one = [](const char* record) {
    const auto out = decode(Format::jsonl, {record}, columns("", Envelope::debezium));
    return out.size() == 1 ? out[0] : "not one";
  };
  EXPECT_EQ(one(R"({"after":{"source":1,"target":2}})"),
            "! wrong_arity: the event has no field op, which says what has changed");
  EXPECT_THAT(one(R"({"op":"t"})"), HasSubstr("! bad_operation: op `t` says that a table was emptied"));
  EXPECT_THAT(one(R"({"op":"m","message":{"prefix":"x"}})"), HasSubstr("! bad_operation: op `m` is a message of the database"));
  EXPECT_EQ(one(R"({"op":"+","after":{"source":1,"target":2}})"), "! bad_operation: op `+` is none of c, r, u and d");
  EXPECT_EQ(one(R"({"op":1,"after":{"source":1,"target":2}})"), "! bad_operation: op `1` is none of c, r, u and d");
  EXPECT_EQ(one(R"({"op":"c","before":{"source":1,"target":2}})"), "! wrong_arity: the event has op `c` and no row after");
  EXPECT_EQ(one(R"({"op":"d","before":null,"after":null})"),
            "! wrong_arity: the event has op `d` and no row before; let the database log whole rows (PostgreSQL: REPLICA "
            "IDENTITY FULL)");
  EXPECT_THAT(one(R"({"op":"u","before":null,"after":{"source":1,"target":2}})"),
              HasSubstr("! wrong_arity: the event has op `u` and no row before; "));
  EXPECT_EQ(one(R"({"op":"d","before":{"id":1}})"),
            "! wrong_arity: there is no before.source among `id`; --columns source=NAME names it");
  EXPECT_EQ(one(R"({"op":"u","before":{"source":1,"target":2},"after":{"source":1,"target":"","x":1}})"),
            "! bad_id: after.target `` is empty");
  EXPECT_EQ(one(R"({"op":"u","before":{"source":1,"target":2.5},"after":{"source":1,"target":1}})"),
            "! bad_id: before.target `2.5` is not an integer");
  EXPECT_EQ(one(R"({"op":"c","after":{"source":1,"target":2,"time":"soon"}})"),
            "! bad_time: after.time `soon` is not a time, or beyond the range");
  EXPECT_EQ(one(R"({"op":"c","after":5})"), "! malformed: field `after` is no object");
  EXPECT_EQ(one(R"({"payload":{"op":"c","after":{"source":1,"target":2}},"op":"d"})"),
            "! malformed: field `op` is there twice");
  EXPECT_EQ(one(R"({"payload":{"payload":{"op":"c"}}})"),
            "! wrong_arity: the event has no field op, which says what has changed");
}

}  // namespace
}  // namespace deltamatch::ingest

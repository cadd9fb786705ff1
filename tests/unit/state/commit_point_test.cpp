#include "ingest/service/state/commit_point.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {
namespace {

TEST(CommitPoint, SurvivesItsText) {
  CommitPoint mark;
  mark.batch = 17;
  mark.ends = {{{"b", 0}, 3}, {{"a", 10}, 1}, {{"a", 2}, 9'000'000'000}};
  mark.watermark = -5;
  mark.queries = {{"a \"ring\"", "00ff"}, {"path", "12"}};
  EXPECT_EQ(to_json(mark), R"({"v":1,"batch":17,"time":-5,"ends":{"a":{"2":9000000000,"10":1},"b":{"0":3}},)"
                           R"("queries":{"a \"ring\"":"00ff","path":"12"}})");
  EXPECT_EQ(parse_mark(to_json(mark), "here"), mark);
  mark.reading = "77ff";
  EXPECT_EQ(to_json(mark).substr(to_json(mark).find("},\"r")), R"(},"reading":"77ff"})");
  EXPECT_EQ(parse_mark(to_json(mark), "here"), mark);
  mark.graph = {false, 3'600'000'000, "99aa"};
  EXPECT_EQ(to_json(mark).substr(to_json(mark).find(",\"g")),
            R"(,"graph":{"directed":false,"window":3600000000,"start":"99aa"}})");
  EXPECT_EQ(parse_mark(to_json(mark), "here"), mark);
  CommitPoint with_keys = mark;
  with_keys.graph->edges = "keyed; amount decimal(2)";
  with_keys.graph->vertices = "risk int";
  EXPECT_EQ(to_json(with_keys).substr(to_json(with_keys).find(",\"st")),
            R"x(,"start":"99aa","edges":"keyed; amount decimal(2)","vertices":"risk int"}})x");
  EXPECT_EQ(parse_mark(to_json(with_keys), "here"), with_keys);
  with_keys.graph->lateness = 5;
  with_keys.times = {{{"b", 0}, {70, true}}, {{"a", 10}, {std::nullopt, true}}, {{"a", 2}, {-9, true}}, {{"c", 1}, {}}};
  with_keys.retention = 3'600'000'000;
  EXPECT_EQ(to_json(with_keys).substr(to_json(with_keys).find(",\"vert")),
            R"x(,"vertices":"risk int","allowed_lateness":5},"times":{"a":{"2":-9,"10":null},"b":{"0":70},"c":{"1":null}},)x"
            R"x("idle":{"a":[2,10],"b":[0]},"retention":3600000000})x");
  EXPECT_EQ(parse_mark(to_json(with_keys), "here"), with_keys);
  mark.suspended = {{"hub", "00ff", 16, Shortfall::limit}, {"long", "00aa", 17, Shortfall::timeout}};
  EXPECT_EQ(to_json(mark).substr(to_json(mark).find(",\"s")),
            R"(,"start":"99aa"},"suspended":{"hub":{"fingerprint":"00ff","batch":16,"over":"limit"},)"
            R"("long":{"fingerprint":"00aa","batch":17,"over":"timeout"}}})");
  EXPECT_EQ(parse_mark(to_json(mark), "here"), mark);
  EXPECT_EQ(parse_mark(to_json(CommitPoint{}), "here"), CommitPoint{});
  with_keys.watches_vertices = true;
  with_keys.digest = {{0, 1}, {UINT64_MAX, 0xabc}};
  EXPECT_EQ(to_json(with_keys).substr(to_json(with_keys).find(",\"ret")),
            R"x(,"retention":3600000000,"watches_vertices":true,"digest":{"begin":"00000000000000000000000000000001",)x"
            R"x("now":"ffffffffffffffff0000000000000abc"}})x");
  EXPECT_EQ(parse_mark(to_json(with_keys), "here"), with_keys);
}

TEST(CommitPoint, NamesTheShardOfItsGraph) {
  CommitPoint mark;
  mark.graph = {true, 0, "99aa"};
  EXPECT_EQ(to_json(mark).find("shard"), std::string::npos) << "as before there were shards";
  mark.graph->lateness = 5;
  mark.graph->shard = "2 of 4";
  EXPECT_THAT(to_json(mark), ::testing::HasSubstr(R"("start":"99aa","allowed_lateness":5,"shard":"2 of 4"})"));
  EXPECT_EQ(parse_mark(to_json(mark), "here"), mark);
}

TEST(CommitPoint, NamesQueriesMadeOverHttp) {
  CommitPoint mark;
  mark.batch = 17;
  mark.over_http = {"hub", "ring \"ä\""};
  EXPECT_THAT(to_json(mark), ::testing::HasSubstr(R"(,"over_http":["hub","ring \"ä\""])"));
  EXPECT_EQ(parse_mark(to_json(mark), "here"), mark);
  mark.over_http.clear();
  EXPECT_THAT(to_json(mark), ::testing::Not(::testing::HasSubstr("over_http")));
}

TEST(CommitPoint, RefusesAnythingElse) {
  for (const char* text :
       {"", "{}", "[1]", R"({"v":2,"batch":1,"time":null,"ends":{},"queries":{}})",
        R"({"v":1,"batch":-1,"time":null,"ends":{},"queries":{}})", R"({"v":1,"batch":"1","time":null,"ends":{},"queries":{}})",
        R"({"v":1,"batch":1,"time":null,"ends":{"t":{"x":1}},"queries":{}})",
        R"({"v":1,"batch":1,"time":null,"ends":{"t":{"-1":1}},"queries":{}})",
        R"({"v":1,"batch":1,"time":null,"ends":{"t":{"0":-1}},"queries":{}})",
        R"({"v":1,"batch":1,"time":null,"ends":{"t":{"0":1.5}},"queries":{}})",
        R"({"v":1,"batch":1,"time":null,"ends":{"t":7},"queries":{}})",
        R"({"v":1,"batch":1,"time":null,"ends":{},"queries":{},"suspended":{"hub":{"fingerprint":"00","batch":1}}})",
        R"({"v":1,"batch":1,"time":null,"ends":{},"queries":{},"over_http":"ring"})",
        R"({"v":1,"batch":1,"time":null,"ends":{},"queries":{},"suspended":{"hub":{"fingerprint":"00","batch":1,"over":"x"}}})",
        R"({"v":1,"batch":1,"time":null,"ends":{},"queries":{},"times":{"t":{"0":"x"}}})",
        R"({"v":1,"batch":1,"time":null,"ends":{},"queries":{},"times":{"t":{"0":1}},"idle":{"t":[1]}})",
        R"({"v":1,"batch":1,"time":null,"ends":{},"queries":{},"digest":{"begin":"00","now":"00"}})",
        R"({"v":1,"batch":1,"time":null,"ends":{},"queries":{},"digest":{"begin":"00000000000000000000000000000000"}})",
        R"({"v":1,"batch":1,"time":null,"ends":{},"queries":{},"graph":{"directed":true,"window":0}})"}) {
    EXPECT_THROW(static_cast<void>(parse_mark(text, "here")), Error) << text;
  }
}

TEST(CommitPoint, NamesAreUtf8) {
  CommitPoint mark;
  mark.queries = {{"caf\xc3\xa9 \x01\n\\ \xf0\x9f\x98\x80", "00"}};
  EXPECT_EQ(parse_mark(to_json(mark), "here"), mark);
  mark.queries = {{"caf\xe9", "00"}};
  EXPECT_THROW(static_cast<void>(to_json(mark)), Error);  // refused before anything unreadable is written
}

TEST(TopicPartition, HasAName) { EXPECT_EQ(to_string(TopicPartition{"payments", 3}), "payments[3]"); }

}  // namespace
}  // namespace deltamatch::ingest

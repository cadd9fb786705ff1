#include "ingest/service/http/query_routes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ingest/service/loop/query_book.hpp"
#include "ingest/service/state/query_definition.hpp"
#include "unit/ingest/support.hpp"

namespace deltamatch::ingest {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

ServiceQuery query(const std::string& name, const std::string& pattern = "(a)-->(b)", bool over_http = false) {
  ServiceQuery query;
  query.query = parse_pattern(pattern, name);
  query.text = pattern;
  query.where = "service.yaml:7";
  query.sinks = {"alerts"};
  query.over_http = over_http;
  return query;
}

TEST(QueryDefinition, HasEveryKeyAndChangesItsTag) {
  ServiceQuery one = query("ring");
  EXPECT_EQ(definition_of(one),
            R"j({"name":"ring","pattern":"(a)-->(b)","mode":"isomorphism","count":"subgraphs","induced":false,)j"
            R"j("sinks":["alerts"],"report_existing":false,"budget":{"time":"none","matches":"none","then":"suspend"}})j");
  const std::string tag = entity_tag(one);
  EXPECT_THAT(tag, HasSubstr(fingerprint_of(one)));
  ServiceQuery other = one;
  other.budget.limits.time = std::chrono::seconds(90);
  other.budget.limits.matches = 5;
  EXPECT_THAT(definition_of(other), HasSubstr(R"j({"time":"90000ms","matches":5,"then":"suspend"})j"));
  EXPECT_NE(entity_tag(other), tag);
  EXPECT_EQ(fingerprint_of(other), fingerprint_of(one));
  other = one;
  other.where = "elsewhere";
  EXPECT_EQ(entity_tag(other), tag);
  other.text.clear();
  EXPECT_EQ(pattern_of(other), to_pattern(one.query));
}

TEST(QueryRoutes, CountsBeyond64BitsKeepTheirDigits) {
  QueryHandlers handlers;
  handlers.list = [] {
    QueryListing listing;
    ListedQuery& listed = listing.queries.emplace_back();
    listed.query = query("ring");
    listed.added = ~Count{0};
    listed.removed = Count{1} << 64;
    return listing;
  };
  for (const HttpRoute& route : query_routes(handlers)) {
    if (route.method != "GET" || route.pattern != "/v1/queries") continue;
    EXPECT_THAT(route.handler({}).body,
                HasSubstr(R"("matches":{"new":340282366920938463463374607431768211455,"removed":18446744073709551616})"));
  }
}

TEST(QueryDefinition, TagsAreFoundInHeaders) {
  EXPECT_TRUE(names_tag("\"a-1\"", "\"a-1\""));
  EXPECT_TRUE(names_tag("\"x\" ,\t\"a-1\"", "\"a-1\""));
  EXPECT_TRUE(names_tag("a-1", "\"a-1\"")) << "people forget the quotes";
  EXPECT_TRUE(names_tag("*", "\"a-1\""));
  for (const char* other : {"", ",", "\"a-2\"", "W/\"a-1\"", "\"a-1", "a"}) EXPECT_FALSE(names_tag(other, "\"a-1\"")) << other;
}

class QueryBookTest : public ::testing::Test {
 protected:
  static ServiceQuery define(std::string_view json, const std::optional<std::string>&) {
    const auto object = nlohmann::json::parse(json);
    if (object.at("pattern") == "(bad)-->(b)") throw QueryRefusal(422, "there is no sink 'x'", "name another");
    return query(object.at("name"), object.at("pattern"), true);
  }
  static QueryRequest request(QueryRequest::Kind kind, const std::string& name, const std::string& pattern = "(a)-->(b)") {
    QueryRequest wanted;
    wanted.kind = kind;
    wanted.name = name;
    if (kind != QueryRequest::Kind::remove) wanted.query = query(name, pattern);
    return wanted;
  }
  unsigned status_of(const QueryRequest& wanted) {
    try {
      static_cast<void>(book_.prepare(wanted, false));
      return 200;
    } catch (const QueryRefusal& refusal) {
      return refusal.status;
    }
  }
  static QueryRecord record(const std::string& name, std::uint64_t batch, const std::string& pattern = "(a)-->(b)") {
    return {name, batch, definition_of(query(name, pattern))};
  }
  using Kind = QueryRequest::Kind;
  QueryBook book_{{query("file")}, "app.queries"};
};

TEST_F(QueryBookTest, TellsWhatARequestLeadsTo) {
  const QueryBook::Prepared made = book_.prepare(request(Kind::create, "pair"), false);
  EXPECT_TRUE(made.outcome.created);
  EXPECT_TRUE(made.outcome.changed);
  ASSERT_TRUE(made.wish);
  EXPECT_EQ(made.wish->queries.size(), 2u);
  EXPECT_TRUE(made.wish->queries.back().over_http);
  EXPECT_EQ(made.wish->only, "pair");
  book_.apply(request(Kind::create, "pair"), 7);
  EXPECT_EQ(status_of(request(Kind::create, "pair")), 409u);
  const QueryBook::Prepared same = book_.prepare(request(Kind::put, "pair"), false);
  EXPECT_FALSE(same.outcome.changed);
  EXPECT_FALSE(same.wish);
  EXPECT_TRUE(book_.prepare(request(Kind::put, "pair"), true).wish) << "it stands anew";
  const QueryBook::Prepared other = book_.prepare(request(Kind::put, "pair", "(a)-->(b)-->(a)"), false);
  EXPECT_FALSE(other.outcome.created);
  ASSERT_TRUE(other.wish);
  EXPECT_EQ(other.wish->queries.size(), 2u);
  EXPECT_THAT(*other.wish->change->definition, HasSubstr("(a)-->(b)-->(a)"));
  const QueryBook::Prepared gone = book_.prepare(request(Kind::remove, "pair"), false);
  EXPECT_EQ(gone.wish->queries.size(), 1u);
  EXPECT_FALSE(gone.wish->change->definition);
  book_.apply(request(Kind::remove, "pair"), 8);
  EXPECT_EQ(status_of(request(Kind::remove, "pair")), 404u);
  for (const Kind kind : {Kind::create, Kind::put, Kind::remove}) EXPECT_EQ(status_of(request(kind, "file")), 409u);
}

TEST_F(QueryBookTest, ConditionsAreChecked) {
  QueryRequest wanted = request(Kind::put, "pair");
  wanted.if_match = "*";
  EXPECT_EQ(status_of(wanted), 412u);
  wanted.if_match.clear();
  wanted.if_none_match = "*";
  EXPECT_EQ(status_of(wanted), 200u);
  book_.apply(wanted, 1);
  EXPECT_EQ(status_of(wanted), 412u);
  wanted = request(Kind::remove, "pair");
  wanted.if_match = "\"other\"";
  EXPECT_EQ(status_of(wanted), 412u);
  wanted.if_match = entity_tag(query("pair", "(a)-->(b)", true));
  EXPECT_EQ(status_of(wanted), 200u);
}

TEST_F(QueryBookTest, TakesOverWhatIsLeftInTheTopic) {
  book_.load(std::vector{record("a", 1), record("b", 2), record("a", 3, "(a)-->(b)-->(a)"), QueryRecord{"b", 4, std::nullopt}},
             define);
  ASSERT_EQ(book_.made().size(), 1u);
  EXPECT_EQ(book_.made()[0].text, "(a)-->(b)-->(a)");
  EXPECT_EQ(book_.listed()[0].batch, 3u);
  EXPECT_EQ(book_.listed()[1].query.query.name, "file");
  CommitPoint last;
  last.batch = 4;
  last.over_http = {"a"};
  EXPECT_NO_THROW(book_.must_belong_to(last, ""));
  last.over_http = {"a", "lost"};
  EXPECT_THAT(
      error_of([&] { book_.must_belong_to(last, "no right"); }),
      HasSubstr("the query 'lost' was made over HTTP, but its definition is not there: no right; restore the topic, or write"));
  last.over_http = {"a", "file"};
  EXPECT_NO_THROW(book_.must_belong_to(last, "")) << "the file has one of that name";
  last.batch = 3;
  EXPECT_THAT(error_of([&] { book_.must_belong_to(last, ""); }),
              HasSubstr("a change of batch 4, but the last commit record is of batch 3"));
  EXPECT_THAT(error_of([&] { book_.set_file({query("a")}); }),
              HasSubstr("belongs to a query that was made over HTTP, in batch 3"));
  EXPECT_EQ(book_.from_file().size(), 1u);
  EXPECT_THAT(
      error_of([&] { book_.load(std::vector{record("a", 1, "(bad)-->(b)")}, define); }),
      HasSubstr("app.queries: the query 'a', made over HTTP in batch 1, does not fit this configuration: there is no sink"));
}

TEST(QueryRecordTest, IsReadAsItIsWritten) {
  const QueryRecord made{"a \"ä\"", 17, R"({"name":"x"})"};
  EXPECT_EQ(parse_query_record(to_json(made), "here"), made);
  const QueryRecord gone{"ring", 18, std::nullopt};
  EXPECT_EQ(to_json(gone), R"({"v":1,"batch":18,"name":"ring","definition":null})");
  EXPECT_EQ(parse_query_record(to_json(gone), "here"), gone);
  for (const char* stray : {"", "hello", "[]", R"({"v":1})", R"({"batch":1,"definition":null})", "\xff"})
    EXPECT_EQ(parse_query_record(stray, "here"), std::nullopt) << stray;
  for (const char* damaged :
       {R"({"v":2,"batch":1,"name":"x","definition":null})", R"({"v":1,"name":"x","definition":null})",
        R"({"v":1,"batch":1,"name":5,"definition":null})", R"({"v":1,"batch":1,"name":"x","definition":5})"})
    EXPECT_THAT(error_of([&] { static_cast<void>(parse_query_record(damaged, "here")); }),
                HasSubstr("here: this record of a query cannot be used"));
}

}  // namespace
}  // namespace deltamatch::ingest

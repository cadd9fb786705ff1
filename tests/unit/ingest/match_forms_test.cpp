// Matches of graphs whose edges have an identity, times and attributes, in each form of output.
#include <array>
#include <limits>
#include <memory>
#include <source_dir.hpp>

#include "deltamatch/engine.hpp"
#include "ingest/sink/match_text.hpp"
#include "ingest/sink/sinks.hpp"
#include "ingest/sink/value_text.hpp"
#include "ingest/text/csv_text.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::error_of;
using testing::Folder;
using ::testing::HasSubstr;
using testing::read_file;
using Kind = AttributeType::Kind;

constexpr Timestamp noon = 1767614400000000;  // 2026-01-05T12:00:00Z

Schema schema(EdgeModel model) {
  return {.model = model,
          .edges = {{"amount", {Kind::decimal, 2}}, {"channel", {Kind::symbol, 0}}, {"hops", {Kind::integer, 0}}},
          .vertices = {}};
}

/// A payment back and forth.
struct Payments {
  std::vector<std::string> names = {"a", "b"};
  std::array<Id, 2> vertices = {Id("acct-1"), Id("acct-9")};
  std::array<AttributeValue, 3> first{std::int64_t{120000}, std::string_view("web"), std::monostate()};
  std::array<AttributeValue, 3> second{std::int64_t{-5}, std::monostate(), std::int64_t{7}};
  std::array<MatchedEdge, 2> edges{MatchedEdge{Id("acct-1"), "TRANSFER", Id("acct-9"), 0, Id("tx-77"), noon + 500'000, first},
                                   MatchedEdge{Id("acct-9"), "TRANSFER", Id("acct-1"), 0, Id(78), noon, second}};
  std::array<std::uint32_t, 1> cause = {1};

  [[nodiscard]] Match match() const& {
    Match match;
    match.id = {0x0123456789abcdefu, 0xfu};
    match.query = "back";
    match.batch = 17;
    match.time = noon + 3'600'000'000;
    match.names = names;
    match.vertices = vertices;
    match.edges = edges;
    match.cause = cause;
    return match;
  }
  void count() {
    edges[0].ordinal = 3;
    edges[1].ordinal = 18446744073709551615u;
    for (MatchedEdge& edge : edges) edge.key.reset();
  }
};

const Payments sample;
const Query back = parse_pattern("(a)-[t1:TRANSFER]->(b)-[:TRANSFER]->(a)", "back");

std::string json(const Match& match, const MatchForm& form) {
  std::string out;
  append_match_json(out, match, form);
  return out;
}

/// What a sink writes of one batch.
template <class Make>
std::string written(const Make& make, const std::vector<Match>& matches, const std::vector<ListingEnd>& ends = {}) {
  const Folder folder;
  const std::string path = folder.file("out");
  const std::unique_ptr<MatchSink> sink = make(path);
  sink->begin(17);
  for (const Match& match : matches) sink->write(match);
  for (const ListingEnd& end : ends) sink->end(end);
  sink->commit();
  return read_file(path);
}

std::string flat(const Schema& schema, const std::vector<Query>& queries, const std::vector<Match>& matches,
                 TimeForm times = TimeForm::microseconds, const std::vector<ListingEnd>& ends = {}) {
  return written([&](const std::string& path) { return make_flat_csv_sink(path, {schema, times}, queries); }, matches, ends);
}

/// Whether the page of formats shows this text.
bool page_has(std::string_view text) {
  static const std::string page = read_file(DELTAMATCH_SOURCE_DIR "/docs/reference/formats.md");
  return page.find(text) != std::string::npos;
}

TEST(MatchForms, AnEdgeWithAKeyIsAnObject) {
  const std::string line = json(sample.match(), {schema(EdgeModel::keyed)});
  EXPECT_EQ(
      line,
      R"({"v":2,"id":"0123456789abcdef000000000000000f","query":"back","sign":"+","batch":17,"time":1767614400500000,"bindings":{"a":"acct-1","b":"acct-9"},"edges":[{"source":"acct-1","label":"TRANSFER","target":"acct-9","key":"tx-77","time":1767614400500000,"attributes":{"amount":"1200.00","channel":"web"}},{"source":"acct-9","label":"TRANSFER","target":"acct-1","key":78,"time":1767614400000000,"attributes":{"amount":"-0.05","hops":7}}],"cause":[1]})");
  EXPECT_TRUE(page_has(line)) << line;
}

TEST(MatchForms, AnEventHasItsOrdinal) {
  Payments payments;
  payments.count();
  const std::string line = json(payments.match(), {schema(EdgeModel::events), TimeForm::iso});
  EXPECT_THAT(line, HasSubstr(R"("batch":17,"time":"2026-01-05T12:00:00.500000Z","bindings")"));
  EXPECT_THAT(line, HasSubstr(R"("target":"acct-9","ordinal":3,"time":"2026-01-05T12:00:00.500000Z","attributes")"));
  EXPECT_THAT(line, HasSubstr(R"("ordinal":18446744073709551615,"time":"2026-01-05T12:00:00Z","attributes")"));
  EXPECT_THAT(line, ::testing::Not(HasSubstr("key")));
}

TEST(MatchForms, WithoutTimesAndAttributesNothingIsMadeUp) {
  Payments payments;
  for (MatchedEdge& edge : payments.edges) {
    edge.time.reset();
    edge.attributes = {};
  }
  const std::string line = json(payments.match(), {{.model = EdgeModel::keyed, .edges = {}, .vertices = {}}});
  EXPECT_THAT(line, HasSubstr(R"("batch":17,"time":null,"bindings")"));
  EXPECT_THAT(line, HasSubstr(R"("key":"tx-77","time":null,"attributes":{}})"));
}

TEST(MatchForms, ASimpleGraphKeepsVersionOne) {
  const Match match = sample.match();
  EXPECT_THAT(json(match, {}), HasSubstr(R"({"v":1,"id")"));
  EXPECT_THAT(json(match, {}), HasSubstr(R"("time":1767618000000000,)"));
  EXPECT_THAT(json(match, {}), HasSubstr(R"("edges":[["acct-1","TRANSFER","acct-9"],["acct-9","TRANSFER","acct-1"]],)"));
  EXPECT_THAT(json(match, {{}, TimeForm::iso}), HasSubstr(R"("time":"2026-01-05T13:00:00Z",)"));
  const auto csv = written([](const std::string& path) { return make_csv_sink(path, {{}, TimeForm::iso}); }, {match});
  EXPECT_THAT(csv, HasSubstr("\r\n1,0123456789abcdef000000000000000f,back,+,17,2026-01-05T13:00:00Z,"));
}

TEST(MatchForms, APartialAnswerHasTheVersionOfItsMatches) {
  const ListingEnd end{"back", 2, Shortfall::limit, 17};
  const auto jsonl = [](EdgeModel model) {
    return [model](const std::string& path) { return make_jsonl_sink(path, {schema(model)}); };
  };
  EXPECT_EQ(written(jsonl(EdgeModel::keyed), {}, {end}),
            "{\"v\":2,\"query\":\"back\",\"batch\":17,\"partial\":\"limit\",\"matches\":2}\n");
  EXPECT_THAT(flat(schema(EdgeModel::events), {back}, {}, TimeForm::iso, {end}),
              HasSubstr("\r\nback,partial:limit,,17,,,,,,,,,,,,,\r\n"));
}

TEST(MatchForms, EachTypeOfAttributeHasItsText) {
  const auto both = [](const AttributeType& type, const AttributeValue& value, TimeForm times = TimeForm::microseconds) {
    std::string out;
    append_value_json(out, type, value, times);
    out += ' ';
    append_value_text(out, type, value, times);
    return out;
  };
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(both({Kind::integer, 0}, least), "-9223372036854775808 -9223372036854775808");
  EXPECT_EQ(both({Kind::decimal, 0}, std::int64_t{-7}), "\"-7\" -7");
  EXPECT_EQ(both({Kind::decimal, 2}, std::int64_t{0}), "\"0.00\" 0.00");
  EXPECT_EQ(both({Kind::decimal, 2}, std::int64_t{-100}), "\"-1.00\" -1.00");
  EXPECT_EQ(both({Kind::decimal, 18}, least), "\"-9.223372036854775808\" -9.223372036854775808");
  EXPECT_EQ(both({Kind::decimal, 18}, std::int64_t{1}), "\"0.000000000000000001\" 0.000000000000000001");
  EXPECT_EQ(both({Kind::real, 0}, 0.1), "0.1 0.1");
  EXPECT_EQ(both({Kind::real, 0}, 1e300), "1e+300 1e+300");
  EXPECT_EQ(both({Kind::boolean, 0}, true), "true true");
  EXPECT_EQ(both({Kind::symbol, 0}, std::string_view("a\"b")), "\"a\\\"b\" a\"b");
  EXPECT_EQ(both({Kind::time, 0}, noon), "1767614400000000 1767614400000000");
  EXPECT_EQ(both({Kind::time, 0}, noon, TimeForm::iso), "\"2026-01-05T12:00:00Z\" 2026-01-05T12:00:00Z");
}

TEST(CsvText, NoTextBecomesAFormula) {
  const auto cell = [](std::string_view text) {
    std::string out;
    append_csv_text(out, text);
    return out;
  };
  EXPECT_EQ(cell("=1+1"), "'=1+1");
  EXPECT_EQ(cell("+49"), "'+49");
  EXPECT_EQ(cell("-x"), "'-x");
  EXPECT_EQ(cell("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(cell("\t=1"), "'\t=1");
  EXPECT_EQ(cell("\r=1"), "\"'\r=1\"");
  EXPECT_EQ(cell("=\"a\""), "\"'=\"\"a\"\"\"");
  EXPECT_EQ(cell("'tis"), "''tis");
  EXPECT_EQ(cell(""), "\"\"");
  EXPECT_EQ(cell("a=b"), "a=b");
  EXPECT_EQ(cell("a,b"), "\"a,b\"");
  EXPECT_EQ(cell("a;b"), "\"a;b\"");
}

TEST(FlatCsv, EachValueHasAColumn) {
  Match match = sample.match();
  const std::string rows = flat(schema(EdgeModel::keyed), {back}, {match}, TimeForm::iso);
  const std::string header =
      "query,sign,id,batch,time,a,b,t1.key,t1.time,t1.amount,t1.channel,t1.hops,e2.key,e2.time,e2.amount,e2.channel,e2.hops";
  const std::string row =
      "back,+,0123456789abcdef000000000000000f,17,2026-01-05T12:00:00.500000Z,acct-1,acct-9,"
      "tx-77,2026-01-05T12:00:00.500000Z,1200.00,web,,78,2026-01-05T12:00:00Z,-0.05,,7";
  EXPECT_EQ(rows, header + "\r\n" + row + "\r\n");
  EXPECT_TRUE(page_has(header)) << header;
  EXPECT_TRUE(page_has(row)) << row;
  match.added = false;
  EXPECT_THAT(flat(schema(EdgeModel::keyed), {back}, {match}), HasSubstr("\r\nback,-,0123"));
}

TEST(FlatCsv, ASheetHasTheDecimalSignOfItsCountryAndTheFactsFirst) {
  const auto sheet = [](EdgeModel model, char decimal) {
    Payments payments;
    if (model == EdgeModel::events) payments.count();
    return written([&](const std::string& path) { return make_flat_csv_sink(path, {schema(model)}, {&back, 1}, decimal); },
                   {payments.match()});
  };
  const std::string comma = sheet(EdgeModel::events, ',');
  EXPECT_EQ(comma,
            "\xef\xbb\xbfquery;sign;time;a;b;t1.time;t1.amount;t1.channel;t1.hops;e2.time;e2.amount;e2.channel;e2.hops;"
            "id;batch;t1.ordinal;e2.ordinal\r\n"
            "back;+;2026-01-05 12:00:00,500;acct-1;acct-9;2026-01-05 12:00:00,500;1200,00;web;;2026-01-05 12:00:00;-0,05;;7;"
            "0123456789abcdef000000000000000f;17;3;18446744073709551615\r\n");
  EXPECT_TRUE(page_has("back;+;2026-01-05 12:00:00,500;acct-1;acct-9;tx-77;2026-01-05 12:00:00,500;1200,00;web;;"));
  EXPECT_THAT(sheet(EdgeModel::keyed, '.'), HasSubstr("back,+,2026-01-05 12:00:00.500,acct-1,acct-9,tx-77,"));
}

TEST(FlatCsv, AnEventHasItsOrdinal) {
  Payments payments;
  payments.count();
  const std::string rows = flat(schema(EdgeModel::events), {back}, {payments.match()});
  EXPECT_THAT(rows, HasSubstr(",t1.ordinal,t1.time,"));
  EXPECT_THAT(rows, HasSubstr(",acct-9,3,1767614400500000,1200.00,web,,18446744073709551615,1767614400000000,"));
}

TEST(FlatCsv, WhatThePatternLeavesOpenHasAColumn) {
  const Query open = parse_pattern("(a)-[:T|U]->(b)--(c)", "open");
  std::array<Id, 3> vertices{Id(1), Id(2), Id("=3")};
  std::array<MatchedEdge, 2> edges{MatchedEdge{Id(1), "U", Id(2)}, MatchedEdge{Id("=3"), "", Id(2)}};
  Match match = sample.match();
  const std::vector<std::string> names{"a", "b", "c"};
  match.query = "open";
  match.names = names;
  match.vertices = vertices;
  match.edges = edges;
  EXPECT_EQ(flat({}, {open}, {match}),
            "query,sign,id,batch,time,a,b,c,e1.label,e2.source,e2.label\r\n"
            "open,+,0123456789abcdef000000000000000f,17,1767618000000000,1,2,'=3,U,'=3,\"\"\r\n");
}

TEST(FlatCsv, SeveralQueriesShareTheColumnsThatTheyHaveInCommon) {
  const Query pair = parse_pattern("(b)-[:T]->(z)", "pair");
  const Query ring = parse_pattern("(a)-[:T]->(b)-[:T]->(a)", "ring");
  std::array<Id, 2> vertices{Id(1), Id(2)};
  Match first = sample.match();
  first.vertices = vertices;
  first.edges = {};
  first.time.reset();
  first.query = "ring";
  Match second = first;
  second.query = "pair";
  EXPECT_EQ(flat({}, {ring, pair}, {first, second}),
            "query,sign,id,batch,time,a,b,z\r\n"
            "ring,+,0123456789abcdef000000000000000f,17,,1,2,\r\n"
            "pair,+,0123456789abcdef000000000000000f,17,,,1,2\r\n");
  EXPECT_THAT(error_of([&] { (void)flat({}, {ring}, {second}); }), HasSubstr("the sink has no columns for the query 'pair'"));
}

TEST(FlatCsv, NoNameOccursTwice) {
  const Query query = parse_pattern("(id)-[e2:T]->(time)-[:T]->(x)", "q");
  const std::string rows =
      flat({.model = EdgeModel::keyed, .edges = {{"key", {Kind::integer, 0}}}, .vertices = {}}, {query}, {});
  EXPECT_EQ(rows, "query,sign,id,batch,time,id_2,time_2,x,e2.key,e2.time,e2.key_2,e2.key_3,e2.time_2,e2.key_4\r\n");
}

TEST(SignFilter, HandsOnOneSignAndCountsIt) {
  Match added = sample.match();
  Match removed = added;
  removed.added = false;
  const ListingEnd end{"back", 3, Shortfall::limit, 17};
  const ListingEnd none{"other", 3, Shortfall::limit, 17};
  const auto make = [](Signs signs) {
    return [signs](const std::string& path) { return make_sign_filter(make_jsonl_sink(path), signs); };
  };
  const std::string tail = R"({"v":1,"query":"back","batch":17,"partial":"limit","matches":)";
  const std::string other = R"({"v":1,"query":"other","batch":17,"partial":"limit","matches":0})";
  EXPECT_EQ(written(make(Signs::added), {removed, added, added}, {end, none}),
            json(added, {}) + '\n' + json(added, {}) + '\n' + tail + "2}\n" + other + '\n');
  EXPECT_EQ(written(make(Signs::removed), {removed, added}, {end}), json(removed, {}) + '\n' + tail + "1}\n");
}

TEST(BinaryForm, VersionTwoHoldsKeysTimesAndAttributes) {
  const auto bytes = [](const Schema& schema, const Match& match) {
    return written([&](const std::string& path) { return make_binary_sink(path, {schema}); }, {match});
  };
  Match match = sample.match();
  const std::string keyed = bytes(schema(EdgeModel::keyed), match);
  using namespace std::string_literals;
  EXPECT_TRUE(
      keyed.starts_with("\x8f"
                        "DMMTC\r\n\2\1\3\6amount\1\2\7channel\4\0\4hops\0\0"s));
  EXPECT_THAT(keyed, HasSubstr("\1\5tx-77\1"s));
  EXPECT_THAT(keyed, HasSubstr("\1\3web\0"s));
  EXPECT_THAT(bytes({}, match), HasSubstr("DMMTC\r\n\1\1"s)) << "version 1 has no schema";
}

/// Runs payments through an engine, which lists them to the sink.
void run(const Schema& schema, MatchSink& sink) {
  Engine engine({.threads = 1, .schema = schema});
  engine.add_query(back, {.list = true});
  const Payments payments;
  UpdateBatch updates;
  for (const MatchedEdge& edge : payments.edges) {
    const Properties properties{edge.key, edge.attributes};
    updates.add(
        {.source = edge.source, .target = edge.target, .label = edge.label, .time = edge.time, .properties = &properties});
  }
  engine.process(updates, OnReject::stop, &sink);
}

TEST(MatchForms, TheEngineHandsOverWhatTheFormsNeed) {
  for (const EdgeModel model : {EdgeModel::keyed, EdgeModel::events}) {
    const Folder folder;
    run(schema(model), *make_jsonl_sink(folder.file("m.jsonl"), {schema(model), TimeForm::iso}));
    const std::string line = read_file(folder.file("m.jsonl"));
    const std::string identity = model == EdgeModel::keyed ? R"("key":"tx-77")" : R"("ordinal":1)";
    EXPECT_THAT(line, HasSubstr(identity +
                                R"(,"time":"2026-01-05T12:00:00.500000Z","attributes":{"amount":"1200.00","channel":"web"}})"));
    run(schema(model), *make_flat_csv_sink(folder.file("m.csv"), {schema(model), TimeForm::iso}, {&back, 1}));
    EXPECT_THAT(read_file(folder.file("m.csv")), HasSubstr(",2026-01-05T12:00:00.500000Z,1200.00,web,,"));
  }
}

}  // namespace
}  // namespace deltamatch::ingest

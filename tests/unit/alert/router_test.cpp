#include "ingest/service/alert/router.hpp"

#include "deltamatch/engine.hpp"
#include "ingest/sink/sinks.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SinkOptions sink(std::string name, Signs signs = Signs::both, std::uint64_t limit = 0) {
  SinkOptions options;
  options.name = std::move(name);
  options.signs = signs;
  options.rate_limit = limit;
  options.rate_interval = std::chrono::milliseconds(1000);
  return options;
}

ServiceQuery query(std::string name, std::vector<std::string> sinks) {
  ServiceQuery standing;
  standing.query.name = std::move(name);
  standing.where = "service.yaml:7";
  standing.sinks = std::move(sinks);
  return standing;
}

std::vector<std::string> texts(const AlertList& list) {
  std::vector<std::string> out;
  list.for_each([&](std::string_view alert) { out.emplace_back(alert); });
  return out;
}

/// Each alert as query, sign and batch ("ring+17"). Each record of suppression as "ring 5 suppressed in 17".
std::vector<std::string> brief(const AlertList& list) {
  std::vector<std::string> out;
  for (const std::string& text : texts(list)) {
    const auto value = [&](const std::string& key) {
      const std::size_t at = text.find('"' + key + "\":") + key.size() + 3;
      const std::size_t end = text.find_first_of(",}", at);
      std::string found = text.substr(at, end - at);
      std::erase(found, '"');
      return found;
    };
    const bool suppressed = alert_id(text).empty();
    out.push_back(suppressed ? value("query") + " " + value("suppressed") + " suppressed in " + value("batch")
                             : value("query") + value("sign") + value("batch"));
  }
  return out;
}

class Router : public ::testing::Test {
 protected:
  AlertRouter make(std::vector<SinkOptions> sinks, AlertMemory memory = {}) {
    return AlertRouter(sinks, [this] { return now_; }, std::move(memory));
  }

  void write(MatchSink& router, std::string_view name, bool added, std::uint64_t batch, std::size_t times = 1) {
    static const std::vector<std::string> names{"a", "b"};
    const std::vector<Id> vertices{Id(1), Id("x")};
    for (std::size_t i = 0; i < times; ++i)
      router.write({{++id_, 0}, name, added, batch, std::nullopt, names, vertices, {}, {}});
  }

  void batch(AlertRouter& router, std::uint64_t number, std::string_view name, std::size_t times) {
    router.begin(number);
    write(router, name, true, number, times);
    router.commit();
  }

  void advance(int ms) { now_ += std::chrono::milliseconds(ms); }

  std::chrono::steady_clock::time_point now_{std::chrono::hours(1)};
  std::uint64_t id_ = 0;
};

TEST_F(Router, AlertsAreTheLinesOfAFileOfMatches) {
  const testing::Folder folder;
  Engine engine;
  const ServiceQuery ring{parse_pattern("(a)-[:T]->(b)-[:T]->(a)", "ring"), "here", {.list = true}, {"all"}, false, {}};
  engine.add_query(ring.query, ring.options);
  AlertRouter router = make({sink("all")});
  router.set_queries({&ring, 1});
  std::string alerts;
  for (const bool to_file : {true, false}) {
    Engine fresh;
    fresh.add_query(ring.query, ring.options);
    const auto file = make_jsonl_sink(to_file ? folder.file("matches") : folder.file("other"));
    for (const auto& [kind, source, target] : {std::tuple(UpdateKind::insert_edge, Id(1), Id("\"\xff\n")),
                                               std::tuple(UpdateKind::insert_edge, Id("\"\xff\n"), Id(1)),
                                               std::tuple(UpdateKind::delete_edge, Id(1), Id("\"\xff\n"))}) {
      UpdateBatch updates;
      updates.add({.kind = kind, .source = source, .target = target, .label = "T", .time = Timestamp{5}});
      fresh.process(updates, OnReject::stop, to_file ? file.get() : static_cast<MatchSink*>(&router));
    }
    if (!to_file) {
      for (const std::string& text : texts(router.take()[0])) alerts += text + '\n';
    }
  }
  EXPECT_THAT(alerts, HasSubstr(R"("sign":"-")"));
  EXPECT_EQ(alerts, testing::read_file(folder.file("matches")));
}

TEST_F(Router, EachSinkGetsTheSignsThatItWantsOfItsQueries) {
  AlertRouter router = make({sink("both"), sink("new", Signs::added), sink("gone", Signs::removed), sink("idle")});
  const std::vector queries{query("ring", {"both", "new", "gone", "new"}), query("path", {"gone"}), query("counted", {})};
  router.set_queries(queries);
  router.begin(3);
  for (const auto& standing : queries) {
    write(router, standing.query.name, false, 3);
    write(router, standing.query.name, true, 3);
  }
  write(router, "unknown", true, 3);
  router.commit();
  const std::vector<AlertList> lists = router.take();
  ASSERT_EQ(lists.size(), 4u);
  EXPECT_THAT(brief(lists[0]), ElementsAre("ring-3", "ring+3"));
  EXPECT_THAT(brief(lists[1]), ElementsAre("ring+3"));
  EXPECT_THAT(brief(lists[2]), ElementsAre("ring-3", "path-3"));
  EXPECT_TRUE(lists[3].empty());
  EXPECT_EQ(lists[0][0].data(), lists[2][0].data()) << "an alert is encoded and held once";
  EXPECT_EQ(alert_id(lists[0][0]), "00000000000000010000000000000000");
  EXPECT_THAT(router.take()[0].size(), 0u);
}

TEST_F(Router, ThoseWhoLookOnSeeWhatAnySinkGetsOnce) {
  SinkOptions iso = sink("iso");
  iso.times = TimeForm::iso;
  AlertRouter router = make({sink("both"), sink("new", Signs::added), iso, sink("few", Signs::both, 1)});
  router.show(10);
  router.set_queries(
      std::vector{query("ring", {"both", "new"}), query("path", {"new", "iso"}), query("rest", {"few"}), query("counted", {})});
  router.begin(3);
  for (const char* name : {"ring", "path", "rest", "counted"}) {
    write(router, name, false, 3);
    write(router, name, true, 3);
  }
  router.end({.query = "path", .matches = 2, .shortfall = Shortfall::limit, .batch = 3});
  router.commit();
  EXPECT_EQ(router.take().size(), 4u);
  AlertList seen = router.take_seen().list;
  ASSERT_EQ(seen.size(), 6u);
  EXPECT_EQ(seen[5], R"({"v":1,"query":"path","batch":3,"partial":"limit","matches":2})");
  seen.cut(5);
  EXPECT_THAT(brief(seen), ElementsAre("ring-3", "ring+3", "path-3", "path+3", "rest-3")) << "the last one meets a rate limit";
  EXPECT_TRUE(router.take_seen().list.empty());
  router.begin(4);
  write(router, "ring", true, 4);
  router.abort();
  static_cast<void>(router.take());
  EXPECT_TRUE(router.take_seen().list.empty()) << "what is not committed";
}

TEST_F(Router, OfAStreamedListThoseWhoLookOnReadTheTail) {
  for (const std::size_t memory : {0, 700, 5000}) {
    AlertRouter router = make({sink("one"), sink("two")}, {.bytes = memory, .folder = {}});
    router.show(10);
    router.set_queries(std::vector{query("ring", {"one", "two"}), query("path", {"two"})});
    router.begin(1);
    write(router, "ring", true, 1, 23);
    router.commit();
    router.begin(2);
    write(router, "path", true, 2, 40);
    router.abort();
    router.begin(2);
    write(router, "path", true, 2, 24);
    router.commit();
    const std::vector<AlertList> lists = router.take();
    const SeenAlerts seen = router.take_seen();
    ASSERT_TRUE(seen.list.streamed());
    ASSERT_EQ(seen.list.size(), 47u);
    EXPECT_EQ(texts(seen.list), texts(lists[1]));
    EXPECT_EQ(seen.tail.alerts, 30u) << "of the last two multiples of 10, the earlier one";
    AlertCursor cursor = seen.tail;
    std::vector<std::string> tail;
    seen.list.read(cursor, [&](std::string_view alert) {
      tail.emplace_back(alert);
      return true;
    });
    const std::vector<std::string> all = texts(lists[1]);
    EXPECT_EQ(tail, std::vector<std::string>(all.begin() + 30, all.end())) << memory;
  }
}

TEST_F(Router, AnUnknownSinkIsRefusedAndChangesNothing) {
  AlertRouter router = make({sink("a")});
  router.set_queries(std::vector{query("ring", {"a"})});
  const std::string error = error_of([&] { router.set_queries(std::vector{query("ring", {"nowhere"})}); });
  EXPECT_THAT(error, HasSubstr("service.yaml:7"));
  EXPECT_THAT(error, HasSubstr("'nowhere'"));
  batch(router, 1, "ring", 1);
  EXPECT_EQ(router.take()[0].size(), 1u);
}

TEST_F(Router, TheRateIsLimitedPerQueryAndSink) {
  AlertRouter router = make({sink("all"), sink("two", Signs::both, 2), sink("one", Signs::both, 1)});
  router.set_queries(std::vector{query("ring", {"all", "two", "one"}), query("path", {"two"})});
  router.begin(1);
  write(router, "ring", true, 1, 4);
  write(router, "path", true, 1, 2);
  router.commit();
  advance(999);
  batch(router, 2, "ring", 1);  // within the interval
  auto lists = router.take();
  EXPECT_EQ(lists[0].size(), 5u);
  EXPECT_THAT(brief(lists[1]), ElementsAre("ring+1", "ring+1", "path+1", "path+1"));
  EXPECT_THAT(brief(lists[2]), ElementsAre("ring+1"));
  const auto suppressed = router.take_suppressed();
  ASSERT_EQ(suppressed.size(), 2u);
  EXPECT_EQ(suppressed[0].query + suppressed[0].sink, "ringtwo");
  EXPECT_EQ(suppressed[0].count, 3u);
  EXPECT_EQ(suppressed[1].query + suppressed[1].sink, "ringone");
  EXPECT_EQ(suppressed[1].count, 4u);
  EXPECT_THAT(router.take_suppressed(), IsEmpty());

  advance(1);
  batch(router, 3, "ring", 1);  // alerts flow again
  lists = router.take();
  EXPECT_THAT(brief(lists[1]), ElementsAre("ring 3 suppressed in 3", "ring+3"));
  EXPECT_THAT(brief(lists[2]), ElementsAre("ring 4 suppressed in 3", "ring+3"));
  EXPECT_EQ(texts(lists[1])[0], R"({"v":1,"query":"ring","batch":3,"suppressed":3})");
}

TEST_F(Router, ABatchWithoutMatchesTellsWhatWasSuppressedOnce) {
  AlertRouter router = make({sink("one", Signs::both, 1)});
  router.set_queries(std::vector{query("ring", {"one"})});
  batch(router, 1, "ring", 3);
  static_cast<void>(router.take());
  advance(500);
  batch(router, 2, "ring", 0);
  EXPECT_TRUE(router.take()[0].empty());
  advance(500);
  batch(router, 3, "ring", 0);
  EXPECT_THAT(brief(router.take()[0]), ElementsAre("ring 2 suppressed in 3"));
  advance(5000);
  batch(router, 4, "ring", 0);
  EXPECT_TRUE(router.take()[0].empty());
}

TEST_F(Router, TellsWhenABatchIsNeededThatTellsWhatWasSuppressed) {
  AlertRouter router = make({sink("one", Signs::both, 1), sink("all")});
  router.set_queries(std::vector{query("ring", {"one", "all"})});
  EXPECT_FALSE(router.due());
  batch(router, 1, "ring", 3);
  EXPECT_FALSE(router.due());
  advance(1000);
  EXPECT_TRUE(router.due());
  batch(router, 2, "ring", 2);  // alerts flow again, and are suppressed again
  EXPECT_FALSE(router.due());
  static_cast<void>(router.take());
  EXPECT_TRUE(router.close_intervals()) << "nothing comes behind it";
  batch(router, 3, "ring", 0);
  EXPECT_THAT(brief(router.take()[0]), ElementsAre("ring 1 suppressed in 3"));
  EXPECT_FALSE(router.close_intervals());
}

TEST_F(Router, AbortUndoesAlertsAndCounts) {
  AlertRouter router = make({sink("one", Signs::both, 1)});
  router.set_queries(std::vector{query("ring", {"one"})});
  batch(router, 1, "ring", 2);  // one of them suppressed
  advance(1000);
  router.begin(2);
  write(router, "ring", true, 2, 5);
  router.abort();
  EXPECT_THAT(brief(router.take()[0]), ElementsAre("ring+1"));
  const auto suppressed = router.take_suppressed();
  ASSERT_EQ(suppressed.size(), 1u);
  EXPECT_EQ(suppressed[0].count, 1u);
  batch(router, 2, "ring", 1);
  EXPECT_THAT(brief(router.take()[0]), ElementsAre("ring 1 suppressed in 2", "ring+2"));
}

TEST_F(Router, AQueryThatIsGoneStillTellsWhatWasSuppressedAndOneThatStaysKeepsItsInterval) {
  AlertRouter router = make({sink("one", Signs::both, 1)});
  router.set_queries(std::vector{query("ring", {"one"}), query("path", {"one"})});
  router.begin(1);
  write(router, "ring", true, 1, 2);
  write(router, "path", true, 1, 1);
  router.commit();
  router.set_queries(std::vector{query("path", {"one"})});
  advance(500);
  router.begin(2);
  write(router, "ring", true, 2);
  write(router, "path", true, 2);
  router.commit();
  EXPECT_THAT(brief(router.take()[0]), ElementsAre("ring+1", "path+1"));
  advance(500);
  batch(router, 3, "path", 1);
  EXPECT_THAT(brief(router.take()[0]), ElementsAre("path 1 suppressed in 3", "ring 1 suppressed in 3", "path+3"));
  router.set_queries({});
  advance(1000);
  batch(router, 4, "path", 1);
  EXPECT_TRUE(router.take()[0].empty());
}

TEST(AlertText, OnlyAnAlertHasAnId) {
  EXPECT_EQ(alert_id(testing::alert_of(1, 2)), "00000000000000010000000000000002");
  EXPECT_EQ(alert_id(R"({"v":1,"query":"r","batch":3,"suppressed":3})"), "");
  const std::string head =
      R"({"v":1,"id":"00000000000000010000000000000002","query":"q\",\"bindings\":","sign":"+","batch":3,"time":null)";
  std::string stub;
  append_alert_stub(stub, head + R"(,"bindings":{"a":",\"bindings\":"},"edges":[],"cause":[0]})");
  EXPECT_EQ(stub, head + R"(,"too_large":)" + std::to_string(head.size() + 58) + "}");
  EXPECT_EQ(alert_id(stub), "00000000000000010000000000000002");
  EXPECT_EQ(alert_id(R"({"v":1,"id":"00)"), "");
  EXPECT_EQ(alert_id(""), "");
  std::string record;
  append_suppressed(record, 1, "a\"b", 18446744073709551615u, 1);
  EXPECT_EQ(record, R"({"v":1,"query":"a\"b","batch":18446744073709551615,"suppressed":1})");
}

TEST(AlertList, CutsAndCounts) {
  AlertList list = testing::alerts_of(1, 3);
  const std::string first(list[0]);
  list.cut(1);
  EXPECT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0], first);
  EXPECT_GE(list.bytes(), 3 * first.size());
}

/// A sequence of batches that several routers are given.
void some_batches(AlertRouter& router, const std::function<void(std::string_view, bool, std::size_t)>& write) {
  router.set_queries(std::vector{query("ring", {"both", "few"}), query("path", {"new", "both"})});
  router.begin(1);
  write("ring", true, 40);
  router.commit();
  router.begin(2);
  write("path", true, 25);
  write("path", false, 30);
  router.abort();
  router.begin(2);
  write("ring", false, 20);
  write("path", true, 15);
  router.commit();
}

TEST_F(Router, WhatIsTooMuchForMemoryComesFromAFileAndIsTheSame) {
  const std::vector<SinkOptions> sinks{sink("both"), sink("new", Signs::added), sink("few", Signs::both, 5), sink("idle")};
  const auto run = [&](AlertRouter& router) {
    id_ = 0;
    some_batches(router, [&](std::string_view name, bool added, std::size_t times) { write(router, name, added, 2, times); });
  };
  AlertRouter roomy = make(sinks);
  run(roomy);
  const std::vector<AlertList> expected = roomy.take();
  // The first alert beyond the limit is before, within or after the batch that is undone, or there is none.
  std::size_t streamed = 0;
  for (std::size_t bytes = 0; bytes < 20'000; bytes += 250) {
    AlertRouter tight = make(sinks, {.bytes = bytes, .folder = {}});
    run(tight);
    const std::vector<AlertList> lists = tight.take();
    ASSERT_EQ(lists.size(), expected.size());
    streamed += lists[0].streamed() ? 1 : 0;
    for (std::size_t s = 0; s < lists.size(); ++s) {
      EXPECT_EQ(texts(lists[s]), texts(expected[s])) << bytes << ", sink " << s;
      EXPECT_EQ(lists[s].size(), expected[s].size());
    }
    run(tight);  // the next batches start afresh
    EXPECT_EQ(texts(tight.take()[0]).size(), expected[0].size());
  }
  EXPECT_GT(streamed, 20U);
  EXPECT_LT(streamed, 80U);
}

TEST_F(Router, AStreamIsGoneOnFromWhereItWasLeft) {
  AlertRouter router = make({sink("a"), sink("b", Signs::removed)}, {.bytes = 100, .folder = {}});
  router.set_queries(std::vector{query("ring", {"a", "b"})});
  router.begin(1);
  write(router, "ring", true, 1, 10);
  write(router, "ring", false, 1, 10);
  router.commit();
  const std::vector<AlertList> lists = router.take();
  std::vector<std::string> parts;
  for (AlertCursor cursor; cursor.alerts < 20;) {
    std::size_t room = 3;
    lists[0].read(cursor, [&](std::string_view alert) {
      if (room == 0) return false;
      --room;
      parts.emplace_back(alert);
      return true;
    });
  }
  EXPECT_EQ(parts, texts(lists[0]));
  EXPECT_EQ(lists[1].size(), 10U);
}

/// The mark is written even if alerts of other queries are in a file already.
TEST_F(Router, AQueryThatExceededItsBudgetIsMarkedInEverySink) {
  for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{10}}) {
    AlertRouter router = make({sink("a"), sink("b", Signs::both, 1), sink("c")}, {.bytes = bytes, .folder = {}});
    router.set_queries(std::vector{query("ring", {"a", "b"}), query("path", {"a", "c"}), query("counted", {})});
    router.begin(17);
    write(router, "ring", true, 17, 2);
    router.end({"counted", 0, Shortfall::limit, 17});
    router.end({"path", 0, Shortfall::timeout, 17});
    write(router, "ring", true, 17);
    router.commit();
    const std::vector<AlertList> lists = router.take();
    const std::string marker = R"({"v":1,"query":"path","batch":17,"partial":"timeout","matches":0})";
    EXPECT_EQ(texts(lists[0]).at(2), marker);
    EXPECT_EQ(texts(lists[0]).size(), 4U);
    EXPECT_EQ(lists[1].size(), 1U);
    EXPECT_THAT(texts(lists[2]), ElementsAre(marker));
    EXPECT_EQ(lists[2].streamed(), bytes == 10);
  }
}

/// A hub has 300 by 300 edges. One batch has 90,000 alerts, some 30 MB, with 64 KiB of memory for them.
TEST_F(Router, TheAlertsOfAHubTakeBoundedMemory) {
  AlertRouter router = make({sink("a"), sink("b")}, {.bytes = std::size_t{64} << 10, .folder = {}});
  ServiceQuery path{parse_pattern("(a)-[:T]->(b)-[:T]->(c)", "path"), "here", {.list = true}, {"a", "b"}, false, {}};
  router.set_queries(std::vector{path});
  Engine engine;
  engine.spool({.memory = std::size_t{64} << 10, .folder = {}});
  engine.add_query(path.query, path.options);
  UpdateBatch batch;
  for (int i = 1; i <= 300; ++i) {
    Update in;
    in.source = Id(i);
    in.target = Id(0);
    in.label = "T";
    batch.add(in);
    Update out = in;
    out.source = Id(0);
    out.target = Id(1000 + i);
    batch.add(out);
  }
  engine.process(batch, OnReject::stop, &router);
  const std::vector<AlertList> lists = router.take();
  for (const AlertList& list : lists) {
    EXPECT_TRUE(list.streamed());
    EXPECT_EQ(list.bytes(), 0U);
    ASSERT_EQ(list.size(), 90'000U);
    std::string before;
    std::uint64_t ascending = 0;
    list.for_each([&](std::string_view alert) {
      ascending += before < alert_id(alert) ? 1 : 0;
      before = alert_id(alert);
    });
    EXPECT_EQ(ascending, 90'000U);  // by id, so that a repetition gives the same alerts
  }
}

}  // namespace
}  // namespace deltamatch::ingest

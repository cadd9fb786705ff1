#include "ingest/service/alert/alert_feed.hpp"

#include <atomic>
#include <latch>
#include <map>

#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string alert(std::string_view query, char sign, std::uint64_t batch, std::size_t padding = 0) {
  return fmt::format(R"({{"v":1,"id":"{:032x}","query":{},"sign":"{}","batch":{},"pad":"{}"}})", batch, query, sign, batch,
                     std::string(padding, 'x'));
}

SeenAlerts seen(std::initializer_list<std::string> alerts) {
  SeenAlerts out;
  for (const std::string& each : alerts) out.list.add(each);
  return out;
}

SeenAlerts many(std::string_view query, std::uint64_t batch, std::size_t count) {
  SeenAlerts out;
  for (std::size_t i = 0; i < count; ++i) out.list.add(alert(query, '+', batch));
  return out;
}

std::string text(const FeedReader::Portion& portion) {
  std::string out = portion.head;
  for (const std::string_view piece : portion.pieces) out += piece;
  EXPECT_EQ(out.size(), portion.bytes);
  return out;
}

/// Everything that a reader gets now.
std::string all(FeedReader& reader, std::size_t most = 1 << 20) {
  std::string out;
  for (;;) {
    const FeedReader::Portion portion = reader.next(most);
    if (portion.empty()) return out;
    out += text(portion);
  }
}

/// The ids and the other events of a stream, in order: "17.3", "start 17 0", "missed 5", "left-out null 9".
std::vector<std::string> brief(const std::string& stream) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t end = stream.find("\n\n", at);
    const std::string each = stream.substr(at, end - at);
    at = end + 2;
    const std::size_t name = each.find("event: ");
    if (name == std::string::npos) {
      EXPECT_TRUE(each.starts_with("id: ")) << each;
      out.push_back(each.substr(4, each.find('\n') - 4));
      continue;
    }
    std::string line = each.substr(name + 7, each.find('\n', name) - name - 7);
    for (const char* key : {"\"query\":", "\"batch\":", "\"alerts\":", "\"missed\":"}) {
      const std::size_t value = each.find(key);
      if (value == std::string::npos) continue;
      const std::size_t begin = value + std::string_view(key).size();
      line += ' ' + each.substr(begin, each.find_first_of(",}", begin) - begin);
    }
    out.push_back(line);
  }
  return out;
}

TEST(AlertFeed, EveryReaderGetsTheAlertsInOrder) {
  AlertFeed feed;
  FeedReader reader(feed, {}, std::nullopt);
  EXPECT_THAT(brief(all(reader)), ElementsAre("start 0 0"));
  EXPECT_TRUE(reader.next(100).empty());
  feed.publish(1, seen({alert(R"("ring")", '+', 1), alert(R"("path")", '-', 1)}));
  feed.publish(2, {});
  feed.publish(3, seen({alert(R"("ring")", '-', 3)}));
  const std::string stream = all(reader);
  EXPECT_THAT(brief(stream), ElementsAre("1.0", "1.1", "3.0"));
  EXPECT_THAT(stream, HasSubstr("id: 3.0\ndata: " + alert(R"("ring")", '-', 3) + "\n\n"));
  FeedReader later(feed, {}, std::nullopt);
  EXPECT_THAT(brief(all(later)), ElementsAre("start 3 0")) << "only what is new";
  FeedReader two(feed, {}, std::nullopt, 2);
  EXPECT_THAT(brief(all(two)), ElementsAre("start 3 0", "1.1", "3.0"));
  EXPECT_EQ(feed.statistics().alerts, 3u);
  EXPECT_EQ(feed.statistics().batch, 3u);
}

TEST(AlertFeed, AReaderGetsItsQueriesAndSigns) {
  AlertFeed feed;
  const std::string hostile = R"("a\",\"sign\":\"-")";  // the name contains what looks like the next field
  const std::string report = R"({"v":1,"query":"ring","batch":1,"partial":"limit","matches":1})";
  feed.publish(1, seen({alert(R"("ring")", '+', 1), alert(hostile, '+', 1), alert(R"("ring")", '-', 1), report}));
  const auto got = [&](FeedFilter filter) {
    FeedReader reader(feed, std::move(filter), FeedPlace{0, 0});
    std::vector<std::string> events = brief(all(reader));
    events.erase(events.begin());
    return events;
  };
  EXPECT_THAT(got({{R"("ring")"}, Signs::both}), ElementsAre("1.0", "1.2", "1.3"));
  EXPECT_THAT(got({{R"("ring")"}, Signs::removed}), ElementsAre("1.2", "1.3")) << "a report has no sign";
  EXPECT_THAT(got({{hostile}, Signs::added}), ElementsAre("1.1"));
  EXPECT_THAT(got({{hostile}, Signs::removed}), IsEmpty());
  EXPECT_THAT(got({{hostile, R"("ring")"}, Signs::both}), ElementsAre("1.0", "1.1", "1.2", "1.3"));
  EXPECT_THAT(got({{R"("rin")"}, Signs::both}), IsEmpty());
}

TEST(AlertFeed, AReaderThatFallsBehindLearnsHowManyItMissed) {
  AlertFeed feed({.alerts = 100, .bytes = 1 << 20, .per_query = 50, .block = 1000});
  FeedReader reader(feed, {}, std::nullopt);
  static_cast<void>(all(reader));
  for (std::uint64_t batch = 1; batch <= 30; ++batch) feed.publish(batch, many(R"("q")", batch, 10));
  EXPECT_LE(feed.statistics().held, 100u);
  const std::vector<std::string> events = brief(all(reader));
  const std::size_t held = events.size() - 1;
  EXPECT_EQ(events.front(), fmt::format("missed {}", 300 - held));
  EXPECT_EQ(events.back(), "30.9");
  EXPECT_EQ(reader.missed() + held, 300u);
  EXPECT_GT(held, 80u);
}

TEST(AlertFeed, TheRingIsBoundedByBytes) {
  AlertFeed feed({.alerts = 100'000, .bytes = 100'000, .per_query = 50, .block = 5000});
  for (std::uint64_t batch = 1; batch <= 100; ++batch) feed.publish(batch, seen({alert(R"("q")", '+', batch, 4000)}));
  EXPECT_LE(feed.statistics().bytes, 100'000u);
  EXPECT_GT(feed.statistics().bytes, 90'000u);
}

TEST(AlertFeed, ALargeBatchPutsInTheLastAlertsOfEachQuery) {
  AlertFeed feed({.alerts = 1000, .bytes = 1 << 20, .per_query = 3, .block = 1000});
  SeenAlerts batch = many(R"("loud")", 7, 1000);
  batch.list.add(alert(R"("rare")", '+', 7));
  feed.publish(7, batch);
  FeedReader reader(feed, {}, FeedPlace{6, 0});
  EXPECT_THAT(brief(all(reader)), ElementsAre("start 7 0", "left-out \"loud\" 7 997", "7.997", "7.998", "7.999", "7.1000"));
  FeedReader rare(feed, {{R"("rare")"}, Signs::both}, FeedPlace{6, 0});
  EXPECT_THAT(brief(all(rare)), ElementsAre("start 7 0", "7.1000")) << "what others left out is not its concern";
  EXPECT_EQ(feed.statistics().alerts, 1001u);
  EXPECT_EQ(feed.statistics().left_out, 997u);
  EXPECT_EQ(reader.missed(), 0u);
}

/// A list that is streamed from memory.
class Streamed final : public AlertSource {
 public:
  explicit Streamed(AlertList list) : list_(std::move(list)) {}
  void read(AlertCursor& cursor, const TakeAlert& take) const override {
    for (; cursor.alerts < list_.size(); ++cursor.alerts) {
      ++reads;
      if (!take(list_[cursor.alerts])) return;
    }
  }
  mutable std::size_t reads = 0;

 private:
  AlertList list_;
};

TEST(AlertFeed, OfAStreamedBatchOnlyTheTailIsRead) {
  AlertFeed feed({.alerts = 1000, .bytes = 1 << 20, .per_query = 5, .block = 1000});
  const auto source = std::make_shared<Streamed>(many(R"("q")", 2, 10'000).list);
  feed.publish(2, {AlertList(source, 10'000), {9'992, 0}});
  EXPECT_EQ(source->reads, 16u) << "counted, then taken";
  FeedReader reader(feed, {{R"("q")"}, Signs::both}, FeedPlace{1, 0});
  EXPECT_THAT(brief(all(reader)), ElementsAre("start 2 0", "left-out null 2 9992", "left-out \"q\" 2 3", "2.9995", "2.9996",
                                              "2.9997", "2.9998", "2.9999"));
}

TEST(AlertFeed, AReaderResumesBehindTheAlertThatItNames) {
  AlertFeed feed({.alerts = 20, .bytes = 1 << 20, .per_query = 100, .block = 400});
  feed.begin_after(10);
  feed.publish(11, many(R"("q")", 11, 3));
  feed.publish(12, many(R"("q")", 12, 2));
  const auto resumed = [&](FeedPlace after) {
    FeedReader reader(feed, {}, after);
    return brief(all(reader));
  };
  EXPECT_THAT(resumed({11, 1}), ElementsAre("start 12 0", "11.2", "12.0", "12.1"));
  EXPECT_THAT(resumed({12, 1}), ElementsAre("start 12 0"));
  EXPECT_THAT(resumed({11, 2}), ElementsAre("start 12 0", "12.0", "12.1"));
  EXPECT_EQ(resumed({10, 5}).front(), "start 12 null") << "another process may have published more of batch 10";
  EXPECT_EQ(resumed({10, 5}).size(), 6u);
  EXPECT_EQ(resumed({99, 0}).front(), "start 12 null") << "an alert of other state";
  EXPECT_EQ(resumed({99, 0}).size(), 6u);
  for (std::uint64_t batch = 13; batch < 40; ++batch) feed.publish(batch, many(R"("q")", batch, 1));
  EXPECT_EQ(resumed({11, 1}).front(), "start 39 null") << "the ring has dropped what followed";
  EXPECT_EQ(resumed({38, 0}), (std::vector<std::string>{"start 39 0", "39.0"}));
}

TEST(AlertFeed, PortionsAreBoundedAndShareTheBlocks) {
  AlertFeed feed({.alerts = 10'000, .bytes = 8 << 20, .per_query = 10'000, .block = 10'000});
  SeenAlerts batch;
  for (int i = 0; i < 2000; ++i) batch.list.add(alert(i % 2 == 0 ? R"("a")" : R"("b")", '+', 1));
  feed.publish(1, batch);
  FeedReader whole(feed, {}, FeedPlace{0, 0});
  FeedReader other(feed, {}, FeedPlace{0, 0});
  const FeedReader::Portion portion = whole.next(30'000);
  EXPECT_GE(portion.bytes, 30'000u);
  EXPECT_LE(portion.bytes, 31'000u);
  EXPECT_LE(portion.pieces.size(), 4u) << "neighbours are one piece";
  EXPECT_EQ(other.next(30'000).pieces.front().data(), portion.pieces.front().data());
  FeedReader half(feed, {{R"("a")"}, Signs::both}, FeedPlace{0, 0});
  EXPECT_EQ(half.next(1 << 20, 32).pieces.size(), 32u);
  EXPECT_EQ(brief(all(half)).size(), 1000u - 32u);
  FeedReader none(feed, {{R"("c")"}, Signs::both}, std::nullopt, 5000);
  EXPECT_THAT(brief(all(none, 5000)), ElementsAre("start 1 0"));
}

TEST(AlertFeed, AnAlertThatIsTooLongIsShownAsItsStub) {
  AlertFeed feed;
  std::string long_one = alert(R"("q")", '+', 1);
  long_one.pop_back();
  long_one += R"(,"bindings":{"a":")" + std::string(2 << 20, 'x') + R"("}})";
  feed.publish(1, seen({long_one}));
  FeedReader reader(feed, {}, FeedPlace{0, 0});
  const std::string stream = all(reader);
  EXPECT_THAT(stream, HasSubstr(fmt::format(R"("too_large":{}}})", long_one.size())));
  EXPECT_LT(stream.size(), 1000u);
}

TEST(AlertFeed, ABurstIsToldOnce) {
  AlertFeed feed({.pace = std::chrono::hours(1)});
  int news = 0;
  static_cast<void>(feed.listen([&] { ++news; }));
  feed.publish(1, {});
  EXPECT_EQ(news, 0) << "there is nothing to see";
  for (std::uint64_t batch = 2; batch < 10; ++batch) feed.publish(batch, many(R"("q")", batch, 1));
  EXPECT_EQ(news, 1);
}

TEST(AlertFeed, PlacesAreRead) {
  EXPECT_EQ(feed_place("17.3"), (FeedPlace{17, 3}));
  EXPECT_EQ(feed_place("18446744073709551615.0"), (FeedPlace{~std::uint64_t{0}, 0}));
  for (const char* wrong : {"", "17", "17.", ".3", "17.3 ", " 17.3", "-1.3", "17.3.1", "18446744073709551616.0", "a.b"})
    EXPECT_FALSE(feed_place(wrong)) << wrong;
}

TEST(AlertFeed, ReadersAndTheWriterWorkAtTheSameTime) {
  AlertFeed feed({.alerts = 500, .bytes = 1 << 20, .per_query = 20, .block = 2000, .pace = std::chrono::milliseconds(0)});
  std::atomic<bool> done{false};
  std::atomic<int> news{0};
  const std::uint64_t listener = feed.listen([&] { ++news; });
  std::latch ready(5);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      FeedReader reader(feed, {}, FeedPlace{0, 0});
      ready.arrive_and_wait();
      std::uint64_t alerts = 0;
      std::uint64_t left_out = 0;
      for (bool last = false; !last;) {
        last = done;
        for (const std::string& event : brief(all(reader, 3000))) {
          if (event.starts_with("left-out")) left_out += std::stoull(event.substr(event.rfind(' ')));
          alerts += event.find(' ') == std::string::npos ? 1 : 0;
        }
      }
      EXPECT_EQ(alerts + left_out + reader.missed(), 2000u * 30);
    });
  }
  ready.arrive_and_wait();
  for (std::uint64_t batch = 1; batch <= 2000; ++batch) feed.publish(batch, many(R"("q")", batch, 30));
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(news, 2000);
  feed.unlisten(listener);
  feed.publish(3000, many(R"("q")", 3000, 1));
  EXPECT_EQ(news, 2000);
}

}  // namespace
}  // namespace deltamatch::ingest

// ALERT ONCE in an engine: what is reported, what is remembered, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch {
namespace {

constexpr Timestamp minute = 60'000'000;
constexpr std::string_view senders = "(s)-[t:T]->(hub) ALERT ONCE PER (hub) EVERY 1h";

Update edge(std::int64_t source, std::int64_t target, Timestamp minutes, UpdateKind kind = UpdateKind::insert_edge) {
  return {.kind = kind, .source = Id(source), .target = Id(target), .label = "T", .time = minutes * minute};
}

/// Collects signs and vertices of matches, such as "+1>9".
class Signs final : public MatchSink {
 public:
  void begin(std::uint64_t /*batch*/) override {}
  void write(const Match& match) override {
    std::string text = match.added ? "+" : "-";
    for (const Id& vertex : match.vertices) text += (text.size() == 1 ? "" : ">") + std::to_string(vertex.number());
    signs.insert(text);
  }
  void commit() override {}
  void abort() noexcept override {}

  [[nodiscard]] std::string text() const {
    std::string result;
    for (const std::string& sign : signs) result += (result.empty() ? "" : " ") + sign;
    return result;
  }
  std::multiset<std::string> signs;
};

std::string feed(Engine& engine, const std::vector<Update>& updates, BatchResult* out = nullptr) {
  UpdateBatch batch;
  Timestamp latest = engine.watermark().value_or(INT64_MIN);
  for (const Update& update : updates) {
    batch.add(update);
    if (update.time) latest = std::max(latest, *update.time);
  }
  Signs sink;
  BatchResult result = engine.process(batch, OnReject::stop, &sink);
  EXPECT_TRUE(result.rejects.empty());
  if (out != nullptr) *out = std::move(result);
  return sink.text();
}

class Once : public testing::Test {
 protected:
  static Engine make(EdgeModel model = EdgeModel::events) { return Engine({.threads = 1, .schema = {model, {}, {}}}); }
  void ask(std::string_view pattern, const QueryOptions& options = {.list = true}) {
    id_ = engine_.add_query(parse_pattern(pattern, "q"), options);
  }
  std::string signs(const std::vector<Update>& updates) { return feed(engine_, updates, &result_); }

  Engine engine_ = make();
  QueryId id_{};
  BatchResult result_;
};

TEST_F(Once, ABindingIsReportedOnceInThePeriod) {
  ask(senders);
  EXPECT_EQ(signs({edge(1, 9, 0)}), "+1>9");
  EXPECT_EQ(signs({edge(2, 9, 30), edge(2, 8, 30)}), "+2>8");
  EXPECT_EQ(result_.queries[0].suppressed, Count{1});
  EXPECT_EQ(result_.queries[0].added, Count{1});
  EXPECT_EQ(signs({edge(3, 9, 59)}), "");
  EXPECT_EQ(signs({edge(4, 9, 60)}), "+4>9");
  EXPECT_EQ(signs({edge(5, 9, 119)}), "");
}

TEST_F(Once, TheEarliestOfABatchWinsAndThePeriodGoesOnInIt) {
  ask(senders);
  EXPECT_EQ(signs({edge(3, 9, 61), edge(2, 9, 20), edge(1, 9, 1), edge(4, 9, 70)}), "+1>9 +3>9");
  EXPECT_EQ(result_.queries[0].suppressed, Count{2});
}

TEST_F(Once, OnlyWhatWasReportedVanishes) {
  ask(senders);
  EXPECT_EQ(signs({edge(1, 9, 0)}), "+1>9");
  EXPECT_EQ(signs({edge(2, 9, 1)}), "");
  EXPECT_EQ(signs({edge(2, 9, 2, UpdateKind::delete_edge)}), "");
  EXPECT_EQ(result_.queries[0].removed, Count{0});
  EXPECT_EQ(signs({edge(1, 9, 300, UpdateKind::delete_edge)}), "-1>9");  // long after the period
  EXPECT_EQ(result_.queries[0].removed, Count{1});
}

TEST_F(Once, AMatchThatWasThereBeforeTheQueryVanishesSilently) {
  UpdateBatch start;
  start.add(edge(1, 9, 0));
  engine_.load(start);
  ask(senders);
  EXPECT_EQ(signs({edge(1, 9, 1, UpdateKind::delete_edge)}), "");
}

TEST_F(Once, ACountingQueryCountsWhatIsReported) {
  ask(senders, {});
  UpdateBatch batch;
  for (std::int64_t s = 1; s <= 5; ++s) batch.add(edge(s, 9, s));
  const BatchResult result = engine_.process(batch);
  EXPECT_EQ(result.queries[0].added, Count{1});
  EXPECT_EQ(result.queries[0].suppressed, Count{4});
  EXPECT_EQ(result.queries[0].added_digest, MatchDigest{});
}

TEST_F(Once, WithoutAnyTimeEachBindingIsReportedOnce) {
  engine_ = make(EdgeModel::simple);
  ask(senders);
  const auto untimed = [](std::int64_t source) {
    return Update{.source = Id(source), .target = Id(std::int64_t{9}), .label = "T"};
  };
  EXPECT_EQ(signs({untimed(1)}), "+1>9");
  EXPECT_EQ(signs({untimed(2)}), "");
  EXPECT_EQ(result_.queries[0].suppressed, Count{1});
}

TEST_F(Once, MatchesThatALabelMakesAreLimitedToo) {
  ask("(s)-[t:T]->(hub:Hub) ALERT ONCE PER (hub) EVERY 1h");
  EXPECT_EQ(signs({edge(1, 9, 0), edge(2, 9, 1), edge(3, 9, 2)}), "");
  const Update label{
      .kind = UpdateKind::insert_vertex, .source = Id(std::int64_t{9}), .source_label = "Hub", .time = 3 * minute};
  EXPECT_THAT(signs({label}), testing::MatchesRegex("\\+[123]>9")) << "one of three that appear at the same time";
  EXPECT_EQ(result_.queries[0].added, Count{1});
  EXPECT_EQ(result_.queries[0].suppressed, Count{2});
}

TEST_F(Once, ACorrectedEdgeThatNoLongerMatchesVanishes) {
  engine_ = Engine({.threads = 1, .schema = {EdgeModel::keyed, {}, {}}});
  ask("(s)-[t:T]->(hub) ALERT ONCE PER (hub) EVERY 1h");
  const Properties key{Id(std::int64_t{7}), {}};
  Update first = edge(1, 9, 0);
  first.properties = &key;
  Update corrected = edge(1, 9, 5);
  corrected.label = "OTHER";
  corrected.properties = &key;
  EXPECT_EQ(signs({first}), "+1>9");
  EXPECT_EQ(signs({corrected}), "-1>9");
  EXPECT_EQ(result_.queries[0].removed, Count{1});
}

TEST_F(Once, AVertexThatCanChangePlacesMustBeNamedWithTheOther) {
  const std::string ring = "(a)-[:T]->(b)-[:T]->(c)-[:T]->(a) ALERT ONCE PER ";
  try {
    ask(ring + "(a) EVERY 1h");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "query q: ALERT ONCE PER 'a', which can change places with 'b': a match does not say which is which; name all "
              "of them, ALERT ONCE PER (a, b, c), or tell them apart by labels or conditions");
  }
  ask(ring + "(a, b, c) EVERY 1h");
  EXPECT_EQ(signs({edge(3, 1, 0), edge(2, 3, 0), edge(1, 2, 0)}), "+1>2>3");
  EXPECT_EQ(signs({edge(2, 1, 1), edge(3, 2, 1), edge(1, 3, 1)}), "");  // the same accounts
}

TEST_F(Once, ARemovedQueryForgetsAndAReplacedOneGoesOnUntilTheNextBatch) {
  const NewQuery query{parse_pattern(senders, "q"), {.list = true}};
  ask(senders);
  EXPECT_EQ(signs({edge(1, 9, 0)}), "+1>9");
  engine_.replace_queries(std::vector{id_}, {});
  id_ = engine_.replace_queries({}, std::vector{query})[0];
  EXPECT_EQ(signs({edge(2, 9, 1)}), "");
  engine_.replace_queries(std::vector{id_}, {});
  feed(engine_, {});
  id_ = engine_.replace_queries({}, std::vector{query})[0];
  EXPECT_EQ(signs({edge(3, 9, 2)}), "+3>9");
  engine_.remove_query(id_);
  ask(senders);
  EXPECT_EQ(signs({edge(4, 9, 3)}), "+4>9");
}

TEST_F(Once, AnAbandonedBatchIsNotRemembered) {
  ask(senders);
  UpdateBatch batch;
  batch.add(edge(1, 9, 0));
  struct Failing final : MatchSink {
    void begin(std::uint64_t /*batch*/) override {}
    void write(const Match& /*match*/) override { throw Error("sink", "full"); }
    void commit() override {}
    void abort() noexcept override {}
  } failing;
  EXPECT_THROW(engine_.process(batch, OnReject::stop, &failing), Error);
  EXPECT_EQ(signs({edge(2, 9, 1)}), "+2>9");
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(Once, ASnapshotKeepsTheMemoryAndItsBytesDependOnNothingElse) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "once.dms";
  const std::filesystem::path again = std::filesystem::path(testing::TempDir()) / "again.dms";
  ask(senders);
  EXPECT_EQ(signs({edge(1, 9, 0), edge(1, 8, 5), edge(1, 7, 6)}), "+1>7 +1>8 +1>9");
  engine_.save(path);
  Engine restored = Engine::restore(path, 1);
  restored.save(again);
  EXPECT_EQ(bytes_of(path), bytes_of(again));
  restored.add_query(parse_pattern(senders, "q"), {.list = true});
  EXPECT_EQ(feed(restored, {edge(2, 9, 59), edge(2, 8, 65)}), "+2>8");
  EXPECT_EQ(feed(restored, {edge(1, 9, 66, UpdateKind::delete_edge)}), "-1>9");
}

TEST_F(Once, MemoryHoldsNoBindingsOfThePast) {
  ask(senders);
  std::uint64_t after_first = 0;
  for (std::int64_t hour = 0; hour < 40; ++hour) {
    std::vector<Update> updates;
    std::vector<Update> gone;
    for (std::int64_t hub = 0; hub < 500; ++hub) {
      updates.push_back(edge(1, 1000 * (hour + 1) + hub, 120 * hour));
      gone.push_back(edge(1, 1000 * (hour + 1) + hub, 120 * hour + 1, UpdateKind::delete_edge));
    }
    signs(updates);
    EXPECT_EQ(result_.queries[0].added, Count{500});
    signs(gone);
    EXPECT_EQ(result_.queries[0].removed, Count{500});
    const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "bounded.dms";
    engine_.save(path);
    if (hour == 1) after_first = std::filesystem::file_size(path);
  }
  EXPECT_LT(std::filesystem::file_size(std::filesystem::path(testing::TempDir()) / "bounded.dms"), 2 * after_first);
}

}  // namespace
}  // namespace deltamatch

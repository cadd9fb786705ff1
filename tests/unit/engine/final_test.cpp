// EMIT FINAL in an engine: when a match is reported, and what is refused.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch {
namespace {

constexpr Timestamp minute = 60'000'000;
constexpr std::string_view unconfirmed =
    "(a)-[t:PAY]->(b) WHERE NOT EXISTS { (b)-[u:CONFIRM]->(a) WHERE t.time <= u.time <= t.time + 5m } EMIT FINAL";

Update edge(std::int64_t source, const char* label, std::int64_t target, Timestamp minutes,
            UpdateKind kind = UpdateKind::insert_edge) {
  return {.kind = kind, .source = Id(source), .target = Id(target), .label = label, .time = minutes * minute};
}

/// Collects signs and first vertices of matches, such as "+1".
class Signs final : public MatchSink {
 public:
  void begin(std::uint64_t /*batch*/) override {}
  void write(const Match& match) override {
    signs.insert((match.added ? "+" : "-") + std::to_string(match.vertices[0].number()));
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

class Final : public testing::Test {
 protected:
  void make(const EngineOptions& options = {.threads = 1, .schema = {EdgeModel::events, {}, {}}}) { engine_ = Engine(options); }
  void ask(std::string_view pattern) { id_ = engine_.add_query(parse_pattern(pattern, "q"), {.list = true}); }
  std::string signs(const std::vector<Update>& updates) {
    UpdateBatch batch;
    for (const Update& update : updates) batch.add(update);
    Signs sink;
    BatchResult result = engine_.process(batch, OnReject::stop, &sink);
    EXPECT_TRUE(result.rejects.empty());
    return sink.text();
  }

  Engine engine_{{.threads = 1, .schema = {EdgeModel::events, {}, {}}}};
  QueryId id_{};
};

TEST_F(Final, AMatchIsReportedOnceTheWatermarkHasPassedItsBound) {
  ask(unconfirmed);
  EXPECT_EQ(signs({edge(1, "PAY", 9, 0)}), "");
  EXPECT_EQ(engine_.waiting(id_), Count{1});
  EXPECT_EQ(signs({edge(7, "OTHER", 8, 5)}), "");  // another record of this time may confirm it
  EXPECT_EQ(signs({edge(7, "OTHER", 8, 6)}), "+1");
  EXPECT_EQ(engine_.waiting(id_), Count{0});
  EXPECT_EQ(signs({edge(1, "PAY", 9, 7, UpdateKind::delete_edge)}), "");
}

TEST_F(Final, AMatchThatComesTooLateIsReportedAtOnce) {
  ask(unconfirmed);
  EXPECT_EQ(signs({edge(7, "OTHER", 8, 60)}), "");
  EXPECT_EQ(signs({edge(1, "PAY", 9, 0)}), "+1");
  EXPECT_EQ(signs({edge(7, "OTHER", 8, 61)}), "");
}

TEST_F(Final, WhatIsThereWhenTheQueryComesWaits) {
  EXPECT_EQ(signs({edge(1, "PAY", 9, 0), edge(2, "PAY", 9, 4), edge(7, "OTHER", 8, 6)}), "");
  ask(unconfirmed);
  EXPECT_EQ(engine_.waiting(id_), Count{1});
  EXPECT_EQ(signs({edge(7, "OTHER", 8, 60)}), "+2");
}

TEST_F(Final, AnAbandonedBatchLeavesTheMatchWaiting) {
  ask(unconfirmed);
  EXPECT_EQ(signs({edge(1, "PAY", 9, 0)}), "");
  struct Failing final : MatchSink {
    void begin(std::uint64_t /*batch*/) override {}
    void write(const Match& /*match*/) override { throw Error("sink", "full"); }
    void commit() override {}
    void abort() noexcept override {}
  } failing;
  UpdateBatch batch;
  batch.add(edge(7, "OTHER", 8, 6));
  EXPECT_THROW(engine_.process(batch, OnReject::stop, &failing), Error);
  EXPECT_EQ(signs({edge(7, "OTHER", 8, 6)}), "+1");
}

TEST_F(Final, ACorrectionOfADecidedMatchChangesNothing) {
  make({.threads = 1, .schema = {EdgeModel::keyed, {{"amount", {AttributeType::Kind::integer, 0}}}, {}}});
  ask("(a)-[t:PAY]->(b) WHERE t.amount > 5 AND NOT EXISTS { (b)-[u:CONFIRM]->(a) WHERE t.time <= u.time <= t.time + 5m } EMIT "
      "FINAL");
  const auto payment = [&](std::int64_t key, std::int64_t amount, Timestamp minutes) {
    const AttributeValue value = amount;
    const Properties properties{Id(key), {&value, 1}};
    Update update = edge(1, "PAY", 9, minutes);
    update.properties = &properties;
    return signs({update});
  };
  EXPECT_EQ(payment(1, 10, 0), "");
  EXPECT_EQ(payment(2, 1, 60), "+1");
  EXPECT_EQ(payment(1, 20, 0), "");   // it was decided
  EXPECT_EQ(payment(2, 30, 60), "");  // it waits
  EXPECT_EQ(payment(3, 1, 120), "+1");
  EXPECT_EQ(payment(1, 20, 180), "");  // it waits anew
  EXPECT_EQ(payment(3, 1, 240), "+1");
}

TEST_F(Final, AWindowMustBeLongerThanTheBound) {
  make({.threads = 1, .window = 6 * minute, .allowed_lateness = minute, .schema = {EdgeModel::events, {}, {}}});
  EXPECT_THROW(ask(unconfirmed), Error);
  make({.threads = 1, .window = 6 * minute + 1, .allowed_lateness = minute, .schema = {EdgeModel::events, {}, {}}});
  ask(unconfirmed);
  EXPECT_EQ(signs({edge(1, "PAY", 9, 0)}), "");
  EXPECT_EQ(signs({edge(7, "OTHER", 8, 6000)}), "+1");  // the payment leaves the window in this batch
}

/// What a window of 50 minutes reports, whether the last updates come in one batch or one by one.
class FinalUnderAWindow : public Final {
 protected:
  std::string reported(std::string_view pattern, const std::vector<Update>& first, const std::vector<Update>& last) {
    const std::string at_once = run(pattern, first, {last});
    std::vector<std::vector<Update>> singles;
    for (const Update& update : last) singles.push_back({update});
    EXPECT_EQ(run(pattern, first, singles), at_once);
    return at_once;
  }

 private:
  std::string run(std::string_view pattern, const std::vector<Update>& first, const std::vector<std::vector<Update>>& batches) {
    make({.threads = 1, .window = 50 * minute, .schema = {EdgeModel::events, {}, {}}});
    ask(pattern);
    EXPECT_EQ(signs(first), "");
    Signs sink;
    for (const std::vector<Update>& updates : batches) {
      UpdateBatch batch;
      for (const Update& update : updates) batch.add(update);
      const auto result = engine_.process(batch, {.sink = &sink, .record_by_record = true});
      EXPECT_TRUE(result.value().rejects.empty());
      EXPECT_FALSE(result.value().cut);
    }
    return sink.text();
  }
};

TEST_F(FinalUnderAWindow, AMatchThatARecordFarAheadCompletesIsDecidedThere) {
  Update ahead = edge(9, "SHIP", 8, 60);
  ahead.ahead = true;
  EXPECT_EQ(reported("(a)-[t:PAY]->(b)-[s:SHIP]->(c) WHERE NOT EXISTS { (b)-[u:CONFIRM]->(a) WHERE t.time <= u.time <= t.time "
                     "+ 5m } EMIT FINAL",
                     {edge(1, "PAY", 9, 0), edge(6, "OTHER", 7, 6)},
                     {ahead, edge(6, "OTHER", 7, 60)}),  // the payment leaves the window after it
            "+1");
}

TEST_F(FinalUnderAWindow, AMatchThatALateRecordCompletesIsDecidedThere) {
  EXPECT_EQ(reported("(a)-[t:PAY]->(b)-[s:SHIP]->(c) WHERE NOT EXISTS { (b)-[u:CONFIRM]->(a) WHERE u.time <= t.time + 5m } "
                     "EMIT FINAL",
                     {edge(9, "CONFIRM", 1, 0), edge(1, "PAY", 9, 35), edge(6, "OTHER", 7, 41)},
                     {edge(6, "OTHER", 7, 60), edge(9, "SHIP", 8, 45)}),  // the confirmation has left the window
            "+1");
}

TEST_F(Final, EdgesAreKeptUntilTheyAreDecided) {
  ask("(a)-[t:PAY]->(b) WHERE NOT EXISTS { (b)-[u:CONFIRM]->(a) WHERE t.time <= u.time <= t.time + 5m } WITHIN 1m EMIT FINAL");
  EXPECT_EQ(engine_.retention(), 6 * minute);
  EXPECT_EQ(signs({edge(1, "PAY", 9, 0)}), "");
  EXPECT_EQ(signs({edge(2, "PAY", 9, 4)}), "");
  EXPECT_EQ(signs({edge(7, "OTHER", 8, 6000)}), "+1 +2");
}

}  // namespace
}  // namespace deltamatch

// The watermark after each record of a batch of the service.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "ingest/service/loop/assembler.hpp"

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

using Clock = Assembler::Clock;
constexpr Clock::time_point start{};
constexpr Clock::time_point now = start + 10s;  // partitions at their ends since `start` are idle
constexpr std::optional<IdleEvidence> at_its_end = IdleEvidence{start, now};

struct Record {
  std::size_t part = 0;
  std::int64_t offset = 0;
  std::string value;
};

std::string event(int source, int target, std::optional<Timestamp> time) {
  return R"({"source":)" + std::to_string(source) + R"(,"target":)" + std::to_string(target) +
         (time ? R"(,"time":)" + std::to_string(*time) : std::string()) + "}";
}

/// By update, the running watermark; -1: none.
std::vector<Timestamp> running(const UpdateBatch& batch, std::optional<Timestamp> before) {
  std::vector<Timestamp> all;
  const auto steps = batch.steps().value();
  for (std::size_t i = 0, step = 0; i < batch.size(); ++i) {
    for (; step < steps.size() && steps[step].first <= i; ++step) before = std::max(before, std::optional(steps[step].time));
    all.push_back(before.value_or(-1));
  }
  return all;
}

class RunningWatermark : public testing::Test {
 protected:
  /// Partitions of one topic. `ends`: what is known of their ends.
  std::size_t make(std::vector<std::optional<IdleEvidence>> ends, std::optional<Timestamp> watermark = std::nullopt,
                   Timestamp window = 0) {
    InputOptions options;
    options.on_error = OnError::skip;
    options.idle_after = 10s;
    assembler_.emplace(options, BatchLimits{}, std::size_t{1} << 20, watermark, window, true);
    topics_.codec.edges = EdgeModel::events;
    for (std::size_t part = 0; part < ends.size(); ++part) open(part);
    assembler_->at_end(ends);
    return ends.size();
  }
  void open(std::size_t part, std::optional<Timestamp> largest = std::nullopt) {
    assembler_->open({"t", static_cast<std::int32_t>(part)}, 0, topics_, start, largest);
  }
  void add(std::size_t part, std::optional<Timestamp> time) { add({part, next_[part]++, event(1, 2, time)}); }
  void add(const Record& record) { EXPECT_TRUE(assembler_->add({record.part, record.offset, "", record.value}, now)); }
  /// The running watermarks of the batch.
  std::vector<Timestamp> cut() {
    before_ = assembler_watermark_;
    assembler_->cut(batch_, now);
    assembler_watermark_ = batch_.updates.watermark();
    return running(batch_.updates, before_);
  }

  InputTopics topics_{"t", Format::jsonl, {}};
  std::optional<Assembler> assembler_;
  std::optional<Timestamp> assembler_watermark_;
  std::optional<Timestamp> before_;
  InputBatch batch_;
  std::map<std::size_t, std::int64_t> next_;
};

TEST_F(RunningWatermark, OfOnePartitionIsTheLargestTimeSoFar) {
  make({{}});
  for (const Timestamp time : {100, 90, 120}) add(0, time);
  EXPECT_THAT(cut(), ElementsAre(100, 100, 120));
  EXPECT_EQ(batch_.updates.watermark(), 120);
}

TEST_F(RunningWatermark, FollowsTheOrderOfTheBatchNotThatOfArrival) {
  make({{}, {}});
  add(1, 50);
  add(0, 100);
  add(1, 70);
  add(0, 110);
  EXPECT_THAT(cut(), ElementsAre(-1, -1, 50, 70));  // there is none before both have spoken
  add(1, 200);
  add(0, 150);
  EXPECT_THAT(cut(), ElementsAre(70, 150));  // behind the first record, the second partition is still at 70
}

TEST_F(RunningWatermark, AnIdlePartitionIsIdleUntilItsFirstRecord) {
  make({{}, at_its_end});
  add(1, 5);
  add(0, 100);
  add(0, 101);
  EXPECT_THAT(cut(), ElementsAre(100, 101, 101));
  EXPECT_EQ(batch_.times.at({"t", 1}), (PartitionTime{5, true}));
  add(0, 200);
  EXPECT_THAT(cut(), ElementsAre(101));  // it had a record, so it holds the watermark
  EXPECT_EQ(batch_.times.at({"t", 1}), (PartitionTime{5, false}));
  EXPECT_EQ(batch_.times.at({"t", 0}), (PartitionTime{200, false}));
}

TEST_F(RunningWatermark, RecordsWithoutTimesOrRefusedOnesMoveNothing) {
  make({{}, at_its_end});
  add(1, std::nullopt);
  add(0, 100);
  add({0, next_[0]++, "{]"});
  add(0, std::nullopt);
  EXPECT_THAT(cut(), ElementsAre(100, 100, 100));
  EXPECT_EQ(batch_.times.at({"t", 1}), (PartitionTime{std::nullopt, true}));
}

TEST_F(RunningWatermark, WhatIdlePartitionsHeldBackCountsFromTheFirstRecordOn) {
  make({{}, {}});
  add(1, 5);
  add(0, 100);
  cut();
  assembler_->at_end(std::vector<std::optional<IdleEvidence>>{{}, IdleEvidence{now, now + 10s}});
  EXPECT_TRUE(assembler_->add({0, 9, "", event(1, 2, 90)}, now + 10s));
  EXPECT_THAT(cut(), ElementsAre(100));
}

TEST_F(RunningWatermark, WithAWindowItStaysBelowThatOfTheBatch) {
  make({{}, at_its_end}, std::nullopt, 1000);
  add(1, 5);
  add(0, 100);
  EXPECT_THAT(cut(), ElementsAre(5, 5));
  EXPECT_EQ(batch_.updates.watermark(), 5);
}

TEST_F(RunningWatermark, GoesOnFromTheTimesThatAMarkNames) {
  make({}, 50);
  open(0, 70);
  open(1, 50);
  assembler_watermark_ = 50;
  add(0, 80);
  EXPECT_THAT(cut(), ElementsAre(50));
  add(1, 60);
  EXPECT_THAT(cut(), ElementsAre(60));
}

/// Records of three partitions in the order of a batch. Times go back now and then.
std::vector<Record> draw(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t n) { return std::uniform_int_distribution<std::uint64_t>(0, n - 1)(random); };
  std::vector<Record> records;
  for (std::size_t part = 0; part < 3; ++part) {
    const std::uint64_t count = below(9);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::optional<Timestamp> time;
      if (below(9) != 0) time = static_cast<Timestamp>(100 + 12 * i + below(60));
      std::string value = below(12) == 0 ? "{]" : event(static_cast<int>(below(4)), static_cast<int>(below(4)), time);
      records.push_back({part, static_cast<std::int64_t>(i), std::move(value)});
    }
  }
  return records;
}

class NewMatches final : public MatchSink {
 public:
  void begin(std::uint64_t) override {}
  void write(const Match& match) override {
    if (match.added) ids.insert(to_string(match.id));
  }
  void commit() override {}
  void abort() noexcept override {}
  std::set<std::string> ids;
};

/// What follows from one way to cut the records.
struct Outcome {
  std::vector<Timestamp> running;
  std::optional<Timestamp> watermark;
  std::set<std::string> matches;
};

TEST_F(RunningWatermark, NewMatchesWithinATimeDoNotDependOnTheCuts) {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<std::optional<IdleEvidence>> ends(3);
    for (auto& end : ends) end = random() % 2 == 0 ? std::nullopt : at_its_end;
    const std::vector<Record> records = draw(random);
    const auto run = [&](std::size_t size) {
      make(ends);
      assembler_watermark_.reset();
      Engine engine(
          {.threads = 1, .allowed_lateness = 15, .schema = {.model = EdgeModel::events, .edges = {}, .vertices = {}}});
      Query query = parse_pattern("(a)-->(b)-->(c) WITHIN 1s", "q");
      query.within->microseconds = 40;
      engine.add_query(query, {.list = true});
      Outcome outcome;
      NewMatches sink;
      const auto settle = [&] {
        const std::vector<Timestamp> marks = cut();
        outcome.running.insert(outcome.running.end(), marks.begin(), marks.end());
        outcome.watermark = engine.process(batch_.updates, OnReject::skip, &sink).watermark;
      };
      for (std::size_t i = 0; i < records.size(); ++i) {
        add(records[i]);
        if ((i + 1) % size == 0) settle();
      }
      settle();
      outcome.matches = sink.ids;
      return outcome;
    };
    const Outcome whole = run(SIZE_MAX);
    found += whole.matches.size();
    for (const std::size_t size : {1, 2, 5}) {
      const Outcome parts = run(size);
      EXPECT_EQ(parts.running, whole.running) << seed << ' ' << size;
      EXPECT_EQ(parts.watermark, whole.watermark) << seed << ' ' << size;
      EXPECT_EQ(parts.matches, whole.matches) << seed << ' ' << size;
    }
  }
  EXPECT_GT(found, 300U);
}

TEST_F(RunningWatermark, ABatchThatIsReadAgainHasTheSameSteps) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<std::optional<IdleEvidence>> ends(3);
    for (auto& end : ends) end = random() % 2 == 0 ? std::nullopt : at_its_end;
    make(ends);
    std::vector<Record> records = draw(random);
    const std::size_t half = records.size() / 2;
    for (std::size_t i = 0; i < half; ++i) add(records[i]);
    cut();
    const InputBatch first = std::exchange(batch_, {});
    for (std::size_t i = half; i < records.size(); ++i) add(records[i]);
    cut();
    const InputBatch second = std::exchange(batch_, {});
    make({});  // nothing is known of the ends then
    for (std::size_t part = 0; part < 3; ++part) open(part, first.times.at({"t", static_cast<std::int32_t>(part)}).largest);
    assembler_->repeat(first.updates.watermark(), second.times, now);
    for (std::size_t i = half; i < records.size(); ++i) add(records[i]);
    cut();
    EXPECT_EQ(batch_.updates.watermark(), second.updates.watermark()) << seed;
    EXPECT_EQ(batch_.times, second.times) << seed;
    EXPECT_TRUE(std::ranges::equal(batch_.updates.steps().value(), second.updates.steps().value())) << seed;
  }
}

}  // namespace
}  // namespace deltamatch::ingest

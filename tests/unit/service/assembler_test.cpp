#include "ingest/service/loop/assembler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <limits>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Assembler::Clock::time_point start{};

class AssemblerTest : public testing::Test {
 protected:
  void make(BatchLimits limits, OnError on_error = OnError::fail) {
    InputOptions options;
    options.on_error = on_error;
    options.max_record = 200;
    options.idle_after = 10s;
    assembler_.emplace(options, limits, 10'000, std::nullopt);
  }
  std::size_t open(const char* topic, std::int32_t partition, std::int64_t next = 0) {
    return assembler_->open({topic, partition}, next, topics_, start);
  }
  bool add(std::size_t part, std::int64_t offset, std::optional<std::string_view> value) {
    return assembler_->add({part, offset, "k", value}, start);
  }
  /// The updates of the next batch, in words.
  std::vector<std::string> cut(Assembler::Clock::time_point now = start) {
    assembler_->cut(batch_, now);
    std::vector<std::string> words;
    for (const Update& update : batch_.updates.updates()) {
      words.push_back(std::string(update.kind == UpdateKind::insert_edge ? "+" : "-") + std::to_string(update.source.number()) +
                      ">" + std::to_string(update.target.number()));
    }
    return words;
  }

  static std::string timed(Timestamp time) { return R"({"source":1,"target":2,"time":)" + std::to_string(time) + "}"; }

  InputTopics topics_{"t", Format::jsonl, {}};
  std::optional<Assembler> assembler_;
  InputBatch batch_;
};

TEST_F(AssemblerTest, PutsRecordsInTheOrderOfTopicPartitionAndOffset) {
  make({});
  const std::size_t b0 = open("b", 0, 5);
  const std::size_t a1 = open("a", 1, 7);
  const std::size_t a0 = open("a", 0, 9);
  EXPECT_TRUE(add(b0, 5, R"({"source":1,"target":2})"));
  EXPECT_TRUE(add(a1, 7, R"({"source":3,"target":4})"));
  EXPECT_TRUE(add(b0, 8, R"({"source":5,"target":6,"op":"-"})"));
  EXPECT_TRUE(add(a1, 9, R"({"source":7,"target":8})"));
  EXPECT_THAT(cut(), ElementsAre("+3>4", "+7>8", "+1>2", "-5>6"));
  EXPECT_EQ(batch_.ends, (Offsets{{{"a", 0}, 9}, {{"a", 1}, 10}, {{"b", 0}, 9}}));
  EXPECT_EQ(batch_.records, 4u);
  EXPECT_EQ(batch_.positions[2], (Position{5, static_cast<std::uint32_t>(b0)}));
  EXPECT_TRUE(assembler_->empty());
  EXPECT_TRUE(add(a0, 11, R"({"source":1,"target":2})"));
  EXPECT_THAT(cut(), ElementsAre("+1>2"));
  EXPECT_EQ(batch_.ends.at({"a", 0}), 12);
}

TEST_F(AssemblerTest, TheRestOfABatchHasWhatComesBehindIt) {
  make({}, OnError::dead_letter);
  const std::size_t a = open("a", 0);
  const std::size_t b = open("b", 0);
  EXPECT_TRUE(add(a, 0, R"({"source":1,"target":2})"));
  EXPECT_TRUE(add(a, 1, "bad"));
  EXPECT_TRUE(add(a, 2, R"({"source":3,"target":4})"));
  EXPECT_TRUE(add(b, 0, "worse"));
  EXPECT_TRUE(add(b, 1, R"({"source":5,"target":6})"));
  EXPECT_THAT(cut(), SizeIs(3));
  batch_.updates.set_watermark(90);
  batch_.updates.set_steps({{0, 10}, {1, 20}, {2, 90}});
  const std::uint64_t records = batch_.records;
  InputBatch rest = batch_.split_off(1, 10);
  EXPECT_EQ(batch_.updates.size(), 3U);  // the engine has told how many it took
  EXPECT_EQ(batch_.updates.watermark(), 10);
  EXPECT_THAT(*batch_.updates.steps(), ElementsAre(WatermarkStep{0, 10}));
  EXPECT_THAT(batch_.bad, SizeIs(1));
  ASSERT_EQ(rest.updates.size(), 2U);
  EXPECT_EQ(rest.updates.updates()[0].source.number(), 3);
  EXPECT_EQ(rest.updates.watermark(), 90);
  EXPECT_THAT(*rest.updates.steps(), ElementsAre(WatermarkStep{0, 20}, WatermarkStep{1, 90}));
  ASSERT_THAT(rest.bad, SizeIs(1));
  EXPECT_EQ(rest.bad[0].value, "worse");
  EXPECT_EQ(rest.partition(1), (TopicPartition{"b", 0}));
  EXPECT_EQ(rest.offset(0), 2);
  EXPECT_EQ(rest.kept.value(1), R"({"source":5,"target":6})");
  EXPECT_EQ(rest.ends, batch_.ends);
  EXPECT_EQ(batch_.records + rest.records, records);
}

TEST_F(AssemblerTest, ClosesByNumber) {
  make({.max_updates = 2});
  const std::size_t part = open("t", 0);
  EXPECT_TRUE(add(part, 0, R"({"source":1,"target":2})"));
  EXPECT_FALSE(assembler_->full());
  EXPECT_TRUE(add(part, 1, R"({"source":2,"target":3})"));
  EXPECT_TRUE(assembler_->full());
  EXPECT_FALSE(add(part, 2, R"({"source":3,"target":4})"));
  EXPECT_THAT(cut(), ElementsAre("+1>2", "+2>3"));
  EXPECT_EQ(batch_.ends.at({"t", 0}), 2);
  EXPECT_TRUE(add(part, 2, R"({"source":3,"target":4})"));
}

TEST_F(AssemblerTest, ClosesBeforeARecordThatWouldMoveTheWatermarkTooFar) {
  make({.max_span = 100});
  const std::size_t part = open("t", 0);
  EXPECT_TRUE(add(part, 0, timed(1000)));
  EXPECT_TRUE(add(part, 1, timed(500)));  // late or not, it moves nothing
  EXPECT_TRUE(add(part, 2, timed(1100)));
  EXPECT_FALSE(add(part, 3, timed(1101)));
  EXPECT_THAT(cut(), SizeIs(3));
  EXPECT_EQ(batch_.updates.watermark(), 1100);
  EXPECT_EQ(batch_.ends.at({"t", 0}), 3);
  EXPECT_TRUE(add(part, 3, timed(5000)));  // the first record may
  EXPECT_FALSE(add(part, 4, timed(5101)));
  EXPECT_THAT(cut(), SizeIs(1));
  EXPECT_EQ(batch_.updates.watermark(), 5000);
}

TEST_F(AssemblerTest, PartitionsThatAreApartShareABatch) {
  make({.max_span = 100});
  const std::size_t ahead = open("t", 0);
  const std::size_t behind = open("t", 1);
  EXPECT_TRUE(add(ahead, 0, timed(10'000)));
  EXPECT_TRUE(add(ahead, 1, timed(20'000)));
  EXPECT_FALSE(add(behind, 0, timed(1000)));  // there is no batch yet, so the record begins one
  EXPECT_THAT(cut(), SizeIs(2));
  EXPECT_EQ(batch_.updates.watermark(), std::nullopt);
  EXPECT_TRUE(batch_.updates.sets_watermark());
  EXPECT_TRUE(add(behind, 0, timed(1000)));
  for (std::int64_t i = 1; i <= 10; ++i) {
    EXPECT_TRUE(add(ahead, 1 + i, timed(20'000 + 1000 * i)));
    EXPECT_TRUE(add(behind, i, timed(1000 + 10 * i)));
  }
  EXPECT_FALSE(add(behind, 11, timed(1101)));
  EXPECT_THAT(cut(), SizeIs(21));
  EXPECT_EQ(batch_.updates.watermark(), 1100);
}

TEST_F(AssemblerTest, RefusesTimesThatLieTooFarAheadOfTheRecordsTimestamp) {
  make({}, OnError::skip);
  const std::size_t part = open("t", 0);
  constexpr std::int64_t day = 86'400'000;
  constexpr Timestamp largest = std::numeric_limits<Timestamp>::max();
  constexpr Timestamp least = std::numeric_limits<Timestamp>::min() + 1;
  struct Case {
    Timestamp time;
    std::int64_t timestamp;
    bool taken;
  };
  std::int64_t offset = 0;
  for (const Case& one : std::initializer_list<Case>{{(7 + day) * 1000, 7, true},
                                                     {(7 + day) * 1000 + 1, 7, false},
                                                     {-5, 7, true},
                                                     {least, 7, true},
                                                     {least - 1, 7, false},  // no time that can be stored
                                                     {largest, 0, false},
                                                     {largest, 1'700'000'000'000, false},
                                                     {largest, -1, true},  // there is nothing to compare it with
                                                     {largest, largest, true}}) {
    const std::string record = timed(one.time);
    EXPECT_TRUE(assembler_->add({part, offset++, "k", record, one.timestamp}, start));
    EXPECT_THAT(cut(), SizeIs(one.taken ? 1 : 0)) << one.time << ' ' << one.timestamp;
    EXPECT_EQ(batch_.refused[static_cast<std::size_t>(RejectReason::bad_time)], one.taken ? 0u : 1u);
    if (one.time == least) {
      EXPECT_EQ(batch_.updates.watermark(), (7 + day) * 1000);
    }
  }
}

TEST_F(AssemblerTest, ARefusedTimeDoesNotMoveTheWatermark) {
  make({.max_span = 100}, OnError::dead_letter);
  const std::size_t part = open("t", 0);
  const std::string far = timed(std::numeric_limits<Timestamp>::max());
  EXPECT_TRUE(assembler_->add({part, 0, "k", timed(1000), 1}, start));
  EXPECT_TRUE(assembler_->add({part, 1, "k", far, 1}, start));
  EXPECT_TRUE(assembler_->add({part, 2, "k", timed(1001), 1}, start));
  EXPECT_THAT(cut(), SizeIs(2));
  EXPECT_EQ(batch_.updates.watermark(), 1001);
  EXPECT_EQ(batch_.ends.at({"t", 0}), 3);
  ASSERT_THAT(batch_.bad, SizeIs(1));
  EXPECT_EQ(batch_.bad[0].message,
            "its time lies 9223372036854775 ms ahead of the record's timestamp in Kafka, more than input.max_ahead, which is "
            "86400000 ms");
}

TEST_F(AssemblerTest, WhatIdlePartitionsHeldBackIsABatchOfItsOwn) {
  make({.max_span = 100});
  const std::size_t ahead = open("t", 0);
  const std::size_t behind = open("t", 1);
  EXPECT_TRUE(add(behind, 0, timed(1000)));
  EXPECT_FALSE(add(ahead, 0, timed(20'000)));
  cut();
  EXPECT_TRUE(add(ahead, 0, timed(20'000)));
  cut();
  EXPECT_EQ(batch_.updates.watermark(), 1000);
  const std::array ends{std::optional<IdleEvidence>(), std::optional(IdleEvidence{start, start + 10s})};
  assembler_->at_end(ends);
  const auto later = start + 10s;
  const std::string record = timed(20'001);
  EXPECT_FALSE(assembler_->add({ahead, 1, "k", record}, later));
  EXPECT_TRUE(assembler_->empty());
  EXPECT_THAT(cut(later), IsEmpty());
  EXPECT_EQ(batch_.updates.watermark(), 20'000);
  EXPECT_TRUE(assembler_->add({ahead, 1, "k", record}, later));
  EXPECT_THAT(cut(later), SizeIs(1));
  EXPECT_EQ(batch_.updates.watermark(), 20'001);
}

TEST_F(AssemblerTest, ClosesByBytes) {
  make({});
  const std::size_t part = open("t", 0);
  std::int64_t offset = 0;
  while (add(part, offset, R"({"source":1,"target":2})")) ++offset;
  EXPECT_EQ(offset, 10'000 / 24 + 1);
}

TEST_F(AssemblerTest, StopsBeforeABadRecordWhereToldTo) {
  make({});
  const std::size_t one = open("t", 1);
  const std::size_t zero = open("t", 0);
  EXPECT_TRUE(add(zero, 0, R"({"source":1,"target":2})"));
  EXPECT_TRUE(add(one, 0, R"({"source":3,"target":4})"));
  EXPECT_TRUE(add(zero, 1, "{]"));
  EXPECT_TRUE(assembler_->full());
  EXPECT_THAT(cut(), ElementsAre("+1>2", "+3>4"));
  EXPECT_EQ(batch_.ends, (Offsets{{{"t", 0}, 1}, {{"t", 1}, 1}}));
  ASSERT_TRUE(batch_.failure);
  EXPECT_EQ(batch_.failure->offset, 1);
  EXPECT_EQ(batch_.failure->reason, RejectReason::malformed);
}

TEST_F(AssemblerTest, PassesOverBadRecordsWhereToldTo) {
  make({}, OnError::skip);
  const std::size_t part = open("t", 0);
  EXPECT_TRUE(add(part, 0, R"({"source":1,"target":2,"label":"x"})"));
  EXPECT_TRUE(add(part, 1, "{]"));
  EXPECT_TRUE(add(part, 2, std::string(201, 'x')));
  EXPECT_TRUE(add(part, 3, std::nullopt));
  EXPECT_THAT(cut(), ElementsAre("+1>2"));
  EXPECT_EQ(batch_.ends.at({"t", 0}), 4);
  EXPECT_EQ(batch_.refused[static_cast<std::size_t>(RejectReason::malformed)], 1u);
  EXPECT_EQ(batch_.refused[static_cast<std::size_t>(RejectReason::too_long)], 1u);
  EXPECT_THAT(batch_.bad, IsEmpty());
}

TEST_F(AssemblerTest, KeepsBadRecordsAndTheBytesOfAllWhereTheyBecomeDeadLetters) {
  make({}, OnError::dead_letter);
  const std::size_t one = open("t", 1);
  const std::size_t zero = open("t", 0);
  EXPECT_TRUE(add(one, 0, R"({"source":1,"target":2})"));
  EXPECT_TRUE(add(zero, 0, "{]"));
  EXPECT_TRUE(add(zero, 1, R"({"source":3,"target":4} )"));
  EXPECT_TRUE(add(zero, 2, R"({"source":5,"target":6})"));
  EXPECT_THAT(cut(), ElementsAre("+3>4", "+5>6", "+1>2"));
  ASSERT_EQ(batch_.bad.size(), 1u);
  EXPECT_EQ(batch_.bad[0].at, (TopicPartition{"t", 0}));
  EXPECT_EQ(batch_.bad[0].value, "{]");
  EXPECT_EQ(batch_.bad[0].key, "k");
  EXPECT_EQ(batch_.kept.value(0), R"({"source":3,"target":4} )");
  EXPECT_EQ(batch_.kept.value(2), R"({"source":1,"target":2})");
  EXPECT_EQ(batch_.kept.key(2), "k");
}

TEST_F(AssemblerTest, TellsWherePartitionsEndedThatAreNotThere) {
  make({});
  assembler_->hold({"gone", 3}, 17);
  const std::size_t part = open("t", 0);
  EXPECT_TRUE(add(part, 0, R"({"source":1,"target":2})"));
  EXPECT_THAT(cut(), ElementsAre("+1>2"));
  EXPECT_EQ(batch_.ends, (Offsets{{{"gone", 3}, 17}, {{"t", 0}, 1}}));
  const std::size_t back = open("gone", 3, 17);
  EXPECT_TRUE(add(back, 17, R"({"source":3,"target":4})"));
  EXPECT_THAT(cut(), ElementsAre("+3>4"));
  EXPECT_EQ(batch_.ends, (Offsets{{{"gone", 3}, 18}, {{"t", 0}, 1}}));
}

TEST_F(AssemblerTest, RefusesLongNames) {
  InputOptions options;
  options.on_error = OnError::skip;
  assembler_.emplace(options, BatchLimits{}, std::size_t{1} << 20, std::nullopt);
  const std::size_t part = open("t", 0);
  const auto edge = [](std::size_t source, std::size_t label) {
    return R"({"source":")" + std::string(source, 's') + R"(","target":2,"label":")" + std::string(label, 'l') + "\"}";
  };
  EXPECT_TRUE(add(part, 0, edge(1025, 1)));
  EXPECT_TRUE(add(part, 1, edge(1, 1025)));
  EXPECT_TRUE(add(part, 2, edge(1024, 1024)));
  assembler_->cut(batch_, start);
  EXPECT_EQ(batch_.updates.size(), 1U);
  EXPECT_EQ(batch_.refused[static_cast<std::size_t>(RejectReason::bad_id)], 1U);
  EXPECT_EQ(batch_.refused[static_cast<std::size_t>(RejectReason::too_long)], 1U);
}

TEST_F(AssemblerTest, UpdatesOfOneRecordSayThatTheyAre) {
  make({});
  topics_.codec.envelope = Envelope::debezium;
  const std::size_t one = open("t", 1);
  const std::size_t zero = open("t", 0);
  for (const std::size_t part : {one, zero}) {
    EXPECT_TRUE(add(part, 0, R"({"op":"u","before":{"source":1,"target":2},"after":{"source":1,"target":3}})"));
    EXPECT_TRUE(add(part, 1, R"({"op":"c","after":{"source":1,"target":4}})"));
  }
  EXPECT_THAT(cut(), ElementsAre("-1>2", "+1>3", "+1>4", "-1>2", "+1>3", "+1>4"));
  std::vector<bool> continues;
  for (const Update& update : batch_.updates.updates()) continues.push_back(update.continues);
  EXPECT_THAT(continues, ElementsAre(false, true, false, false, true, false));
}

TEST_F(AssemblerTest, DoubtsIdsOfCsvTopicsAsThoseOfFiles) {
  make({});
  topics_.format = Format::csv;
  topics_.codec.columns = "source,target,label";
  const std::size_t csv = open("a", 0);
  topics_ = {"u", Format::jsonl, {}};
  const std::size_t json = open("b", 0);
  std::int64_t offset = 0;
  for (const char* record : {"7,8,T", "007,9,T", "4.1E+15,9,T", "\"1,001\",9,T", "a\xc2\xa0,9,NULL"})
    EXPECT_TRUE(add(csv, offset++, record));
  EXPECT_TRUE(add(json, 0, R"({"source":"08","target":8})"));  // of JSON, such a text is a name
  EXPECT_TRUE(add(json, 1, R"({"source":"7","target":1})"));
  assembler_->cut(batch_, start);
  std::vector<std::string> told;
  for (const Warning& warning : batch_.warnings) told.push_back(warning.code + " at " + warning.where);
  EXPECT_THAT(told, testing::UnorderedElementsAre("ids_alike at a[0] at offset 1", "id_shortened at a[0] at offset 2",
                                                  "id_grouped at a[0] at offset 3", "invisible_in_id at a[0] at offset 4",
                                                  "null_as_label at a[0] at offset 4", "ids_of_two_kinds at b[0] at offset 1"));
  EXPECT_TRUE(add(csv, offset++, "08,9,T"));
  assembler_->cut(batch_, start);
  EXPECT_THAT(batch_.warnings, IsEmpty());  // each code is told once
}

TEST_F(AssemblerTest, WaitsForSlowPartitionsUntilTheyAreIdle) {
  make({});
  const std::size_t fast = open("t", 0);
  open("t", 1);
  EXPECT_TRUE(add(fast, 0, R"({"source":1,"target":2,"time":50})"));
  cut();
  EXPECT_EQ(batch_.updates.watermark(), std::nullopt);
  EXPECT_FALSE(assembler_->watermark_moves(start + 10s));
  const std::array ends{std::optional<IdleEvidence>(), std::optional(IdleEvidence{start, start + 10s})};
  assembler_->at_end(ends);
  EXPECT_TRUE(assembler_->watermark_moves(start + 10s));
  EXPECT_THAT(cut(start + 10s), IsEmpty());
  EXPECT_EQ(batch_.updates.watermark(), 50);
}

TEST_F(AssemblerTest, ReadsEveryMessageForItself) {
  make({}, OnError::skip);
  topics_ = {"t", Format::csv, {}};
  EXPECT_THROW(static_cast<void>(open("t", 0)), Error);  // a header would be another message
  topics_.codec.columns = "source,target";
  const std::size_t part = open("t", 0);
  EXPECT_TRUE(add(part, 3, "1,2\n"));
  EXPECT_TRUE(add(part, 4, "3;4"));
  EXPECT_TRUE(add(part, 5, ""));
  EXPECT_THAT(cut(), ElementsAre("+1>2"));
  EXPECT_EQ(batch_.refused[static_cast<std::size_t>(RejectReason::wrong_arity)], 1U);
  EXPECT_EQ(batch_.refused[static_cast<std::size_t>(RejectReason::malformed)], 1U);
}

TEST_F(AssemblerTest, DoubtfulReadingsComeOnceWithTheBatchThatShowsThem) {
  make({});
  const std::size_t a = open("a", 0);
  const std::size_t b = open("b", 0);
  const auto codes = [&] {
    cut();
    std::vector<std::string> found;
    for (const Warning& warning : batch_.warnings) found.push_back(warning.code + " " + warning.where);
    return found;
  };
  // Times in seconds, although json has microseconds.
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_TRUE(add(a, i, timed(1'700'000'000 + i)));
  EXPECT_THAT(codes(), ElementsAre("time_unit a[0] at offset 0"));
  EXPECT_TRUE(add(b, 0, R"({"source":"1","target":9})"));  // the ids of all topics belong to one graph
  EXPECT_TRUE(add(a, 3, timed(1'700'000'003)));
  EXPECT_THAT(codes(), ElementsAre("ids_of_two_kinds b[0] at offset 0"));
  for (std::int64_t i = 4; i < 50; ++i) EXPECT_TRUE(add(a, i, timed(1'700'000'000 + i)));
  EXPECT_THAT(codes(), IsEmpty());
}

TEST_F(AssemblerTest, WhatIsStatedIsNotDoubtful) {
  topics_.codec.time_unit = TimeUnit::microseconds;
  topics_.codec.ids = IdKind::automatic;
  make({});
  const std::size_t part = open("a", 0);
  for (std::int64_t i = 0; i < 9; ++i) EXPECT_TRUE(add(part, i, timed(1'700'000'000 + i)));
  EXPECT_TRUE(add(part, 9, R"({"source":"1","target":"2"})"));
  cut();
  EXPECT_THAT(batch_.warnings, IsEmpty());
}

TEST_F(AssemblerTest, TellsTheFirstRefusedRecordOfABatchUnderEveryPolicy) {
  for (const OnError on_error : {OnError::skip, OnError::dead_letter, OnError::fail}) {
    make({}, on_error);
    const std::size_t part = open("t", 0);
    EXPECT_TRUE(add(part, 4, R"({"source":1})"));
    if (on_error != OnError::fail) {
      EXPECT_TRUE(add(part, 5, "{]"));
    }
    cut();
    ASSERT_TRUE(batch_.first_refused);
    EXPECT_EQ(batch_.first_refused->offset, 4);
    EXPECT_EQ(batch_.first_refused->message, "there is no target");
    EXPECT_TRUE(batch_.first_refused->value.empty());
    cut();
    EXPECT_FALSE(batch_.first_refused);
  }
}

TEST_F(AssemblerTest, AnArrayIsOneRecordAndIsKeptOnce) {
  make({}, OnError::dead_letter);
  const std::size_t part = open("a", 0);
  const std::string_view both = R"([{"source":1,"target":2},{"source":2,"target":3,"op":"-"}])";
  const std::string_view one = R"({"source":5,"target":6})";
  EXPECT_TRUE(add(part, 0, one));
  EXPECT_TRUE(add(part, 1, both));
  EXPECT_TRUE(add(part, 2, R"([{"source":8,"target":9},{"source":3}])"));
  EXPECT_TRUE(add(part, 3, "[]"));
  EXPECT_TRUE(add(part, 4, one));
  EXPECT_THAT(cut(), ElementsAre("+5>6", "+1>2", "-2>3", "+5>6"));
  EXPECT_THAT((std::array{batch_.updates.updates()[1].continues, batch_.updates.updates()[2].continues}),
              ElementsAre(false, true));
  EXPECT_EQ(batch_.kept.value(0), one);
  EXPECT_EQ(batch_.kept.value(1), both);
  EXPECT_EQ(batch_.kept.value(2), both);
  EXPECT_EQ(batch_.kept.value(2).data(), batch_.kept.value(1).data());
  EXPECT_EQ(batch_.kept.key(2), "k");
  EXPECT_EQ(batch_.kept.value(3), one);
  ASSERT_THAT(batch_.bad, SizeIs(1));
  EXPECT_EQ(batch_.bad[0].offset, 2);
  EXPECT_EQ(batch_.bad[0].message, "element 1, from 0: there is no target");
}

TEST_F(AssemblerTest, WhatSurroundsARecordReachesItsCodec) {
  topics_.codec.edges = EdgeModel::keyed;
  topics_.codec.columns = "edge=kafka:key,time=kafka:timestamp,label=kafka:header.kind";
  make({});
  const std::size_t part = open("t", 0);
  const MessageHeader header{"kind", "PAYS"};
  InputRecord record{part, 0, "tx-1", R"({"source":1,"target":2})", 7, {&header, 1}};
  EXPECT_TRUE(assembler_->add(record, start));
  record.offset = 1;
  record.value = std::nullopt;  // a tombstone
  EXPECT_TRUE(assembler_->add(record, start));
  cut();
  ASSERT_THAT(batch_.updates.updates(), SizeIs(2));
  const Update& inserted = batch_.updates.updates()[0];
  EXPECT_EQ(inserted.key(), Id("tx-1"));
  EXPECT_EQ(inserted.label, "PAYS");
  EXPECT_EQ(inserted.time, 7000);
  const Update& deleted = batch_.updates.updates()[1];
  EXPECT_TRUE(deleted.by_key);
  EXPECT_EQ(deleted.kind, UpdateKind::delete_edge);
  EXPECT_EQ(deleted.key(), Id("tx-1"));
}

TEST_F(AssemblerTest, ATombstoneThatCannotBeReadIsABadRecord) {
  topics_.codec.edges = EdgeModel::keyed;
  topics_.codec.columns = "edge=kafka:key.id";
  make({}, OnError::dead_letter);
  EXPECT_TRUE(assembler_->add({open("t", 0), 0, "7", std::nullopt}, start));
  EXPECT_THAT(cut(), IsEmpty());
  ASSERT_THAT(batch_.bad, SizeIs(1));
  EXPECT_EQ(batch_.bad[0].reason, RejectReason::malformed);
  EXPECT_EQ(batch_.bad[0].length, 0U);
}

}  // namespace
}  // namespace deltamatch::ingest

// Finding the last commit record and later ones, and reading the input again in their ranges.
#include "ingest/service/kafka/commit_log.hpp"

#include <gmock/gmock.h>

#include <array>
#include <thread>

#include "ingest/service/kafka/ranges.hpp"
#include "ingest/service/kafka/topics.hpp"
#include "ingest/service/kafka/transactions.hpp"
#include "kafka/support.hpp"

namespace deltamatch::ingest::kafka::testing {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

class CommitLogTest : public KafkaTest {
 protected:
  void SetUp() override {
    KafkaTest::SetUp();
    if (IsSkipped()) return;
    topic = commit_topic(cluster.application);
    ensure_commit_topic(cluster, in(20));
  }

  static CommitPoint mark(std::uint64_t batch) {
    return {batch, {{{"in", 0}, static_cast<std::int64_t>(batch) * 10}}, static_cast<Timestamp>(batch), {{"ring", "00"}}, {},
            {}};
  }

  void commit(Transactions& transactions, std::uint64_t batch) {
    const std::string value = to_json(mark(batch));
    transactions.commit(std::array{OutputRecord{topic, {}, value, {}}}, {}, in(20));
  }

  void abort(int records) {
    Writer writer(cluster.application);
    writer.begin();
    for (int i = 0; i < records; ++i) writer.write(topic, 0, to_json(mark(1'000'000)));
    writer.abort();
  }

  std::vector<std::uint64_t> after(std::uint64_t batch) {
    CommitLog log(cluster);
    log.seek(batch + 1, in(20));
    std::vector<std::uint64_t> batches;
    while (const auto next = log.next(in(20))) batches.push_back(next->batch);
    return batches;
  }

  std::string topic;
};

std::vector<std::uint64_t> from_to(std::uint64_t first, std::uint64_t last) {
  std::vector<std::uint64_t> batches;
  for (; first <= last; ++first) batches.push_back(first);
  return batches;
}

TEST_F(CommitLogTest, NothingWasCommittedYet) {
  EXPECT_FALSE(CommitLog(cluster).last(in(20)));
  EXPECT_TRUE(after(0).empty());
  abort(3);
  EXPECT_FALSE(CommitLog(cluster).last(in(20)));
  EXPECT_TRUE(after(0).empty());
  cluster.application = unique("no.topic");
  EXPECT_FALSE(CommitLog(cluster).last(in(20)));
  EXPECT_TRUE(after(0).empty());
}

TEST_F(CommitLogTest, TheLastOneIsFoundBehindWhateverWasAborted) {
  {
    Transactions transactions(cluster, 10s, in(20));
    for (std::uint64_t batch = 1; batch <= 3; ++batch) commit(transactions, batch);
  }
  EXPECT_EQ(CommitLog(cluster).last(in(20)), mark(3));
  abort(5);
  EXPECT_EQ(CommitLog(cluster).last(in(20)), mark(3));
  abort(1000);  // more than the first steps back cover
  for (int i = 0; i < 3; ++i) abort(1);
  EXPECT_EQ(CommitLog(cluster).last(in(20)), mark(3));
  EXPECT_EQ(after(0), from_to(1, 3));
  EXPECT_EQ(after(2), from_to(3, 3));
}

TEST_F(CommitLogTest, MarksStreamFromAnyBatchOn) {
  {
    Transactions transactions(cluster, 10s, in(20));
    for (std::uint64_t batch = 1; batch <= 90; ++batch) commit(transactions, batch);
  }
  for (const std::uint64_t batch : {0, 1, 40, 58, 89}) EXPECT_EQ(after(batch), from_to(batch + 1, 90)) << batch;
  EXPECT_TRUE(after(90).empty());
  EXPECT_TRUE(after(1000).empty());
}

TEST_F(CommitLogTest, FollowsWhatIsCommittedLater) {
  Transactions transactions(cluster, 10s, in(20));
  for (std::uint64_t batch = 1; batch <= 3; ++batch) commit(transactions, batch);
  CommitLog log(cluster);
  log.seek(2, in(20));
  std::vector<std::uint64_t> batches;
  const auto follow = [&](std::size_t count) {
    for (const auto end = in(20); batches.size() < count && Clock::now() < end;) {
      if (const auto mark = log.follow(100ms)) batches.push_back(mark->batch);
    }
  };
  follow(2);
  EXPECT_FALSE(log.follow(300ms)) << "there is no more";
  abort(2);
  EXPECT_FALSE(log.follow(300ms)) << "and what is aborted is none";
  const auto before = std::chrono::system_clock::now().time_since_epoch() / 1ms;
  Transactions later(cluster, 10s, in(20));  // the aborted one fenced the first
  commit(later, 4);
  commit(later, 5);
  follow(4);
  EXPECT_EQ(batches, from_to(2, 5));
  EXPECT_GE(log.written(), before - 1000);
  EXPECT_LE(log.written(), std::chrono::system_clock::now().time_since_epoch() / 1ms + 1000);
}

TEST_F(CommitLogTest, WhatAnotherProgramWroteIsNamedAndPassedOver) {
  Transactions transactions(cluster, 10s, in(20));
  Writer writer;
  for (std::uint64_t batch = 1; batch <= 3; ++batch) {
    commit(transactions, batch);
    writer.write(topic, 0, batch == 1 ? "nonsense" : batch == 2 ? R"({"id":7})" : to_json(mark(2)));
    writer.write_null(topic, 0, "key");
    writer.flush();
  }
  EXPECT_EQ(CommitLog(cluster).last(in(20)), mark(3));
  EXPECT_EQ(after(0), from_to(1, 3));
  EXPECT_EQ(after(2), from_to(3, 3));
  for (const std::string& told : {"stray_commit_record"s, "offset=2"s, "it is passed over"s, "an ACL of the brokers"s,
                                  "the mark of batch 2 follows that of batch 3"s, "topic=" + topic, "partition=0"s}) {
    EXPECT_TRUE(notes.has(told)) << told << '\n' << notes.all();
  }
}

TEST_F(CommitLogTest, NotesOfDeliveriesStandBesideTheMarks) {
  Transactions transactions(cluster, 10s, in(20));
  commit(transactions, 1);
  CommitLog before(cluster);
  EXPECT_EQ(before.last(in(20)), mark(1));
  EXPECT_EQ(before.delivered(), std::nullopt);
  const auto note = [&](std::uint64_t up_to, std::uint64_t delivered) {
    const std::string value = to_json(DeliveryNote{up_to, {{"pager", delivered}}});
    transactions.commit(std::array{OutputRecord{topic, {}, value, {}}}, {}, in(20));
  };
  note(1, 0);
  commit(transactions, 2);
  note(2, 1);
  note(2, 2);
  CommitLog log(cluster);
  EXPECT_EQ(log.last(in(20)), mark(2));
  EXPECT_EQ(log.delivered(), (DeliveryNote{2, {{"pager", 2}}}));
  EXPECT_EQ(after(0), from_to(1, 2));
  log.seek(2, in(20));
  EXPECT_EQ(log.next(in(20)), mark(2));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  EXPECT_NEAR(static_cast<double>(log.written()),
              static_cast<double>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()), 60'000.0);
  EXPECT_FALSE(notes.has("stray_commit_record")) << notes.all();
}

TEST_F(CommitLogTest, AMarkOfAnotherVersionIsRefusedWithItsPlaceAndTheRemedy) {
  Transactions transactions(cluster, 10s, in(20));
  transactions.commit(std::array{OutputRecord{topic, {}, R"({"v":2,"batch":1})", {}}}, {}, in(20));
  EXPECT_THAT(
      thrown([&] { static_cast<void>(CommitLog(cluster).last(in(20))); }),
      AllOf(HasSubstr(topic + "[0] at offset 0"), HasSubstr("another version"), HasSubstr("use the release that wrote it")));
}

/// Topic, partition and offset of every record read, in the order of reading.
std::vector<std::string> read(RangeReader& reader, const Offsets& ends) {
  std::vector<std::string> places;
  EXPECT_TRUE(reader.read(ends, [&](Message&& message) {
    places.push_back(to_string(reader.partitions()[message.partition]) + "@" + std::to_string(message.offset) + "=" +
                     std::string(message.value.value_or("")));
  }));
  return places;
}

class RangesTest : public KafkaTest {};

TEST_F(RangesTest, TheSameCutsGiveTheSameBatchesInOrder) {
  const std::string a = unique("a"), b = unique("b");
  make_topic(a, 2);
  make_topic(b, 1);
  Writer writer;
  for (int i = 0; i < 100; ++i) {
    writer.write(a, 0, std::to_string(i));
    writer.write(a, 1, std::to_string(i));
    writer.write(b, 0, std::to_string(i));
  }
  writer.flush();
  const auto expected = [&](std::vector<std::tuple<std::string, int, int>> ranges) {
    std::vector<std::string> places;
    int index = 0;
    for (const auto& [topic, begin, end] : ranges) {
      const std::string name = index++ == 2 ? b + "[0]" : topic;
      for (int i = begin; i < end; ++i) places.push_back(name + "@" + std::to_string(i) + "=" + std::to_string(i));
    }
    return places;
  };
  const std::string a0 = a + "[0]", a1 = a + "[1]", b0 = b + "[0]";
  RangeReader reader(cluster, {{{a, 0}, 5}, {{a, 1}, 0}, {{b, 0}, 90}});
  EXPECT_EQ(read(reader, {{{a, 0}, 7}, {{a, 1}, 100}, {{b, 0}, 91}}), expected({{a0, 5, 7}, {a1, 0, 100}, {b0, 90, 91}}));
  EXPECT_EQ(read(reader, {{{a, 0}, 7}, {{a, 1}, 50}, {{b, 0}, 91}}), std::vector<std::string>());
  EXPECT_EQ(read(reader, {{{a, 0}, 60}, {{a, 1}, 100}}), expected({{a0, 7, 60}}));
  EXPECT_EQ(read(reader, {{{a, 0}, 100}, {{a, 1}, 100}, {{b, 0}, 100}}), expected({{a0, 60, 100}, {a1, 0, 0}, {b0, 91, 100}}));
}

TEST_F(RangesTest, EndsBehindWhatIsNoRecordAreReached) {
  const std::string topic = unique("t");
  make_topic(topic, 1);
  Writer writer(unique("writer"));
  for (int i = 0; i < 4; ++i) {
    writer.begin();
    writer.write(topic, 0, std::to_string(i));
    i % 2 == 0 ? writer.commit() : writer.abort();  // each record and its end take two offsets: 0, 1; 2, 3; …
  }
  RangeReader reader(cluster, {{{topic, 0}, 0}});
  EXPECT_EQ(read(reader, {{{topic, 0}, 4}}), std::vector<std::string>{topic + "[0]@0=0"});
  EXPECT_EQ(read(reader, {{{topic, 0}, 8}}), std::vector<std::string>{topic + "[0]@4=2"});
}

TEST_F(RangesTest, APartitionThatJoinsBeginsWhereItIsFirstNamed) {
  const std::string topic = unique("t");
  make_topic(topic, 2);
  Writer writer;
  for (int i = 0; i < 10; ++i) {
    writer.write(topic, 0, std::to_string(i));
    writer.write(topic, 1, std::to_string(i));
  }
  writer.flush();
  RangeReader reader(cluster, {{{topic, 0}, 8}});
  EXPECT_EQ(read(reader, {{{topic, 0}, 9}, {{topic, 1}, 9}}), std::vector<std::string>{topic + "[0]@8=8"});
  EXPECT_EQ(read(reader, {{{topic, 0}, 9}, {{topic, 1}, 10}}), std::vector<std::string>{topic + "[1]@9=9"});
}

TEST_F(RangesTest, WhatIsMissingIsNamed) {
  const std::string topic = unique("t");
  make_topic(topic, 1);
  Writer writer;
  for (int i = 0; i < 10; ++i) writer.write(topic, 0, "x");
  writer.flush();
  delete_records_before(topic, 0, 4);
  RangeReader below(cluster, {{{topic, 0}, 2}});
  EXPECT_THAT(thrown([&] { read(below, {{{topic, 0}, 10}}); }),
              AllOf(HasSubstr("no longer retains it"), HasSubstr("offset 2"), HasSubstr("is 4")));
  RangeReader beyond(cluster, {{{topic, 0}, 5}});
  EXPECT_THAT(thrown([&] { read(beyond, {{{topic, 0}, 20}}); }), AllOf(HasSubstr("ends at offset 10"), HasSubstr("offset 20")));
}

// Who follows another reader may know the cut before its own fetch has reached the records.
TEST_F(RangesTest, RecordsThatItsFetchHasNotReachedAreWaitedFor) {
  const std::string topic = unique("t");
  make_topic(topic, 1);
  Writer writer;
  writer.write(topic, 0, "0");
  writer.flush();
  RangeReader reader(cluster, {{{topic, 0}, 0}});
  EXPECT_EQ(read(reader, {{{topic, 0}, 1}}), std::vector<std::string>{topic + "[0]@0=0"});
  std::jthread later([&] {
    std::this_thread::sleep_for(500ms);
    writer.write(topic, 0, "1");
    writer.flush();
  });
  EXPECT_EQ(read(reader, {{{topic, 0}, 2}}), std::vector<std::string>{topic + "[0]@1=1"});
}

TEST_F(RangesTest, StopsWhenToldTo) {
  const std::string topic = unique("t");
  make_topic(topic, 1);
  Writer writer(unique("writer"));
  writer.begin();
  writer.write(topic, 0, "open");
  writer.flush();
  RangeReader reader(cluster, {{{topic, 0}, 0}});
  std::stop_source stop;
  std::jthread later([&] {
    std::this_thread::sleep_for(1500ms);  // the brokers are asked meanwhile, and have the record
    stop.request_stop();
  });
  EXPECT_FALSE(reader.read({{{topic, 0}, 1}}, [](Message&&) { FAIL(); }, stop.get_token()));
}

// Many partitions with more records than may be fetched ahead. None is read before its turn, and none waits for a sleeping
// fetcher.
TEST_F(RangesTest, ManyPartitionsInLittleMemory) {
  const std::string topic = unique("t");
  constexpr int partitions = 8, each = 20'000;
  make_topic(topic, partitions);
  Writer writer;
  for (int i = 0; i < partitions * each; ++i) writer.write(topic, i % partitions, std::to_string(i) + std::string(100, 'x'));
  writer.flush();
  Offsets start;
  for (int i = 0; i < partitions; ++i) start[{topic, i}] = 0;
  RangeReader reader(cluster, start, std::size_t{2} << 20);
  const auto begin = Clock::now();
  int count = 0;
  for (int end = 5000; end <= each; end += 5000) {
    Offsets ends;
    for (int i = 0; i < partitions; ++i) ends[{topic, i}] = end;
    ASSERT_TRUE(reader.read(ends, [&](Message&&) { ++count; }));
    ASSERT_EQ(count, partitions * end);
  }
  EXPECT_LT(Clock::now() - begin, 20s);
}

}  // namespace
}  // namespace deltamatch::ingest::kafka::testing

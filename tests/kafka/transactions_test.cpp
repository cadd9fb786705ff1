// Transactions: visible once or not at all, together with the offsets; fenced; refused; aborted and written again.
#include "ingest/service/kafka/transactions.hpp"

#include <gmock/gmock.h>

#include <array>
#include <thread>

#include "kafka/support.hpp"

namespace deltamatch::ingest::kafka::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TransactionsTest : public KafkaTest {};

OutputRecord record(const std::string& topic, std::string_view value) { return {topic, {}, value, {}}; }

TEST_F(TransactionsTest, RecordsAndOffsetsComeTogether) {
  const std::string a = unique("a"), b = unique("b");
  make_topic(a, 2);
  make_topic(b, 1);
  Transactions transactions(cluster, 10s, in(20));
  const std::array<RecordHeader, 2> headers{{{"batch", "17"}, {"empty", ""}}};
  const std::vector<OutputRecord> records{{a, "k1", "v1", headers}, {a, "k2", std::nullopt, {}}, {b, std::nullopt, "", {}}};
  transactions.commit(records, {{{b, 0}, 42}}, in(20));
  auto seen = committed(a);
  ASSERT_EQ(seen.size(), 2U);
  std::ranges::sort(seen, {}, [](const Seen& s) { return *s.key; });
  EXPECT_EQ(seen[0].value, "v1");
  EXPECT_EQ(seen[0].headers, (std::map<std::string, std::string>{{"batch", "17"}, {"empty", ""}}));
  EXPECT_EQ(seen[1].key, "k2");
  EXPECT_FALSE(seen[1].value);
  const auto of_b = committed(b);
  ASSERT_EQ(of_b.size(), 1U);
  EXPECT_FALSE(of_b[0].key);
  EXPECT_EQ(of_b[0].value, "");
  EXPECT_EQ(group_offset(cluster.application, {b, 0}), 42);
}

TEST_F(TransactionsTest, OffsetsNeedNoRecords) {
  const std::string topic = unique("in");
  make_topic(topic, 2);
  Transactions transactions(cluster, 10s, in(20));
  transactions.commit({}, {{{topic, 0}, 42}, {{topic, 1}, 7}}, in(20));
  EXPECT_EQ(group_offset(cluster.application, {topic, 0}), 42);
  EXPECT_EQ(group_offset(cluster.application, {topic, 1}), 7);
  transactions.commit({}, {}, in(20));
  transactions.commit({}, {{{topic, 0}, 43}}, in(20));
  EXPECT_EQ(group_offset(cluster.application, {topic, 0}), 43);
}

TEST_F(TransactionsTest, ManyInARowAreEachThereOnce) {
  const std::string topic = unique("t");
  make_topic(topic, 3);
  Transactions transactions(cluster, 10s, in(20));
  std::multiset<std::string> expected;
  for (int batch = 0; batch < 20; ++batch) {
    std::vector<std::string> values;
    for (int i = 0; i < 100; ++i) values.push_back(std::to_string(batch) + "/" + std::to_string(i));
    expected.insert(values.begin(), values.end());
    std::vector<OutputRecord> records;
    for (const std::string& value : values) records.push_back({topic, value, value, {}});
    transactions.commit(records, {}, in(20));
  }
  std::multiset<std::string> read;
  for (const Seen& seen : committed(topic)) read.insert(*seen.value);
  EXPECT_EQ(read, expected);
}

TEST_F(TransactionsTest, MoreRecordsThanTheQueueTakes) {
  const std::string topic = unique("t");
  make_topic(topic, 1);
  cluster.properties["queue.buffering.max.messages"] = "1000";
  Transactions transactions(cluster, 20s, in(20));
  const std::string value(100, 'x');
  const std::vector<OutputRecord> records(20'000, record(topic, value));
  transactions.commit(records, {}, in(60));
  EXPECT_EQ(committed(topic).size(), records.size());
}

TEST_F(TransactionsTest, AWorkerIsToldOfAnotherWorker) {
  const std::string topic = unique("t");
  make_topic(topic, 1);
  cluster.shared = true;
  Transactions zombie(cluster, 10s, in(20));
  const Transactions other(cluster, 10s, in(20));
  EXPECT_THAT(thrown<Fenced>([&] { zombie.commit(std::array{record(topic, "late")}, {}, in(20)); }),
              AllOf(HasSubstr("another worker took \"" + cluster.application), HasSubstr("start it again, and it follows")));
}

TEST_F(TransactionsTest, AZombieIsFenced) {
  const std::string topic = unique("t");
  make_topic(topic, 1);
  Transactions zombie(cluster, 10s, in(20));
  zombie.commit(std::array{record(topic, "of the old")}, {{{topic, 0}, 1}}, in(20));
  Transactions owner(cluster, 10s, in(20));
  owner.commit(std::array{record(topic, "of the new")}, {{{topic, 0}, 2}}, in(20));
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(thrown<Fenced>([&] { zombie.commit(std::array{record(topic, "late")}, {{{topic, 0}, 3}}, in(20)); }),
                AllOf(HasSubstr(cluster.application), HasSubstr("took over")));
  }
  owner.commit(std::array{record(topic, "once more")}, {}, in(20));
  std::vector<std::string> values;
  for (const Seen& seen : committed(topic)) values.push_back(*seen.value);
  EXPECT_THAT(values, ::testing::ElementsAre("of the old", "of the new", "once more"));
  EXPECT_EQ(group_offset(cluster.application, {topic, 0}), 2);
}

// The new object appears while the old one is in a transaction and has records on the broker.
TEST_F(TransactionsTest, WhatAnOlderOneLeftOpenIsAborted) {
  const std::string topic = unique("t");
  make_topic(topic, 1);
  Writer older(cluster.application);
  older.begin();
  older.write(topic, 0, "left open");
  older.flush();
  Transactions owner(cluster, 10s, in(20));
  EXPECT_THAT(committed(topic), IsEmpty());
  owner.commit(std::array{record(topic, "new")}, {}, in(20));
  EXPECT_EQ(committed(topic).size(), 1U);
  EXPECT_ANY_THROW(older.commit());
}

TEST_F(TransactionsTest, ARecordThatIsTooLargeIsRefusedAndTheNextBatchGoesOn) {
  const std::string topic = unique("t");
  make_topic(topic, 1, {{"max.message.bytes", "2000"}});
  Transactions transactions(cluster, 10s, in(20));
  const std::string large(3000, 'x'), larger(2'000'000, 'x');
  for (const std::string& value : {large, larger}) {
    EXPECT_THAT(thrown<TooLarge>([&] {
                  transactions.commit(std::array{record(topic, "beside"), record(topic, value)}, {{{topic, 0}, 9}}, in(20));
                }),
                AllOf(HasSubstr(topic), HasSubstr("too large")));
  }
  EXPECT_THAT(committed(topic), IsEmpty());
  EXPECT_EQ(group_offset(cluster.application, {topic, 0}), -1);
  transactions.commit(std::array{record(topic, "small")}, {}, in(20));
  EXPECT_EQ(committed(topic).size(), 1U);
}

TEST_F(TransactionsTest, TheRecordThatIsTooLargeIsFoundAmongManyAndTheOthersTravelApart) {
  const std::string topic = unique("t");
  make_topic(topic, 1, {{"max.message.bytes", "20000"}});
  Transactions transactions(cluster, 10s, in(20));
  const std::string value(700, 'v'), large(30'000, 'x');
  std::vector<OutputRecord> records(200, record(topic, value));
  records[150].value = large;
  std::size_t refused = 0;
  int calls = 0;
  try {
    transactions.commit(records, {{{topic, 0}, 9}}, in(20), [&] { ++calls; });
  } catch (const TooLarge& error) {
    refused = error.record;
  }
  EXPECT_EQ(refused, 150U);
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(notes.has("records_travel_apart")) << notes.all();
  records[150].value = "short";
  transactions.commit(records, {{{topic, 0}, 9}}, in(20));
  EXPECT_EQ(committed(topic).size(), 200U);
}

TEST_F(TransactionsTest, ALimitThatIsSetHereTellsTheRecordAtOnce) {
  const std::string topic = unique("t");
  make_topic(topic, 1);
  cluster.properties["message.max.bytes"] = "5000";
  Transactions transactions(cluster, 10s, in(20));
  const std::string large(6000, 'x');
  const std::array records{record(topic, "first"), record(topic, large)};
  try {
    transactions.commit(records, {}, in(20));
    FAIL() << "the record was taken";
  } catch (const TooLarge& error) {
    EXPECT_EQ(error.record, 1U);
    EXPECT_THAT(error.what(), HasSubstr("message.max.bytes is 5000 here"));
  }
}

TEST_F(TransactionsTest, WhatFailsBeforeTheEndAbortsIt) {
  const std::string topic = unique("t");
  make_topic(topic, 1);
  Transactions transactions(cluster, 10s, in(20));
  const auto fail = [] { throw Error("log", "the disk is full"); };
  EXPECT_THAT(thrown([&] { transactions.commit(std::array{record(topic, "never")}, {{{topic, 0}, 1}}, in(20), fail); }),
              HasSubstr("the disk is full"));
  int calls = 0;
  transactions.commit(std::array{record(topic, "next")}, {{{topic, 0}, 2}}, in(20), [&] { ++calls; });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(committed(topic).size(), 1U);
  EXPECT_EQ(group_offset(cluster.application, {topic, 0}), 2);
}

// Too many records for the time limit. The transaction is aborted, nothing becomes visible, and the error says what to do. A
// small transaction can be committed afterwards.
TEST_F(TransactionsTest, ATransactionThatIsOpenForTooLongIsAborted) {
  const std::string topic = unique("t");
  make_topic(topic, 1);
  Transactions transactions(cluster, 4s, in(20));
  const std::string value(1000, 'x');
  const std::vector<OutputRecord> records(2'000'000, record(topic, value));
  EXPECT_THAT(thrown([&] { transactions.commit(records, {{{topic, 0}, 1}}, in(5)); }),
              AllOf(HasSubstr("did not reach the brokers within 3000 ms"), HasSubstr("raise transaction_timeout")));
  EXPECT_EQ(transactions.aborted(), 1U);
  transactions.commit(std::array{record(topic, "small")}, {{{topic, 0}, 2}}, in(20));
  EXPECT_EQ(committed(topic).size(), 1U);
  EXPECT_EQ(group_offset(cluster.application, {topic, 0}), 2);
}

// librdkafka repeatedly requests the offsets of a partition that does not exist.
TEST_F(TransactionsTest, OffsetsOfAPartitionThatIsGoneAreLeftOutAndTold) {
  const std::string topic = unique("t");
  make_topic(topic, 1);
  const TopicPartition gone{unique("gone"), 0}, beyond{topic, 7};
  Transactions transactions(cluster, 40s, in(20));
  transactions.commit(std::array{record(topic, "first")}, {{gone, 1}, {{topic, 0}, 3}, {beyond, 2}}, in(30));
  EXPECT_EQ(committed(topic).size(), 1U);
  EXPECT_EQ(group_offset(cluster.application, {topic, 0}), 3);
  EXPECT_TRUE(notes.has("input_partition_gone")) << notes.all();
  EXPECT_TRUE(notes.has(to_string(gone))) << notes.all();
  EXPECT_TRUE(notes.has(to_string(beyond))) << notes.all();
  const auto start = Clock::now();
  transactions.commit(std::array{record(topic, "next")}, {{gone, 1}, {{topic, 0}, 4}, {beyond, 2}}, in(30));
  EXPECT_LT(Clock::now() - start, 2s);
  EXPECT_EQ(group_offset(cluster.application, {topic, 0}), 4);
}

TEST_F(TransactionsTest, BrokersThatAreAwayAreUnreachableAtTheDeadline) {
  cluster.properties["bootstrap.servers"] = "127.0.0.1:1";
  const auto start = Clock::now();
  EXPECT_THAT(thrown<Unreachable>([&] { Transactions transactions(cluster, 10s, in(1)); }),
              HasSubstr("no transaction could be begun"));
  EXPECT_LT(Clock::now() - start, 30s);
}

}  // namespace
}  // namespace deltamatch::ingest::kafka::testing

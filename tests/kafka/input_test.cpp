// Assigning and polling the input: order, starts, gaps, missing partitions, and pauses in polling.
#include "ingest/service/kafka/input.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <set>
#include <thread>

#include "kafka/support.hpp"

namespace deltamatch::ingest::kafka::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class InputTest : public KafkaTest {
 protected:
  /// Begins at the offsets of first_offsets.
  void begin(Input& input, const Offsets& known = {}) {
    const auto found = input.discover(in(20)).partitions;
    Offsets from = input.first_offsets(found, known, in(20));
    from.insert(known.begin(), known.end());
    input.add(found, from);
  }

  /// `partition:value` of the next `count` records, or of fewer if no more come.
  std::vector<std::string> values(Input& input, std::size_t count) {
    std::vector<std::string> result;
    while (result.size() < count) {
      const auto message = input.poll(10s);
      if (!message) break;
      result.push_back(std::to_string(message->partition) + ":" + std::string(message->value.value_or("null")));
    }
    return result;
  }

  InputOptions of(const std::vector<std::string>& topics) {
    InputOptions options;
    for (const std::string& topic : topics) options.topics.push_back({topic, Format::jsonl, {}});
    return options;
  }
};

TEST_F(InputTest, TellsWherePartitionsEndNow) {
  const std::string topic = unique("t");
  make_topic(topic, 2);
  Writer writer;
  for (int i = 0; i < 3; ++i) writer.write(topic, 1, std::to_string(i));
  writer.flush();
  Input input(cluster, of({topic}));
  EXPECT_THAT(input.ends(in(20)), ElementsAre());
  begin(input);
  EXPECT_THAT(input.ends(in(20)), ElementsAre(0, 3));
  EXPECT_THAT(values(input, 3), ElementsAre("1:0", "1:1", "1:2"));
  EXPECT_EQ(input.seen(1), 3);
  writer.write(topic, 0, "3");
  writer.flush();
  EXPECT_THAT(input.ends(in(20)), ElementsAre(1, 3));
  input.leave(0);
  EXPECT_THAT(input.ends(in(20)), ElementsAre(-1, 3));
  input.resume(0);
  EXPECT_THAT(input.ends(in(20)), ElementsAre(1, 3));
  EXPECT_THAT(input.ends(in(0)), ElementsAre(-1, -1));
}

TEST_F(InputTest, EveryPartitionComesInItsOrder) {
  const std::string a = unique("a"), b = unique("b");
  make_topic(a, 3);
  make_topic(b, 1);
  Writer writer;
  std::map<TopicPartition, std::vector<std::string>> expected;
  for (int i = 0; i < 3000; ++i) {
    const TopicPartition to = i % 4 == 3 ? TopicPartition{b, 0} : TopicPartition{a, i % 4};
    writer.write(to.topic, to.partition, std::to_string(i));
    expected[to].push_back(std::to_string(i));
  }
  writer.flush();
  Input input(cluster, of({b, a}));
  begin(input);
  ASSERT_EQ(input.partitions().size(), 4U);
  EXPECT_EQ(input.partitions()[0].topics, 1U);
  EXPECT_EQ(input.partitions()[3].topics, 0U);
  std::map<TopicPartition, std::vector<std::string>> read;
  for (int i = 0; i < 3000; ++i) {
    const auto message = input.poll(10s);
    ASSERT_TRUE(message) << i;
    auto& list = read[input.partitions()[message->partition].id];
    EXPECT_EQ(message->offset, static_cast<std::int64_t>(list.size()));
    EXPECT_EQ(input.seen(message->partition), message->offset + 1);
    EXPECT_FALSE(message->key);
    list.emplace_back(message->value.value());
  }
  EXPECT_EQ(read, expected);
  EXPECT_FALSE(input.poll(50ms));
  for (const Progress& progress : input.progress()) EXPECT_EQ(progress.seen, progress.end) << to_string(progress.id);
}

TEST_F(InputTest, AnExpressionMatchesWholeNamesAndNeverTheServicesOwn) {
  const std::string stem = unique("pay");
  const std::string alerts = stem + ".alerts";
  for (const auto& name : {stem + ".in", stem + ".in2", alerts}) make_topic(name, 1);
  make_topic(commit_topic(stem), 1);
  cluster.application = stem;
  Input input(cluster, of({"^" + stem + "\\..*", "^.*consumer_offsets"}), {alerts});
  const auto found = input.discover(in(20)).partitions;
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].id.topic, stem + ".in");
  EXPECT_EQ(found[1].id.topic, stem + ".in2");
  Input exact(cluster, of({"^" + stem + "\\.i"}));
  EXPECT_TRUE(exact.discover(in(20)).partitions.empty());
  Input named(cluster, of({"^" + stem + "\\.in.*", stem + ".in2"}));
  EXPECT_EQ(named.discover(in(20)).partitions[1].topics, 1U) << "a name goes before an expression";
  EXPECT_THAT(thrown([&] { Input bad(cluster, of({"^pay("})); }), HasSubstr("does not accept this regular expression"));
}

TEST_F(InputTest, AShardReadsItsPartitionsAndNeverTheTopicsOfAnotherShard) {
  const std::string stem = unique("sharded");
  make_topic(stem + "-in", 4);
  make_topic(stem + "-in2", 8);
  make_topic(commit_topic(stem + "-0"), 1);
  make_topic(commit_topic(stem + "-1"), 1);
  InputOptions options = of({"^" + stem + "-.*"});
  options.shard = {.count = 2, .number = 1, .of = stem};
  cluster.application = stem + "-1";
  Input input(cluster, options);
  std::vector<InputPartition> partitions;
  ASSERT_TRUE(eventually([&] { return (partitions = input.discover(in(20)).partitions).size() == 6; }));
  std::vector<std::string> found;
  for (const InputPartition& partition : partitions) found.push_back(to_string(partition.id));
  const std::string first = stem + "-in";
  const std::string second = stem + "-in2";
  EXPECT_THAT(found, ElementsAre(first + "[1]", first + "[3]", second + "[1]", second + "[3]", second + "[5]", second + "[7]"));
}

TEST_F(InputTest, ShardsNeedAMultipleOfTheirNumberOfPartitions) {
  const std::string topic = unique("odd");
  make_topic(topic, 4);
  InputOptions options = of({topic});
  options.shard = {.count = 4, .number = 3, .of = "app"};
  Input input(cluster, options);
  ASSERT_TRUE(eventually([&] { return input.discover(in(20)).partitions.size() == 1; }));
  grow_topic(topic, 6);
  std::string refusal;
  ASSERT_TRUE(eventually([&] { return !(refusal = thrown([&] { static_cast<void>(input.discover(in(20))); })).empty(); }));
  EXPECT_THAT(refusal, ::testing::AllOf(HasSubstr(topic), HasSubstr("has 6 partitions, which is no multiple of the 4 shards"),
                                        HasSubstr("give the topic 8 partitions")));
  grow_topic(topic, 8);
  ASSERT_TRUE(eventually([&] { return thrown([&] { static_cast<void>(input.discover(in(20))); }).empty(); }));
  EXPECT_EQ(input.discover(in(20)).partitions.size(), 2U);
}

TEST_F(InputTest, AMissingTopicIsNamedAndNotMade) {
  const std::string topic = unique("gone");
  Input input(cluster, of({topic}));
  for (int i = 0; i < 2; ++i) EXPECT_THAT(input.discover(in(20)).absent, ElementsAre(topic));
  EXPECT_NO_THROW(must_not_be_gone({topic}, {{{topic + "2", 0}, 7}}));
  EXPECT_THAT(thrown([&] { must_not_be_gone({topic}, {{{topic, 1}, 7}}); }),
              ::testing::AllOf(HasSubstr(topic), HasSubstr("the topic does not exist, although it was read before")));
}

TEST_F(InputTest, NewPartitionsAndTopicsAreTakenIn) {
  const std::string stem = unique("t");
  make_topic(stem + ".1", 1);
  Writer writer;
  writer.write(stem + ".1", 0, "first");
  writer.flush();
  InputOptions options = of({"^" + stem + "\\..*"});
  options.start.kind = StartAt::Kind::latest;
  Input input(cluster, options);
  const Offsets known{{{stem + ".1", 0}, 0}};
  begin(input, known);
  EXPECT_THAT(values(input, 1), ElementsAre("0:first"));

  grow_topic(stem + ".1", 2);
  make_topic(stem + ".2", 1);
  ASSERT_TRUE(eventually([&] { return input.discover(in(20)).partitions.size() == 3; }));
  Writer later;
  later.write(stem + ".1", 1, "of a new partition");
  later.write(stem + ".2", 0, "before the start");
  later.flush();
  const auto found = input.discover(in(20)).partitions;
  const Offsets from = input.first_offsets(found, known, in(20));
  EXPECT_EQ(from, (Offsets{{{stem + ".1", 1}, 0}, {{stem + ".2", 0}, 1}}))
      << "a new partition of a known topic begins at its beginning";
  input.add({found[1], found[2]}, from);
  EXPECT_THAT(values(input, 1), ElementsAre("1:of a new partition"));
  later.write(stem + ".2", 0, "after the start");
  later.flush();
  EXPECT_THAT(values(input, 1), ElementsAre("2:after the start"));
  later.write(stem + ".1", 0, "the old one goes on");
  later.flush();
  EXPECT_THAT(values(input, 1), ElementsAre("0:the old one goes on"));
}

TEST_F(InputTest, StartsWhereItIsTold) {
  const std::string topic = unique("t");
  make_topic(topic, 1);
  Writer writer;
  for (int i = 0; i < 10; ++i) writer.write(topic, 0, std::to_string(i), 1'700'000'000'000 + i * 1000);
  writer.flush();
  const TopicPartition partition{topic, 0};
  const auto start = [&](StartAt at) {
    InputOptions options = of({topic});
    options.start = at;
    Input input(cluster, options);
    return input.first_offsets(input.discover(in(20)).partitions, {}, in(20)).at(partition);
  };
  EXPECT_EQ(start({StartAt::Kind::earliest, {}}), 0);
  EXPECT_EQ(start({StartAt::Kind::latest, {}}), 10);
  EXPECT_EQ(start({StartAt::Kind::timestamp, 1'700'000'004'500ms}), 5);
  EXPECT_EQ(start({StartAt::Kind::timestamp, 1'800'000'000'000ms}), 10);
  delete_records_before(topic, 0, 3);
  EXPECT_EQ(start({StartAt::Kind::earliest, {}}), 3);
  Input input(cluster, of({topic}));
  EXPECT_EQ(input.low(partition, in(20)), 3);
  begin(input, {{partition, 7}});
  EXPECT_THAT(values(input, 3), ElementsAre("0:7", "0:8", "0:9"));
}

TEST_F(InputTest, SeesNothingAbortedAndBeyondItNonetheless) {
  const std::string topic = unique("t");
  make_topic(topic, 1);
  Writer writer(unique("writer"));
  writer.begin();
  writer.write(topic, 0, "committed");
  writer.commit();  // offset 1 is the end of the transaction
  writer.begin();
  for (int i = 0; i < 5; ++i) writer.write(topic, 0, "aborted");
  writer.abort();  // offsets 2 to 6, and the end at 7
  Input input(cluster, of({topic}));
  begin(input);
  EXPECT_THAT(values(input, 1), ElementsAre("0:committed"));
  EXPECT_TRUE(eventually([&] { return !input.poll(10ms) && input.seen(0) == 8; })) << input.seen(0);
  writer.begin();
  writer.write(topic, 0, "open");
  writer.flush();
  EXPECT_FALSE(input.poll(300ms));
  EXPECT_EQ(input.seen(0), 8);
  writer.commit();
  EXPECT_THAT(values(input, 1), ElementsAre("0:open"));
}

TEST_F(InputTest, TellsTombstonesFromEmptyValuesAndKeepsBytes) {
  const std::string topic = unique("t");
  make_topic(topic, 1);
  Writer writer;
  const std::string bytes("\0\xff\n x", 5);
  writer.write_null(topic, 0, "key");
  writer.write(topic, 0, "", 1'700'000'000'123);
  writer.write(topic, 0, bytes);
  writer.flush();
  Input input(cluster, of({topic}));
  begin(input);
  std::vector<Message> messages;
  for (int i = 0; i < 3; ++i) messages.push_back(input.poll(10s).value());
  EXPECT_FALSE(messages[0].value);
  EXPECT_EQ(messages[0].key, "key");
  EXPECT_EQ(messages[1].value, "");
  EXPECT_EQ(messages[1].timestamp, 1'700'000'000'123);
  EXPECT_EQ(messages[2].value, bytes);
}

TEST_F(InputTest, ATopicOfAnExpressionThatIsGoneLeavesTheOthers) {
  const std::string stem = unique("t");
  cluster.properties["topic.metadata.propagation.max.ms"] = "500";
  make_topic(stem + ".1", 1);
  make_topic(stem + ".2", 1);
  Writer writer;
  writer.write(stem + ".1", 0, "a");
  writer.write(stem + ".2", 0, "b");
  writer.flush();
  Input input(cluster, of({"^" + stem + "\\..*"}));
  begin(input, {});
  EXPECT_EQ(values(input, 2).size(), 2U);
  delete_topic(stem + ".2");
  ASSERT_TRUE(eventually([&] {
    EXPECT_FALSE(input.poll(100ms));
    return input.disowned();
  })) << notes.all();
  EXPECT_EQ(input.discover(in(20)).partitions.size(), 1U);
  input.leave(1);
  Writer later;
  later.write(stem + ".1", 0, "goes on");
  later.flush();
  EXPECT_THAT(values(input, 1), ElementsAre("0:goes on"));
  make_topic(stem + ".2", 1);
  ASSERT_TRUE(eventually([&] { return input.discover(in(20)).partitions.size() == 2; }));
  input.resume(1);
  EXPECT_THAT(thrown([&] {
                while (input.poll(10s)) {
                }
              }),
              HasSubstr("ends at offset 0, but offset 1 is needed next"));
}

TEST_F(InputTest, ThePartitionThatIsLeftGivesNothingUntilItIsResumed) {
  const std::string topic = unique("t");
  make_topic(topic, 2);
  constexpr int count = 100;
  Writer writer;
  for (int i = 0; i < count; ++i) writer.write(topic, 0, std::to_string(i));
  writer.flush();
  Input input(cluster, of({topic}));
  begin(input);
  EXPECT_THAT(values(input, 2), ElementsAre("0:0", "0:1"));
  input.leave(0);  // while messages wait that were handed over together with the last one
  writer.write(topic, 1, "of the other");
  writer.flush();
  EXPECT_THAT(values(input, 1), ElementsAre("1:of the other"));
  EXPECT_FALSE(input.poll(500ms));
  EXPECT_EQ(input.seen(0), 2);
  input.resume(0);
  std::vector<std::string> rest;
  for (int i = 2; i < count; ++i) rest.push_back("0:" + std::to_string(i));
  EXPECT_EQ(values(input, count - 2), rest) << "each once, in order";
  EXPECT_FALSE(input.poll(500ms));
}

TEST_F(InputTest, InputThatIsGoneIsNamed) {
  const std::string topic = unique("t");
  make_topic(topic, 1);
  Writer writer;
  for (int i = 0; i < 10; ++i) writer.write(topic, 0, "x");
  writer.flush();
  delete_records_before(topic, 0, 6);
  const auto error_from = [&](std::int64_t offset) {
    Input input(cluster, of({topic}));
    begin(input, {{{topic, 0}, offset}});
    return thrown([&] {
      while (input.poll(10s)) {
      }
    });
  };
  EXPECT_THAT(error_from(2), ::testing::AllOf(HasSubstr(topic + "[0]"), HasSubstr("no longer retains it"),
                                              HasSubstr("offset 2"), HasSubstr("is 6")));
  EXPECT_THAT(error_from(12), ::testing::AllOf(HasSubstr("ends at offset 10"), HasSubstr("offset 12")));
}

std::int64_t resident_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  }
  return 0;
}

// There are 80 MB, and 4 MB may be fetched. Waiting for longer than max.poll.interval.ms loses nothing. The reader does not
// stall each time the queue is full.
TEST_F(InputTest, FetchesNoMoreThanItMayWhileNobodyPolls) {
  const std::string topic = unique("t");
  make_topic(topic, 4);
  constexpr int count = 400'000;
  {
    Writer writer({}, {{"queue.buffering.max.messages", "100000"}});
    for (int i = 0; i < count; ++i) writer.write(topic, i % 4, std::to_string(i) + std::string(200, 'x'));
    writer.flush();
  }
  InputOptions options = of({topic});
  options.queue_bytes = std::size_t{4} << 20;
  options.queue_records = 20'000;
  cluster.properties.insert({{"max.poll.interval.ms", "1500"}, {"session.timeout.ms", "1500"}});
  Input input(cluster, options);
  const std::int64_t before = resident_kilobytes();
  begin(input);
  ASSERT_TRUE(input.poll(10s));
  std::this_thread::sleep_for(3s);
  // Memory may even shrink, because the writer's freed memory returns to the system at any time.
  EXPECT_LT(resident_kilobytes() - before, 60'000) << "KiB";
  int read = 1;
  const auto start = Clock::now();
  while (read < count && input.poll(10s)) ++read;
  EXPECT_EQ(read, count);
  EXPECT_LT(Clock::now() - start, 15s);
  EXPECT_THAT(notes.all(), Not(HasSubstr("max.poll")));
}

TEST_F(InputTest, UnreachableBrokersAreAFailureThatPasses) {
  cluster.properties["bootstrap.servers"] = "127.0.0.1:1";
  Input input(cluster, of({"t"}));
  EXPECT_THAT(thrown<Unreachable>([&] { static_cast<void>(input.discover(in(1))); }), HasSubstr("no answer about"));
  EXPECT_TRUE(eventually([&] { return notes.has("127.0.0.1:1"); })) << notes.all();
}

}  // namespace
}  // namespace deltamatch::ingest::kafka::testing

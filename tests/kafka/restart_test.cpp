// The test's own broker goes away in the middle and comes back. Everything waits; nothing is lost or duplicated.
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <source_dir.hpp>
#include <thread>

#include "ingest/service/kafka/input.hpp"
#include "ingest/service/kafka/ownership.hpp"
#include "ingest/service/kafka/transactions.hpp"
#include "kafka/support.hpp"

namespace deltamatch::ingest::kafka::testing {
namespace {

using namespace std::chrono_literals;

class Restart : public KafkaTest {
 protected:
  void SetUp() override {
    script("start");
    std::string address;
    std::ifstream(directory / "address") >> address;
    use_broker(address);
    KafkaTest::SetUp();
  }

  void TearDown() override {
    script("stop");
    std::filesystem::remove_all(directory);
  }

  void script(const std::string& command) const {
    const std::string line = DELTAMATCH_SOURCE_DIR "/scripts/kafka " + command + " --dir " + directory.string() + " >/dev/null";
    ASSERT_EQ(std::system(line.c_str()), 0) << line;
  }

  const std::filesystem::path directory =
      std::filesystem::temp_directory_path() / ("deltamatch-restart." + std::to_string(getpid()));
};

TEST_F(Restart, EverythingWaitsAndGoesOn) {
  const std::string in_topic = unique("in"), out_topic = unique("out");
  make_topic(in_topic, 2);
  make_topic(out_topic, 1);
  Ownership ownership(cluster, in(30));
  ASSERT_TRUE(ownership.wait_until_owned({}));
  Input input(cluster, [&] {
    InputOptions options;
    options.topics.push_back({in_topic, Format::jsonl, {}});
    return options;
  }());
  const auto partitions = input.discover(in(30)).partitions;
  input.add(partitions, input.first_offsets(partitions, {}, in(30)));
  Transactions transactions(cluster, 60s, in(30));

  constexpr int batches = 300;
  std::atomic<int> committed_batches = 0;
  std::jthread committer([&] {
    for (int batch = 0; batch < batches; ++batch) {
      const std::string value = std::to_string(batch);
      transactions.commit(std::array{OutputRecord{out_topic, value, value, {}}}, {{{in_topic, 0}, batch}}, in(60));
      ++committed_batches;
    }
  });
  Writer writer;
  const auto write = [&](int from, int to) {
    for (int i = from; i < to; ++i) writer.write(in_topic, i % 2, std::to_string(i));
  };
  std::array<int, 2> next{0, 1};
  const auto read_until = [&](int end) {
    return eventually([&] {
      while (const auto message = input.poll(100ms)) {
        EXPECT_EQ(message->value, std::to_string(next[message->partition]));
        next[message->partition] += 2;
      }
      return next[0] == end && next[1] == end + 1;
    });
  };
  write(0, 1000);
  EXPECT_TRUE(read_until(1000));
  ASSERT_TRUE(eventually([&] { return committed_batches >= 10; }));

  script("stop");
  write(1000, 2000);  // stays in the writer's own queue
  EXPECT_FALSE(input.poll(3s));
  EXPECT_TRUE(notes.has("kafka_unreachable")) << notes.all();
  EXPECT_LT(committed_batches, batches) << "the committer was too fast to meet the restart";
  script("start --keep");

  writer.flush();
  EXPECT_TRUE(read_until(2000)) << next[0] << " " << next[1];
  committer.join();
  EXPECT_EQ(committed_batches, batches);
  std::vector<std::string> expected, seen;
  for (int batch = 0; batch < batches; ++batch) expected.push_back(std::to_string(batch));
  for (const Seen& record : committed(out_topic)) seen.push_back(*record.value);
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(group_offset(cluster.application, {in_topic, 0}), batches - 1);
  EXPECT_TRUE(eventually([&] { return ownership.owned(); }));
  EXPECT_TRUE(ownership.release(in(10)));
}

}  // namespace
}  // namespace deltamatch::ingest::kafka::testing

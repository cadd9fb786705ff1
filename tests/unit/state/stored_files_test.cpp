// Files that older versions wrote are read as what they were. tests/data/README.md says what each file is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <source_dir.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "engine/storage/graph_file.hpp"
#include "ingest/service/state/log_segment.hpp"
#include "ingest/service/state/recovery.hpp"
#include "ingest/stream.hpp"
#include "unit/state/support.hpp"

namespace deltamatch::ingest {
namespace {

constexpr Timestamp day = 86'400'000'000;
constexpr Timestamp forever = 36'500 * day;

/// The updates of a stream, as text.
std::vector<std::string> updates_in(const std::filesystem::path& path) {
  std::vector<std::string> texts;
  const auto stream = open_stream(path.string());
  for (PositionedBatch batch; stream->next(batch); stream->settle(batch, {})) {
    for (const Update& update : batch.updates.updates()) texts.push_back(to_text(update));
  }
  return texts;
}

/// The vertices and edges of an engine, as text, without its batch and watermark.
std::vector<std::string> graph_of(const Engine& engine) {
  std::vector<std::string> texts;
  engine.for_each([&](const Update& update) { texts.push_back(to_text(update)); });
  return texts;
}

std::vector<std::string> graph_of_file(const std::filesystem::path& path, Timestamp window) {
  Engine engine({.threads = 1, .window = window});
  const auto stream = open_stream(path.string());
  for (PositionedBatch batch; stream->next(batch); stream->settle(batch, {}))
    EXPECT_EQ(engine.load(batch.updates).rejects.size(), 0U);
  return graph_of(engine);
}

class StoredFiles : public testing::TestWithParam<std::filesystem::path> {
 protected:
  [[nodiscard]] static std::filesystem::path file(std::string_view name) { return GetParam() / name; }

  /// The values that were in this topic.
  static std::vector<std::string> values_in(const std::string& topic) {
    const auto topics = nlohmann::json::parse(read_bytes(file("service/kafka.json")));
    std::vector<std::string> values;
    for (const auto& record : topics.at(topic)) values.push_back(record.at(2));
    return values;
  }

  /// Recovers the service's state from a copy of its directory.
  Recovered recovered() {
    if (!std::filesystem::exists(folder_.path() / "state")) {
      std::filesystem::copy(file("service/state"), folder_.path() / "state", std::filesystem::copy_options::recursive);
    }
    directory_.reset();
    const StateIdentity identity{.application = "stored", .directed = true, .window = day, .topics = {"stored-in"}};
    directory_ = std::make_unique<StateDirectory>(folder_.path() / "state", identity, journal_);
    RecoveryInput input;
    input.committed = committed_;
    input.engine = {.threads = 1, .window = day};
    input.begin = [] { return Engine({.threads = 1, .window = day}); };
    return recover(*directory_, input, journal_);
  }

  Folder folder_;
  TestJournal journal_;
  std::unique_ptr<StateDirectory> directory_;
  std::optional<CommitPoint> committed_;
};

TEST_P(StoredFiles, AStream) { EXPECT_EQ(updates_in(file("stream.dmu")), updates_in(file("updates.jsonl"))); }

TEST_P(StoredFiles, ASnapshot) {
  const Engine engine = Engine::restore(file("snapshot.dms"), 1);
  EXPECT_EQ(engine.options().window, day);
  EXPECT_EQ(engine.batch(), 8U);
  EXPECT_EQ(engine.watermark(), 1'700'120'720'000'000);
  EXPECT_EQ(graph_of(engine), graph_of_file(file("snapshot.jsonl"), day));
}

TEST_P(StoredFiles, ASnapshotOfEdgesWithKeys) {
  if (!std::filesystem::exists(file("keyed.dms"))) GTEST_SKIP() << "the version knew no keys";
  const Engine engine = Engine::restore(file("keyed.dms"), 1);
  EXPECT_EQ(engine.options().window, day);
  EXPECT_EQ(engine.batch(), 3U);
  EXPECT_EQ(engine.watermark(), 1'700'000'660'000'000);
  Engine loaded({.threads = 1, .window = day, .schema = engine.options().schema});
  ReadOptions reading;
  reading.codec.edges = EdgeModel::keyed;
  for (const Attribute& attribute : loaded.options().schema.edges) reading.codec.attributes.push_back({attribute});
  const auto stream = open_stream(file("keyed.jsonl").string(), reading);
  for (PositionedBatch batch; stream->next(batch); stream->settle(batch, {}))
    EXPECT_EQ(loaded.load(batch.updates).rejects.size(), 0U);
  EXPECT_EQ(graph_of(engine), graph_of(loaded));
  EXPECT_EQ(engine.graph().edges, 10U);
}

TEST_P(StoredFiles, AGraphFile) {
  engine::GraphFile stored(file("graph.dmg"));
  EXPECT_TRUE(stored.directed());
  EXPECT_TRUE(stored.timed());
  EXPECT_EQ(stored.watermark(), 1'700'120'720'000'000);
  UpdateBatch updates;
  stored.for_each([&](const Update& update) { updates.add(update); });
  Engine engine({.threads = 1, .window = forever});
  EXPECT_TRUE(engine.load(updates).rejects.empty());
  EXPECT_EQ(graph_of(engine), graph_of_file(file("graph.jsonl"), forever));
}

TEST_P(StoredFiles, CommitRecords) {
  std::uint64_t batches = 0;
  for (const std::string& value : values_in("stored.commits")) {
    committed_ = parse_mark(value, "commits");
    EXPECT_EQ(committed_->batch, batches++);
  }
  EXPECT_EQ(committed_->ends.at({"stored-in", 0}), 40);
  EXPECT_EQ(committed_->ends.at({"stored-in", 1}), 40);
  EXPECT_EQ(committed_->graph->window, day);
  EXPECT_EQ(committed_->queries.at(0).name, "ring");
}

TEST_P(StoredFiles, AServiceGoesOnFromItsSnapshotAndItsLog) {
  committed_ = parse_mark(values_in("stored.commits").back(), "commits");
  std::string before;
  {
    Recovered state = recovered();
    EXPECT_EQ(state.reached, *committed_);
    EXPECT_EQ(graph_of(state.engine), graph_of_file(file("service/graph.jsonl"), day));
    UpdateBatch batch;
    Update update;
    update.source = std::string_view("acct-3000");
    update.target = 7;
    update.label = "PAYS";
    update.time = 1'700'180'000'000'000;
    batch.add(update);
    state.engine.absorb(batch);
    committed_->batch += 1;
    committed_->watermark = state.engine.watermark();
    state.log->append(*committed_, batch.updates(), {}, {});
    state.log->sync();
    before = to_text(state.engine);
  }
  EXPECT_EQ(to_text(recovered().engine), before);
  EXPECT_TRUE(journal_.told("snapshot_set_aside").empty());
}

/// All batches of the log, from the first one on, whatever snapshots there are.
TEST_P(StoredFiles, AServiceGoesOnFromItsLogAlone) {
  committed_ = parse_mark(values_in("stored.commits").back(), "commits");
  std::filesystem::copy(file("service/state"), folder_.path() / "state", std::filesystem::copy_options::recursive);
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "state")) {
    if (entry.path().extension() == ".dms") std::filesystem::remove(entry.path());
  }
  EXPECT_EQ(graph_of(recovered().engine), graph_of_file(file("service/graph.jsonl"), day));
}

/// Version 1 of the log is version 2 without streamed alerts, which this log does not have.
TEST_P(StoredFiles, ALogOfVersionOne) {
  committed_ = parse_mark(values_in("stored.commits").back(), "commits");
  std::filesystem::copy(file("service/state"), folder_.path() / "state", std::filesystem::copy_options::recursive);
  const std::filesystem::path path = folder_.path() / "state" / log_format::segment_name(1);
  std::string bytes = read_bytes(path);
  auto head = log_format::read_head(bytes.substr(0, log_format::head_size));
  ASSERT_TRUE(head);
  if (head->version != 2) GTEST_SKIP();
  head->version = 1;
  write_bytes(path, bytes.replace(0, log_format::head_size, log_format::to_bytes(*head)));
  Recovered state = recovered();
  EXPECT_EQ(graph_of(state.engine), graph_of_file(file("service/graph.jsonl"), day));
  committed_->batch += 1;
  state.log->append(*committed_, {}, {}, {});  // an earlier version would take a new entry for damage
  EXPECT_EQ(read_bytes(path), bytes);
  EXPECT_EQ(segments_in(folder_.path() / "state").size(), 2U);
}

TEST_P(StoredFiles, DeadLettersHoldTheRecordsThatWereRefused) {
  std::istringstream lines(read_bytes(file("service/refused.jsonl")));
  std::size_t letters = 0;
  for (std::string line; std::getline(lines, line); ++letters) {
    const auto letter = nlohmann::json::parse(line);
    EXPECT_EQ(letter.at("reason"), "bad_id");
    EXPECT_EQ(letter.at("offset").get<int>() % 10, 9);
    EXPECT_EQ(letter.at("record").get<std::string>().size(), letter.at("length").get<std::size_t>());
  }
  EXPECT_EQ(letters, 8U);
}

std::vector<std::filesystem::path> versions() {
  std::set<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(DELTAMATCH_SOURCE_DIR) / "tests/data")) {
    if (entry.is_directory()) folders.insert(entry.path());
  }
  return {folders.begin(), folders.end()};
}

INSTANTIATE_TEST_SUITE_P(Versions, StoredFiles, testing::ValuesIn(versions()),
                         [](const auto& version) { return version.param.filename().string(); });

}  // namespace
}  // namespace deltamatch::ingest

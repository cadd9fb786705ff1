// Edges that are kept only for the conditions of queries, in the log and in snapshots that are made from it.
#include <gtest/gtest.h>

#include "ingest/service/state/log_replay.hpp"
#include "unit/state/support.hpp"

namespace deltamatch::ingest {
namespace {

class Retention : public testing::Test {
 protected:
  Retention() {
    options_.threads = 1;
    options_.schema.model = EdgeModel::events;
    options_.schema.edges = {{"n", {}}};
    live_.emplace(options_);
    live_->add_query(parse_pattern("(a)-->(b)-->(c) WITHIN 1s", "q"));
    log_ = std::make_unique<Log>(directory_.path(), directory_.fingerprint(), 0);
  }

  /// Gives the engine edges with times, and logs them. Without steps all records have the watermark of the batch.
  void process(std::initializer_list<std::pair<Timestamp, const char*>> edges,
               std::optional<std::vector<WatermarkStep>> steps) {
    UpdateBatch batch;
    std::optional<Timestamp> largest = live_->watermark();
    for (const auto& [time, label] : edges) {
      Update update;
      update.source = Id(1);
      update.target = Id(next_++);
      update.source_label = label;
      update.time = time;
      batch.add(update);
      largest = std::max(largest, update.time);
    }
    batch.set_watermark(largest);
    if (steps) batch.set_steps(*steps);
    CommitPoint mark;
    mark.retention = live_->retention();
    const BatchResult result = live_->process(batch);
    EXPECT_TRUE(result.rejects.empty());
    mark.batch = result.batch;
    mark.watermark = result.watermark;
    log_->append(mark, batch.updates(), batch.watermark(), {}, {}, batch.steps());
    log_->sync();
  }

  Folder folder_;
  TestJournal journal_;
  EngineOptions options_;
  StateDirectory directory_{folder_.path() / "state",
                            StateIdentity{.application = "test", .topics = {}, .schema = "edges events"}, journal_};
  std::optional<Engine> live_;
  std::unique_ptr<Log> log_;
  std::int64_t next_ = 2;
};

constexpr Timestamp second = 1'000'000;

TEST_F(Retention, AReplayedLogForgetsEdgesWhenItsEngineDid) {
  process({{0, "A"}}, std::nullopt);
  // The second edge is not late: the watermark moves behind it. The fourth one is.
  process({{second, "A"}, {9 * second, "A"}, {second, "A"}}, std::vector<WatermarkStep>{{1, 9 * second}});
  EXPECT_EQ(live_->graph().edges, 3U);
  Base early{Engine(options_), {}};
  EXPECT_EQ(replay(directory_, early, 2, {}).why, "");
  EXPECT_EQ(to_text(early.engine), to_text(*live_));
  process({{20 * second, "A"}}, std::nullopt);
  EXPECT_EQ(live_->graph().edges, 2U);
  for (int i = 0; i < 3; ++i) process({{(30 + i) * second, "A"}}, std::nullopt);
  const std::string whole = to_text(*live_);
  Base base{Engine(options_), {}};
  EXPECT_EQ(replay(directory_, base, live_->batch(), {}).why, "");
  EXPECT_EQ(to_text(base.engine), whole);
  EXPECT_EQ(base.engine.retention(), second);
}

TEST_F(Retention, AVertexThatHasLostItsEdgesTakesAnotherLabelInAReplayedLogToo) {
  process({{0, "A"}}, std::nullopt);
  next_ = 7;
  for (const Timestamp time : {9 * second, 20 * second}) {  // the first moves the watermark, the second forgets the edge
    UpdateBatch batch;
    batch.add({.source = Id(8), .target = Id(9), .time = time});
    batch.set_watermark(time);
    CommitPoint mark;
    mark.retention = live_->retention();
    mark.batch = live_->process(batch).batch;
    mark.watermark = time;
    log_->append(mark, batch.updates(), batch.watermark(), {});
  }
  process({{21 * second, "B"}}, std::nullopt);  // refused while the vertex has edges
  Base base{Engine(options_), {}};
  EXPECT_EQ(replay(directory_, base, live_->batch(), {}).why, "");
  EXPECT_EQ(to_text(base.engine), to_text(*live_));
}

TEST_F(Retention, SnapshotsGoOnAsTheEngineDoes) {
  process({{0, "A"}, {second / 2, "A"}}, std::nullopt);
  process({{9 * second, "A"}}, std::nullopt);
  const std::filesystem::path path = folder_.path() / "saved.dms";
  Base base{Engine(options_), {}};
  EXPECT_EQ(replay(directory_, base, 1, {}).why, "");
  base.engine.save(path);
  Base again{Engine::restore(path, 1), base.mark};
  for (int i = 0; i < 3; ++i) process({{(30 + i) * second, "A"}}, std::nullopt);
  EXPECT_EQ(replay(directory_, again, live_->batch(), {}).why, "");
  EXPECT_EQ(to_text(again.engine), to_text(*live_));
}

}  // namespace
}  // namespace deltamatch::ingest

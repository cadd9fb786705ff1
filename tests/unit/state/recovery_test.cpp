#include "ingest/service/state/recovery.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/storage/section_file.hpp"
#include "ingest/service/state/log_segment.hpp"
#include "unit/state/scene.hpp"

namespace deltamatch::ingest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RecoveryTest : public testing::Test {
 protected:
  void snapshot() {
    Snapshotter snapshotter(*scene_.directory, *scene_.log, scene_.journal, scene_.snapshots());
    ASSERT_TRUE(snapshotter.save_now(scene_.live(), scene_.mark));
  }
  Recovered recovered(std::optional<std::uint64_t> committed) {
    scene_.log.reset();
    RecoveryInput input;
    if (committed) input.committed = scene_.marks.at(*committed);
    input.engine = scene_.options();
    input.begin = [this] { return begin_(); };
    input.record = record_;
    input.progress = [this](const RecoveryProgress& progress) { progress_.push_back(progress); };
    return recover(*scene_.directory, input, scene_.journal);
  }
  void expect_recovers(std::uint64_t committed) {
    const Recovered state = recovered(committed);
    EXPECT_EQ(state.reached, scene_.marks.at(committed));
    EXPECT_EQ(to_text(state.engine), scene_.states.at(committed));
    EXPECT_EQ(state.log->last_batch(), committed);
  }
  static void damage(const std::filesystem::path& path, std::size_t at) {
    std::string bytes = read_bytes(path);
    bytes.at(at) = static_cast<char>(bytes.at(at) ^ 0x40);
    write_bytes(path, bytes);
  }

  Scene scene_{500};
  std::function<std::optional<CommitPoint>(std::uint64_t)> record_;
  std::function<Engine()> begin_ = [this] { return Engine(scene_.options()); };
  std::vector<RecoveryProgress> progress_;
};

TEST_F(RecoveryTest, NothingYet) {
  const Recovered state = recovered({});
  EXPECT_EQ(state.reached, CommitPoint{});
  EXPECT_EQ(state.engine.batch(), 0U);
  EXPECT_EQ(state.engine.options().window, 500);
  EXPECT_EQ(state.log->last_batch(), 0U);
}

TEST_F(RecoveryTest, FromTheLogAlone) {
  scene_.run(30);
  expect_recovers(30);
  ASSERT_EQ(progress_.size(), 30U);
  EXPECT_EQ(progress_[0].batches_total, 30U);
  EXPECT_EQ(progress_[29].batches, 30U);
  EXPECT_EQ(progress_[29].updates, 30U * 30U);
  EXPECT_THAT(scene_.journal.told("log_lost"), IsEmpty());
}

TEST_F(RecoveryTest, FromASnapshotAndTheLog) {
  scene_.run(30);
  snapshot();
  scene_.run(12);
  expect_recovers(42);
  EXPECT_EQ(progress_.size(), 12U);
  EXPECT_EQ(progress_[11].batches_total, 12U);
}

TEST_F(RecoveryTest, BatchesBeforeTheFirstWatermarkAreReplayedWithoutOne) {
  UpdateBatch batch;
  for (const Timestamp time : {100, 9000}) {  // further apart than the window
    Update update;
    update.source = Id(time);
    update.target = Id(1);
    update.time = time;
    batch.add(update);
  }
  batch.set_watermark(std::nullopt);
  scene_.live().absorb(batch);
  CommitPoint mark;
  mark.batch = 1;
  scene_.log->append(mark, batch.updates(), batch.watermark(), {});
  scene_.marks[1] = mark;
  scene_.states[1] = to_text(scene_.live());
  EXPECT_EQ(scene_.live().graph().edges, 2U);
  expect_recovers(1);
}

/// Logs a batch with a mark that `change` forges.
void append_forged(Scene& scene, const std::function<void(CommitPoint&)>& change) {
  const auto drawn = scene.draws().batch(30, &scene.live());
  change(drawn->mark);
  append(*scene.log, *drawn);
  scene.mark = scene.marks[drawn->mark.batch] = drawn->mark;
  scene.states[drawn->mark.batch] = to_text(scene.live());
  scene.log->sync();
}

TEST_F(RecoveryTest, ABatchThatLeadsToAnotherDigestIsRefused) {
  scene_.run(7);
  append_forged(scene_, [](CommitPoint& mark) { mark.digest->now.low ^= 1; });
  scene_.run(2);
  try {
    static_cast<void>(recovered(10));
    FAIL() << "a forged digest was taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("batch 8 leads to another graph, or to other numbers, than when it was committed"));
    EXPECT_THAT(error.what(), HasSubstr("name an empty state directory, and the service rebuilds the state from Kafka"));
  }
  EXPECT_THROW(static_cast<void>(recovered(10)), Error);  // and again
}

TEST_F(RecoveryTest, ALostUpdateIsNoticed) {
  scene_.run(3);
  const auto drawn = scene_.draws().batch(30, &scene_.live());
  std::vector<Update> fewer(drawn->updates.updates().begin(), drawn->updates.updates().end());
  Update fresh;
  fresh.kind = UpdateKind::insert_vertex;
  fresh.source = Id(4711);
  fewer.push_back(fresh);
  scene_.log->append(drawn->mark, fewer, drawn->updates.watermark(), {}, {}, drawn->updates.steps());
  scene_.log->sync();
  scene_.marks[4] = drawn->mark;
  EXPECT_THROW(static_cast<void>(recovered(4)), Error);
}

TEST_F(RecoveryTest, MarksWithoutADigestOrWithOneThatBeganOtherwiseAreNotCompared) {
  scene_.run(2);
  append_forged(scene_, [](CommitPoint& mark) { mark.digest.reset(); });
  append_forged(scene_, [](CommitPoint& mark) { mark.digest = {{1, 2}, {3, 4}}; });
  scene_.run(2);
  expect_recovers(6);
  EXPECT_EQ(scene_.marks.at(6).digest, scene_.live().digest());
}

TEST_F(RecoveryTest, ASnapshotWithAnotherDigestThanItsMarkIsSetAside) {
  scene_.run(5);
  const CommitPoint sound = scene_.mark;
  scene_.mark.digest->now.high ^= 1;
  snapshot();
  scene_.mark = sound;
  expect_recovers(5);
  EXPECT_EQ(progress_.size(), 5U);  // the log was replayed from the beginning
}

TEST_F(RecoveryTest, FromASnapshotOfTheCommittedBatch) {
  scene_.run(30);
  snapshot();
  expect_recovers(30);
  EXPECT_THAT(progress_, IsEmpty());
}

TEST_F(RecoveryTest, WhatWasNotCommittedIsDropped) {
  scene_.run(10);
  snapshot();
  scene_.run(20);
  for (const std::uint64_t committed : {30, 29, 17, 10}) expect_recovers(committed);
  EXPECT_EQ(scene_.journal.told("log_cut").size(), 3U);
  scene_.close();
}

TEST_F(RecoveryTest, NothingButBatchZeroIsCommitted) {
  scene_.run(3);
  scene_.marks[0] = {};
  const Recovered state = recovered(0);
  EXPECT_EQ(state.reached, CommitPoint{});
  EXPECT_EQ(state.log->last_batch(), 0U);
  EXPECT_THAT(scene_.journal.told("log_cut"), ElementsAre(HasSubstr("after=0 behind=0")));
}

TEST_F(RecoveryTest, ALogWithoutAnyCommitRecordIsRefusedAndLeftAlone) {
  scene_.run(3);
  scene_.log.reset();
  const auto bytes = [&] {
    std::string all;
    for (const auto& entry : std::filesystem::directory_iterator(scene_.directory->path())) {
      if (entry.path().filename().string().starts_with("log-")) all += read_bytes(entry.path());
    }
    return all;
  };
  const std::string before = bytes();
  EXPECT_THAT(refusal([&] { recovered({}); }), HasSubstr("no commit record of any batch"));
  EXPECT_EQ(bytes(), before);
}

TEST_F(RecoveryTest, ACorruptSnapshotGivesWayToTheOneBefore) {
  scene_.run(10);
  snapshot();
  scene_.run(10);
  snapshot();
  scene_.run(5);
  const std::filesystem::path newest = scene_.directory->snapshot_path(20);
  damage(newest, read_bytes(newest).size() - 60);  // in its edges; its beginning is sound
  expect_recovers(25);
  EXPECT_THAT(scene_.journal.told("snapshot_set_aside"), ElementsAre(HasSubstr(newest.string())));
  EXPECT_TRUE(std::filesystem::exists(newest.string() + ".corrupt"));
  EXPECT_THAT(scene_.snapshot_batches(), ElementsAre(10));
  // The older snapshot, the last one, is damaged too.
  const std::filesystem::path older = scene_.directory->snapshot_path(10);
  write_bytes(older, read_bytes(older).substr(0, 100));
  expect_recovers(25);
  EXPECT_THAT(scene_.snapshot_batches(), IsEmpty());
}

TEST_F(RecoveryTest, ASnapshotOfALaterVersionIsSetAsideAndKept) {
  scene_.run(10);
  snapshot();
  scene_.run(5);
  const std::filesystem::path path = scene_.directory->snapshot_path(10);
  std::string bytes = read_bytes(path);
  constexpr std::size_t version = 8;  // behind the first eight bytes
  bytes.at(version) = static_cast<char>(engine::snapshot_file.version + 1);
  write_bytes(path, bytes);
  expect_recovers(15);
  EXPECT_THAT(scene_.journal.told("snapshot_set_aside"), ElementsAre(HasSubstr("of version")));
  EXPECT_EQ(read_bytes(path.string() + ".corrupt"), bytes);
}

TEST_F(RecoveryTest, EveryDamageToASnapshotIsSurvived) {
  scene_.run(3, 10);
  snapshot();
  scene_.run(2, 10);
  scene_.log.reset();
  const std::filesystem::path path = scene_.directory->snapshot_path(3);
  const std::string sound = read_bytes(path);
  for (std::size_t i = 0; i < sound.size(); i += 5) {
    write_bytes(path, sound);
    damage(path, i);
    expect_recovers(5);
    write_bytes(path, sound.substr(0, i));
    expect_recovers(5);
  }
}

TEST_F(RecoveryTest, ADamagedLogIsLostFromThere) {
  scene_.run(10);
  snapshot();
  scene_.run(30);
  const std::vector<SegmentFile> files = segments_in(scene_.directory->path());
  const auto segment = std::find_if(files.begin(), files.end(), [](const SegmentFile& file) { return file.first > 20; });
  damage(segment->path, log_format::head_size + 200);
  const Recovered state = recovered(40);
  EXPECT_GE(state.reached.batch, segment->first - 1);
  EXPECT_LT(state.reached.batch, 40U);
  EXPECT_EQ(state.reached, scene_.marks.at(std::max<std::uint64_t>(state.reached.batch, 1)));
  EXPECT_EQ(to_text(state.engine), scene_.states.at(state.reached.batch));
  EXPECT_THAT(scene_.journal.told("log_lost"),
              ElementsAre(testing::AllOf(HasSubstr("from=" + std::to_string(state.reached.batch + 1)), HasSubstr("to=40"),
                                         HasSubstr(segment->path.string()))));
  // The part after the damage is committed. It stays, and the log continues after it.
  EXPECT_EQ(state.log->last_batch(), 40U);
  EXPECT_EQ(state.log->dropped_bytes(), 0U);
  EXPECT_EQ(segments_in(scene_.directory->path()).size(), files.size());
}

TEST_F(RecoveryTest, DamageBeforeTheSnapshotDoesNotMatter) {
  scene_.run(25);
  const std::vector<SegmentFile> files = segments_in(scene_.directory->path());
  ASSERT_GT(files.size(), 3U);
  damage(files[1].path, 300);
  snapshot();
  scene_.run(10);
  expect_recovers(35);
}

TEST_F(RecoveryTest, ALostLogLeavesTheSnapshot) {
  scene_.run(10);
  snapshot();
  scene_.run(20);
  for (const SegmentFile& file : segments_in(scene_.directory->path())) std::filesystem::remove(file.path);
  const Recovered state = recovered(30);
  EXPECT_EQ(state.reached, scene_.marks.at(10));
  EXPECT_EQ(state.log->last_batch(), 30U);
  EXPECT_EQ(state.log->lost().from, 1U);
  EXPECT_EQ(state.log->lost().up_to, 30U);
  EXPECT_THAT(scene_.journal.told("log_lost"), IsEmpty()) << "nobody knows whether this instance ever had them";
  EXPECT_THAT(scene_.journal.told("batches_missing"),
              ElementsAre(testing::AllOf(HasSubstr("from=11 to=30"), HasSubstr("they are not on this instance"))));
}

TEST_F(RecoveryTest, ALogThatLacksBatchesIsNotDamaged) {
  scene_.run(10);
  snapshot();
  scene_.run(30);
  const std::vector<SegmentFile> files = segments_in(scene_.directory->path());
  const auto segment = std::find_if(files.begin(), files.end(), [](const SegmentFile& file) { return file.first > 20; });
  ASSERT_NE(std::next(segment), files.end());
  std::filesystem::remove(segment->path);  // as after a take-over, whose batches another instance has logged
  EXPECT_EQ(recovered(40).reached, scene_.marks.at(segment->first - 1));
  EXPECT_THAT(scene_.journal.told("log_lost"), IsEmpty());
  EXPECT_THAT(scene_.journal.told("batches_missing"),
              ElementsAre(HasSubstr("from=" + std::to_string(segment->first) + " to=40")));
}

TEST_F(RecoveryTest, WithEverythingLostItStandsAtTheBeginning) {
  scene_.run(10);
  for (const SegmentFile& file : segments_in(scene_.directory->path())) std::filesystem::remove(file.path);
  const Recovered state = recovered(10);
  EXPECT_EQ(state.reached, CommitPoint{});
  EXPECT_EQ(state.engine.batch(), 0U);
}

TEST_F(RecoveryTest, BatchesThatAnotherCommittedOtherwiseAreNotTaken) {
  scene_.run(20);
  CommitPoint other = scene_.marks.at(20);
  other.ends[{"edges", 0}] += 1;
  scene_.marks[20] = other;
  {
    const Recovered state = recovered(20);
    EXPECT_EQ(state.reached.batch, 19U);
    EXPECT_EQ(to_text(state.engine), scene_.states.at(19));
    EXPECT_THAT(scene_.journal.told("batches_missing"),
                ElementsAre(HasSubstr("another instance committed another batch of that number")));
  }
  record_ = [&](std::uint64_t batch) -> std::optional<CommitPoint> {
    if (batch < 10) return {};  // no longer kept
    CommitPoint mark = scene_.marks.at(batch);
    if (batch >= 15) mark.ends[{"edges", 1}] += 1;
    return mark;
  };
  const Recovered state = recovered(19);
  EXPECT_EQ(state.reached.batch, 14U);
  EXPECT_EQ(to_text(state.engine), scene_.states.at(14));
}

/// The snapshot is one that another owner made, and that this instance fetched.
TEST_F(RecoveryTest, WhatWasNeverCommittedIsDroppedThoughASnapshotIsLater) {
  scene_.run(18);
  const auto go_on = [&](std::uint64_t batch) {
    auto drawn = scene_.draws().batch(1, &scene_.live());
    drawn->sinks = {"file", "hook"};
    drawn->texts = {{"id", "f" + std::to_string(batch)}, {"id", "h" + std::to_string(batch)}};
    scene_.marks[batch] = scene_.mark = drawn->mark;
    scene_.states[batch] = to_text(scene_.live());
    return drawn;
  };
  for (const std::uint64_t batch : {19, 20}) append(*scene_.log, *go_on(batch));
  scene_.log->delivered({"file", 19, ""});
  scene_.log->delivered({"hook", 19, ""});
  for (std::uint64_t batch = 21; batch <= 25; ++batch) go_on(batch);
  scene_.live().save(scene_.directory->snapshot_path(25), to_json(scene_.mark));
  const auto logged = [&] {
    std::vector<std::uint64_t> batches;
    LogReader reader(scene_.directory->path(), scene_.directory->fingerprint(), {LogReader::none, 0});
    for (LogReader::Entry entry{}; (entry = reader.next()) != LogReader::Entry::end;) {
      if (entry == LogReader::Entry::batch) batches.push_back(reader.batch().mark.batch);
    }
    return batches;
  };
  record_ = [&](std::uint64_t batch) -> std::optional<CommitPoint> { return scene_.marks.at(batch); };
  EXPECT_EQ(recovered(25).log->undelivered_from(), 20U);
  EXPECT_EQ(logged().back(), 20U);
  EXPECT_THAT(scene_.journal.told("log_cut"), IsEmpty());
  record_ = [&](std::uint64_t batch) -> std::optional<CommitPoint> {
    CommitPoint mark = scene_.marks.at(batch);
    if (batch >= 20) mark.ends[{"edges", 0}] += 1;
    return mark;
  };
  const Recovered state = recovered(25);
  EXPECT_EQ(to_text(state.engine), scene_.states.at(25));
  EXPECT_EQ(state.log->last_batch(), 25U);
  EXPECT_EQ(logged().back(), 19U);
  EXPECT_THAT(scene_.journal.told("log_cut"), ElementsAre(HasSubstr("19")));
}

TEST_F(RecoveryTest, ASnapshotBeyondTheCommitRecordsIsRefused) {
  scene_.run(10);
  snapshot();
  EXPECT_THAT(refusal([&] { recovered(9); }), HasSubstr("the last commit record is of batch 9"));
  EXPECT_THAT(refusal([&] { recovered({}); }), HasSubstr("there is no commit record"));
  scene_.marks[10].ends.clear();
  EXPECT_THAT(refusal([&] { recovered(10); }), HasSubstr("differs from the commit record of its batch"));
}

TEST_F(RecoveryTest, AStartGraphIsNoCommittedBatch) {
  snapshot();  // of batch 0
  EXPECT_EQ(recovered({}).reached, CommitPoint{});
}

/// A start graph of one edge, with a time or without.
UpdateBatch one_edge(std::optional<Timestamp> time) {
  Update update;
  update.source = Id(1000);
  update.target = Id(1001);
  update.time = time;
  UpdateBatch batch;
  batch.add(update);
  return batch;
}

TEST_F(RecoveryTest, WithoutASoundSnapshotTheStartGraphIsBegunWith) {
  scene_.live().load(one_edge(Timestamp{1'700'000'000'000'000}));
  begin_ = [&] {
    Engine engine(scene_.options());
    engine.load(one_edge(Timestamp{1'700'000'000'000'000}));
    return engine;
  };
  scene_.mark.watermark = scene_.live().watermark();
  snapshot();  // of batch 0
  scene_.run(5, 3);
  const std::filesystem::path path = scene_.directory->snapshot_path(0);
  damage(path, read_bytes(path).size() - 60);
  expect_recovers(5);
  EXPECT_THAT(scene_.journal.told("snapshot_set_aside"), ElementsAre(HasSubstr(path.string())));
}

TEST_F(RecoveryTest, WhereTheFirstBatchBeginsIsAsItsCommitRecordTells) {
  scene_.marks[0].ends[{"edges", 0}] = 5;
  EXPECT_EQ(recovered(0).reached, scene_.marks[0]);
  scene_.close();
  scene_.open();
  snapshot();  // of a batch 0 that was never committed
  EXPECT_EQ(recovered(0).reached, scene_.marks[0]);
  EXPECT_THAT(scene_.journal.told("snapshot_set_aside"), ElementsAre(HasSubstr("another instance committed batch 0")));
  scene_.close();
  scene_.open();
  scene_.run(3);
  for (const SegmentFile& file : segments_in(scene_.directory->path())) std::filesystem::remove(file.path);
  record_ = [&](std::uint64_t batch) { return scene_.marks.at(batch); };
  EXPECT_EQ(recovered(3).reached, scene_.marks[0]);
}

TEST_F(RecoveryTest, AnotherStartGraphThanThatOfBatchZeroIsRefused) {
  scene_.marks[0].watermark = 7;
  EXPECT_THAT(refusal([&] { recovered(0); }), HasSubstr("differs from the one that batch 0 was committed with"));
  begin_ = [&] {
    Engine engine(scene_.options());
    engine.load(one_edge(7));
    return engine;
  };
  EXPECT_EQ(recovered(0).engine.graph().edges, 1U);
}

TEST_F(RecoveryTest, SinksGetWhatTheyWaitFor) {
  scene_.run(5);
  scene_.log->delivered({"file", 5, "byte 500"});
  scene_.log->delivered({"hook", 5, ""});
  for (std::uint64_t batch = 6; batch <= 9; ++batch) {
    auto drawn = scene_.draws().batch(1, &scene_.live());
    drawn->sinks = {"file", "hook"};
    drawn->texts = {{"id", "f" + std::to_string(batch)}, {"id", "h" + std::to_string(batch)}};
    append(*scene_.log, *drawn);
    scene_.marks[batch] = scene_.mark = drawn->mark;
    scene_.states[batch] = to_text(scene_.live());
  }
  snapshot();  // what sinks wait for lies before it
  auto uncommitted = scene_.draws().batch(1);
  append(*scene_.log, *uncommitted);
  scene_.log->delivered({"hook", 7, ""});
  const Recovered state = recovered(9);
  EXPECT_THAT(state.log->positions(), ElementsAre(Delivered{"file", 5, "byte 500"}, Delivered{"hook", 7, ""}));
  ASSERT_EQ(state.log->undelivered_from(), 6U);
  LogReader reader(scene_.directory->path(), scene_.directory->fingerprint(), {LogReader::none, 6});
  std::string texts;
  for (LogReader::Entry entry{}; (entry = reader.next()) != LogReader::Entry::end;) {
    if (entry != LogReader::Entry::batch) continue;
    for (const SinkAlerts& sink : reader.batch().alerts) texts += std::string(sink.alerts.at(0).text) + " ";
  }
  EXPECT_EQ(texts, "f6 h6 f7 h7 f8 h8 f9 h9 ");
}

TEST_F(RecoveryTest, AnotherKindOfGraphIsNotTaken) {
  scene_.run(4);
  Engine(EngineOptions{.directed = false, .threads = 1}).save(scene_.directory->snapshot_path(0), to_json(CommitPoint{}));
  expect_recovers(4);
  EXPECT_THAT(scene_.journal.told("snapshot_set_aside"), ElementsAre(HasSubstr("another direction or window")));
}

}  // namespace
}  // namespace deltamatch::ingest

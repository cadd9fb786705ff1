#include "ingest/service/state/snapshotter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

#include "ingest/service/state/log_segment.hpp"
#include "unit/state/scene.hpp"

namespace deltamatch::ingest {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Makes a snapshot as soon as there is something to save.
SnapshotterOptions at_once(const Scene& scene) {
  SnapshotterOptions options = scene.snapshots();
  options.log_bytes = 1;
  return options;
}

/// Waits for something that happens in the background.
bool comes(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

/// Waits for a snapshot of that batch, and for what follows it.
bool made(const Snapshotter& snapshotter, std::uint64_t batch) {
  return comes([&] {
    const SnapshotStatistics statistics = snapshotter.statistics();
    return statistics.last_batch == batch && !statistics.running;
  });
}

// The claim on which everything rests: applying the log gives the live engine, including window times, labels and numbers.
TEST(Snapshotter, ASnapshotFromTheLogIsThatOfTheLiveEngine) {
  for (const bool directed : {true, false}) {
    for (const Timestamp window : {Timestamp{0}, Timestamp{300}, Timestamp{5000}}) {
      Scene scene(window, directed);
      Snapshotter snapshotter(*scene.directory, *scene.log, scene.journal, at_once(scene));
      for (const std::size_t batches : {1, 20, 1, 40}) {
        scene.run(batches);
        snapshotter.committed(scene.mark.batch);
        ASSERT_TRUE(made(snapshotter, scene.mark.batch));
        EXPECT_EQ(scene.restored(scene.mark.batch), to_text(scene.live()));
        EXPECT_EQ(StateDirectory::snapshot_mark(scene.directory->snapshots()[0]), scene.mark);
      }
    }
  }
}

TEST(Snapshotter, SavesAnIdleEngine) {
  Scene scene;
  Snapshotter snapshotter(*scene.directory, *scene.log, scene.journal, scene.snapshots());
  ASSERT_TRUE(snapshotter.save_now(scene.live(), CommitPoint{}));  // a start graph
  EXPECT_THAT(scene.snapshot_batches(), ElementsAre(0));
  scene.run(5);
  ASSERT_TRUE(snapshotter.save_now(scene.live(), scene.mark));
  EXPECT_EQ(scene.restored(5), to_text(scene.live()));
  const SnapshotStatistics statistics = snapshotter.statistics();
  EXPECT_EQ(statistics.made, 2U);
  EXPECT_EQ(statistics.last_batch, 5U);
  EXPECT_FALSE(statistics.running);
  ASSERT_TRUE(statistics.last_made.has_value());
  EXPECT_LT(std::chrono::steady_clock::now() - *statistics.last_made, std::chrono::minutes(1));
}

TEST(Snapshotter, BeginsWithAStartGraph) {
  Scene scene;
  UpdateBatch start;
  for (std::int64_t i = 0; i < 20; ++i) {
    Update update;
    update.source = Id(100 + i);
    update.target = Id(101 + i);
    start.add(update);
  }
  scene.live().load(start);
  Snapshotter snapshotter(*scene.directory, *scene.log, scene.journal, at_once(scene));
  ASSERT_TRUE(snapshotter.save_now(scene.live(), CommitPoint{}));
  scene.run(7);
  snapshotter.committed(7);
  ASSERT_TRUE(made(snapshotter, 7));
  EXPECT_EQ(scene.restored(7), to_text(scene.live()));
}

TEST(Snapshotter, BeginsWithTheStartGraphAnewWhereItsSnapshotIsDamaged) {
  Scene scene;
  UpdateBatch start;
  Update update;
  update.source = Id(100);
  update.target = Id(101);
  start.add(update);
  scene.live().load(start);
  SnapshotterOptions options = at_once(scene);
  options.retry_after = std::chrono::seconds(1);
  std::atomic<bool> there = false;
  options.begin = [&] {
    if (!there) throw Error("graph.tsv", "cannot be opened");
    Engine engine(scene.options());
    engine.load(start);
    return engine;
  };
  Snapshotter snapshotter(*scene.directory, *scene.log, scene.journal, options);
  ASSERT_TRUE(snapshotter.save_now(scene.live(), CommitPoint{}));
  const std::filesystem::path first = scene.directory->snapshot_path(0);
  write_bytes(first, read_bytes(first).substr(0, 100));
  scene.run(7);
  snapshotter.committed(7);
  ASSERT_TRUE(comes([&] { return snapshotter.statistics().failures > 0; }));  // never from an empty graph
  EXPECT_THAT(scene.journal.told("snapshot_failed"), Each(HasSubstr("graph.tsv")));
  there = true;
  ASSERT_TRUE(made(snapshotter, 7));
  EXPECT_EQ(scene.restored(7), to_text(scene.live()));
}

TEST(Snapshotter, OnlyOfCommittedBatches) {
  Scene scene;
  Snapshotter snapshotter(*scene.directory, *scene.log, scene.journal, at_once(scene));
  scene.run(10);
  snapshotter.committed(6);
  ASSERT_TRUE(made(snapshotter, 6));
  EXPECT_THAT(scene.snapshot_batches(), ElementsAre(6));
  EXPECT_EQ(scene.restored(6), scene.states[6]);
}

TEST(Snapshotter, ComesByTime) {
  Scene scene;
  SnapshotterOptions options = scene.snapshots();
  options.every = std::chrono::seconds(1);
  Snapshotter snapshotter(*scene.directory, *scene.log, scene.journal, options);
  scene.run(3);
  snapshotter.committed(3);
  EXPECT_THAT(scene.snapshot_batches(), IsEmpty());
  ASSERT_TRUE(comes([&] { return snapshotter.statistics().last_batch == 3; }));
  scene.run(3);
  snapshotter.committed(6);
  EXPECT_THAT(scene.snapshot_batches(), ElementsAre(3));
  ASSERT_TRUE(comes([&] { return snapshotter.statistics().last_batch == 6; }));
}

TEST(Snapshotter, ComesByTheSizeOfTheLog) {
  Scene scene;
  SnapshotterOptions options = scene.snapshots();
  options.log_bytes = 20'000;
  {
    Snapshotter snapshotter(*scene.directory, *scene.log, scene.journal, options);
    std::uint64_t before = scene.log->appended_bytes();
    for (int round = 0; round < 3; ++round) {
      while (scene.log->appended_bytes() - before < 19'000) {
        scene.run(1);
        snapshotter.committed(scene.mark.batch);
      }
      EXPECT_EQ(snapshotter.statistics().made, static_cast<std::uint64_t>(round));
      scene.run(10);
      snapshotter.committed(scene.mark.batch);
      ASSERT_TRUE(comes([&] {
        return snapshotter.statistics().made == static_cast<std::uint64_t>(round) + 1 && !snapshotter.statistics().running;
      }));
      EXPECT_EQ(scene.restored(scene.mark.batch), to_text(scene.live()));
      before = scene.log->appended_bytes();
    }
    while (scene.log->appended_bytes() - before < 15'000) scene.run(1);
  }
  // Batches that an earlier process logged count too.
  scene.close();
  scene.open();
  Snapshotter snapshotter(*scene.directory, *scene.log, scene.journal, options);
  while (scene.log->appended_bytes() < 8'000) scene.run(1);
  snapshotter.committed(scene.mark.batch);
  EXPECT_TRUE(comes([&] { return snapshotter.statistics().made == 1; }));
}

TEST(Snapshotter, KeepsAsManyAsAskedAndTheLogBehindThem) {
  Scene scene(0, true, 1);
  SnapshotterOptions options = at_once(scene);
  options.keep = 2;
  Snapshotter snapshotter(*scene.directory, *scene.log, scene.journal, options);
  scene.run(3);
  for (int round = 0; round < 4; ++round) {
    scene.run(10);
    snapshotter.committed(scene.mark.batch);
    ASSERT_TRUE(made(snapshotter, scene.mark.batch));
  }
  EXPECT_THAT(scene.snapshot_batches(), ElementsAre(43, 33));
  const std::uint64_t needed = std::min<std::uint64_t>(34, scene.log->undelivered_from());
  EXPECT_EQ(segments_in(scene.directory->path()).front().first, needed);
  for (const char* sink : {"file", "hook"}) scene.log->delivered({sink, 43, ""});
  scene.run(1);
  snapshotter.committed(44);
  ASSERT_TRUE(made(snapshotter, 44));
  EXPECT_EQ(segments_in(scene.directory->path()).front().first, std::min<std::uint64_t>(44, scene.log->undelivered_from()));
  for (const SegmentFile& segment : segments_in(scene.directory->path())) EXPECT_GE(segment.first, 44U);
}

TEST(Snapshotter, PassesOverACorruptSnapshot) {
  Scene scene;
  Snapshotter snapshotter(*scene.directory, *scene.log, scene.journal, at_once(scene));
  for (int round = 0; round < 2; ++round) {
    scene.run(8);
    snapshotter.committed(scene.mark.batch);
    ASSERT_TRUE(made(snapshotter, scene.mark.batch));
  }
  const std::filesystem::path newest = scene.directory->snapshot_path(16);
  std::string bytes = read_bytes(newest);
  bytes[bytes.size() - 60] = static_cast<char>(bytes[bytes.size() - 60] ^ 1);
  write_bytes(newest, bytes);
  scene.run(1);
  snapshotter.committed(17);
  ASSERT_TRUE(made(snapshotter, 17));
  EXPECT_EQ(scene.restored(17), to_text(scene.live()));
  EXPECT_THAT(scene.journal.told("snapshot_set_aside"), ElementsAre(HasSubstr(newest.string())));
  EXPECT_THAT(scene.snapshot_batches(), ElementsAre(17, 8));
}

TEST(Snapshotter, FailuresAreCountedAndTriedAgain) {
  Scene scene;
  SnapshotterOptions options = at_once(scene);
  options.retry_after = std::chrono::seconds(1);
  Snapshotter snapshotter(*scene.directory, *scene.log, scene.journal, options);
  scene.run(20);
  const auto files = segments_in(scene.directory->path());
  ASSERT_GT(files.size(), 2U);
  const std::string sound = read_bytes(files[1].path);
  std::string bytes = sound;
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_bytes(files[1].path, bytes);
  snapshotter.committed(20);
  ASSERT_TRUE(comes([&] { return snapshotter.statistics().failures > 0; }));
  EXPECT_EQ(snapshotter.statistics().failures, 1U);
  ASSERT_TRUE(comes([&] { return snapshotter.statistics().failures == 2; }));
  EXPECT_THAT(scene.journal.told("snapshot_failed").front(), HasSubstr(files[1].path.string()));
  EXPECT_THAT(scene.snapshot_batches(), IsEmpty());
  EXPECT_LE(snapshotter.statistics().failures, 3U);  // not over and over
  write_bytes(files[1].path, sound);
  ASSERT_TRUE(comes([&] { return snapshotter.statistics().made == 1; }));
  EXPECT_EQ(scene.restored(20), to_text(scene.live()));
}

TEST(Snapshotter, AFullDiskLeavesNothingHalf) {
  Scene scene;
  Snapshotter snapshotter(*scene.directory, *scene.log, scene.journal, at_once(scene));
  scene.run(20, 300);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit limit = before;
  limit.rlim_cur = 100;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  snapshotter.committed(20);
  EXPECT_TRUE(comes([&] { return snapshotter.statistics().failures == 1; }));
  EXPECT_FALSE(snapshotter.save_now(scene.live(), scene.mark));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(snapshotter.statistics().failures, 2U);
  for (const auto& entry : std::filesystem::directory_iterator(scene.directory->path())) {
    EXPECT_THAT(entry.path().filename().string(), Not(testing::StartsWith("snapshot")));
  }
  EXPECT_TRUE(snapshotter.save_now(scene.live(), scene.mark));
}

TEST(Snapshotter, CanBeCancelled) {
  Scene scene(0, true, 1 << 20);
  scene.run(400, 400);
  for (int round = 0; round < 3; ++round) {
    Snapshotter snapshotter(*scene.directory, *scene.log, scene.journal, at_once(scene));
    snapshotter.committed(400);
    ASSERT_TRUE(comes([&] { return snapshotter.statistics().running; }));
  }
  EXPECT_THAT(scene.snapshot_batches(), IsEmpty());
  EXPECT_EQ(scene.journal.told("snapshot_cancelled").size(), 3U);
  EXPECT_THAT(scene.journal.told("snapshot_failed"), IsEmpty());
  {
    Snapshotter snapshotter(*scene.directory, *scene.log, scene.journal, at_once(scene));
    snapshotter.committed(400);
    ASSERT_TRUE(comes([&] { return snapshotter.statistics().running; }));
    ASSERT_TRUE(snapshotter.save_now(scene.live(), scene.mark));  // instead of the one under way
    EXPECT_EQ(snapshotter.statistics().made, 1U);
  }
  EXPECT_THAT(scene.snapshot_batches(), ElementsAre(400));
  EXPECT_EQ(scene.restored(400), to_text(scene.live()));
}

}  // namespace
}  // namespace deltamatch::ingest

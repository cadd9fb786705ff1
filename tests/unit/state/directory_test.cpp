#include "ingest/service/state/directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ingest/service/state/log_format.hpp"
#include "unit/state/support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class DirectoryTest : public testing::Test {
 protected:
  StateDirectory open(const StateIdentity& identity) { return {path_, identity, journal_}; }
  std::string refused(const StateIdentity& identity) {
    return refusal([&] { open(identity); });
  }
  void save(std::uint64_t batch, std::uint64_t mark) {
    CommitPoint annotation;
    annotation.batch = mark;
    Engine(EngineOptions{.threads = 1}).save(open(identity_).snapshot_path(batch), to_json(annotation));
  }

  Folder folder_;
  std::filesystem::path path_ = folder_.path() / "state";
  StateIdentity identity_{.application = "rings", .directed = true, .window = 1000, .topics = {"b", "a"}};
  TestJournal journal_;
};

TEST_F(DirectoryTest, IsMadeOnceAndOpenedAgain) {
  std::string first;
  {
    const StateDirectory directory = open(identity_);
    first = directory.fingerprint();
    EXPECT_EQ(first.size(), log_format::fingerprint_size);
    EXPECT_EQ(directory.path(), path_);
    EXPECT_EQ(directory.snapshot_path(17).filename(), "snapshot-00000000000000000017.dms");
  }
  StateIdentity same = identity_;
  same.topics = {"a", "b"};  // in any order
  EXPECT_EQ(open(same).fingerprint(), first);
}

TEST_F(DirectoryTest, NeedsItsParent) {
  path_ = folder_.path() / "absent" / "state";
  EXPECT_THAT(refused(identity_), AllOf(HasSubstr(path_.string()), HasSubstr("No such file")));
  path_ = folder_.path() / "file";
  write_bytes(path_, "");
  EXPECT_THAT(refused(identity_), HasSubstr("Not a directory"));
}

TEST_F(DirectoryTest, ShardsHaveAFolderThatIsNoState) {
  make_folder_of_shards(path_);
  make_folder_of_shards(path_);
  must_not_be_folder_of_shards(path_);  // there is none yet
  path_ /= "shard-0";
  open(identity_);
  EXPECT_THAT(refusal([&] { must_not_be_folder_of_shards(path_.parent_path()); }),
              AllOf(HasSubstr(path_.parent_path().string() + ": shards have their state"), HasSubstr("start with --shard")));
  EXPECT_THAT(refusal([&] { make_folder_of_shards(path_); }),
              AllOf(HasSubstr(path_.string()), HasSubstr("of an application without shards; name another state.directory")));
  EXPECT_THAT(refusal([&] { make_folder_of_shards(folder_.path() / "absent" / "state"); }), HasSubstr("No such file"));
}

TEST_F(DirectoryTest, IsHeldByOne) {
  const StateDirectory held = open(identity_);
  EXPECT_THAT(refused(identity_), HasSubstr("in use by process " + std::to_string(::getpid()) + ";"));
}

TEST_F(DirectoryTest, TellsTheProcessThatHoldsIt) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const StateDirectory held = open(identity_);
    static_cast<void>(!::write(ready[1], "x", 1));
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_THAT(refused(identity_), HasSubstr("in use by process " + std::to_string(child) + ";"));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(refused(identity_), "");  // a process that is gone holds no lock
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(DirectoryTest, NamesWhatChanged) {
  open(identity_);
  const auto changed = [&](auto change) {
    StateIdentity other = identity_;
    change(other);
    return refused(other);
  };
  EXPECT_THAT(changed([](StateIdentity& i) { i.application = "x"; }), HasSubstr(R"(application was "rings" and is "x";)"));
  EXPECT_THAT(changed([](StateIdentity& i) { i.directed = false; }), HasSubstr("directed was true and is false;"));
  EXPECT_THAT(changed([](StateIdentity& i) { i.window = 5; }), HasSubstr("window was 1000 and is 5;"));
  EXPECT_THAT(changed([](StateIdentity& i) { i.lateness = 5; }), HasSubstr("allowed_lateness was 0 and is 5;"));
  EXPECT_THAT(changed([](StateIdentity& i) { i.schema = "edges events"; }),
              HasSubstr(R"(schema was "edges simple, attributes none, vertex attributes none" and is "edges events";)"));
  EXPECT_THAT(changed([](StateIdentity& i) { i.topics = {"a"}; }), HasSubstr(R"(topics was ["a","b"] and is ["a"];)"));
  EXPECT_THAT(changed([](StateIdentity& i) {
                i.directed = false;
                i.window = 0;
              }),
              AllOf(HasSubstr("directed was true and is false, window was 1000 and is 0;"), Not(HasSubstr("application was"))));
  EXPECT_EQ(refused(identity_), "");
  try {
    identity_.window = 0;
    open(identity_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::configuration);
  }
}

TEST_F(DirectoryTest, ABrokenManifestIsRefused) {
  open(identity_);
  const std::filesystem::path manifest = path_ / "state.json";
  const std::string sound = read_bytes(manifest);
  for (std::size_t size = 0; size + 2 < sound.size(); ++size) {
    write_bytes(manifest, sound.substr(0, size));
    EXPECT_THAT(refused(identity_), HasSubstr(manifest.string())) << size;
  }
  for (const char* text : {"[]", "7", R"({"v":"1"})", R"({"v":1})"}) {
    write_bytes(manifest, text);
    EXPECT_THAT(refused(identity_), HasSubstr(manifest.string())) << text;
  }
  write_bytes(manifest, R"({"v":2})");
  EXPECT_THAT(refused(identity_), HasSubstr("has version 2, but this program reads version 1"));
}

TEST_F(DirectoryTest, StateWithoutItsManifestIsRefused) {
  open(identity_);
  std::filesystem::remove(path_ / "state.json");
  EXPECT_EQ(refused(identity_), "");  // there is nothing yet
  std::filesystem::remove(path_ / "state.json");
  write_bytes(path_ / log_format::segment_name(1), "");
  EXPECT_THAT(refused(identity_), HasSubstr("is missing, although the directory holds snapshots or a log"));
  std::filesystem::remove(path_ / log_format::segment_name(1));
  write_bytes(path_ / "snapshot-00000000000000000001.dms", "");
  EXPECT_THAT(refused(identity_), HasSubstr("is missing"));
}

TEST_F(DirectoryTest, RemovesLeftovers) {
  open(identity_);
  const std::filesystem::path snapshot = path_ / "snapshot-00000000000000000001.dms.tmp-77-0";
  write_bytes(snapshot, "half");
  write_bytes(path_ / "state.json.tmp-77", "half");
  write_bytes(path_ / "notes.tmp-1", "of another");
  open(identity_);
  EXPECT_FALSE(std::filesystem::exists(snapshot));
  EXPECT_FALSE(std::filesystem::exists(path_ / "state.json.tmp-77"));
  EXPECT_TRUE(std::filesystem::exists(path_ / "notes.tmp-1"));
  EXPECT_EQ(journal_.told("leftover_removed").size(), 2U);
}

TEST_F(DirectoryTest, ListsSnapshotsNewestFirst) {
  for (const std::uint64_t batch : {3, 20, 100}) save(batch, batch);
  for (const char* name : {"snapshot-1.dms", "snapshot-00000000000000000001.dms.corrupt", "snapshot-0000000000000000000x.dms",
                           "snapshot-99999999999999999999.dms"}) {
    write_bytes(path_ / name, "");
  }
  std::vector<std::uint64_t> batches;
  for (const SnapshotFile& snapshot : open(identity_).snapshots()) batches.push_back(snapshot.batch);
  EXPECT_THAT(batches, ElementsAre(100, 20, 3));
}

TEST_F(DirectoryTest, ASnapshotMustBearItsMark) {
  save(3, 3);
  EXPECT_EQ(StateDirectory::snapshot_mark(open(identity_).snapshots()[0]).batch, 3U);
  save(4, 5);
  EXPECT_THROW(static_cast<void>(StateDirectory::snapshot_mark(open(identity_).snapshots()[0])), Error);
  Engine(EngineOptions{.threads = 1}).save(open(identity_).snapshot_path(4), "no mark");
  EXPECT_THROW(static_cast<void>(StateDirectory::snapshot_mark(open(identity_).snapshots()[0])), Error);
}

TEST_F(DirectoryTest, KeepsTheNewestSoundSnapshots) {
  EXPECT_EQ(open(identity_).retain_snapshots(2), std::nullopt);
  for (std::uint64_t batch = 1; batch <= 6; ++batch) save(batch, batch);
  const std::filesystem::path newest = open(identity_).snapshot_path(6);
  write_bytes(newest, read_bytes(newest).substr(0, 50));
  EXPECT_EQ(open(identity_).retain_snapshots(2), 4U);
  std::vector<std::uint64_t> batches;
  for (const SnapshotFile& snapshot : open(identity_).snapshots()) batches.push_back(snapshot.batch);
  EXPECT_THAT(batches, ElementsAre(5, 4));
  EXPECT_TRUE(std::filesystem::exists(newest.string() + ".corrupt"));
  EXPECT_THAT(journal_.told("snapshot_set_aside"), ElementsAre(HasSubstr(newest.string())));
  EXPECT_EQ(open(identity_).retain_snapshots(0), 5U);  // at least one
  EXPECT_EQ(open(identity_).retain_snapshots(9), 5U);
}

}  // namespace
}  // namespace deltamatch::ingest

// Snapshots that instances share, in a folder and behind commands.
#include "ingest/service/state/share.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "ingest/service/state/command.hpp"
#include "ingest/service/state/share_publisher.hpp"
#include "unit/state/scene.hpp"

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> words_of(std::initializer_list<std::string> words) { return words; }

std::string why_of(const std::vector<std::string>& command, std::chrono::milliseconds timeout = 10s) {
  try {
    run_command(command, timeout, "hook");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Command, GivesWhatItWritesAndReadsNoShell) {
  EXPECT_EQ(run_command(words_of({"printf", "%s|", "a b", "$(id)", "'; rm -rf x"}), 10s, "hook"), "a b|$(id)|'; rm -rf x|");
  EXPECT_EQ(run_command(words_of({"cat"}), 10s, "hook"), "") << "its input is empty";
}

TEST(Command, SaysWhatWentWrongWithoutItsArguments) {
  EXPECT_EQ(why_of({"sh", "-c", "echo no such bucket >&2; exit 7 # secret"}), "hook: 'sh' exited with 7: no such bucket");
  EXPECT_EQ(why_of({"sh", "-c", "kill -9 $$"}), "hook: 'sh' was ended by signal 9");
  EXPECT_EQ(why_of({"deltamatch-no-such-program", "secret"}),
            "hook: 'deltamatch-no-such-program' cannot be started: No such file or directory; install the program, or name it "
            "with its path");
}

TEST(Command, IsEndedWithAllThatItStarted) {
  const Folder folder;
  const std::string alive = folder.path() / "alive";
  const auto begin = std::chrono::steady_clock::now();
  const std::string why = why_of({"sh", "-c", "(sleep 3; touch " + alive + ") & trap '' TERM; sleep 30"}, 300ms);
  EXPECT_NE(why.find("took longer than 300 ms, and was ended"), std::string::npos) << why;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  std::this_thread::sleep_until(begin + 4s);
  EXPECT_FALSE(std::filesystem::exists(alive));
}

TEST(Command, IsEndedByAStop) {
  std::stop_source stop;
  const std::jthread later([&] {
    std::this_thread::sleep_for(200ms);
    stop.request_stop();
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(run_command(words_of({"sleep", "30"}), 60s, "hook", stop.get_token()), Error);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST(Command, WithTooMuchToSayIsRefused) {
  EXPECT_NE(why_of({"head", "-c", "9000000", "/dev/zero"}).find("writes more than 8 MiB"), std::string::npos);
}

TEST(ShareName, IsReadBack) {
  const SharedSnapshot shared{"pay.v2-x", "0123456789abcdef", 42, "fedcba9876543210", "00112233445566778899aabbccddeeff"};
  EXPECT_EQ(shared.name(),
            "pay.v2-x.0123456789abcdef.00000000000000000042.fedcba9876543210.00112233445566778899aabbccddeeff.dms");
  EXPECT_EQ(parse_shared_name(shared.name()), shared);
  for (const std::string& other : {std::string("state.json"), shared.name() + ".tmp-1", "x" + shared.name().substr(9),
                                   shared.name().substr(10), std::string(".dms"), shared.name().substr(0, 40) + ".dms"}) {
    const auto read = parse_shared_name(other);
    EXPECT_EQ(read ? read->name() : other, other);
    EXPECT_NE(parse_shared_name(other), shared) << other;
  }
  EXPECT_FALSE(parse_shared_name("snapshot-00000000000000000042.dms"));
}

/// One directory that publishes, and one that fetches. Both belong to the same application.
class ShareTest : public testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<SnapshotStore> store() const {
    if (!GetParam()) return make_folder_store(place());
    std::filesystem::create_directory(place());
    const std::string object = place().string() + "/{name}";
    ShareOptions options;
    options.put = {"cp", "{file}", object};
    options.get = {"cp", object, "{file}"};
    options.list = {"ls", "-l", place().string()};
    options.remove = {"rm", "-f", object};
    options.timeout = 20s;
    return make_command_store(options);
  }
  [[nodiscard]] std::filesystem::path place() const { return folder_.path() / "a share"; }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(place())) found.push_back(entry.path().filename());
    std::ranges::sort(found);
    return found;
  }
  SnapshotShare share(std::size_t keep = 2) { return {store(), *scene_.directory, "test", keep, scene_.journal}; }

  /// Makes a snapshot of the live engine, which is at a committed batch.
  SnapshotFile snapshot(std::size_t more = 1) {
    scene_.run(more);
    const SnapshotFile file{scene_.mark.batch, scene_.directory->snapshot_path(scene_.mark.batch)};
    scene_.live().save(file.path, to_json(scene_.mark));
    return file;
  }
  [[nodiscard]] auto is_committed() const {
    return [this](const SharedSnapshot& shared) {
      const auto mark = scene_.marks.find(shared.batch);
      return mark != scene_.marks.end() && mark_fingerprint(mark->second) == shared.mark;
    };
  }
  void change(const std::string& name, const std::function<void(std::string&)>& how) const {
    std::string bytes = read_bytes(place() / name);
    how(bytes);
    write_bytes(place() / name, bytes);
  }

  Folder folder_;
  Scene scene_;
};

TEST_P(ShareTest, AnEmptyDirectoryGetsTheNewestSnapshot) {
  SnapshotShare owner = share();
  owner.publish(snapshot(), {});
  const std::uint64_t batch = scene_.mark.batch + 1;
  owner.publish(snapshot(), {});
  const StateDirectory other(folder_.path() / "other", {.application = "test", .topics = {"edges"}}, scene_.journal);
  SnapshotShare standby(store(), other, "test", 2, scene_.journal);
  const auto newest = standby.newest(std::nullopt, batch, is_committed(), {});
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->batch, batch);
  EXPECT_TRUE(standby.fetch(*newest, {}));
  EXPECT_EQ(to_text(Engine::restore(other.snapshot_path(batch), 1)), scene_.states.at(batch));
  EXPECT_FALSE(standby.newest(batch, batch, is_committed(), {})) << "nothing is newer";
  EXPECT_EQ(other.snapshots().size(), 1U);
}

TEST_P(ShareTest, KeepsTheNewestAndPublishesEachOnce) {
  SnapshotShare owner = share(2);
  std::string last;
  for (int i = 0; i < 4; ++i) last = owner.publish(snapshot(), {});
  ASSERT_EQ(names().size(), 2U);
  EXPECT_EQ(names().back(), last);
  const SnapshotFile again{scene_.mark.batch, scene_.directory->snapshot_path(scene_.mark.batch)};
  const auto before = std::filesystem::last_write_time(place() / last);
  EXPECT_EQ(owner.publish(again, {}), last);
  EXPECT_EQ(std::filesystem::last_write_time(place() / last), before) << "it was there already";
}

TEST_P(ShareTest, TheNewestBeforeWhatWaitsStays) {
  SnapshotShare owner = share(2);
  owner.publish(snapshot(), {});
  const std::string before = owner.publish(snapshot(), {});
  const std::uint64_t waits = scene_.mark.batch + 1;
  for (int i = 0; i < 4; ++i) owner.publish(snapshot(), {}, waits);
  ASSERT_EQ(names().size(), 3U);
  EXPECT_EQ(names().front(), before);
  owner.publish(snapshot(), {}, scene_.mark.batch + 1);
  EXPECT_EQ(names().size(), 2U) << "nothing waits for it any more";
}

TEST_P(ShareTest, ALateOwnerNeitherWinsNorRemovesWhatIsNewer) {
  SnapshotShare late = share(1);
  const SnapshotFile old = snapshot();
  SnapshotShare owner = share(1);
  const std::string newer = owner.publish(snapshot(), {});
  late.publish(old, {});
  EXPECT_EQ(names().size(), 2U);
  const auto newest = owner.newest(std::nullopt, scene_.mark.batch, is_committed(), {});
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->name(), newer);
  owner.publish(snapshot(), {});
  EXPECT_EQ(names().size(), 1U) << "and the late one goes with the others";
}

TEST_P(ShareTest, WhatWasNeverCommittedIsPassedOver) {
  SnapshotShare owner = share();
  const std::string first = owner.publish(snapshot(), {});
  const std::string other = owner.publish(snapshot(), {});
  scene_.marks[scene_.mark.batch].ends[{"edges", 0}] += 1;  // another owner committed that batch
  const auto newest = owner.newest(std::nullopt, scene_.mark.batch, is_committed(), {});
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->name(), first);
  ASSERT_EQ(owner.refused().size(), 1U);
  EXPECT_EQ(owner.refused()[0], other + ": no commit record of its batch has its mark");
  const auto again = owner.newest(std::nullopt, scene_.mark.batch - 1, is_committed(), {});
  EXPECT_EQ(again ? again->name() : "", first);
  EXPECT_EQ(scene_.journal.told("shared_snapshot_refused").size(), 1U) << "it is told once";
}

TEST_P(ShareTest, WhatIsBrokenIsPassedOver) {
  SnapshotShare owner = share(3);
  const std::string sound = owner.publish(snapshot(), {});
  const std::string cut = owner.publish(snapshot(), {});
  const std::string flipped = owner.publish(snapshot(), {});
  change(cut, [](std::string& bytes) { bytes.resize(bytes.size() / 2); });
  change(flipped, [](std::string& bytes) { bytes[bytes.size() / 2] ^= 1; });
  const StateDirectory other(folder_.path() / "other", {.application = "test", .topics = {"edges"}}, scene_.journal);
  SnapshotShare standby(store(), other, "test", 2, scene_.journal);
  std::vector<std::string> tried;
  while (const auto newest = standby.newest(std::nullopt, scene_.mark.batch, is_committed(), {})) {
    tried.push_back(newest->name());
    if (standby.fetch(*newest, {})) break;
  }
  EXPECT_EQ(tried, (std::vector<std::string>{flipped, cut, sound}));
  EXPECT_EQ(scene_.journal.told("shared_snapshot_refused").size(), 2U);
  EXPECT_EQ(other.snapshots().size(), 1U);
  for (const auto& entry : std::filesystem::directory_iterator(other.path())) {
    EXPECT_EQ(entry.path().string().find(".tmp-"), std::string::npos) << "nothing half-written stays";
  }
}

TEST_P(ShareTest, ASnapshotThatIsStillBeingWrittenIsTriedAgainLater) {
  SnapshotShare owner = share();
  const std::string name = owner.publish(snapshot(), {});
  std::string whole;
  change(name, [&](std::string& bytes) {
    whole = bytes;
    bytes.resize(bytes.size() / 2);
  });
  const StateDirectory other(folder_.path() / "other", {.application = "test", .topics = {"edges"}}, scene_.journal);
  std::chrono::steady_clock::time_point now{1h};
  SnapshotShare standby(store(), other, "test", 2, scene_.journal, [&] { return now; });
  const auto newest = [&] { return standby.newest(std::nullopt, scene_.mark.batch, is_committed(), {}); };
  EXPECT_FALSE(standby.fetch(newest().value(), {}));
  change(name, [&](std::string& bytes) { bytes = whole; });
  now += 4min;
  EXPECT_FALSE(newest()) << "not at once";
  now += 2min;
  EXPECT_TRUE(standby.fetch(newest().value(), {}));
  EXPECT_EQ(other.snapshots().size(), 1U);
}

TEST_P(ShareTest, SnapshotsOfOthersAreLeftAlone) {
  SnapshotShare owner = share(1);
  owner.publish(snapshot(), {});
  const StateDirectory undirected(folder_.path() / "undirected",
                                  {.application = "test", .directed = false, .topics = {"edges"}}, scene_.journal);
  const StateDirectory another(folder_.path() / "another", {.application = "another", .topics = {"edges"}}, scene_.journal);
  SnapshotShare other_settings(store(), undirected, "test", 1, scene_.journal);
  SnapshotShare other_application(store(), another, "another", 1, scene_.journal);
  EXPECT_TRUE(other_settings.list({}).empty());
  ASSERT_EQ(other_settings.refused().size(), 1U);
  EXPECT_NE(other_settings.refused()[0].find("another direction, window, list of topics or schema"), std::string::npos);
  EXPECT_TRUE(other_application.list({}).empty());
  EXPECT_TRUE(other_application.refused().empty()) << "other applications may use the same share";
}

INSTANTIATE_TEST_SUITE_P(Stores, ShareTest, testing::Bool(),
                         [](const auto& of) { return of.param ? std::string("Commands") : std::string("Folder"); });

TEST(FolderStoreTest, AMereNameLiesInTheWorkingFolder) {
  const Folder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  for (const char* const name : {"share", "other/"}) {
    const auto store = make_folder_store(name);
    EXPECT_TRUE(store->list({}).empty()) << name;
    write_bytes("file", "x");
    store->put("file", "a", {});
    EXPECT_EQ(store->list({}), std::vector<std::string>{"a"}) << name;
  }
  std::filesystem::current_path(before);
}

TEST(FolderStoreTest, WhatIsHalfWrittenIsNotThere) {
  const Folder folder;
  const auto store = make_folder_store(folder.path() / "share");
  EXPECT_TRUE(store->list({}).empty()) << "the folder is made when something is shared";
  write_bytes(folder.path() / "file", std::string(3 << 20, 'x'));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(store->put(folder.path() / "file", "name", stop.get_token()), Error);
  EXPECT_TRUE(store->list({}).empty()) << "a stop leaves nothing";
  store->put(folder.path() / "file", "name", {});
  EXPECT_EQ(store->list({}), std::vector<std::string>{"name"});
  for (const auto& [leftover, age] : {std::pair{".a.tmp-host-1", 25h}, std::pair{".b.tmp-host-1", 1h}, std::pair{"c", 25h}}) {
    write_bytes(folder.path() / "share" / leftover, "half");
    std::filesystem::last_write_time(folder.path() / "share" / leftover, std::filesystem::file_time_type::clock::now() - age);
  }
  store->put(folder.path() / "file", "name", {});
  EXPECT_THAT(store->list({}), testing::UnorderedElementsAre("name", ".b.tmp-host-1", "c"));
  const auto lost = make_folder_store(folder.path() / "gone" / "share");
  EXPECT_THROW(static_cast<void>(lost->list({})), Error) << "a mount that is gone is no empty share";
}

class PublisherTest : public testing::Test {
 protected:
  void save() {
    scene_.run(1);
    scene_.live().save(scene_.directory->snapshot_path(scene_.mark.batch), to_json(scene_.mark));
  }
  [[nodiscard]] auto soon() const { return std::chrono::steady_clock::now() + 30s; }

  Folder folder_;
  Scene scene_;
};

TEST_F(PublisherTest, TriesAgainAndPublishesTheNewest) {
  const std::filesystem::path parent = folder_.path() / "mount";
  SnapshotShare share(make_folder_store(parent / "share"), *scene_.directory, "test", 2, scene_.journal);
  SharePublisher publisher(share, *scene_.directory, scene_.journal, {10ms, 20ms});
  save();
  publisher.publish();
  while (publisher.statistics().failures < 3) std::this_thread::sleep_for(1ms);
  EXPECT_FALSE(publisher.statistics().last_error.empty());
  EXPECT_FALSE(publisher.finish(std::chrono::steady_clock::now() + 50ms));
  save();
  std::filesystem::create_directory(parent);
  EXPECT_TRUE(publisher.finish(soon()));
  EXPECT_EQ(publisher.statistics().last_batch, scene_.mark.batch);
  EXPECT_EQ(publisher.statistics().published, 1U);
  EXPECT_TRUE(publisher.statistics().last_error.empty());
  EXPECT_EQ(share.list({}).size(), 1U);
}

TEST_F(PublisherTest, AHookThatHangsHoldsUpNobody) {
  ShareOptions options;
  options.list = {"true"};
  options.put = {"sleep", "600", "{file}", "{name}"};
  options.get = {"false"};
  SnapshotShare share(make_command_store(options), *scene_.directory, "test", 2, scene_.journal);
  const auto begin = std::chrono::steady_clock::now();
  {
    SharePublisher publisher(share, *scene_.directory, scene_.journal);
    save();
    publisher.publish();
    std::this_thread::sleep_for(300ms);
    EXPECT_FALSE(publisher.finish(std::chrono::steady_clock::now()));
    EXPECT_TRUE(scene_.directory->retain_snapshots(1));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

}  // namespace
}  // namespace deltamatch::ingest

#include "ingest/service/state/log.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <map>
#include <thread>

#include "encoding/updates.hpp"
#include "ingest/service/state/log_format.hpp"
#include "ingest/service/state/log_segment.hpp"
#include "unit/state/support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Entry = LogReader::Entry;

constexpr LogReader::Wanted everything{.updates_from = 0, .alerts_from = 0};

/// The batches that a reader returns from a batch on, without entries about deliveries, and how reading ends.
struct Read {
  std::vector<std::string> batches;
  std::map<std::string, Delivered> delivered;
  LogReader::End end;
};

Read read(const std::filesystem::path& folder, LogReader::Wanted wanted = everything) {
  Read all;
  LogReader reader(folder, fingerprint, wanted);
  for (Entry entry{}; (entry = reader.next()) != Entry::end;) {
    if (entry == Entry::batch) {
      all.batches.push_back(to_text(reader.batch()));
    } else {
      all.delivered[reader.delivered().sink] = reader.delivered();
    }
  }
  all.end = reader.end();
  return all;
}

int no_sync(int) { return 0; }

class LogTest : public testing::Test {
 protected:
  /// Appends that many batches to a log of small segments. Notes some as delivered.
  std::vector<std::string> fill(std::size_t batches, std::uint64_t segment_bytes, std::size_t updates = 5) {
    Log log(folder_.path(), fingerprint, 0, {.segment_bytes = segment_bytes, .sync = no_sync});
    std::vector<std::string> texts;
    for (std::size_t i = 1; i <= batches; ++i) {
      const auto drawn = draws_.batch(updates);
      append(log, *drawn);
      texts.push_back(to_text(*drawn));
      if (i % 4 == 0) log.delivered({"file", i - 2, "at " + std::to_string(i - 2)});
    }
    log.sync();
    return texts;
  }

  [[nodiscard]] std::vector<SegmentFile> segments() const { return segments_in(folder_.path()); }

  Folder folder_;
  Draws draws_{7};
};

TEST_F(LogTest, GivesBackWhatWasAppended) {
  for (const std::size_t updates : {0, 1, 40, 3000}) {
    Folder folder;
    std::vector<std::string> texts;
    {
      Draws draws(updates);
      Log log(folder.path(), fingerprint, 0, {.segment_bytes = 2000});
      for (int i = 0; i < 25; ++i) {
        const auto drawn = draws.batch(updates);
        append(log, *drawn);
        texts.push_back(to_text(*drawn));
      }
      EXPECT_EQ(log.last_batch(), 25U);
      log.sync();
    }
    const Read all = read(folder.path());
    EXPECT_EQ(all.batches, texts);
    EXPECT_EQ(all.end.next_batch, 26U);
    EXPECT_EQ(all.end.torn_bytes, 0U);
    EXPECT_EQ(all.end.damage, "");
    EXPECT_GT(segments_in(folder.path()).size(), 2U);
  }
}

TEST_F(LogTest, GivesBackKeysAndAttributes) {
  test::PropertiesDraw properties(3);
  Draws draws(3, properties);
  std::vector<std::string> texts;
  {
    Log log(folder_.path(), fingerprint, 0, {.segment_bytes = 20000, .sync = no_sync});
    for (const std::size_t updates : {1, 7, 300, 2000}) {
      const auto drawn = draws.batch(updates);
      append(log, *drawn);
      texts.push_back(to_text(*drawn));
    }
  }
  EXPECT_THAT(texts[3], testing::AllOf(HasSubstr(" by key "), HasSubstr("true"), HasSubstr("NULL")));
  EXPECT_EQ(read(folder_.path()).batches, texts);
}

TEST_F(LogTest, BeginsWhereItIsAskedTo) {
  const std::vector<std::string> texts = fill(40, 1500);
  ASSERT_GT(segments().size(), 4U);
  for (const std::uint64_t from : {1, 2, 17, 39, 40, 41, 50}) {
    const Read some = read(folder_.path(), {.updates_from = from, .alerts_from = from});
    EXPECT_EQ(some.batches,
              std::vector<std::string>(texts.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(from - 1, 40)),
                                       texts.end()));
    EXPECT_EQ(some.end.next_batch, 41U);
  }
}

TEST_F(LogTest, LeavesOutWhatIsNotWanted) {
  fill(10, 1500);
  LogReader reader(folder_.path(), fingerprint, {.updates_from = 8, .alerts_from = 5});
  std::uint64_t due = 5;
  for (Entry entry{}; (entry = reader.next()) != Entry::end;) {
    if (entry != Entry::batch) continue;
    EXPECT_EQ(reader.batch().mark.batch, due++);
    EXPECT_EQ(reader.batch().updates.empty(), reader.batch().mark.batch < 8);
  }
  EXPECT_EQ(due, 11U);
}

TEST_F(LogTest, SegmentsNameTheirFirstBatch) {
  fill(12, 1);
  const std::vector<SegmentFile> files = segments();
  ASSERT_EQ(files.size(), 12U);
  EXPECT_EQ(files[11].path.filename(), "log-00000000000000000012.dmlog");
}

// A crash may leave any part of the newest segment. The batches before are there, and the log continues after them.
TEST_F(LogTest, EveryTruncationEndsItQuietly) {
  const std::vector<std::string> texts = fill(6, 1U << 20);
  ASSERT_EQ(segments().size(), 1U);
  const std::filesystem::path path = segments()[0].path;
  const std::string sound = read_bytes(path);
  std::size_t longest = 0;
  for (std::size_t size = 0; size <= sound.size(); ++size) {
    for (const bool zeros : {false, true}) {
      write_bytes(path, sound.substr(0, size) + std::string(zeros ? sound.size() - size : 0, '\0'));
      const Read all = read(folder_.path());
      ASSERT_LE(all.batches.size(), texts.size());
      EXPECT_EQ(all.batches,
                std::vector<std::string>(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(all.batches.size())));
      EXPECT_GE(all.batches.size(), longest) << size;
      EXPECT_EQ(all.end.next_batch, all.batches.size() + 1);
      EXPECT_EQ(all.end.damage, "");
      if (zeros) continue;
      longest = all.batches.size();
      EXPECT_LE(all.end.torn_bytes, size);
      if (size % 5 != 0) continue;  // opening syncs the folder, which takes time
      Log log(folder_.path(), fingerprint, longest, {.sync = no_sync});
      EXPECT_EQ(log.dropped_bytes(), all.end.torn_bytes);
      EXPECT_EQ(read(folder_.path()).batches, all.batches);
      EXPECT_EQ(read(folder_.path()).end.torn_bytes, 0U);
    }
    for (const SegmentFile& file : segments()) std::filesystem::remove(file.path);
  }
  EXPECT_EQ(longest, texts.size());
}

TEST_F(LogTest, NoChangedByteIsTakenForTruth) {
  const std::vector<std::string> texts = fill(6, 1U << 20);
  const std::filesystem::path path = segments()[0].path;
  const std::string sound = read_bytes(path);
  for (std::size_t i = 0; i < sound.size(); ++i) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string bytes = sound;
      bytes[i] = static_cast<char>(bytes[i] ^ change);
      write_bytes(path, bytes);
      const Read all = read(folder_.path());
      // The batches that are read are the first ones. If none is missing, the damage is in a later entry about a delivery.
      ASSERT_LE(all.batches.size(), texts.size());
      EXPECT_EQ(all.batches,
                std::vector<std::string>(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(all.batches.size())));
      EXPECT_GT(all.end.torn_bytes, 0U) << "byte " << i;
      EXPECT_EQ(all.end.next_batch, all.batches.size() + 1);
    }
  }
}

TEST_F(LogTest, DamageBeforeSoundSegmentsIsTold) {
  const std::vector<std::string> texts = fill(30, 1500);
  const std::vector<SegmentFile> files = segments();
  ASSERT_GT(files.size(), 4U);
  const std::string sound = read_bytes(files[1].path);
  for (std::size_t i = 0; i < sound.size(); ++i) {
    std::string bytes = sound;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    write_bytes(files[1].path, bytes);
    const Read all = read(folder_.path());
    EXPECT_THAT(all.end.damage, HasSubstr(files[1].path.string()));
    EXPECT_GE(all.end.next_batch, files[1].first);
    EXPECT_LT(all.end.next_batch, files[2].first + 1);
    EXPECT_EQ(all.batches.size(), all.end.next_batch - 1);
  }
  LogReader reader(folder_.path(), fingerprint, everything);
  while (reader.next() != Entry::end) {
  }
  ASSERT_TRUE(reader.skip_damage());
  std::vector<std::string> rest;
  for (Entry entry{}; (entry = reader.next()) != Entry::end;) {
    if (entry == Entry::batch) rest.push_back(to_text(reader.batch()));
  }
  EXPECT_EQ(rest, std::vector<std::string>(texts.begin() + static_cast<std::ptrdiff_t>(files[2].first - 1), texts.end()));
  EXPECT_FALSE(reader.skip_damage());
  // The part after the damage can be read on its own.
  EXPECT_EQ(read(folder_.path(), {files[2].first, files[2].first}).batches, rest);
}

TEST_F(LogTest, MissingBatchesAreDamage) {
  const std::vector<std::string> texts = fill(30, 1500);
  const std::vector<SegmentFile> files = segments();
  std::filesystem::remove(files[2].path);
  Read all = read(folder_.path());
  EXPECT_EQ(all.end.next_batch, files[2].first);
  EXPECT_THAT(all.end.damage, HasSubstr(files[3].path.string()));
  std::filesystem::remove(files[0].path);
  all = read(folder_.path());
  EXPECT_EQ(all.end.next_batch, 1U);
  EXPECT_THAT(all.end.damage, HasSubstr(files[1].path.string()));
  EXPECT_THAT(all.batches, IsEmpty());
  LogReader reader(folder_.path(), fingerprint, everything);
  EXPECT_EQ(reader.next(), Entry::end);
  EXPECT_TRUE(reader.skip_damage());
  EXPECT_NE(reader.next(), Entry::end);
}

TEST_F(LogTest, ASegmentUnderAnotherNameIsNotRead) {
  fill(3, 1U << 20);
  std::filesystem::rename(segments()[0].path, folder_.path() / log_format::segment_name(2));
  EXPECT_THAT(read(folder_.path(), {2, 2}).batches, IsEmpty());
}

TEST_F(LogTest, AnotherConfigurationOrVersionIsRefused) {
  fill(2, 1U << 20);
  const std::string other(32, 'f');
  EXPECT_THAT(refusal([&] { Log(folder_.path(), other, 2); }), HasSubstr("another configuration"));
  LogReader reader(folder_.path(), other, everything);
  EXPECT_THAT(refusal([&] { static_cast<void>(reader.next()); }), HasSubstr("another configuration"));
  const std::filesystem::path path = segments()[0].path;
  std::string bytes = read_bytes(path);
  bytes.replace(0, log_format::head_size, log_format::to_bytes({log_format::version + 1, 1, fingerprint}));
  write_bytes(path, bytes);
  EXPECT_THAT(refusal([&] { Log(folder_.path(), fingerprint, 2); }),
              HasSubstr("version 4, but this program reads versions 1 to 3"));
}

TEST_F(LogTest, OnlyTheNextBatchCanBeAppended) {
  Log log(folder_.path(), fingerprint, 5);
  for (const std::uint64_t number : {0, 5, 7}) {
    CommitPoint mark;
    mark.batch = number;
    EXPECT_THROW(log.append(mark, {}, {}, {}), Error);
  }
  CommitPoint mark;
  mark.batch = 6;
  log.append(mark, {}, {}, {});
  EXPECT_EQ(read(folder_.path(), {6, 6}).end.next_batch, 7U);
}

// Batches that were never committed are dropped. What sinks have received stays known.
TEST_F(LogTest, GoesOnBehindTheLastCommittedBatch) {
  for (const std::uint64_t segment_bytes : {1U, 900U, 1U << 20}) {
    for (std::uint64_t last = 0; last <= 8; ++last) {
      Folder folder;
      std::vector<std::string> texts;
      {
        Draws draws(last);
        Log log(folder.path(), fingerprint, 0, {.segment_bytes = segment_bytes, .sync = no_sync});
        for (std::uint64_t i = 1; i <= 8; ++i) {
          const auto drawn = draws.batch(4);
          append(log, *drawn);
          texts.push_back(to_text(*drawn));
          if (i == 6) log.delivered({"elsewhere", std::min<std::uint64_t>(last, 3), "three"});
        }
        log.delivered({"elsewhere", last, "the end"});  // after what is dropped
      }
      texts.resize(last);
      Draws draws(100);
      {
        Log log(folder.path(), fingerprint, last, {.segment_bytes = segment_bytes, .sync = no_sync});
        EXPECT_EQ(log.last_batch(), last);
        EXPECT_EQ(log.dropped_bytes() > 0, last < 8);
        const Read all = read(folder.path());
        EXPECT_EQ(all.batches, texts);
        EXPECT_EQ(all.end.damage, "");
        EXPECT_EQ(all.end.torn_bytes, 0U);
        ASSERT_TRUE(all.delivered.contains("elsewhere"));
        EXPECT_EQ(all.delivered.at("elsewhere").position, "the end");
      }
      Log log(folder.path(), fingerprint, last, {.segment_bytes = segment_bytes, .sync = no_sync});
      EXPECT_EQ(log.dropped_bytes(), 0U);
      for (std::uint64_t i = 1; i <= 4; ++i) {
        auto drawn = draws.batch(3);
        drawn->mark.batch = last + i;
        append(log, *drawn);
        texts.push_back(to_text(*drawn));
      }
      EXPECT_EQ(read(folder.path()).batches, texts);
    }
  }
}

TEST_F(LogTest, AJumpOfRecoveryBeginsASegment) {
  fill(5, 1U << 20);
  const auto file = segments()[0];
  write_bytes(file.path, read_bytes(file.path) + "torn");
  {
    Log log(folder_.path(), fingerprint, 9);
    CommitPoint mark;
    mark.batch = 10;
    log.append(mark, {}, {}, {});
  }
  ASSERT_EQ(segments().size(), 2U);
  EXPECT_EQ(segments()[1].first, 10U);
  EXPECT_EQ(read(folder_.path()).end.next_batch, 6U);
  EXPECT_NE(read(folder_.path()).end.damage, "");
  EXPECT_EQ(read(folder_.path(), {10, 10}).batches.size(), 1U);
  EXPECT_EQ(Log(folder_.path(), fingerprint, 10).dropped_bytes(), 0U);
}

class SinksTest : public LogTest {
 protected:
  static void append_alert(Log& log, std::initializer_list<std::string> sinks) {
    CommitPoint mark;
    mark.batch = log.last_batch() + 1;
    std::vector<SinkAlerts> alerts;
    for (const std::string& sink : sinks) alerts.push_back({sink, {{"id", "text"}}});
    log.append(mark, {}, {}, alerts);
  }
};

TEST_F(SinksTest, WhatTheyWaitForIsKnown) {
  Log log(folder_.path(), fingerprint, 0);
  EXPECT_EQ(log.undelivered_from(), 1U);
  EXPECT_THAT(log.positions(), IsEmpty());
  append_alert(log, {});
  EXPECT_EQ(log.undelivered_from(), 2U);
  append_alert(log, {"a"});
  EXPECT_EQ(log.undelivered_from(), 2U);
  append_alert(log, {"b"});
  append_alert(log, {"a", "b"});
  EXPECT_EQ(log.undelivered_from(), 2U);
  log.delivered({"a", 2, "a2"});
  EXPECT_EQ(log.undelivered_from(), 3U);
  log.delivered({"b", 3, ""});
  EXPECT_EQ(log.undelivered_from(), 3U);
  EXPECT_THAT(log.positions(), ElementsAre(Delivered{"a", 2, "a2"}, Delivered{"b", 3, ""}));
  log.delivered({"a", 4, "a4"});
  log.delivered({"b", 4, "b4"});
  EXPECT_EQ(log.undelivered_from(), 5U);
  append_alert(log, {});
  EXPECT_THAT(log.positions(), ElementsAre(Delivered{"a", 5, "a4"}, Delivered{"b", 5, "b4"}));
}

// The same after every restart, if segments are dropped as early as possible.
TEST_F(SinksTest, WhatTheyWaitForSurvives) {
  for (const std::uint64_t segment_bytes : {1U, 150U, 1U << 20}) {
    Folder folder;
    std::mt19937 random(3);
    auto log =
        std::make_unique<Log>(folder.path(), fingerprint, 0, LogOptions{.segment_bytes = segment_bytes, .sync = no_sync});
    std::map<std::string, std::uint64_t> waiting;  // the first batch for which each waits
    for (int i = 0; i < 120; ++i) {
      const std::uint64_t next = log->last_batch() + 1;
      switch (random() % 6) {
        case 0:
          append_alert(*log, {"a"});
          waiting.try_emplace("a", next);
          break;
        case 1:
          append_alert(*log, {"a", "b"});
          waiting.try_emplace("a", next);
          waiting.try_emplace("b", next);
          break;
        case 2:
        case 3:
          append_alert(*log, {});
          break;
        case 4: {
          const std::string sink = random() % 3 == 0 ? "b" : "a";
          log->delivered({sink, next - 1, sink + std::to_string(next - 1)});
          waiting.erase(sink);
          break;
        }
        default:
          log->drop_before(LogReader::none);
      }
      std::uint64_t expected = log->last_batch() + 1;
      for (const auto& [sink, batch] : waiting) expected = std::min(expected, batch);
      ASSERT_EQ(log->undelivered_from(), expected);
      const std::vector<Delivered> positions = log->positions();
      log = std::make_unique<Log>(folder.path(), fingerprint, log->last_batch(),
                                  LogOptions{.segment_bytes = segment_bytes, .sync = no_sync});
      ASSERT_EQ(log->undelivered_from(), expected) << i;
      ASSERT_EQ(log->positions(), positions) << i;
      if (expected <= log->last_batch()) {
        const Read rest = read(folder.path(), {LogReader::none, expected});
        ASSERT_EQ(rest.end.damage, "");
        ASSERT_EQ(rest.batches.size(), log->last_batch() + 1 - expected);
      }
    }
  }
}

TEST_F(SinksTest, DroppingKeepsWhatIsWaitedForAndTheNewest) {
  Log log(folder_.path(), fingerprint, 0, {.segment_bytes = 1});
  for (int i = 1; i <= 10; ++i)
    append_alert(log, i == 4 ? std::initializer_list<std::string>{"a"} : std::initializer_list<std::string>{});
  log.drop_before(3);
  EXPECT_EQ(segments().front().first, 3U);
  log.drop_before(8);
  EXPECT_EQ(segments().front().first, 4U);
  log.delivered({"a", 4, "p"});
  log.drop_before(8);
  EXPECT_EQ(segments().front().first, 8U);
  EXPECT_GT(log.bytes(), log.bytes_behind(9));
  EXPECT_GT(log.bytes_behind(9), 0U);
  log.drop_before(LogReader::none);
  EXPECT_EQ(segments().front().first, 10U);
  EXPECT_EQ(segments().size(), 1U);
  append_alert(log, {});
  EXPECT_THAT(log.positions(), ElementsAre(Delivered{"a", 11, "p"}));
}

TEST_F(LogTest, AReaderFollowsAWriter) {
  Log log(folder_.path(), fingerprint, 0, {.segment_bytes = 3000});
  LogReader reader(folder_.path(), fingerprint, everything);
  EXPECT_EQ(reader.next(), Entry::end);
  std::vector<std::string> appended;
  std::vector<std::string> got;
  const auto follow = [&] {
    for (Entry entry{}; (entry = reader.next()) != Entry::end;) {
      if (entry == Entry::batch) got.push_back(to_text(reader.batch()));
    }
    EXPECT_EQ(reader.end().damage, "");
  };
  for (int i = 0; i < 60; ++i) {
    const auto drawn = draws_.batch(10);
    append(log, *drawn);
    appended.push_back(to_text(*drawn));
    if (i % 3 != 0) continue;
    follow();
    EXPECT_EQ(got, appended);
  }
}

TEST_F(LogTest, ThreadsMayAppendReadAndSyncAtOnce) {
  constexpr std::uint64_t count = 200;
  Log log(folder_.path(), fingerprint, 0, {.segment_bytes = 5000});
  std::vector<std::string> appended;
  std::atomic<bool> done = false;
  std::thread deliverer([&] {
    for (std::uint64_t i = 0; !done; ++i) {
      log.delivered({"file", log.last_batch(), std::to_string(i)});
      if (i % 16 == 0) log.sync();
    }
  });
  std::vector<std::string> got;
  std::thread reading([&] {
    LogReader reader(folder_.path(), fingerprint, everything);
    while (got.size() < count) {
      const Entry entry = reader.next();
      if (entry == Entry::batch) got.push_back(to_text(reader.batch()));
      if (entry == Entry::end) {
        ASSERT_EQ(reader.end().damage, "");
      }
    }
  });
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto drawn = draws_.batch(6);
    append(log, *drawn);
    appended.push_back(to_text(*drawn));
    if (i % 10 == 0) log.sync();
  }
  done = true;
  deliverer.join();
  reading.join();
  EXPECT_EQ(got, appended);
  EXPECT_EQ(read(folder_.path()).batches, appended);
}

/// Limits the size of files to `bytes` while it lives.
class FileLimit {
 public:
  explicit FileLimit(std::uint64_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(LogTest, AFullDiskLeavesItAsItWas) {
  std::vector<std::string> texts;
  Log log(folder_.path(), fingerprint, 0, {.segment_bytes = 4000});
  for (int i = 0; i < 5; ++i) {
    const auto drawn = draws_.batch(5);
    append(log, *drawn);
    texts.push_back(to_text(*drawn));
  }
  const std::uint64_t before = log.bytes();
  const auto large = draws_.batch(2000);
  const auto positions = log.positions();
  {
    const FileLimit limit(before + 60);
    EXPECT_THAT(refusal([&] { append(log, *large); }), AllOf(HasSubstr(folder_.path().string()), HasSubstr("free some space")));
    EXPECT_EQ(log.bytes(), before);
    EXPECT_EQ(log.last_batch(), 5U);
    EXPECT_EQ(log.positions(), positions);
    EXPECT_THAT(
        refusal([&] { log.delivered({"file", 5, "a place that is told in more than sixty letters, none like another"}); }),
        HasSubstr("free some space"));
    EXPECT_EQ(log.bytes(), before);
    log.delivered({"hook", 3, "fits"});
    EXPECT_EQ(read(folder_.path()).batches, texts);
  }
  append(log, *large);  // there is space again
  texts.push_back(to_text(*large));
  log.sync();
  {
    const FileLimit limit(10);  // not even a new segment
    auto drawn = draws_.batch(1);
    EXPECT_NE(refusal([&] { append(log, *drawn); }), "");
    EXPECT_EQ(segments().size(), 1U);
  }
  EXPECT_EQ(read(folder_.path()).batches, texts);
  EXPECT_EQ(read(folder_.path()).end.torn_bytes, 0U);
}

TEST_F(LogTest, AFullFileSystemLeavesItAsItWas) {
  if (::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=256k") != 0)
    GTEST_SKIP() << "cannot mount a small file system";
  struct Mounted {
    const std::filesystem::path& path;
    ~Mounted() { ::umount2(path.c_str(), MNT_DETACH); }
  } const mounted{folder_.path()};
  Log log(folder_.path(), fingerprint, 0);
  std::vector<std::string> texts;
  std::string refused;
  while (refused.empty() && texts.size() < 1000) {
    const auto drawn = draws_.batch(500);
    refused = refusal([&] { append(log, *drawn); });
    if (refused.empty()) texts.push_back(to_text(*drawn));
  }
  EXPECT_THAT(refused, HasSubstr("No space left on device"));
  EXPECT_EQ(log.last_batch(), texts.size());
  EXPECT_EQ(read(folder_.path()).batches, texts);
  EXPECT_EQ(read(folder_.path()).end.torn_bytes, 0U);
}

int failing_sync(int) {
  errno = EIO;
  return -1;
}

TEST_F(LogTest, AFailedSyncIsFinal) {
  {
    static int calls = 0;
    calls = 0;
    const auto third_fails = [](int descriptor) { return ++calls < 3 ? ::fdatasync(descriptor) : failing_sync(descriptor); };
    Log log(folder_.path(), fingerprint, 0, {.sync = third_fails});
    append(log, *draws_.batch(3));
    log.sync();
    append(log, *draws_.batch(3));
    EXPECT_THAT(refusal([&] { log.sync(); }), HasSubstr("cannot be synced: Input/output error"));
    EXPECT_EQ(calls, 3);
    EXPECT_THAT(refusal([&] { log.sync(); }), HasSubstr("cannot be synced: Input/output error"));
    EXPECT_EQ(calls, 3);
    EXPECT_NE(refusal([&] { append(log, *draws_.batch(3)); }), "");
    EXPECT_NE(refusal([&] { log.delivered({"file", 1, ""}); }), "");
  }
  EXPECT_THAT(refusal([&] { Log(folder_.path(), fingerprint, 1, {.sync = failing_sync}); }), HasSubstr("cannot be synced"));
}

TEST_F(LogTest, AFailedSyncOfAFullSegmentIsFinal) {
  static bool fails = false;
  fails = false;
  const auto sync = [](int descriptor) { return fails ? failing_sync(descriptor) : ::fdatasync(descriptor); };
  Log log(folder_.path(), fingerprint, 0, {.segment_bytes = 1, .sync = sync});
  append(log, *draws_.batch(3));
  fails = true;
  const auto drawn = draws_.batch(3);
  EXPECT_THAT(refusal([&] { append(log, *drawn); }), HasSubstr("cannot be synced"));
  fails = false;
  EXPECT_THAT(refusal([&] { append(log, *drawn); }), HasSubstr("cannot be synced"));
  EXPECT_EQ(segments().size(), 1U);
}

// A short file cannot claim much memory. Data that would unpack to more than 256 times its length is not packed, and is refused
// when unpacked.
TEST_F(LogTest, RepetitionIsPackedOnlySoFar) {
  const std::string text(std::size_t{1} << 20, 'x');
  {
    Log log(folder_.path(), fingerprint, 0);
    CommitPoint mark;
    mark.batch = 1;
    const std::vector<SinkAlerts> alerts{{"a", {{"", text}}}};
    log.append(mark, {}, {}, alerts);
  }
  LogReader reader(folder_.path(), fingerprint, everything);
  ASSERT_EQ(reader.next(), Entry::batch);
  EXPECT_EQ(reader.batch().alerts.at(0).alerts.at(0).text, text);
  EXPECT_GE(std::filesystem::file_size(segments()[0].path), text.size() / log_format::max_ratio);
}

/// The alerts of a sink, handed out one by one.
StreamedAlerts streamed(std::string sink, bool in_transaction, std::size_t count, std::size_t length = 100) {
  return {std::move(sink), in_transaction, count, [count, length](const auto& take) {
            for (std::size_t i = 0; i < count; ++i) take(std::to_string(i) + std::string(length, 'x'));
          }};
}

std::vector<std::string> stream_of(const std::filesystem::path& folder, std::uint64_t batch, std::string_view sink,
                                   std::size_t up_to = SIZE_MAX) {
  std::vector<std::string> alerts;
  for_each_streamed(folder, fingerprint, batch, sink, [&](std::string_view alert) {
    if (alerts.size() == up_to) return false;
    alerts.emplace_back(alert);
    return true;
  });
  return alerts;
}

void append_streamed(Log& log, std::uint64_t batch, std::vector<StreamedAlerts> alerts) {
  CommitPoint mark;
  mark.batch = batch;
  log.append(mark, {}, {}, {}, alerts);
}

// More than a piece of each, so that a reader finds them in parts and holds one part at a time.
TEST_F(LogTest, StreamedAlertsComeBackByBatchAndSink) {
  Log log(folder_.path(), fingerprint, 0);
  append_streamed(log, 1, {streamed("file", false, 30'000)});
  append_streamed(log, 2, {streamed("topic", true, 25'000), streamed("file", false, 20'000)});
  const auto all = stream_of(folder_.path(), 1, "file");
  ASSERT_EQ(all.size(), 30'000U);
  EXPECT_EQ(all.back(), "29999" + std::string(100, 'x'));
  EXPECT_EQ(stream_of(folder_.path(), 2, "topic").size(), 25'000U);
  EXPECT_EQ(stream_of(folder_.path(), 2, "file").size(), 20'000U);
  EXPECT_THAT(stream_of(folder_.path(), 2, "file", 2), ElementsAre("0" + std::string(100, 'x'), "1" + std::string(100, 'x')));
  EXPECT_THAT(stream_of(folder_.path(), 2, "hook"), IsEmpty());
  LogReader reader(folder_.path(), fingerprint, {.updates_from = 0, .alerts_from = 0, .pieces = true});
  std::size_t most = 0;
  for (Entry entry{}; (entry = reader.next()) != Entry::end;) {
    if (entry != Entry::piece) continue;
    std::size_t bytes = 0;
    for (const std::string_view alert : reader.piece().alerts) bytes += alert.size();
    most = std::max(most, bytes);
  }
  EXPECT_GT(most, 0U);
  EXPECT_LE(most, std::size_t{1} << 20);
}

TEST_F(LogTest, StreamedAlertsThatNobodyElseWaitsForHoldNothing) {
  Log log(folder_.path(), fingerprint, 0);
  append_streamed(log, 1, {streamed("topic", true, 10)});
  EXPECT_EQ(log.undelivered_from(), 2U);
  EXPECT_THAT(log.positions(), IsEmpty());
  append_streamed(log, 2, {streamed("topic", true, 10), streamed("file", false, 10)});
  EXPECT_EQ(log.undelivered_from(), 2U);
  log.delivered({"file", 2, "there"});
  EXPECT_EQ(log.undelivered_from(), 3U);
}

// A crash within the pieces, or a disk that is full there, leaves the state before.
TEST_F(LogTest, ABatchOfStreamedAlertsIsThereWholeOrNotAtAll) {
  std::uint64_t first = 0;
  {
    Log log(folder_.path(), fingerprint, 0);
    append_streamed(log, 1, {streamed("file", false, 5)});
    first = log.bytes();
    append_streamed(log, 2, {streamed("file", false, 30'000, 200)});
    EXPECT_EQ(refusal([&] {
                append_streamed(log, 3, {{"file", false, 2, [](const auto& take) {
                                            for (int i = 0; i < 2'000; ++i) take(std::string(1000, 'y'));
                                            throw Error("disk", "is full");
                                          }}});
              }),
              "disk: is full");
    append_streamed(log, 3, {streamed("file", false, 7)});
    EXPECT_EQ(stream_of(folder_.path(), 3, "file").size(), 7U);
  }
  const std::string whole = read_bytes(segments()[0].path);
  for (std::size_t at = first; at < whole.size(); at += whole.size() / 37) {
    write_bytes(segments()[0].path, whole.substr(0, at));
    LogReader reader(folder_.path(), fingerprint, everything);
    std::uint64_t last = 0;
    while (reader.next() == Entry::batch) last = reader.batch().mark.batch;
    EXPECT_GE(last, 1U);
    Log log(folder_.path(), fingerprint, 1);
    EXPECT_EQ(log.bytes(), first);
    append_streamed(log, 2, {streamed("file", false, 3)});
    EXPECT_EQ(stream_of(folder_.path(), 2, "file").size(), 3U) << at;
  }
}

TEST_F(LogTest, UpdatesOfALaterVersionAreRefusedByName) {
  CommitPoint mark;
  mark.batch = 1;
  std::string updates("\0\1", 2);  // no watermark, one update
  encoding::ByteWriter writer(updates);
  put_run(writer, encoding::Run{{UpdateKind::insert_edge, std::uint64_t{1} << 11}, 1});
  std::string payload(1, static_cast<char>(log_format::Kind::batch));
  encoding::put_text(payload, to_json(mark));
  encoding::put_text(payload, updates);
  encoding::put_text(payload, std::string_view("\0", 1));
  std::string bytes = log_format::to_bytes({log_format::version, 1, fingerprint});
  log_format::Packer().pack(payload, bytes.size(), "", bytes);
  write_bytes(folder_.path() / log_format::segment_name(1), bytes);
  LogReader reader(folder_.path(), fingerprint, {1, 1});
  EXPECT_THAT(
      refusal([&] { static_cast<void>(reader.next()); }),
      HasSubstr("a logged update cannot be read: it has the field 0x800, which this version does not read; go on with"));
}

}  // namespace
}  // namespace deltamatch::ingest

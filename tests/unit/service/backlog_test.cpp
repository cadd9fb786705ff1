// Streamed alerts, read from the log.
#include "ingest/service/loop/backlog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "ingest/service/state/log_segment.hpp"
#include "unit/state/support.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t count = 30'000;  // more than a piece

std::string text_of(std::size_t number) { return std::to_string(number) + std::string(100, 'x'); }

class LoggedStreamTest : public testing::Test {
 protected:
  LoggedStreamTest() {
    Log log(directory_.path(), directory_.fingerprint(), 0);
    CommitPoint mark;
    mark.batch = 1;
    const StreamedAlerts alerts{"topic", true, count, [](const auto& take) {
                                  for (std::size_t i = 0; i < count; ++i) take(text_of(i));
                                }};
    log.append(mark, {}, {}, {}, std::span(&alerts, 1));
    log.sync();
  }

  [[nodiscard]] AlertList list() const { return logged_stream(directory_, 1, "topic", count); }

  /// Reads that many alerts from the cursor on, and compares them with those logged. Returns how many there were.
  static std::size_t read(const AlertList& list, AlertCursor& cursor, std::size_t most) {
    std::size_t number = 0;
    list.read(cursor, [&, first = cursor.alerts](std::string_view alert) {
      if (number == most) return false;
      EXPECT_EQ(alert, text_of(first + number));
      ++number;
      return true;
    });
    return number;
  }

  Folder folder_;
  TestJournal journal_;
  StateDirectory directory_{folder_.path() / "state", {.application = "test", .topics = {"edges"}}, journal_};
};

TEST_F(LoggedStreamTest, IsReadInParts) {
  const AlertList alerts = list();
  AlertCursor cursor;
  while (read(alerts, cursor, 1000) != 0) {
  }
  EXPECT_EQ(cursor.alerts, count);
}

TEST_F(LoggedStreamTest, ACursorThatStandsBeforeBeginsAnew) {
  const AlertList alerts = list();
  AlertCursor cursor;
  EXPECT_EQ(read(alerts, cursor, 20'000), 20'000U);
  AlertCursor before = cursor;
  EXPECT_EQ(read(alerts, cursor, 5'000), 5'000U);  // as after a transaction that was aborted
  EXPECT_EQ(read(alerts, before, count), 10'000U);
  EXPECT_EQ(read(alerts, cursor, count), 5'000U);
  AlertCursor beginning;
  EXPECT_EQ(read(alerts, beginning, count), count);
}

TEST_F(LoggedStreamTest, APartIsReadFromWhereTheOneBeforeEnded) {
  const AlertList alerts = list();
  AlertCursor cursor;
  EXPECT_EQ(read(alerts, cursor, 10), 10U);
  for (const SegmentFile& segment : segments_in(directory_.path())) std::filesystem::remove(segment.path);
  EXPECT_EQ(read(alerts, cursor, count), count - 10) << "the log was opened anew";
  EXPECT_EQ(read(alerts, cursor, count), 0U);
}

TEST(Backlog, CountsTheBatchesThatASinkMayStillGet) {
  const Folder folder;
  TestJournal journal;
  const StateDirectory directory(folder.path() / "state", {.application = "test", .topics = {"edges"}}, journal);
  Log log(directory.path(), directory.fingerprint(), 0);
  for (std::uint64_t batch = 1; batch <= 5; ++batch) {
    CommitPoint mark;
    mark.batch = batch;
    SinkAlerts alerts{"out", {}};
    alerts.alerts.push_back({"0123456789abcdef0123456789abcdef", "alert"});
    log.append(mark, {}, {}, std::span(&alerts, 1), {});
  }
  log.delivered({"out", 2, ""});
  log.sync();
  ServiceOptions options;
  options.sinks.resize(1);
  options.sinks[0].name = "out";
  options.sinks[0].kind = SinkOptions::Kind::file;
  options.sinks[0].path = folder.path() / "out.jsonl";
  const std::vector<DeliveryTarget> targets = delivery_targets(options, directory, log, 5, journal);
  ASSERT_EQ(targets.size(), 1U);
  EXPECT_EQ(targets[0].backlog.from, 3U);
  EXPECT_EQ(targets[0].backlog.up_to, 5U);
  EXPECT_EQ(targets[0].backlog.batches, 3U);  // so /status never says that all is delivered before it is
}

}  // namespace
}  // namespace deltamatch::ingest

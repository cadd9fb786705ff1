// Streamed alerts, read from the log.
#include "ingest/service/loop/backlog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "ingest/service/loop/lost_alerts.hpp"
#include "ingest/service/state/delivery_note.hpp"
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

/// A log of ten batches, each with an alert for a webhook and for a file.
class NotedTest : public testing::Test {
 protected:
  NotedTest() {
    options_.sinks.resize(2);
    options_.sinks[0].name = "web";
    options_.sinks[0].kind = SinkOptions::Kind::webhook;
    options_.sinks[0].url = "http://127.0.0.1:9/";
    options_.sinks[1].name = "file";
    options_.sinks[1].kind = SinkOptions::Kind::file;
    options_.sinks[1].path = folder_.path() / "file.jsonl";
  }

  void append(Log& log, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t batch = first; batch <= last; ++batch) {
      CommitPoint mark;
      mark.batch = batch;
      std::vector<SinkAlerts> alerts{{"web", {}}, {"file", {}}};
      for (SinkAlerts& sink : alerts) sink.alerts.push_back({"0123456789abcdef0123456789abcdef", "alert"});
      log.append(mark, {}, {}, alerts, {});
    }
    log.sync();
  }
  LostAlerts lost(const Log& log, const std::optional<DeliveryNote>& note) {
    return find_lost_alerts(options_, directory_, log, note, 10);
  }
  static std::uint64_t position(const Log& log, const std::string& sink) {
    for (const Delivered& at : log.positions()) {
      if (at.sink == sink) return at.batch;
    }
    return UINT64_MAX;
  }

  Folder folder_;
  TestJournal journal_;
  StateDirectory directory_{folder_.path() / "state", {.application = "test", .topics = {"edges"}}, journal_};
  ServiceOptions options_;
};

TEST_F(NotedTest, AWholeLogLacksNothing) {
  Log log(directory_.path(), directory_.fingerprint(), 0);
  append(log, 1, 10);
  EXPECT_FALSE(lost(log, std::nullopt).any());
  for (const std::uint64_t noted : {0, 5, 10}) EXPECT_FALSE(lost(log, DeliveryNote{10, {{"web", noted}}}).any()) << noted;
}

TEST_F(NotedTest, WhatALostLogHeldIsKnown) {
  const Log log(directory_.path(), directory_.fingerprint(), 10);
  EXPECT_FALSE(lost(log, std::nullopt).any()) << "without a note nothing is known";
  EXPECT_EQ(lost(log, DeliveryNote{10, {{"web", 4}}}).from, 5U);
  EXPECT_EQ(lost(log, DeliveryNote{10, {{"web", 4}}}).delivered, (std::map<std::string, std::uint64_t>{{"web", 4}}));
  EXPECT_FALSE(lost(log, DeliveryNote{10, {{"web", 10}}}).any());
  EXPECT_FALSE(lost(log, DeliveryNote{10, {}}).any()) << "a sink that is not named never had an alert";
  EXPECT_EQ(lost(log, DeliveryNote{8, {}}).from, 9U) << "the note does not speak of the last batches";
}

TEST_F(NotedTest, ALogThatBeginsLaterHasWhatWaits) {
  Log log(directory_.path(), directory_.fingerprint(), 6);
  append(log, 7, 10);
  EXPECT_FALSE(lost(log, DeliveryNote{10, {{"web", 6}}}).any());
}

TEST_F(NotedTest, TheLogTakesOverWhatItDoesNotKnow) {
  {
    Log log(directory_.path(), directory_.fingerprint(), 0);
    append(log, 1, 10);
    log.delivered({"web", 3, "7"});
    settle_sinks(options_, directory_, log, 10, journal_, DeliveryNote{10, {{"web", 8}}});
    EXPECT_EQ(position(log, "web"), 8U) << "another instance has delivered more";
    settle_sinks(options_, directory_, log, 10, journal_, DeliveryNote{10, {{"web", 2}}});
    EXPECT_EQ(position(log, "web"), 8U) << "the log knows more than the note";
    EXPECT_EQ(position(log, "file"), 0U) << "a file is each instance's own";
  }
  EXPECT_THAT(journal_.told("alerts"), testing::IsEmpty());
}

TEST_F(NotedTest, ALostLogWithAllDeliveredIsNotReported) {
  Log log(directory_.path(), directory_.fingerprint(), 10);
  options_.sinks.pop_back();
  settle_sinks(options_, directory_, log, 10, journal_, DeliveryNote{10, {{"web", 10}}});
  EXPECT_THAT(journal_.told("alerts"), testing::IsEmpty());
  EXPECT_EQ(position(log, "web"), 10U);
}

TEST_F(NotedTest, WhatIsLostIsReportedFromTheNotedBatchOn) {
  Log log(directory_.path(), directory_.fingerprint(), 10);
  options_.sinks.pop_back();
  settle_sinks(options_, directory_, log, 10, journal_, DeliveryNote{10, {{"web", 4}}});
  ASSERT_EQ(journal_.told("alerts").size(), 1U);
  EXPECT_THAT(journal_.told("alerts")[0], testing::AllOf(testing::HasSubstr("from=5"), testing::HasSubstr("to=10")));
}

TEST(DeliveryNotes, AreReadAsTheyWereWritten) {
  const DeliveryNote note{500, {{"pager", 479}, {"a\"b", 500}}};
  EXPECT_EQ(to_json(note), R"({"v":1,"delivered":{"a\"b":500,"pager":479},"up_to":500})");
  EXPECT_EQ(parse_note(to_json(note), "here"), note);
  EXPECT_EQ(note.of("pager"), 479U);
  EXPECT_EQ(note.of("other"), 500U);
  for (const char* other :
       {"", "{}", R"({"v":1,"batch":1})", R"({"v":1,"published":{},"mark":{}})", R"({"v":2,"delivered":{}})"})
    EXPECT_EQ(parse_note(other, "here"), std::nullopt) << other;
  for (const char* damaged :
       {R"({"v":1,"delivered":{"a":1})", R"({"v":1,"delivered":[1],"up_to":1})", R"({"v":1,"delivered":{"a":"x"},"up_to":1})"})
    EXPECT_THROW(static_cast<void>(parse_note(damaged, "here")), Error) << damaged;
}

}  // namespace
}  // namespace deltamatch::ingest

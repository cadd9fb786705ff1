#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "ingest/service/loop/spdlog_journal.hpp"
#include "unit/ingest/support.hpp"

namespace deltamatch::ingest {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

std::string told(const LoggingOptions& options, const std::function<void(Journal&)>& tell) {
  std::ostringstream out;
  tell(*make_journal(options, out));
  return out.str();
}

TEST(JournalTest, TextForPeople) {
  const std::string text = told({}, [](Journal& journal) {
    journal.tell(Level::info, "batch committed", {{"batch", "17"}, {"updates", "800"}});
    journal.tell(Level::error, "stopped");
  });
  const std::string time = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z";
  EXPECT_THAT(text, MatchesRegex(time + " info  batch committed batch=17 updates=800\n" + time + " error stopped\n"));
}

TEST(JournalTest, TimesAreInUtc) {
  const std::string text = told({}, [](Journal& journal) { journal.tell(Level::info, "x"); });
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 16> hour;
  std::strftime(hour.data(), hour.size(), "%Y-%m-%dT%H", &utc);
  EXPECT_EQ(text.substr(0, 13), hour.data());
}

TEST(JournalTest, AnEventNeverSpansLines) {
  const std::string text = told({}, [](Journal& journal) {
    journal.tell(Level::warn, "odd\nevent", {{"a b", "x\ny"}, {"empty", ""}, {"quote", "say \"so\""}, {"path", "/a/b:c"}});
  });
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
  EXPECT_THAT(text, HasSubstr(R"( warn  "odd\nevent" "a b"="x\ny" empty="" quote="say \"so\"" path=/a/b:c)"));
}

TEST(JournalTest, JsonLines) {
  const std::string text = told({"trace", true}, [](Journal& journal) {
    for (const Level level : {Level::trace, Level::debug, Level::info, Level::warn, Level::error})
      journal.tell(level, "a \"b\"", {{"k\ne", "v\\\x01\xc3\xa9{}%"}});
  });
  std::istringstream lines(text);
  std::vector<std::string> levels;
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json.size(), 4u);
    EXPECT_THAT(json.at("time").get<std::string>(), MatchesRegex("....-..-..T..:..:..\\....Z"));
    EXPECT_EQ(json.at("event"), "a \"b\"");
    EXPECT_EQ(json.at("k\ne"), "v\\\x01\xc3\xa9{}%");
    levels.push_back(json.at("level"));
  }
  EXPECT_THAT(levels, ::testing::ElementsAre("trace", "debug", "info", "warn", "error"));
}

TEST(JournalTest, BytesThatAreNoTextStayTellable) {
  const std::string text = told({"info", true}, [](Journal& journal) { journal.tell(Level::info, "x", {{"bytes", "a\xff"}}); });
  EXPECT_THAT(text, HasSubstr(R"("bytes":"a\udcff")"));
}

TEST(JournalTest, TheLevelCounts) {
  const std::string text = told({"warn", false}, [](Journal& journal) {
    journal.tell(Level::info, "quiet");
    journal.tell(Level::warn, "loud");
  });
  EXPECT_EQ(text.find("quiet"), std::string::npos);
  EXPECT_THAT(text, HasSubstr("loud"));
  EXPECT_THAT(testing::error_of([] { static_cast<void>(make_journal({"warning", false})); }),
              HasSubstr("'warning' is not a level"));
}

TEST(JournalTest, ThreadsDoNotMixTheirLines) {
  const std::string text = told({}, [](Journal& journal) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int j = 0; j < 100; ++j) journal.tell(Level::info, "event", {{"value", std::string(300, 'v')}});
      });
    for (std::thread& thread : threads) thread.join();
  });
  std::istringstream lines(text);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_EQ(line.size(), std::string("2026-11-21T19:00:00.000Z info  event value=").size() + 300);
  EXPECT_EQ(count, 400u);
}

TEST(JournalTest, GoesToStandardError) {
  ::testing::internal::CaptureStderr();
  make_journal({})->tell(Level::info, "here");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("info  here\n"));
}

TEST(JournalTest, AStreamThatFailsIsNotTheServicesEnd) {
  std::ostringstream out;
  out.exceptions(std::ios::badbit);
  out.setstate(std::ios::goodbit);
  const auto journal = make_journal({}, out);
  out.exceptions(std::ios::goodbit);
  out.setstate(std::ios::badbit);
  journal->tell(Level::info, "lost");
  EXPECT_EQ(out.str(), "");
}

TEST(JournalTest, RepeatsOfErrorsAreLeftOutAndCounted) {
  const auto fail = [](Journal& journal) {
    for (int i = 0; i < 5; ++i) {
      journal.tell(Level::error, "delivery failed", {{"sink", "pager"}, {"try", std::to_string(i)}});
      journal.tell(Level::error, "delivery failed", {{"sink", "mail"}});
      journal.tell(Level::info, "running");
    }
  };
  const std::string text = told({}, fail);
  const auto count = [](const std::string& lines, const std::string& word) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = lines.find(word, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count(text, "error delivery failed sink=pager try=0\n"), 1u) << text;
  EXPECT_EQ(count(text, "error delivery failed"), 2u) << "one for each sink: " << text;
  EXPECT_EQ(count(text, "info  running"), 5u) << text;
  EXPECT_EQ(count(text, "info  repeats were left out left_out=4 of=\"delivery failed\" sink=pager try=0\n"), 1u) << text;
  EXPECT_EQ(count(text, "info  repeats were left out left_out=4 of=\"delivery failed\" sink=mail\n"), 1u) << text;
  EXPECT_EQ(count(told({"debug", false}, fail), "error delivery failed"), 10u) << "who debugs gets all";
  EXPECT_EQ(count(told({"warn", false}, fail), "repeats"), 0u) << "a note, and no warning";
}

}  // namespace
}  // namespace deltamatch::ingest

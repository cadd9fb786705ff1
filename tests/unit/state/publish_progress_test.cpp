#include "ingest/service/state/publish_progress.hpp"

#include <gtest/gtest.h>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {
namespace {

TEST(PublishProgress, SurvivesItsText) {
  BatchProgress progress;
  progress.mark.batch = 18;
  progress.mark.queries = {{"again", "00ff"}, {"wide", "12"}};
  progress.published = {{"alerts", 250'000}};
  progress.queries = {"wide", "again"};
  const std::string text = to_json(progress);
  EXPECT_EQ(text.substr(0, text.find("\"mark\"")), R"({"v":1,"published":{"alerts":250000},"queries":["wide","again"],)");
  EXPECT_EQ(parse_progress(text, "here"), progress) << "the order of the queries is not that of the mark";
}

TEST(PublishProgress, ThatOfAnOlderReleaseNamesNoQueries) {
  const auto progress = parse_progress(
      R"({"v":1,"published":{"a":2},"mark":{"v":1,"batch":3,"time":null,"ends":{},"queries":{"q":"12"}}})", "here");
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->mark.batch, 3U);
  EXPECT_TRUE(progress->queries.empty());
}

TEST(PublishProgress, OtherRecordsAreNoneAndDamagedOnesAreNamed) {
  EXPECT_FALSE(parse_progress(R"({"v":1,"batch":3})", "here"));
  EXPECT_FALSE(parse_progress("", "here"));
  for (const char* damaged : {R"({"v":1,"published":{"a":2})", R"({"v":1,"published":[],"mark":{}})"})
    EXPECT_THROW(static_cast<void>(parse_progress(damaged, "here")), Error) << damaged;
}

}  // namespace
}  // namespace deltamatch::ingest

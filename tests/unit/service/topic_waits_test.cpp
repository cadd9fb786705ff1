#include "ingest/service/loop/topic_waits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Keeps each event with its topic.
class Events final : public Journal {
 public:
  void tell(Level /*level*/, std::string_view event, std::initializer_list<Field> fields) noexcept override {
    all.push_back(std::string(event) + ' ' + fields.begin()->value);
    for (const Field& field : fields) {
      if (std::string_view(field.key) == "remedy") remedy = field.value;
    }
  }
  std::vector<std::string> all;
  std::string remedy;
};

TEST(TopicWaits, SaysOnceAMinuteWhichTopicsAreNotThere) {
  Events events;
  TopicWaits waits(events, "create");
  const TopicWaits::Clock::time_point start{};
  waits.note({}, start);
  EXPECT_EQ(waits.why(), "");
  waits.note({"payments"}, start);
  EXPECT_EQ(waits.why(), "waiting for topics of the input that do not exist: payments; create them, or correct input.topics");
  waits.note({"payments", "cards"}, start + 1s);
  EXPECT_EQ(waits.count(), 2U);
  EXPECT_THAT(events.remedy, HasSubstr("create --topic cards, or"));
  EXPECT_THAT(waits.why(), HasSubstr(": cards, payments;"));
  waits.note({"payments", "cards"}, start + 59s);
  EXPECT_THAT(events.all, ElementsAre("input_topic_waiting payments", "input_topic_waiting cards"));
  waits.note({"payments", "cards"}, start + 60s);
  EXPECT_EQ(events.all.size(), 3U);
  waits.note({"cards"}, start + 60s);
  EXPECT_EQ(events.all.back(), "input_topic_found payments");
  waits.note({}, start + 60s);
  EXPECT_EQ(waits.why(), "");
  EXPECT_EQ(waits.count(), 0U);
}

}  // namespace
}  // namespace deltamatch::ingest

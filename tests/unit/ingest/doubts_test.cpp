// The warnings about doubtful readings, and that they take bounded memory and time.
#include "ingest/codec/doubts.hpp"

#include <random>

#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Timestamp second = 1'000'000;
constexpr Timestamp in_2023 = 1'700'000'000 * second;
constexpr Timestamp day = 86'400 * second;

Doubts of_times(const std::vector<Timestamp>& times, TimeUnit unit = TimeUnit::seconds) {
  Doubts doubts;
  doubts.reads_times_as(unit);
  std::uint64_t line = 1;
  for (const Timestamp time : times) {
    doubts.at({++line, 0});
    doubts.number_as_time(time, false);
  }
  return doubts;
}

std::vector<std::string> codes(const std::vector<Doubts::Doubt>& doubts) {
  std::vector<std::string> found;
  for (const Doubts::Doubt& doubt : doubts) found.push_back(doubt.code);
  return found;
}

TEST(Doubts, TheMedianOfALongInputIsThatOfItsWhole) {
  for (const int percent : {40, 60}) {  // of plausible times, mixed
    std::mt19937 random(1);
    std::vector<Timestamp> times;
    for (int i = 0; i < 500'000; ++i) {
      times.push_back(static_cast<int>(random() % 100) < percent ? in_2023 + i : 1 + i % 1000);
    }
    EXPECT_EQ(codes(of_times(times).all(0)).size(), percent < 50 ? 1u : 0u);
  }
  // In blocks, the end must count as much as the beginning.
  for (const int percent : {40, 60}) {
    std::vector<Timestamp> times;
    for (int i = 0; i < 100'000; ++i) times.push_back(i < percent * 1000 ? 1000 * in_2023 : in_2023);
    EXPECT_THAT(codes(of_times(times).all(0)), ElementsAre("mixed_times"));
  }
}

TEST(Doubts, OneInAHundredInAnotherUnitIsEnoughToBeDoubtful) {
  for (const int one_in : {2, 16, 50, 200}) {  // however they take turns
    std::vector<Timestamp> times;
    for (int i = 0; i < 200'000; ++i) times.push_back(i % one_in == one_in - 1 ? 1000 * in_2023 : in_2023 + i);
    const auto doubts = of_times(times).all(0);
    EXPECT_EQ(doubts.size(), one_in < 100 ? 1u : 0u);
    if (doubts.empty()) continue;
    EXPECT_EQ(doubts[0].code, "mixed_times");
    EXPECT_NEAR(static_cast<double>(doubts[0].count), 200'000.0 / one_in, 8000);  // of a sample
  }
}

TEST(Doubts, OneTimeIsEnoughToBeDoubtful) {
  EXPECT_THAT(codes(of_times({1000 * in_2023}).all(0)), ElementsAre("time_unit"));
  EXPECT_THAT(codes(of_times({5}).all(day)), ElementsAre("time_unit"));
  EXPECT_THAT(codes(of_times({5}).all(0)), IsEmpty());
  EXPECT_THAT(codes(of_times({}).all(day)), IsEmpty());
}

TEST(Doubts, BoundsOfWhatIsPlausible) {
  const Timestamp in_1990 = 631'152'000 * second;
  const Timestamp in_2100 = 4'102'444'800 * second;
  EXPECT_THAT(codes(of_times({in_1990}).all(day)), IsEmpty());
  EXPECT_THAT(codes(of_times({in_1990 - 1}).all(day)), ElementsAre("time_unit"));
  EXPECT_THAT(codes(of_times({in_2100 - 1}).all(day)), IsEmpty());
  EXPECT_THAT(codes(of_times({in_2100}).all(0)), ElementsAre("time_unit"));
  EXPECT_THAT(codes(of_times({-1'000'000 * day, 0, 1'000'000 * day}).all(0)), ElementsAre("time_unit"));  // centuries
}

TEST(Doubts, RemediesNameOptionsAsTheInputHasThem) {
  Doubts command({.prefix = "graph-", .in_configuration = false});
  Doubts configuration({.prefix = "", .in_configuration = true});
  for (Doubts* doubts : {&command, &configuration}) {
    doubts->reads_times_as(TimeUnit::seconds);
    doubts->number_as_time(1000 * in_2023, false);
  }
  EXPECT_THAT(command.all(0)[0].remedy, HasSubstr("--graph-time-unit ms"));
  EXPECT_THAT(configuration.all(0)[0].remedy, HasSubstr("time_unit: ms"));
  EXPECT_EQ(configuration.spelling()("columns", "source,target,-"), "columns: [source,target,-]");
  EXPECT_EQ(configuration.spelling()("columns", "op=action,source=a"), "columns: {op: action, source: a}");
  EXPECT_EQ(configuration.spelling()("header", "no"), "header: false");
  EXPECT_EQ(command.spelling()("header", "no"), "--graph-header no");
}

TEST(Doubts, EachCodeIsToldOnceWithItsFirstPlaceAndACount) {
  Doubts doubts;
  for (std::uint64_t line = 7; line < 10; ++line) {
    doubts.at({line, 0});
    doubts.tell("a", "what", "remedy");
  }
  doubts.at({3, 0});
  doubts.tell("b", "else", "");
  const auto all = doubts.all(0);
  ASSERT_THAT(codes(all), ElementsAre("b", "a"));  // in the order of the input
  EXPECT_EQ(all[1].at.number, 7u);
  EXPECT_EQ(all[1].count, 3u);
  EXPECT_EQ(to_string(Warning{"a", "s.csv:7", "what", "remedy", 3}), "s.csv:7: what (3 in all); remedy");
  EXPECT_EQ(to_string(Warning{"b", "", "else", "", 1}), "else");
}

TEST(Doubts, AnInputWithoutAnEndTellsEachOnce) {
  Doubts doubts;
  doubts.reads_times_as(TimeUnit::microseconds);
  doubts.tell("a", "what", "remedy");
  EXPECT_THAT(codes(doubts.fresh(0)), ElementsAre("a"));
  for (int i = 0; i < 2; ++i) doubts.number_as_time(1'700'000'000, false);
  EXPECT_THAT(codes(doubts.fresh(0)), IsEmpty());  // two are too few
  doubts.tell("a", "what", "remedy");
  doubts.number_as_time(1'700'000'000, false);
  EXPECT_THAT(codes(doubts.fresh(0)), ElementsAre("time_unit"));
  for (int i = 0; i < 100; ++i) doubts.number_as_time(1'700'000'000, false);
  EXPECT_THAT(codes(doubts.fresh(0)), IsEmpty());
}

TEST(Doubts, AnInputWithoutAnEndIsJudgedAnewAsItGrows) {
  Doubts doubts;
  doubts.reads_times_as(TimeUnit::seconds);
  doubts.number_as_time(in_2023, false);
  EXPECT_THAT(codes(doubts.fresh(0)), IsEmpty());
  for (int i = 0; i < 200; ++i) doubts.number_as_time(1000 * in_2023, false);
  EXPECT_THAT(codes(doubts.fresh(0)), ElementsAre("time_unit"));
}

Doubts of_labels(const std::vector<std::string_view>& labels, std::string_view column = "label") {
  Doubts doubts;
  for (const std::string_view label : labels) doubts.guessed_label(column, label, "remedy");
  return doubts;
}

TEST(Doubts, LabelsSayOperationsIfAllAreSuchWordsAndOneSaysARemoval) {
  const auto doubts = of_labels({"add", "remove", "add", "remove"}).all(0);
  ASSERT_THAT(codes(doubts), ElementsAre("operation_unread"));
  EXPECT_EQ(doubts[0].count, 2u);
  EXPECT_THAT(codes(of_labels({"EdgeAdded", "EDGE_REMOVED"}).all(0)), ElementsAre("operation_unread"));
  for (const std::vector<std::string_view>& labels :
       {std::vector<std::string_view>{"remove", "remove"}, {"add", "update"}, {"add", "remove", "PAYS"}, {"+", "-"}})
    EXPECT_THAT(of_labels(labels).all(0), IsEmpty());
  Doubts endless = of_labels({"add", "remove"});
  EXPECT_THAT(codes(endless.fresh(0)), ElementsAre("operation_unread"));
  EXPECT_THAT(endless.fresh(0), IsEmpty());
}

TEST(Doubts, OneRemovalAmongTypesIsEnough) {
  for (const std::vector<std::string_view>& labels :
       {std::vector<std::string_view>{"remove", "remove"}, {"add", "remove", "PAYS"}, {"PAYS", "edge.dropped"}, {"expired"}})
    EXPECT_THAT(codes(of_labels(labels, "type").all(0)), ElementsAre("operation_unread"));
  for (const std::vector<std::string_view>& labels :
       {std::vector<std::string_view>{"GET", "DELETE"}, {"PAYS", "closed"}, {"REMOVED_BY", "ADDED_BY"}, {"+", "-"}})
    EXPECT_THAT(of_labels(labels, "type").all(0), IsEmpty());
  std::vector<std::string_view> many(5000, "PAYS");
  many.push_back("KNOWS");
  many.push_back("removed");  // beyond the labels that are looked at
  EXPECT_THAT(of_labels(many, "type").all(0), IsEmpty());
}

TEST(Doubts, ASumIsDoubtfulInTheLastRecord) {
  for (const int behind : {0, 2, 3}) {
    Doubts doubts;
    for (std::uint64_t line = 1; line < 5; ++line) doubts.at({line, 0});
    doubts.may_be_total("what", "remedy");
    for (int i = 0; i < behind; ++i) doubts.at({5, 0});
    EXPECT_EQ(doubts.all(0).size(), behind < 3 ? 1u : 0u);
  }
}

TEST(Doubts, AColumnOfWordsForOperationsIsForgottenIfItHasOtherValues) {
  Doubts doubts;
  doubts.at({2, 0});
  doubts.suspect_operation("a", "what", "remedy");
  doubts.suspect_operation("b", "what", "remedy");
  doubts.suspect_operation("b", "what", "remedy");
  doubts.clear_operation("a");
  ASSERT_THAT(codes(doubts.all(0)), ElementsAre("operation_unread"));
  EXPECT_EQ(doubts.all(0)[0].count, 2u);
  doubts.clear_operation("b");
  EXPECT_THAT(doubts.all(0), IsEmpty());
}

Update edge(const Id& source, const Id& target) {
  Update update;
  update.source = source;
  update.target = target;
  return update;
}

TEST(Doubts, IdsOfBothKindsAreFoundInEitherOrder) {
  for (const auto& [first, then] : {std::pair<Id, Id>{Id(7), Id(std::string_view("7"))}, {Id(std::string_view("7")), Id(7)}}) {
    Doubts doubts;
    doubts.watch_ids();
    for (std::int64_t i = 100; i < 20'100; ++i) doubts.see_ids(edge(Id(i), Id(i + 1)));
    doubts.see_ids(edge(Id(1), first));
    EXPECT_THAT(doubts.all(0), IsEmpty());
    doubts.see_ids(edge(then, Id(2)));
    EXPECT_THAT(codes(doubts.all(0)), ElementsAre("ids_of_two_kinds"));
  }
}

TEST(Doubts, TextsThatSpellNoIntegerAreNoNumbers) {
  Doubts doubts;
  doubts.watch_ids();
  for (const char* text : {"07", "+7", "7.0", " 7", "seven", "-0", "", "99999999999999999999"})
    doubts.see_ids(edge(Id(std::string_view(text)), Id(7)));
  doubts.see_ids(edge(Id(0), Id(70)));
  EXPECT_THAT(doubts.all(0), IsEmpty());
}

TEST(Doubts, BeyondWhatIsRememberedIdsAreStillFoundWhereBothKindsGoOn) {
  Doubts doubts;
  doubts.watch_ids();
  for (std::int64_t i = 0; i < (1 << 17); ++i) doubts.see_ids(edge(Id(i), Id(i)));
  doubts.see_ids(edge(Id(-5), Id(-6)));  // no longer remembered
  doubts.see_ids(edge(Id(std::string_view("-5")), Id(std::string_view("-6"))));
  EXPECT_THAT(doubts.all(0), IsEmpty());
  doubts.see_ids(edge(Id(-5), Id(-7)));
  EXPECT_THAT(codes(doubts.all(0)), ElementsAre("ids_of_two_kinds"));
}

TEST(Doubts, TheTargetOfAVertexRecordSaysNothing) {
  Doubts doubts;
  doubts.watch_ids();
  Update vertex = edge(Id(std::string_view("0")), Id());
  vertex.kind = UpdateKind::insert_vertex;
  doubts.see_ids(vertex);
  EXPECT_THAT(doubts.all(0), IsEmpty());
}

}  // namespace
}  // namespace deltamatch::ingest

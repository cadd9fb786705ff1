#include "ingest/service/workers/roll.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <vector>

namespace deltamatch::ingest::workers {
namespace {

using namespace std::chrono_literals;

std::vector<Place> places_of(const std::vector<std::string>& workers) {
  std::vector<Place> places;
  for (const std::string& worker : workers) places.push_back({.worker = worker});
  return places;
}

TEST(Balanced, SharesAlikeAndMovesNoMoreThanItMust) {
  EXPECT_EQ(balanced(places_of({"", "", "", ""}), {"a", "b"}), (std::vector<std::vector<Slot>>{{0, 2}, {1, 3}}));
  EXPECT_EQ(balanced(places_of({"a", "a", "a", "a"}), {"a", "b"}), (std::vector<std::vector<Slot>>{{0, 1}, {2, 3}}));
  EXPECT_EQ(balanced(places_of({"a", "b", "b"}), {"a", "b"}), (std::vector<std::vector<Slot>>{{0}, {1, 2}}));
  EXPECT_EQ(balanced(places_of({"a", "b"}), {"b"}), (std::vector<std::vector<Slot>>{{0, 1}}));
  EXPECT_EQ(balanced(places_of({"a"}), {}), (std::vector<std::vector<Slot>>{}));
}

TEST(Balanced, GivesEachSlotOnceAndKeepsWhatItCan) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const auto draw = [&](std::size_t below) { return random() % below; };
    std::vector<Place> places(1 + draw(20));
    for (Place& place : places) place.worker = std::string(1, static_cast<char>('a' + draw(6)));
    std::vector<std::string> workers;
    for (char name = 'a'; name < 'f'; ++name) {
      if (draw(3) > 0) workers.emplace_back(1, name);
    }
    if (workers.empty()) continue;
    const auto slots = balanced(places, workers);
    std::vector<int> given(places.size());
    std::size_t kept = 0;
    std::size_t most_kept = 0;  // by a worker with what it had, cut at its fair number
    std::size_t more = places.size() % workers.size();
    std::vector<std::size_t> had;
    for (std::size_t w = 0; w < workers.size(); ++w) {
      EXPECT_GE(slots[w].size(), places.size() / workers.size());
      EXPECT_LE(slots[w].size(), (places.size() + workers.size() - 1) / workers.size());
      had.push_back(static_cast<std::size_t>(std::ranges::count(places, workers[w], &Place::worker)));
      for (const Slot slot : slots[w]) {
        ++given[slot];
        kept += places[slot].worker == workers[w] ? 1 : 0;
      }
    }
    std::ranges::sort(had, std::greater<>());
    for (const std::size_t number : had) {
      const std::size_t each = places.size() / workers.size();
      const bool one_more = number > each && more > 0;
      if (one_more) --more;
      most_kept += std::min(number, each + (one_more ? 1 : 0));
    }
    EXPECT_EQ(std::ranges::count(given, 1), static_cast<std::ptrdiff_t>(places.size()));
    EXPECT_EQ(kept, most_kept);
  }
}

class RollTest : public ::testing::Test {
 protected:
  void claim(const std::string& worker, std::uint64_t applied, bool spare = false, bool leaves = false) {
    roll_.heard({.worker = worker, .applied = applied, .spare = spare, .leaves = leaves, .semantics = semantics}, now_);
  }
  [[nodiscard]] const Member* member(const std::string& worker, const std::vector<Place>& places = {}) {
    members_ = roll_.members(places, 4, now_);
    const auto found = std::ranges::find(members_, worker, &Member::worker);
    return found == members_.end() ? nullptr : &*found;
  }

  Roll roll_;
  Roll::Time now_{1000s};
  std::vector<Member> members_;
};

TEST_F(RollTest, WhoSaysNothingOrThatItEndsIsGone) {
  claim("a", 0);
  now_ += Roll::patience;
  claim("b", 0);
  EXPECT_NE(member("a"), nullptr);
  now_ += 1s;
  EXPECT_EQ(member("a"), nullptr);
  EXPECT_NE(member("b"), nullptr);
  roll_.heard({.worker = "b", .gone = true, .semantics = semantics}, now_);
  EXPECT_EQ(member("b"), nullptr);
}

TEST_F(RollTest, WhoLagsGetsNothingYet) {
  roll_.published(100, now_);
  claim("a", 100);
  claim("b", 99);
  EXPECT_TRUE(member("b")->keeps_up);  // its claim may be that old
  now_ += Roll::delay;
  roll_.published(120, now_);
  claim("a", 110);
  EXPECT_TRUE(member("a")->keeps_up);
  EXPECT_EQ(member("a")->wanted.size(), 4U);
  EXPECT_FALSE(member("b")->keeps_up);
  EXPECT_TRUE(member("b")->wanted.empty());
  EXPECT_TRUE(member("b", places_of({"b", "a", "a", "a"}))->keeps_up);  // it publishes a slot, so it has what that needs
}

TEST_F(RollTest, SparesAndThoseWhoLeaveWantNothing) {
  claim("a", 0);
  claim("b", 0, true);
  claim("c", 0, false, true);
  EXPECT_EQ(member("a")->wanted.size(), 4U);
  EXPECT_TRUE(member("b")->wanted.empty());
  EXPECT_TRUE(member("b")->keeps_up);
  EXPECT_TRUE(member("c")->wanted.empty());
  EXPECT_FALSE(member("c")->keeps_up);
}

TEST_F(RollTest, ASpareWantsSlotsIfNobodyElseDoes) {
  claim("a", 0, false, true);
  claim("s", 0, true);
  EXPECT_EQ(member("s", places_of({"a", "a", "a", "a"}))->wanted.size(), 4U);
}

TEST_F(RollTest, KnowsWhetherAllLeave) {
  EXPECT_TRUE(roll_.all_leave(now_));
  claim("a", 0, false, true);
  claim("b", 0);
  EXPECT_FALSE(roll_.all_leave(now_));
  now_ += Roll::patience + 1s;
  claim("a", 0, false, true);
  EXPECT_TRUE(roll_.all_leave(now_));  // nobody hears of b any more
}

TEST_F(RollTest, OtherRulesGetNothing) {
  claim("a", 0);
  roll_.heard({.worker = "b", .semantics = semantics + 1}, now_);
  EXPECT_FALSE(member("b")->keeps_up);
  EXPECT_EQ(member("a")->wanted.size(), 4U);
}

}  // namespace
}  // namespace deltamatch::ingest::workers

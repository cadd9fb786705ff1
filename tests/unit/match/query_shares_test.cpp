// The pieces of a thread by query, and the time of each query.
#include "match/query_shares.hpp"

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace deltamatch::match {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::uint32_t> pieces(const QueryShares& shares, std::uint32_t query) {
  const auto of = shares.pieces(query);
  return {of.begin(), of.end()};
}

/// Sorts the pieces [begin, end) by what `of` says of each.
std::vector<std::uint32_t> sort(QueryShares& shares, const std::vector<std::uint32_t>& of, std::size_t begin, std::size_t end) {
  const auto met = shares.sort(begin, end, [&](std::size_t piece) { return of[piece]; });
  return {met.begin(), met.end()};
}

TEST(QueryNumbers, TasksOfOneFamilyAreOneQuery) {
  QueryNumbers numbers;
  std::vector<QueryTask> tasks(6, QueryTask{nullptr, nullptr, false});
  const std::vector<std::size_t> families = {4, 4, 2, 7, 7, 7};
  for (std::size_t t = 0; t < tasks.size(); ++t) tasks[t].family = families[t];
  numbers.assign(tasks);
  ASSERT_EQ(numbers.size(), 3U);
  EXPECT_EQ(numbers.first(0), 0U);
  EXPECT_EQ(numbers.first(1), 2U);
  EXPECT_EQ(numbers.first(2), 3U);
  const std::vector<std::uint32_t> expected = {0, 0, 1, 2, 2, 2};
  for (std::size_t t = 0; t < tasks.size(); ++t) EXPECT_EQ(numbers.of(t), expected[t]) << t;
  tasks.resize(1);
  numbers.assign(tasks);
  EXPECT_EQ(numbers.size(), 1U);
  EXPECT_EQ(numbers.of(0), 0U);
}

TEST(QueryShares, SortInOrderOfFirstOccurrence) {
  QueryShares shares;
  shares.begin(4);
  const std::vector<std::uint32_t> of = {1, 3, 0, 3, 1, 1, 0};
  EXPECT_THAT(sort(shares, of, 1, 6), ElementsAre(3, 0, 1)) << "pieces 0 and 6 are not meant";
  EXPECT_THAT(pieces(shares, 0), ElementsAre(2));
  EXPECT_THAT(pieces(shares, 1), ElementsAre(4, 5));
  EXPECT_THAT(pieces(shares, 2), IsEmpty());
  EXPECT_THAT(pieces(shares, 3), ElementsAre(1, 3));
  EXPECT_THAT(sort(shares, of, 6, 7), ElementsAre(0)) << "what was sorted before is forgotten";
  EXPECT_THAT(pieces(shares, 0), ElementsAre(6));
  for (const std::uint32_t query : {1U, 2U, 3U}) EXPECT_THAT(pieces(shares, query), IsEmpty()) << query;
  EXPECT_THAT(sort(shares, of, 3, 3), IsEmpty());
  for (const std::uint32_t query : {0U, 1U, 2U, 3U}) EXPECT_THAT(pieces(shares, query), IsEmpty()) << query;
}

// A thread keeps its object, so a batch with few queries follows one with many, and the other way round.
TEST(QueryShares, NothingRemainsOfALargerSet) {
  QueryShares shares;
  const std::vector<std::uint32_t> many = {9, 0, 7, 1, 7};
  for (const std::uint32_t few : {1U, 2U}) {
    shares.begin(10);
    EXPECT_THAT(sort(shares, many, 0, many.size()), ElementsAre(9, 0, 7, 1)) << few;
    EXPECT_THAT(pieces(shares, 7), ElementsAre(2, 4));
    shares.begin(few);
    EXPECT_EQ(shares.spent().size(), few);
    for (std::uint32_t query = 0; query < few; ++query) EXPECT_THAT(pieces(shares, query), IsEmpty()) << few;
    EXPECT_THAT(sort(shares, {0, 0}, 0, 2), ElementsAre(0));
    EXPECT_THAT(pieces(shares, 0), ElementsAre(0, 1));
    shares.begin(10);
    for (std::uint32_t query = 0; query < 10; ++query) EXPECT_THAT(pieces(shares, query), IsEmpty()) << few << " " << query;
  }
}

TEST(QueryShares, AreThoseOfAPlainSort) {
  QueryShares shares;
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t queries = 1 + random() % 40;
    shares.begin(queries);
    for (int part = 0; part < 3; ++part) {
      std::vector<std::uint32_t> of(random() % 100);
      for (std::uint32_t& query : of) query = random() % queries;
      const std::size_t begin = random() % (of.size() + 1);
      std::vector<std::vector<std::uint32_t>> expected(queries);
      std::vector<std::uint32_t> order;
      for (std::size_t i = begin; i < of.size(); ++i) {
        if (expected[of[i]].empty()) order.push_back(of[i]);
        expected[of[i]].push_back(static_cast<std::uint32_t>(i));
      }
      ASSERT_EQ(sort(shares, of, begin, of.size()), order);
      for (std::uint32_t query = 0; query < queries; ++query) ASSERT_EQ(pieces(shares, query), expected[query]);
    }
  }
}

// The clock is a real one. So the shares are compared with what passes around them.
TEST(QueryShares, TimeGoesIntoTheQueryThatIsNoted) {
  using Clock = QueryShares::Clock;
  const auto let_time_pass = [] {
    for (const auto begin = Clock::now(); Clock::now() == begin;) {
    }
  };
  QueryShares shares;
  shares.begin(3);
  const auto before = Clock::now();
  sort(shares, {2, 0}, 0, 2);
  let_time_pass();
  shares.note(2);
  EXPECT_EQ(shares.spent()[0], Clock::duration{0});
  const auto first = shares.spent()[2];
  EXPECT_GT(first, Clock::duration{0});
  let_time_pass();
  shares.note(0);
  EXPECT_GT(shares.spent()[0], Clock::duration{0});
  EXPECT_EQ(shares.spent()[2], first) << "only the time since the last note counts";
  EXPECT_EQ(shares.spent()[1], Clock::duration{0});
  EXPECT_LE(shares.spent()[0] + first, Clock::now() - before);
  sort(shares, {2}, 0, 1);  // what passed in between belongs to nobody
  let_time_pass();
  shares.note(2);
  EXPECT_GT(shares.spent()[2], first) << "shares add up";
  EXPECT_LE(shares.spent()[0] + shares.spent()[2], Clock::now() - before);
  shares.begin(3);
  for (const auto spent : shares.spent()) EXPECT_EQ(spent, Clock::duration{0});
}

}  // namespace
}  // namespace deltamatch::match

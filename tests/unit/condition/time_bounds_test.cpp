// Bounds between times, compared with an enumeration of small times.
#include "condition/time_bounds.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <random>
#include <string>

#include "deltamatch/error.hpp"

namespace deltamatch::condition {
namespace {

using testing::HasSubstr;

constexpr std::string_view path = "(a)-[t1]->(b)-[t2]->(c)-[t3]->(d) ";

TimeBounds bounds(std::string_view rest) {
  // Every edge is spoken of, so that its name is not idle.
  return time_bounds(
      parse_pattern(
          std::string(path) + "WHERE t1.time = t1.time AND t2.time = t2.time AND t3.time = t3.time " + std::string(rest), "q"),
      "here");
}

std::string fault(std::string_view rest) {
  try {
    static_cast<void>(bounds(rest));
  } catch (const Error& error) {
    return error.what();
  }
  return "fine";
}

TEST(TimeBounds, FollowFromComparisons) {
  const TimeBounds found = bounds("AND t1.time < t2.time < t3.time WITHIN 24h");
  EXPECT_EQ(found.difference(0, 1), -1);
  EXPECT_EQ(found.difference(0, 2), -2);
  EXPECT_EQ(found.difference(2, 0), 86'400'000'000 - 1);
  EXPECT_EQ(found.difference(2, 1), 86'400'000'000 - 2);  // t3 - t1 < 24h and t1 < t2
  EXPECT_EQ(found.latest(0), TimeBounds::none);
  EXPECT_TRUE(found.any());
}

TEST(TimeBounds, ReadDifferencesAndInstants) {
  const TimeBounds found = bounds(
      "AND t2.time - t1.time <= 5s AND t3.time >= t2.time + 1s AND t1.time >= datetime('1970-01-02') AND NOT t3.time > t1.time "
      "+ 1m");
  EXPECT_EQ(found.difference(1, 0), 5'000'000);
  EXPECT_EQ(found.difference(1, 2), -1'000'000);
  EXPECT_EQ(found.negated_earliest(0), -86'400'000'000);
  EXPECT_EQ(found.difference(2, 0), 60'000'000);
  EXPECT_EQ(found.difference(0, 1), TimeBounds::none);
}

TEST(TimeBounds, EqualityBindsBothWays) {
  const TimeBounds found = bounds("AND t1.time = t2.time - 3us");
  EXPECT_EQ(found.difference(0, 1), -3);
  EXPECT_EQ(found.difference(1, 0), 3);
}

TEST(TimeBounds, OtherPartsImplyNone) {
  EXPECT_FALSE(bounds("AND (t1.time < t2.time OR t2.time < t3.time) AND t1.time <> t2.time").any());
  EXPECT_FALSE(bounds("AND t1.x < t2.x").any());
}

TEST(TimeBounds, ContradictionsNameTheirTerms) {
  EXPECT_THAT(fault("AND t1.time < t2.time AND t2.time < t3.time AND t3.time < t1.time"),
              HasSubstr("here: no times satisfy t1.time < t2.time and t2.time < t3.time and t3.time < t1.time; leave one"));
  EXPECT_THAT(fault("AND t2.time > t1.time + 2d AND t3.time > t2.time WITHIN 1d"),
              HasSubstr("t1.time + 2d < t2.time and WITHIN 1d"));
  EXPECT_EQ(fault("AND t1.time <= t2.time AND t2.time <= t1.time"), "fine");
}

RC_GTEST_PROP(TimeBounds, AreTightAndSound, (std::uint64_t seed)) {
  // Random differences between three edges. Times 0 to 7 are enough to meet every bound that small constants can imply.
  std::mt19937_64 random(seed);
  struct Term {
    int x, y, limit;
  };
  std::vector<Term> terms;
  std::string text;
  for (auto i = 1 + random() % 4; i > 0; --i) {
    const int x = static_cast<int>(random() % 3);
    const int y = (x + 1 + static_cast<int>(random() % 2)) % 3;
    const int limit = static_cast<int>(random() % 5) - 2;
    terms.push_back({x, y, limit});
    text += "AND t" + std::to_string(x + 1) + ".time - t" + std::to_string(y + 1) + ".time <= " + std::to_string(limit) + "us ";
  }
  std::array<std::array<std::int64_t, 3>, 3> seen{};
  for (auto& row : seen) row.fill(std::numeric_limits<std::int64_t>::min());
  bool any = false;
  constexpr int times = 16;
  for (int code = 0; code < times * times * times; ++code) {
    const std::array<int, 3> time{code % times, code / times % times, code / times / times};
    const bool holds = std::all_of(terms.begin(), terms.end(), [&](const Term& t) {
      return time[static_cast<std::size_t>(t.x)] - time[static_cast<std::size_t>(t.y)] <= t.limit;
    });
    if (!holds) continue;
    any = true;
    for (std::size_t x = 0; x < 3; ++x) {
      for (std::size_t y = 0; y < 3; ++y) seen[x][y] = std::max<std::int64_t>(seen[x][y], time[x] - time[y]);
    }
  }
  RC_ASSERT(any == (fault(text) == "fine"));
  if (!any) return;
  const TimeBounds found = bounds(text);
  for (std::size_t x = 0; x < 3; ++x) {
    for (std::size_t y = 0; y < 3; ++y) {
      if (found.difference(x, y) == TimeBounds::none) {
        RC_ASSERT(seen[x][y] >= times - 5);  // the ends of the range cut it a little
      } else {
        RC_ASSERT(found.difference(x, y) == seen[x][y]);
      }
    }
  }
}

}  // namespace
}  // namespace deltamatch::condition

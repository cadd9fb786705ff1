// Bounds between times, compared with an enumeration of small times.
#include "condition/time_bounds.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "condition/time_bounds_text.hpp"
#include "deltamatch/error.hpp"

namespace deltamatch::condition {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

std::vector<std::string> lines(std::string_view rest) {
  const Query query = parse_pattern(std::string(path) + std::string(rest), "q");
  return to_lines(time_bounds(query, "here"), query);
}

TEST(TimeBoundsText, LeavesOutWhatFollows) {
  EXPECT_THAT(lines("WHERE t1.time < t2.time < t3.time AND t1.time < t3.time WITHIN 24h"),
              ElementsAre("t1.time < t2.time", "t3.time - t1.time < 1d", "t2.time < t3.time"));
  EXPECT_THAT(lines("WHERE t1.x = t2.x AND t3.x > 5"), IsEmpty());
}

TEST(TimeBoundsText, SaysWithinOnce) {
  EXPECT_THAT(lines("WHERE t1.x = t2.x AND t3.x > 5 WITHIN 90m"), ElementsAre("any two edges are less than 90m apart"));
  EXPECT_THAT(lines("WHERE t1.x = t3.x AND t2.time - t1.time < 1h WITHIN 1d"),
              ElementsAre("t1.time - t2.time < 1d", "t2.time - t1.time < 1h", "any two edges are less than 1d apart"));
}

TEST(TimeBoundsText, ChoosesTheShorterSign) {
  EXPECT_THAT(lines("WHERE t1.time - t2.time <= 3h AND t2.time + 2m < t3.time"),
              ElementsAre("t1.time - t2.time <= 3h", "t3.time - t2.time > 2m"));
  EXPECT_THAT(lines("WHERE t1.time >= datetime('2026-01-31') AND t2.time < datetime('2026-02-01') AND t3.time > t3.time - 1h"),
              ElementsAre("t1.time >= datetime('2026-01-31T00:00:00Z')", "t2.time < datetime('2026-02-01T00:00:00Z')"));
}

TEST(TimeBoundsText, FixedDifferencesAreEquations) {
  EXPECT_THAT(lines("WHERE t1.time = t2.time AND t3.time = t2.time + 5s"),
              ElementsAre("t1.time = t2.time", "t3.time - t1.time = 5s"));
  EXPECT_THAT(lines("WHERE t1.time = datetime('2026-01-31') AND t2.time < t1.time AND t3.time = t3.time"),
              ElementsAre("t1.time = datetime('2026-01-31T00:00:00Z')", "t2.time < datetime('2026-01-31T00:00:00Z')"));
}

TEST(TimeBoundsText, NamesEdgesWithoutNames) {
  const Query query = parse_pattern("(a)-[t1]->(b)-[t2]->(c)-->(d) WHERE t1.time < t2.time WITHIN 1d", "q");
  EXPECT_THAT(to_lines(time_bounds(query, "here"), query),
              ElementsAre("t1.time < t2.time", "t2.time - t1.time < 1d", "time of edge 2 - t1.time < 1d",
                          "t2.time - time of edge 2 < 1d"));
}

// The lines are a condition. It has the same bounds.
RC_GTEST_PROP(TimeBoundsText, SaysAllOfThem, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  const auto time = [&] { return "t" + std::to_string(1 + random() % 3) + ".time"; };
  std::string text = "WHERE t1.x = t2.x AND t3.x = 5";
  for (auto i = 1 + random() % 5; i > 0; --i) {
    constexpr std::array<const char*, 5> signs{" < ", " <= ", " > ", " >= ", " = "};
    text += " AND " + time() + signs[random() % 5];
    if (random() % 4 == 0) {
      text += "datetime('1970-01-01T00:00:0" + std::to_string(random() % 10) + "Z')";
    } else {
      text += time() + (random() % 2 == 0 ? " + " : " - ") + std::to_string(random() % 4) + (random() % 2 == 0 ? "s" : "us");
    }
  }
  const std::string within = random() % 2 == 0 ? " WITHIN 3s" : "";
  const auto bounds_of = [&](const std::string& rest) {
    return time_bounds(parse_pattern(std::string(path) + rest, "q"), "here");
  };
  std::optional<TimeBounds> wanted;
  try {
    wanted = bounds_of(text + within);
  } catch (const Error&) {
    return;  // no times satisfy it
  }
  std::string again = "WHERE t1.x = t2.x AND t3.x = 5";
  std::string rest;
  for (const std::string& line : lines(text + within)) {
    if (line.starts_with("any two edges")) {
      rest = within;
    } else {
      again += " AND " + line;
    }
  }
  RC_LOG() << again << rest << '\n';
  RC_ASSERT(bounds_of(again + rest) == *wanted);
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

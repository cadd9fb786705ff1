#include "deltamatch/count.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/checked.hpp"
#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"
#include "deltamatch/match.hpp"

namespace deltamatch {
namespace {

constexpr Count max_count = ~Count{0};

TEST(Count, PrintsAllDigits) {
  EXPECT_EQ(to_string(Count{0}), "0");
  EXPECT_EQ(to_string(Count{10}), "10");
  EXPECT_EQ(to_string(Count{18446744073709551615U} + 1), "18446744073709551616");
  EXPECT_EQ(to_string(max_count), "340282366920938463463374607431768211455");
}

TEST(Checked, SumsAndProductsUpToTheLastValue) {
  EXPECT_TRUE(checked_add(max_count - 1, 1) == max_count);
  EXPECT_THROW(static_cast<void>(checked_add(max_count, 1)), Error);
  const Count half = Count{1} << 64;
  EXPECT_TRUE(checked_mul(half - 1, half + 1) == max_count);
  EXPECT_THROW(static_cast<void>(checked_mul(half, half)), Error);
  EXPECT_TRUE(checked_mul(max_count, 0) == 0);
}

TEST(Checked, TheErrorSaysWhatAndWhatToDo) {
  try {
    static_cast<void>(checked_mul(max_count, 2));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::runtime);
    EXPECT_NE(std::string(error.what()).find("a count exceeds 2^128-1; "), std::string::npos) << error.what();
  }
}

TEST(Checked, Factorials) {
  EXPECT_TRUE(checked_factorial(0) == 1);
  EXPECT_TRUE(checked_factorial(1) == 1);
  EXPECT_TRUE(checked_factorial(5) == 120);
  EXPECT_EQ(to_string(checked_factorial(34)), "295232799039604140847618609643520000000");
  EXPECT_THROW(static_cast<void>(checked_factorial(35)), Error);
  EXPECT_THROW(static_cast<void>(checked_factorial(~std::uint64_t{0})), Error);
}

TEST(Checked, BinomialsFollowPascal) {
  std::vector<Count> row{1};
  for (std::uint64_t n = 0; n <= 130; ++n) {
    for (std::uint64_t k = 0; k <= n; ++k) ASSERT_TRUE(checked_binomial(n, k) == row[k]) << n << " over " << k;
    EXPECT_TRUE(checked_binomial(n, n + 1) == 0);
    std::vector<Count> next{1};
    for (std::uint64_t k = 1; k <= n; ++k) next.push_back(row[k - 1] + row[k]);
    next.push_back(1);
    row = next;
  }
}

TEST(Checked, BinomialsAtTheEdge) {
  // An 8-leaf star on a hub of 2,249 neighbours: beyond 64 bits.
  EXPECT_EQ(to_string(checked_binomial(2249, 8)), "16031794710034648774801");
  const std::uint64_t most = ~std::uint64_t{0};
  EXPECT_TRUE(checked_binomial(most, 0) == 1);
  EXPECT_TRUE(checked_binomial(most, most - 1) == most);
  EXPECT_TRUE(checked_binomial(most, 2) == Count{most} * (most / 2));
  EXPECT_THROW(static_cast<void>(checked_binomial(most, 3)), Error);
  EXPECT_THROW(static_cast<void>(checked_binomial(most, most / 2)), Error);
  EXPECT_EQ(to_string(checked_binomial(131, 65)), "188694833082770476622296176145946360850");
  EXPECT_THROW(static_cast<void>(checked_binomial(132, 66)), Error);
}

TEST(MatchId, PrintsThirtyTwoDigits) {
  EXPECT_EQ(to_string(MatchId{}), "00000000000000000000000000000000");
  EXPECT_EQ(to_string(MatchId{0x0123456789abcdef, 0xfedcba9876543210}), "0123456789abcdeffedcba9876543210");
}

TEST(MatchDigest, IsASumModulo2To128) {
  MatchDigest digest;
  const MatchId all{~std::uint64_t{0}, ~std::uint64_t{0}};
  digest.add(all);
  digest.add(MatchId{0, 1});
  EXPECT_EQ(digest, MatchDigest{});
  digest.add(MatchId{1, ~std::uint64_t{0}});
  digest.add(MatchId{2, 2});
  EXPECT_EQ(digest, (MatchDigest{4, 1}));

  MatchDigest other;
  other.add(MatchId{2, 2});
  other.add(MatchId{1, ~std::uint64_t{0}});
  EXPECT_EQ(digest, other) << "order must not matter";
}

TEST(Statistics, Add) {
  Ignored ignored{1, 2, 3, 4, 5};
  ignored += Ignored{10, 20, 30, 40, 50};
  EXPECT_EQ(ignored.duplicate_insert, 11U);
  EXPECT_EQ(ignored.absent_delete, 22U);
  EXPECT_EQ(ignored.superseded, 33U);
  EXPECT_EQ(ignored.late, 44U);
  EXPECT_EQ(ignored.self_loop, 55U);
  StepSeconds seconds{1, 2, 3, 4, 5};
  seconds += StepSeconds{10, 20, 30, 40, 50};
  EXPECT_EQ(seconds.apply, 11);
  EXPECT_EQ(seconds.estimate, 22);
  EXPECT_EQ(seconds.cache, 33);
  EXPECT_EQ(seconds.match, 44);
  EXPECT_EQ(seconds.settle, 55);
}

}  // namespace
}  // namespace deltamatch

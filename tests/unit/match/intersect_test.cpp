// Compares every instruction set with std::set_intersection.
#include "match/intersect.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace deltamatch::match {
namespace {

using List = std::vector<std::uint32_t>;

constexpr std::array<std::size_t, 25> sizes = {0,  1,  2,  3,  7,  8,  9,  15,  16,  17,  24,   31,    32,
                                               33, 47, 48, 49, 63, 64, 65, 127, 129, 200, 1000, 100000};

List random_list(std::mt19937_64& random, std::size_t n, std::uint32_t below) {
  List list;
  if (n * 3 >= below) {  // dense: draw the gaps
    List all(below);
    for (std::uint32_t i = 0; i < below; ++i) all[i] = i;
    std::sample(all.begin(), all.end(), std::back_inserter(list), static_cast<std::ptrdiff_t>(n), random);
    return list;
  }
  while (list.size() < n) {
    while (list.size() < n) list.push_back(static_cast<std::uint32_t>(random() % below));
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return list;
}

List expected(const List& a, const List& b) {
  List both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

/// A copy of a list. It starts `shift` entries after an aligned address and ends where the allocation ends. So AddressSanitizer
/// notices reads and writes beyond it.
class Placed {
 public:
  Placed(const List& list, std::size_t shift) : memory_(shift, 0xdeadbeef), shift_(shift) {
    memory_.insert(memory_.end(), list.begin(), list.end());
    memory_.shrink_to_fit();
  }
  std::uint32_t* data() { return memory_.data() + shift_; }
  std::size_t size() const { return memory_.size() - shift_; }
  List first(std::size_t n) { return {data(), data() + n}; }
  bool untouched_before() const {
    return std::all_of(memory_.begin(), memory_.begin() + static_cast<std::ptrdiff_t>(shift_),
                       [](std::uint32_t x) { return x == 0xdeadbeef; });
  }

 private:
  List memory_;
  std::size_t shift_;
};

void check(const List& a, const List& b, std::size_t shift) {
  const List both = expected(a, b);
  Placed left(a, shift);
  Placed right(b, shift / 2 + 1);
  ASSERT_EQ(intersect_count(left.data(), left.size(), right.data(), right.size()), both.size());

  const std::size_t room = std::min(a.size(), b.size());
  Placed out(List(room, 0xabababab), shift);
  const std::size_t found = intersect(left.data(), left.size(), right.data(), right.size(), out.data());
  ASSERT_EQ(out.first(found), both);
  ASSERT_TRUE(out.untouched_before());
  for (std::size_t i = found; i < room; ++i) ASSERT_EQ(out.data()[i], 0xabababab) << "written beyond the result";
  ASSERT_EQ(left.first(a.size()), a);
  ASSERT_EQ(right.first(b.size()), b);

  const std::size_t in_place = intersect(left.data(), left.size(), right.data(), right.size(), left.data());
  List rest = both;
  rest.insert(rest.end(), a.begin() + static_cast<std::ptrdiff_t>(both.size()), a.end());
  ASSERT_EQ(in_place, both.size()) << "in place";
  ASSERT_EQ(left.first(a.size()), rest) << "in place";
  ASSERT_EQ(right.first(b.size()), b);
  ASSERT_TRUE(left.untouched_before());
}

class Intersect : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!set_isa(GetParam())) GTEST_SKIP() << "this processor lacks the instruction set";
    ASSERT_EQ(isa(), GetParam());
  }
  void TearDown() override { set_isa(best_isa()); }

  std::mt19937_64 random_{7};
};

TEST_P(Intersect, AgreesWithSetIntersectionOnAllSizes) {
  for (const std::size_t na : sizes) {
    for (const std::size_t nb : sizes) {
      const std::size_t most = std::max(na, nb);
      const std::size_t rounds = most >= 100000 ? 1 : most >= 1000 ? 4 : 12;
      for (std::size_t round = 0; round < rounds; ++round) {
        // From lists that are nearly equal to lists with hardly anything in common.
        const std::uint64_t spread = most + 1 + (round % 4 == 0 ? most / 8 : most * (round % 4) * (round % 4) * 4);
        const auto below = static_cast<std::uint32_t>(spread);
        SCOPED_TRACE(std::to_string(na) + " x " + std::to_string(nb) + " below " + std::to_string(below));
        check(random_list(random_, na, below), random_list(random_, nb, below), round % 17);
        if (HasFatalFailure()) return;
      }
    }
  }
}

/// All pairs of subsets of {0..5}, spread so that they fill and cross blocks.
TEST_P(Intersect, AgreesOnAllSubsets) {
  for (unsigned first = 0; first < 64; ++first) {
    for (unsigned second = 0; second < 64; ++second) {
      List a;
      List b;
      for (std::uint32_t i = 0; i < 48; ++i) {
        if ((first >> (i % 6) & 1) != 0) a.push_back(i);
        if ((second >> (i / 8) & 1) != 0) b.push_back(i);
      }
      check(a, b, first % 5);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Intersect, AgreesWhereOneListIsClustered) {
  for (std::size_t round = 0; round < 300; ++round) {
    const std::size_t n = 1 + random_() % 60;
    const auto start = static_cast<std::uint32_t>(random_() % 4000);
    List cluster(n);
    for (std::size_t i = 0; i < n; ++i) cluster[i] = start + static_cast<std::uint32_t>(i * (1 + round % 3));
    if (round % 2 == 0) cluster.push_back(1U << 30);  // one far away
    const List wide = random_list(random_, 100 + random_() % 2000, 5000);
    check(cluster, wide, round % 9);
    check(wide, cluster, round % 9);
    if (HasFatalFailure()) return;
  }
}

TEST_P(Intersect, TakesTheLargestValues) {
  constexpr std::uint32_t top = 0x7fffffff;
  List a;
  List b;
  for (std::uint32_t i = 0; i < 70; ++i) a.push_back(top - 69 + i);
  for (std::uint32_t i = 0; i < 2000; ++i) b.push_back(top - 3998 + 2 * i);
  b.back() = top;
  check(a, b, 3);
  check(b, a, 3);
  check({0, top}, b, 1);
  check({top}, a, 1);
  check({0}, {0, top}, 1);
}

TEST(Bits, AgreeWithATestOfEveryEntry) {
  std::mt19937_64 random(19);
  for (const std::size_t n : sizes) {
    const auto below = static_cast<std::uint32_t>(2 * n + 64);
    for (unsigned density = 0; density <= 4; ++density) {
      std::vector<std::uint64_t> bits(below / 64 + 1);
      for (std::uint32_t x = 0; x < below; ++x) {
        if (random() % 4 < density) bits[x / 64] |= std::uint64_t{1} << (x % 64);
      }
      const List a = random_list(random, n, below);
      List kept;
      for (const std::uint32_t x : a) {
        if ((bits[x / 64] >> (x % 64) & 1) != 0) kept.push_back(x);
      }
      Placed list(a, n % 13);
      ASSERT_EQ(count_in_bits(list.data(), n, bits.data()), kept.size());
      Placed out(List(n), 1);
      ASSERT_EQ(filter_by_bits(list.data(), n, bits.data(), out.data()), kept.size());
      ASSERT_EQ(out.first(kept.size()), kept);
      ASSERT_EQ(filter_by_bits(list.data(), n, bits.data(), list.data()), kept.size());
      ASSERT_EQ(list.first(kept.size()), kept);
    }
  }
}

std::string isa_name(const testing::TestParamInfo<Isa>& info) {
  constexpr std::array names = {"portable", "avx2", "avx512"};
  return names[static_cast<std::size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(AllSets, Intersect, testing::Values(Isa::portable, Isa::avx2, Isa::avx512), isa_name);

TEST(LowerBound, AgreesWithTheStandard) {
  std::mt19937_64 random(3);
  for (const std::size_t n : sizes) {
    const auto below = static_cast<std::uint32_t>(2 * n + 5);
    const List a = random_list(random, n, below);
    for (std::uint32_t round = 0; round < 200; ++round) {
      const std::uint32_t x = n < 100 ? round % (below + 1) : static_cast<std::uint32_t>(random() % (below + 1));
      const auto place = std::lower_bound(a.begin(), a.end(), x);
      ASSERT_EQ(lower_bound(a.data(), n, x), static_cast<std::size_t>(place - a.begin())) << n << " " << x;
      ASSERT_EQ(contains(a.data(), n, x), place != a.end() && *place == x);
    }
  }
}

TEST(Isa, TheBestIsInUseFromTheStart) { EXPECT_EQ(isa(), best_isa()); }

}  // namespace
}  // namespace deltamatch::match

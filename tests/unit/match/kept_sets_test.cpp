// Bitmaps that filter lists, and what is kept for the loops of an anchor.
#include "match/kept_sets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace deltamatch::match {
namespace {

std::vector<std::uint32_t> draw(std::size_t size, std::uint32_t vertices, std::mt19937& random) {
  std::vector<std::uint32_t> ids;
  for (std::size_t i = 0; i < size; ++i) ids.push_back(random() % vertices);
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  return ids;
}

std::vector<std::uint32_t> filtered(const MarkedSet& set, const std::vector<std::uint32_t>& list) {
  std::vector<std::uint32_t> out(list.size());
  out.resize(set.filter(list, out.data()));
  return out;
}

TEST(MarkedSet, KeepsWhatBothHold) {
  std::mt19937 random(1);
  for (const std::uint32_t vertices : {1U, 31U, 32U, 63U, 64U, 65U, 1000U, 100'000U}) {
    for (const std::size_t bits : {std::size_t{64}, std::size_t{1024}, MarkedSet::most_bits}) {
      MarkedSet set;
      for (const std::size_t size : {0, 1, 31, 32, 33, 65, 3000, 2, 0, 64}) {
        // A set of its own, so that a set which is read after its time is found by a sanitizer.
        const auto ids = std::make_unique<std::vector<std::uint32_t>>(draw(size, vertices, random));
        set.mark(*ids, vertices, bits);
        for (const std::size_t length : {0, 1, 32, 33, 500}) {
          const std::vector<std::uint32_t> list = draw(length, vertices, random);
          std::vector<std::uint32_t> both;
          std::ranges::set_intersection(*ids, list, std::back_inserter(both));
          ASSERT_EQ(filtered(set, list), both) << vertices << " vertices, " << bits << " bits, " << size << " marked";
        }
      }
    }
  }
}

TEST(MarkedSet, TakesNoMoreMemoryThanItsBitsAndTheirWords) {
  MarkedSet set;
  std::vector<std::uint32_t> all(3'000'000);
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  set.mark(all, all.size());
  EXPECT_LE(set.bytes(), MarkedSet::most_bits / 8);
  EXPECT_EQ(filtered(set, {5, 2'999'999}), (std::vector<std::uint32_t>{5, 2'999'999}));
  set.mark({}, all.size());
  EXPECT_TRUE(filtered(set, {5, 2'999'999}).empty());
}

TEST(KeptSets, HaveRoomForSomeProbesOfAnAnchor) {
  const std::vector<plan::Probe> probes(10 * KeptSets::most_sets);
  KeptSets sets;
  sets.begin();
  std::size_t found = 0;
  for (const plan::Probe& probe : probes) found += sets.find(&probe) != nullptr ? 1 : 0;
  EXPECT_EQ(found, KeptSets::most_sets);
  for (const plan::Probe& probe : probes) {
    if (KeptSets::Kept* kept = sets.find(&probe)) {
      EXPECT_EQ(kept->of, &probe);
      kept->whole_at = 7;
    }
  }
  sets.begin();
  for (const plan::Probe& probe : probes) {
    if (const KeptSets::Kept* kept = sets.find(&probe)) {
      EXPECT_EQ(kept->whole_at, 0U);
    }
  }
}

TEST(KeptSets, MarkAFixedPartOnceThatHasPaid) {
  std::mt19937 random(1);
  const std::vector<std::uint32_t> fixed = draw(1000, 100'000, random);
  const plan::Probe probe{};
  KeptSets sets;
  sets.resize(100'000);
  sets.begin();
  KeptSets::Kept& kept = *sets.find(&probe);
  sets.keep_fixed(kept, fixed, true);
  EXPECT_EQ(sets.marks(kept, 1'000'000), nullptr) << "a search in the longer list costs less";
  std::size_t lists = 0;
  while (sets.marks(kept, 100) == nullptr) ++lists;
  EXPECT_EQ(lists, mark_cost(fixed.size()) / (join_cost(fixed.size(), 100) - filter_cost(100)));
  EXPECT_EQ(sets.marks(kept, 1'000'000), nullptr);
}

TEST(KeptSets, DoNotCopyLongSets) {
  const std::vector<std::uint32_t> ids(KeptSets::most_copied + 1);
  const plan::Probe probe{};
  KeptSets sets;
  sets.begin();
  KeptSets::Kept& kept = *sets.find(&probe);
  sets.keep_whole(kept, ids);
  sets.keep_fixed(kept, ids, false);
  EXPECT_FALSE(kept.has_whole || kept.has_fixed);
  EXPECT_EQ(sets.bytes(), 0U);
}

}  // namespace
}  // namespace deltamatch::match

#include "base/hash_index.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

#include "base/hash.hpp"

namespace deltamatch {
namespace {

/// Compares with a map. Hashes range from well spread to all equal: long runs, wrap-around, shifts across the end.
TEST(HashIndex, AgreesWithAMap) {
  std::mt19937_64 random(11);
  for (const std::uint32_t mask : {0xffffffffU, 0xff000000U, 0x0000ffffU, 0xf0000000U, 0U}) {
    for (const std::uint32_t fixed : {0U, 0xfff00000U}) {
      HashIndex index;
      std::map<std::uint32_t, std::uint32_t> hashes;  // by number
      for (int step = 0; step < 4000; ++step) {
        const auto number = static_cast<std::uint32_t>(random() % 200);
        const auto same = [number](std::uint32_t found) { return found == number; };
        const auto known = hashes.find(number);
        if (known == hashes.end()) {
          const std::uint32_t hash = (static_cast<std::uint32_t>(random()) & mask) | fixed;
          EXPECT_FALSE(index.erase(hash, number));
          index.reserve(index.size() + 1);
          index.insert(hash, number);
          hashes.emplace(number, hash);
        } else {
          ASSERT_EQ(index.find(known->second, same), number);
          ASSERT_TRUE(index.erase(known->second, number));
          hashes.erase(known);
        }
        ASSERT_EQ(index.size(), hashes.size());
        if (step % 50 != 0) continue;
        for (const auto& [present, hash] : hashes) {
          ASSERT_EQ(index.find(hash, [n = present](std::uint32_t found) { return found == n; }), present);
        }
      }
    }
  }
}

TEST(HashIndex, FindsNothingBeforeAnythingIsReserved) {
  const HashIndex index;
  EXPECT_EQ(index.find(0, [](std::uint32_t) { return true; }), HashIndex::none);
  EXPECT_EQ(index.bytes(), 0U);
}

TEST(HashIndex, ReservedRoomTakesInsertionsWithoutGrowing) {
  HashIndex index;
  index.reserve(1000);
  const std::size_t bytes = index.bytes();
  for (std::uint32_t i = 0; i < 1000; ++i) index.insert(i * 0x9e3779b9U, i);
  // This holds for any number of deletions in between.
  for (std::uint32_t i = 0; i < 100000; ++i) {
    ASSERT_TRUE(index.erase(i * 0x9e3779b9U, i));
    index.insert((i + 1000) * 0x9e3779b9U, i + 1000);
  }
  index.reserve(1000);
  EXPECT_EQ(index.bytes(), bytes);
}

TEST(HashIndex, LocateReplacesANumberInPlace) {
  HashIndex index;
  index.reserve(1);
  index.insert(5, 7);
  std::uint32_t* place = index.locate(5, [](std::uint32_t found) { return found == 7; });
  ASSERT_NE(place, nullptr);
  *place = 8;
  EXPECT_EQ(index.find(5, [](std::uint32_t found) { return found == 8; }), 8U);
  EXPECT_EQ(index.locate(5, [](std::uint32_t found) { return found == 7; }), nullptr);
}

TEST(Hash, SpreadsConsecutiveNumbersAndStrides) {
  for (const std::uint64_t stride :
       {std::uint64_t{1}, std::uint64_t{1} << 20, std::uint64_t{1} << 44, std::uint64_t{1000003}}) {
    std::set<std::uint32_t> homes;
    for (std::uint64_t i = 0; i < 1024; ++i) homes.insert(hash_number(i * stride, hash_seed()) >> 22);
    // 1024 balls in 1024 bins fill about 647 of them.
    EXPECT_GT(homes.size(), 550U) << stride;
  }
}

TEST(Hash, DependsOnTheSeed) {
  EXPECT_EQ(hash_seed(), hash_seed());
  int number_changes = 0;
  int text_changes = 0;
  for (std::uint64_t i = 0; i < 64; ++i) {
    number_changes += hash_number(i, 1) != hash_number(i, 2) ? 1 : 0;
    text_changes += hash_text(std::to_string(i), 1) != hash_text(std::to_string(i), 2) ? 1 : 0;
  }
  EXPECT_GT(number_changes, 60);
  EXPECT_GT(text_changes, 60);
}

}  // namespace
}  // namespace deltamatch

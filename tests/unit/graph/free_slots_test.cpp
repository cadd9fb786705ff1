// The least of many free numbers, beside a set.
#include "graph/free_slots.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace deltamatch::graph {
namespace {

TEST(FreeSlots, GiveOutTheLeast) {
  for (const std::size_t bound : {1, 63, 64, 65, 4095, 4096, 4097, 300'000}) {
    FreeSlots slots;
    slots.reserve(bound);
    EXPECT_TRUE(slots.empty());
    const auto last = static_cast<std::uint32_t>(bound - 1);
    slots.give_back(last);
    EXPECT_EQ(slots.least(), last);
    slots.give_back(last / 2);
    EXPECT_EQ(slots.least(), last / 2);
    slots.take(last / 2);
    if (bound > 1) {
      slots.take(last);
    }
    EXPECT_TRUE(slots.empty());
  }
}

TEST(FreeSlots, AgreeWithASetWhileTheyGrow) {
  std::mt19937 random(7);
  FreeSlots slots;
  std::set<std::uint32_t> free;
  for (std::size_t bound = 1; bound < 20'000; bound += bound / 3 + 1) {
    slots.reserve(bound);
    for (std::size_t step = 0; step < 2 * bound; ++step) {
      const auto number = static_cast<std::uint32_t>(random() % bound);
      if (random() % 2 == 0 && free.insert(number).second) slots.give_back(number);
      if (!free.empty() && random() % 3 == 0) {
        ASSERT_EQ(slots.least(), *free.begin());
        slots.take(*free.begin());
        free.erase(free.begin());
      }
      ASSERT_EQ(slots.empty(), free.empty());
    }
  }
}

TEST(FreeSlots, KeepTheirRoomWhenNoneIsFree) {
  FreeSlots slots;
  slots.reserve(5000);
  for (const std::uint32_t number : {3, 70, 4999}) slots.give_back(number);
  slots.clear();
  EXPECT_TRUE(slots.empty());
  slots.give_back(4999);
  EXPECT_EQ(slots.least(), 4999U);
}

}  // namespace
}  // namespace deltamatch::graph

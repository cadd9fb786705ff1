#include "base/text_arena.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace deltamatch {
namespace {

std::string make_text(std::mt19937_64& random, std::size_t length) {
  std::string text(length, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

TEST(TextArena, KeepsEveryStringWhileOthersComeAndGo) {
  std::mt19937_64 random(5);
  TextArena arena;
  std::vector<std::pair<const std::byte*, std::string>> kept;
  for (int step = 0; step < 20000; ++step) {
    if (kept.empty() || random() % 5 < 3) {
      const std::size_t length = random() % 50 == 0 ? random() % 20000 : random() % 40;
      std::string text = make_text(random, length);
      const std::byte* block = arena.store(text);
      kept.emplace_back(block, std::move(text));
    } else {
      std::swap(kept[random() % kept.size()], kept.back());
      ASSERT_EQ(TextArena::text(kept.back().first), kept.back().second);
      arena.release(kept.back().first);
      kept.pop_back();
    }
  }
  for (const auto& [block, text] : kept) ASSERT_EQ(TextArena::text(block), text);
  TextArena moved(std::move(arena));
  for (const auto& [block, text] : kept) ASSERT_EQ(TextArena::text(block), text);
}

TEST(TextArena, SizesAtTheEdgesOfTheClasses) {
  TextArena arena;
  std::vector<std::pair<const std::byte*, std::string>> kept;
  for (int round = 0; round < 2; ++round) {
    for (const std::size_t length : {0, 1, 3, 4, 5, 11, 12, 13, 507, 508, 509, 1019, 1020, 1021, 4091, 4092, 4093, 100000}) {
      std::string text(length, static_cast<char>('a' + kept.size() % 26));
      const std::byte* block = arena.store(text);
      kept.emplace_back(block, std::move(text));
    }
    for (const auto& [block, text] : kept) ASSERT_EQ(TextArena::text(block), text);
    for (const auto& [block, text] : kept) arena.release(block);
    kept.clear();
  }
}

TEST(TextArena, EverNewStringsDoNotLeak) {
  TextArena arena;
  std::vector<const std::byte*> window(1000);
  std::size_t settled = 0;
  for (std::size_t i = 0; i < 200000; ++i) {
    const std::byte*& slot = window[i % window.size()];
    if (slot != nullptr) arena.release(slot);
    slot = arena.store("account-" + std::to_string(i * 7919) + std::string(i % 13, 'x'));
    if (i == 20000) settled = arena.bytes();
  }
  EXPECT_LE(arena.bytes(), settled + settled / 2);
  EXPECT_LT(arena.bytes(), 400000U);
}

/// A reservation far beyond what is used must not push aside slabs that are almost empty.
TEST(TextArena, RepeatedReservationsDoNotLeak) {
  TextArena arena;
  for (int batch = 0; batch < 1000; ++batch) {
    arena.reserve(1000, 20000);
    static_cast<void>(arena.store("one string of each thousand"));
  }
  EXPECT_LT(arena.bytes(), 300000U);
}

TEST(TextArena, AReservationHoldsForAnyLengths) {
  std::mt19937_64 random(9);
  TextArena arena;
  for (int batch = 0; batch < 300; ++batch) {
    std::vector<std::string> texts;
    std::size_t bytes = 0;
    for (std::size_t i = random() % 50; i > 0; --i) {
      texts.push_back(make_text(random, random() % 10 == 0 ? random() % 30000 : random() % 30));
      bytes += texts.back().size();
    }
    arena.reserve(texts.size(), bytes);
    const std::size_t before = arena.bytes();
    for (const std::string& text : texts) {
      const std::byte* block = arena.store(text);
      if (random() % 2 == 0) arena.release(block);
    }
    ASSERT_EQ(arena.bytes(), before) << "a slab was allocated within the reservation";
  }
}

}  // namespace
}  // namespace deltamatch

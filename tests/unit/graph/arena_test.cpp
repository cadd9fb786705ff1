// The arena's blocks have the size they state and do not overlap. They are handed out again only after recycle.
#include "graph/arena.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <random>
#include <vector>

namespace deltamatch::graph {
namespace {

TEST(Arena, BlocksHoldWhatIsAskedAndWasteAThirdAtMost) {
  std::size_t before = 0;
  for (std::size_t words = 1; words < 5000; ++words) {
    const std::size_t block = Arena::block_words(words);
    EXPECT_GE(block, words);
    EXPECT_GE(block, before);
    EXPECT_EQ(Arena::block_words(block), block);
    if (words > 8) {
      EXPECT_LE(block * 2, words * 3);
    }
    before = block;
  }
}

TEST(Arena, ABlockIsReusedOnlyAfterRecycle) {
  Arena arena;
  std::uint32_t* first = arena.allocate(10);
  arena.give_back(first, 10);
  EXPECT_EQ(arena.free_bytes(), Arena::block_words(10) * 4);
  std::uint32_t* second = arena.allocate(10);
  EXPECT_NE(first, second);
  arena.recycle();
  EXPECT_EQ(arena.allocate(12), first);  // of the same class
  EXPECT_EQ(arena.free_bytes(), 0U);
}

TEST(Arena, BlocksNeverOverlap) {
  Arena arena;
  std::mt19937 random(1);
  struct Block {
    std::uint32_t* memory;
    std::size_t words;
    std::uint32_t mark;
  };
  std::vector<Block> blocks;
  std::size_t freed = 0;
  for (std::uint32_t step = 0; step < 20'000; ++step) {
    if (!blocks.empty() && random() % 5 < 2) {
      const std::size_t at = random() % blocks.size();
      const Block block = blocks[at];
      ASSERT_TRUE(std::all_of(block.memory, block.memory + block.words, [&](std::uint32_t w) { return w == block.mark; }));
      arena.give_back(block.memory, block.words);
      freed += 4 * Arena::block_words(block.words);
      blocks[at] = blocks.back();
      blocks.pop_back();
    } else {
      const std::size_t words = random() % 100 == 0 ? 1 + random() % 40'000 : 1 + random() % 100;
      const std::size_t free_before = arena.free_bytes();
      std::uint32_t* memory = arena.allocate(words);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 16, 0U);
      freed -= free_before - arena.free_bytes();
      std::fill_n(memory, Arena::block_words(words), step);
      blocks.push_back({memory, Arena::block_words(words), step});
    }
    ASSERT_EQ(arena.free_bytes(), freed);
    if (step % 50 == 0) arena.recycle();
  }
}

class CountingSlabs final : public SlabAllocator {
 public:
  void* allocate(std::size_t bytes) override {
    if (full) throw std::bad_alloc();
    held += bytes;
    return heap_slabs().allocate(bytes);
  }
  void release(void* slab, std::size_t bytes) noexcept override {
    held -= bytes;
    heap_slabs().release(slab, bytes);
  }
  std::size_t held = 0;
  bool full = false;
};

TEST(Arena, SlabsComeFromTheAllocatorAndGoBackToIt) {
  CountingSlabs slabs;
  {
    Arena arena(slabs);
    std::uint32_t* block = arena.allocate(100);
    EXPECT_EQ(slabs.held, arena.bytes());
    slabs.full = true;
    EXPECT_THROW(static_cast<void>(arena.allocate(std::size_t{1} << 24)), std::bad_alloc);
    EXPECT_EQ(slabs.held, arena.bytes());
    arena.give_back(block, 100);
    arena.recycle();
    EXPECT_EQ(arena.allocate(100), block);
  }
  EXPECT_EQ(slabs.held, 0U);
}

}  // namespace
}  // namespace deltamatch::graph

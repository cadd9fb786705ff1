// A backend whose memory for lists runs out, as unified memory does when that of the device is full. The user learns why and
// what to do, and the graph stays as before.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"
#include "unit/engine/idle_backend.hpp"

namespace deltamatch {
namespace {

class ShortSlabs final : public graph::SlabAllocator {
 public:
  void* allocate(std::size_t bytes) override {
    if (full) throw graph::SlabShortage("policy short", "has no slab left", "take another policy");
    return graph::heap_slabs().allocate(bytes);
  }
  void release(void* slab, std::size_t bytes) noexcept override { graph::heap_slabs().release(slab, bytes); }
  bool full = false;
};

class ShortBackend final : public test::IdleBackend {
 public:
  graph::SlabAllocator& slabs() noexcept override { return short_slabs; }
  ShortSlabs short_slabs;
};

// A path whose last vertex belongs to it alone.
UpdateBatch path(std::int64_t first, std::int64_t edges) {
  UpdateBatch batch;
  for (std::int64_t v = first; v < first + edges; ++v) {
    Update update;
    update.source = v;
    update.target = v + 1;
    batch.add(update);
  }
  return batch;
}

TEST(SlabShortage, IsToldAndLeavesTheGraphAsItWas) {
  const auto backend = std::make_shared<ShortBackend>();
  Engine engine({.directed = false, .backend = backend});
  engine.add_query(parse_pattern("(a)--(b)--(c)", "wedge"));
  EXPECT_TRUE(engine.process(path(0, 10)).queries[0].added == 9);
  constexpr std::int64_t many = 100'000;  // more than the available slabs can hold
  backend->short_slabs.full = true;
  for (int tries = 0; tries < 2; ++tries) {
    try {
      engine.process(path(10, many));
      FAIL() << "there was room";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "policy short: has no slab left; take another policy");
    }
  }
  const Query wedge = parse_pattern("(a)--(b)--(c)", "wedge");
  EXPECT_TRUE(engine.match(wedge, {}).matches == 9);
  EXPECT_TRUE(engine.process(path(10, 1)).queries[0].added == 1) << "there is room for a little";
  backend->short_slabs.full = false;
  EXPECT_TRUE(engine.process(path(11, many)).queries[0].added == Count{many});
}

}  // namespace
}  // namespace deltamatch

// Slabs if no device can register them. gpu_device_graph_test.cpp tests what a device sees of them.
#include "gpu/cuda/slabs.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace deltamatch::gpu {
namespace {

TEST(PinnedSlabs, StayOrdinaryMemoryWhereRegisteringIsRefused) {
  PinnedSlabs slabs({});
  EXPECT_TRUE(slabs.registered());
  EXPECT_EQ(slabs.notice(), "");
  void* small = slabs.allocate(1);
  void* large = slabs.allocate((std::size_t{4} << 20) + 1);
  for (void* slab : {small, large}) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slab) % (std::size_t{2} << 20), 0U);
  std::memset(large, 1, (std::size_t{4} << 20) + 1);
  EXPECT_FALSE(slabs.registered());
  EXPECT_NE(slabs.notice().find("only the policy resident"), std::string::npos) << slabs.notice();
  EXPECT_EQ(slabs.bytes(), std::size_t{8} << 20);
  slabs.release(small, 1);
  EXPECT_FALSE(slabs.registered());
  slabs.release(large, (std::size_t{4} << 20) + 1);
  EXPECT_TRUE(slabs.registered());
  EXPECT_EQ(slabs.bytes(), 0U);
}

TEST(PinnedSlabs, ServeAnArenaAndAreLeftToTheirOwner) {
  PinnedSlabs slabs({});
  {
    graph::Arena arena(slabs);
    for (int i = 0; i < 1000; ++i) *arena.allocate(1000) = 1;
    EXPECT_GE(slabs.bytes(), arena.bytes());
  }
  EXPECT_EQ(slabs.bytes(), 0U);
}

}  // namespace
}  // namespace deltamatch::gpu

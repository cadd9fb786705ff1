// The mirror on a device: a kernel that reads every list through the view sees what the graph holds. Skipped if there is no
// device.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "dump.hpp"
#include "gpu/cuda/devices.hpp"
#include "gpu/cuda/memory.hpp"
#include "gpu/cuda/slabs.hpp"
#include "gpu/mirror/cuda_ops.hpp"
#include "gpu/mirror/device_graph.hpp"
#include "random_graph.hpp"

namespace deltamatch::gpu {
namespace {

enum class Policy { none, managed, cached, resident };

class GpuDeviceGraph : public testing::TestWithParam<Policy> {
 protected:
  void SetUp() override {
    if (devices().empty()) GTEST_SKIP() << "no CUDA device";
  }
  static std::unique_ptr<graph::SlabAllocator> make_slabs() {
    if (GetParam() == Policy::managed) return std::make_unique<ManagedSlabs>(std::vector{0});
    return std::make_unique<PinnedSlabs>(std::vector<int>{0});
  }
  static Storage storage() {
    switch (GetParam()) {
      case Policy::cached:
        return Storage::cached;
      case Policy::resident:
        return Storage::resident;
      default:
        return Storage::host;
    }
  }
};

TEST_P(GpuDeviceGraph, KernelsSeeTheGraphAfterEveryBatch) {
  const std::unique_ptr<graph::SlabAllocator> slabs = make_slabs();
  graph::SlabAllocator& lists = GetParam() == Policy::resident ? graph::heap_slabs() : *slabs;
  for (const bool directed : {true, false}) {
    RandomGraph graph(directed, directed, 21, lists);
    graph.grow(2000);
    graph.stage(8000, 100);
    graph.settle();
    Workers workers(2);
    const Stream stream = make_stream();
    DeviceGraph mirror(make_cuda_ops(0, stream.get()), {storage(), std::size_t{1} << 20, std::size_t{1} << 20}, workers);
    for (int round = 0; round < 60; ++round) {
      const std::uint32_t kind = graph.below(10);
      if (kind == 0) graph.toggle_query_relation();
      if (kind == 1) graph.grow(100);
      graph.stage(kind == 2 ? 6000 : 1 + graph.below(300), 50);
      const std::vector<graph::Resolved> resolved = graph.graph().resolved();
      mirror.begin(graph.graph(), resolved);
      mirror.select(graph.hot(40));
      check(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
      const auto expected = graph.lists();
      const auto found = dump_on_device(mirror.view(), resolved.size());
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(found[i], expected[i]) << "round " << round << ", list " << i;
      kind == 3 ? graph.unstage() : graph.settle();
    }
    if (storage() != Storage::host) {
      EXPECT_GT(mirror.statistics().merged, 0U);
    }
  }
}

std::string name_of(const testing::TestParamInfo<Policy>& policy) {
  const std::array names = {"None", "Managed", "Cached", "Resident"};
  return names.at(static_cast<std::size_t>(policy.param));
}

INSTANTIATE_TEST_SUITE_P(Policies, GpuDeviceGraph,
                         testing::Values(Policy::none, Policy::managed, Policy::cached, Policy::resident), name_of);

TEST(GpuSlabs, AreRegisteredUntilReleased) {
  if (devices().empty()) GTEST_SKIP() << "no CUDA device";
  PinnedSlabs slabs({0});
  void* slab = slabs.allocate(5000000);
  EXPECT_TRUE(slabs.registered()) << slabs.notice();
  void* seen = nullptr;
  check(cudaHostGetDevicePointer(&seen, slab, 0), "cudaHostGetDevicePointer");
  EXPECT_EQ(seen, slab);
  slabs.release(slab, 5000000);
  EXPECT_NE(cudaHostGetDevicePointer(&seen, slab, 0), cudaSuccess);
  static_cast<void>(cudaGetLastError());
}

TEST(GpuManagedSlabs, RefuseMoreThanTheDeviceHolds) {
  if (devices().empty()) GTEST_SKIP() << "no CUDA device";
  ManagedSlabs slabs(std::vector{0});
  try {
    slabs.allocate(std::size_t{1} << 50);
    FAIL() << "a pebibyte was given";
  } catch (const graph::SlabShortage& shortage) {
    const std::string told = shortage.what();
    EXPECT_TRUE(told.starts_with("policy managed: the graph's lists exceed the ")) << told;
    EXPECT_NE(told.find("; use another policy"), std::string::npos) << told;
  }
  EXPECT_EQ(slabs.bytes(), 0U);
  void* slab = slabs.allocate(4096);
  EXPECT_EQ(slabs.bytes(), 4096U);
  slabs.release(slab, 4096);
  EXPECT_EQ(slabs.bytes(), 0U);
}

}  // namespace
}  // namespace deltamatch::gpu

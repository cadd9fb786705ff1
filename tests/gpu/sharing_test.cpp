// Work that is shared between the warps of a kernel, and between devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gpu/side_by_side.hpp"
#include "gpu/support.hpp"

namespace deltamatch {
namespace {

using test::Shape;
using test::Stream;

// Warps that look for idle ones at every step give nearly everything away. Returns the most parts in a single launch.
std::uint64_t share_all(const Shape& shape, const std::vector<std::uint32_t>& sizes) {
  test::SideBySide both(false, make_gpu_backend({.memory = std::size_t{1} << 26}, {.share_interval = 1}),
                        {{"(a)--(b)--(c)--(d)--(a), (a)--(e)--(b)", test::counted},
                         {"(a)--(b)--(c)--(d)--(a), (a)--(c), (b)--(d)", test::listed},
                         {"(a)--(b)--(c)--(d)--(e)--(a)", test::embeddings}});
  Stream stream(shape, 11);
  both.load(stream.start());
  std::uint64_t before = 0;
  std::uint64_t most = 0;
  for (std::size_t b = 0; b < sizes.size() && !testing::Test::HasFailure(); ++b) {
    both.process(stream.next(sizes[b]), "batch " + std::to_string(b));
    const std::uint64_t parts = test::cache_of(both.gpu()).shared_parts;
    most = std::max(most, parts - before);
    before = parts;
  }
  return most;
}

// The queue of a launch has 16,384 places. Tickets must go around it several times.
TEST(GpuSharing, KeepsEveryPartOnce) {
  DELTAMATCH_NEEDS_GPU();
  if (test::brief()) {
    EXPECT_GT(share_all({1000, 12000, 0, 0, false, 2, 500}, {40, 40}), 20);
    return;
  }
  std::vector<std::uint32_t> sizes(30, 40);
  for (const std::uint32_t size : {400, 2000, 8000}) sizes.insert(sizes.end(), 3, size);
  EXPECT_GT(share_all({3000, 60000, 0, 0, false, 2.5, 2000}, sizes), 3U << 14);
}

TEST(GpuSharing, SmallBatches) {
  DELTAMATCH_NEEDS_GPU();
  EXPECT_GT(share_all({300, 3000, 0, 0, false, 1.5, 200}, std::vector<std::uint32_t>(5, 10)), 20);
}

// Several GPUs share a batch's anchors. Using one device twice tests the sharing just as well. Each has a cache of its own.
class GpuSeveralDevices : public testing::TestWithParam<CachePolicy> {};

TEST_P(GpuSeveralDevices, EqualTheCpu) {
  DELTAMATCH_NEEDS_GPU();
  std::vector<int> devices = gpu_devices();
  if (devices.size() == 1) devices.push_back(0);
  std::vector<test::Registered> queries;
  for (const char* pattern : {"(a:V0)--(b:V1)--(c:V2)--(a)", "(a:V0)--(b:V1)--(c)--(d)--(a)", "(a)--(b)--(c)--(a)--(d)"}) {
    for (const QueryOptions& options : {test::listed, test::counted}) queries.push_back({pattern, options});
  }
  const std::size_t memory =
      GetParam() == CachePolicy::none ? 0 : std::size_t{1} << (GetParam() == CachePolicy::automatic ? 26 : 18);
  test::expect_equal_streams({5000, 60000, 3, 0, false, 1.5, 0}, 10,
                             make_gpu_backend({.devices = devices, .policy = GetParam(), .memory = memory}), queries,
                             {1000, 1000, 1000, 1000, 1000});
}

INSTANTIATE_TEST_SUITE_P(Policies, GpuSeveralDevices,
                         testing::Values(CachePolicy::automatic, CachePolicy::random_walk, CachePolicy::degree,
                                         CachePolicy::k_hop, CachePolicy::none, CachePolicy::managed));

}  // namespace
}  // namespace deltamatch

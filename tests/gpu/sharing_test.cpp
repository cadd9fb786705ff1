// Work that is shared: between the warps of a kernel, and between devices.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gpu/side_by_side.hpp"
#include "gpu/support.hpp"

namespace deltamatch {
namespace {

using test::Shape;
using test::Stream;

// Warps that look for idle ones at every step give nearly everything away, so that tickets go round the queue many times.
void share_all(const Shape& shape, std::size_t batches, std::uint32_t updates, std::uint64_t parts) {
  test::SideBySide both(false, make_gpu_backend({.memory = std::size_t{1} << 26, .testing = {.share_interval = 1}}),
                        {{"(a)--(b)--(c)--(d)--(a), (a)--(e)--(b)", test::counted},
                         {"(a)--(b)--(c)--(d)--(a), (a)--(c), (b)--(d)", test::listed},
                         {"(a)--(b)--(c)--(d)--(e)--(a)", test::embeddings}});
  Stream stream(shape, 11);
  both.follow(stream, std::vector<std::uint32_t>(batches, updates));
  EXPECT_GT(both.gpu().cache().shared_parts, parts);
}

TEST(GpuSharing, KeepsEveryPartOnce) {
  DELTAMATCH_NEEDS_GPU();
  share_all({3000, 60000, 0, 0, false, 2.5, 2000}, 60, 40, 100000);
}

TEST(GpuSharing, SmallBatches) {
  DELTAMATCH_NEEDS_GPU();
  share_all({300, 3000, 0, 0, false, 1.5, 200}, 5, 10, 100);
}

// Several GPUs share a batch's anchors; one device twice is as good a test of the sharing.
TEST(GpuSeveralDevices, EqualTheCpu) {
  DELTAMATCH_NEEDS_GPU();
  std::vector<int> devices = gpu_devices();
  if (devices.size() == 1) devices.push_back(0);
  std::vector<test::Registered> queries;
  for (const char* pattern : {"(a:V0)--(b:V1)--(c:V2)--(a)", "(a:V0)--(b:V1)--(c)--(d)--(a)"}) {
    for (const QueryOptions& options : {test::listed, test::counted}) queries.push_back({pattern, options});
  }
  test::expect_equal_streams({5000, 60000, 3, 0, false, 1.5, 0}, 10,
                             make_gpu_backend({.devices = devices, .memory = std::size_t{1} << 26}), queries,
                             {1000, 1000, 1000, 1000, 1000});
}

}  // namespace
}  // namespace deltamatch

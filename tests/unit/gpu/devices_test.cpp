#include "gpu/cuda/devices.hpp"

#include <gtest/gtest.h>

#include "deltamatch/error.hpp"

namespace deltamatch::gpu {
namespace {

TEST(Devices, EachRunsTheKernelOfThisBuild) {
  const std::vector<Device> found = devices();
  if (found.empty()) GTEST_SKIP() << "no CUDA device";
  for (const Device& device : found) {
    EXPECT_FALSE(device.name.empty());
    EXPECT_GT(device.major, 0);
    EXPECT_GT(device.bytes, std::size_t{1} << 30);
    if (device.has_code) {
      probe(device.ordinal);
    } else {
      EXPECT_THROW(probe(device.ordinal), Error);
    }
  }
}

TEST(Devices, OldOnesLackCode) {
  EXPECT_FALSE(has_code_for(3, 5));
  EXPECT_TRUE(has_code_for(9, 0));
  EXPECT_TRUE(has_code_for(12, 1)) << "translated by the driver";
}

TEST(Devices, OneThatDoesNotExistIsAnErrorThatNamesTheCall) {
  try {
    probe(static_cast<int>(devices().size()));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string_view(error.what()).find("cudaSetDevice: cudaError"), std::string_view::npos) << error.what();
  }
}

TEST(Devices, LaunchesAreForAllMultiprocessorsOrForAsManyAsTheLimitLeaves) {
  if (devices().empty()) GTEST_SKIP() << "no CUDA device";
  const int all = multiprocessors();
  ASSERT_GT(all, 1);
  limit_multiprocessors(1);
  EXPECT_EQ(multiprocessors(), 1);
  limit_multiprocessors(all + 1);
  EXPECT_EQ(multiprocessors(), all);
  limit_multiprocessors(0);
  EXPECT_EQ(multiprocessors(), all);
}

}  // namespace
}  // namespace deltamatch::gpu

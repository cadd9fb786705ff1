// In brief tests, kernels are launched for few multiprocessors. With racecheck, a full launch takes gigabytes and seconds. Most
// of its warps have nothing to do in small tests.
#include <gtest/gtest.h>

#include "gpu/cuda/devices.hpp"
#include "gpu/streams.hpp"

namespace deltamatch {
namespace {

class Brief : public testing::Environment {
 public:
  void SetUp() override { gpu::limit_multiprocessors(test::brief() ? few : 0); }

 private:
  static constexpr int few = 4;
};

const auto* const brief = testing::AddGlobalTestEnvironment(new Brief);

}  // namespace
}  // namespace deltamatch

// What every backend promises, as a test suite that takes a backend's factory. A program adds a backend with one line:
//
//   DELTAMATCH_CONFORMS(Name, factory);           // or, if it may be missing here, with why (empty: it is there)
//   DELTAMATCH_CONFORMS(Name, factory, absence);
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "deltamatch/backend.hpp"

namespace deltamatch::test {

struct BackendCase {
  std::function<std::shared_ptr<Backend>()> make;
  std::function<std::string()> absence = [] { return std::string(); };
};
inline void PrintTo(const BackendCase& /*of*/, std::ostream* out) { *out << "a backend"; }

/// Skips its tests, and says why, if the backend cannot be made on this machine.
class BackendConformance : public testing::TestWithParam<BackendCase> {
 protected:
  void SetUp() override {
    if (const std::string why = GetParam().absence(); !why.empty()) GTEST_SKIP() << why;
    backend_ = GetParam().make();
    ASSERT_NE(backend_, nullptr);
  }

  std::shared_ptr<Backend> backend_;
};

#define DELTAMATCH_CONFORMS(name, ...)                                                          \
  INSTANTIATE_TEST_SUITE_P(name, BackendConformance, testing::Values(BackendCase{__VA_ARGS__}), \
                           [](const auto& /*info*/) { return std::string(#name); })

}  // namespace deltamatch::test

// What the GPU tests share. They are skipped by name if there is no device.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/gpu.hpp"

namespace deltamatch::test {

#define DELTAMATCH_NEEDS_GPU() \
  if (gpu_devices().empty()) GTEST_SKIP() << gpu_absence()

// Skips tests of time, of early ends, and of errors that tools would report.
#define DELTAMATCH_NOT_WHERE_BRIEF() \
  if (test::brief()) GTEST_SKIP() << "nothing for tools that slow kernels down"

/// A policy with a budget that barely suffices, or does. The smallest graphs of the tests fit all caches except the tiny one.
/// Most graphs fit none (GpuCache.SmallBudgetsHoldSomeOfTheLists).
struct Setting {
  const char* name;
  CachePolicy policy;
  std::size_t memory;
  GpuTesting testing{};
};
inline std::ostream& operator<<(std::ostream& out, const Setting& setting) { return out << setting.name; }

inline const std::vector<Setting>& settings() {
  static const std::vector<Setting> all{
      {"resident", CachePolicy::resident, std::size_t{64} << 20},
      {"none", CachePolicy::none, 0},
      {"random_walk", CachePolicy::random_walk, std::size_t{1} << 17},
      {"random_walk_tiny", CachePolicy::random_walk, std::size_t{1} << 13},
      {"degree", CachePolicy::degree, std::size_t{1} << 16},
      {"k_hop", CachePolicy::k_hop, std::size_t{1} << 16},
      {"managed", CachePolicy::managed, 0},
      {"automatic", CachePolicy::automatic, std::size_t{64} << 20},
      {"tables", CachePolicy::resident, std::size_t{64} << 20, {.tables = GpuTables::always}},
      {"tables_tiny", CachePolicy::random_walk, std::size_t{1} << 20, {.tables = GpuTables::always, .table_memory = 1}},
      {"reuses", CachePolicy::random_walk, std::size_t{1} << 17, {.tables = GpuTables::never, .reuse = GpuReuse::always}}};
  return all;
}

inline std::shared_ptr<Backend> backend_of(const Setting& setting) {
  return make_gpu_backend({.policy = setting.policy, .memory = setting.memory, .testing = setting.testing});
}

}  // namespace deltamatch::test

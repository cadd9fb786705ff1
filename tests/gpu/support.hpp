// What the GPU tests share. They are skipped by name if there is no device.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "gpu/mirror/cache_statistics.hpp"
#include "gpu/testing.hpp"

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
      {"reuses", CachePolicy::random_walk, std::size_t{1} << 17, {.tables = GpuTables::never, .reuse = GpuReuse::always}},
      {"made", CachePolicy::resident, std::size_t{64} << 20, {.tables = GpuTables::never, .made = GpuMade::always}},
      {"made_reuses",
       CachePolicy::degree,
       std::size_t{1} << 16,
       {.tables = GpuTables::never, .reuse = GpuReuse::always, .made = GpuMade::always}}};
  return all;
}

inline std::shared_ptr<Backend> backend_of(const Setting& setting) {
  return make_gpu_backend({.policy = setting.policy, .memory = setting.memory}, setting.testing);
}

/// What an engine's backend reports, as fields.
inline gpu::CacheStatistics cache_of(const Engine& engine) {
  const BackendStatistics from = engine.backend_statistics();
  gpu::CacheStatistics made{.hits = from.count("hits"),
                            .misses = from.count("misses"),
                            .filled = from.count("filled"),
                            .copied_bytes = from.count("copied_bytes"),
                            .cached_lists = from.count("cached_lists"),
                            .cached_bytes = from.count("cached_bytes"),
                            .choices = from.count("choices"),
                            .on_cpu = from.count("on_cpu"),
                            .shared_parts = from.count("shared_parts"),
                            .kernel_seconds = from.real("kernel_seconds"),
                            .notice = from.notice,
                            .coverage = from.real("coverage")};
  for (const int percent : {1, 2, 3, 4, 5, 10, 20}) {
    const std::string top = "top_" + std::to_string(percent) + "_";
    if (from.find(top + "accesses") == nullptr) continue;
    made.top.push_back({percent / 100.0, from.real(top + "accesses"), from.real(top + "coverage"), from.real(top + "bytes")});
  }
  return made;
}

}  // namespace deltamatch::test

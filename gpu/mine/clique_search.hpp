// Counts cliques on one device, for roots that it takes from a queue.
#pragma once

#include <cstdint>
#include <optional>

#include "gpu/mine/device_dense_sets.hpp"
#include "gpu/mine/root_queue.hpp"

namespace deltamatch::gpu {

struct CliqueJob {
  const match::LaterLists& graph;
  std::optional<unsigned> k;
  const DenseSettings& settings;
  RootQueue& queue;
  std::size_t devices;
};

/// Runs until all roots are taken or `go_on` returns false. Roots that it has no memory for stay in the queue or are given
/// back.
[[nodiscard]] match::CliqueTally search_cliques(DenseOps& ops, const CliqueJob& job, const match::GoOn& go_on);

}  // namespace deltamatch::gpu

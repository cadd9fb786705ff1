// The matcher that runs on GPUs. Internal to gpu.
#pragma once

#include <memory>

#include "base/parallel.hpp"
#include "gpu/testing.hpp"
#include "graph/arena.hpp"
#include "match/matcher.hpp"

namespace deltamatch::gpu {

class PinnedSlabs;

/// Makes the matcher. `pinned` holds the graph's lists, or is null; `managed` says that they lie in unified memory. Kernels can
/// read them in both cases, unless registering was refused.
[[nodiscard]] std::unique_ptr<match::Matcher> make_matcher(const GpuSettings& options, const PinnedSlabs* pinned, bool managed,
                                                           Workers& workers);

}  // namespace deltamatch::gpu

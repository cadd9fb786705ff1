// The numbers of edges with an identity of their own.
#pragma once

#include <cstdint>

namespace deltamatch::graph {

/// The number of an edge, below 2^31.
using Slot = std::uint32_t;
inline constexpr Slot no_slot = 0xffffffff;

}  // namespace deltamatch::graph

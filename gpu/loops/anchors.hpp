// Anchors and totals, which all matching kernels share. Internal to gpu.
#pragma once

#include <cstdint>

namespace deltamatch::gpu {

/// A data edge that matches are searched from.
struct Anchor {
  std::uint32_t tail;
  std::uint32_t head;
  std::uint32_t label;
};

/// What a program found: a 128-bit two's complement sum, and whether an intermediate result exceeded 64 bits.
struct Total {
  unsigned long long low;
  unsigned long long high;
  unsigned long long clocks;  ///< clock cycles in which warps worked for the program, of all warps together
  unsigned int overflow;
  unsigned int unused;
};

}  // namespace deltamatch::gpu

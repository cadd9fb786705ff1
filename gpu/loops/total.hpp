// Adds sums of 64 bits up to 128 bits. Internal to gpu.
#pragma once

#include "gpu/cuda/host_device.hpp"
#include "gpu/loops/kernel.hpp"

namespace deltamatch::gpu {

/// Adds `found` to a total, while other threads add, too. Once all have, the total is their sum modulo 2^128.
DELTAMATCH_HOST_DEVICE inline void add_to(Total& total, long long found) {
  const auto low = static_cast<unsigned long long>(found);
  const unsigned long long before = fetch_add(&total.low, low);
  const unsigned long long carry = before + low < before ? 1 : 0;
  const unsigned long long high = (found < 0 ? ~0ULL : 0ULL) + carry;
  if (high != 0) fetch_add(&total.high, high);
}

}  // namespace deltamatch::gpu

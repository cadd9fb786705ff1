// The kernels of each instruction set, for intersect.cpp to choose from.
#pragma once

#include "match/intersect.hpp"

namespace deltamatch::match::detail {

extern const Kernels portable_kernels;
#ifdef __x86_64__
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;
#endif

}  // namespace deltamatch::match::detail

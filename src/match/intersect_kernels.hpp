// The kernels of each instruction set, from which intersect.cpp chooses.
#pragma once

#include "match/intersect.hpp"

namespace deltamatch::match::detail {

extern const Kernels portable_kernels;
#ifdef __x86_64__
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;
#endif

/// Bisects over the last entries of blocks, all lanes side by side, without branches that depend on the data. The needles x
/// must ascend. base[k] is the start of the part of the list that may hold x[k], and every part has `blocks` blocks. Moves
/// base[k] to the start of the one block of `width` entries that may hold x[k].
template <std::size_t width, std::size_t lanes>
inline void bisect(const std::uint32_t* list, std::size_t blocks, const std::uint32_t (&x)[lanes],
                   std::size_t (&base)[lanes]) noexcept {
  while (blocks > 1) {
    const std::size_t half = blocks / 2;
    for (std::size_t k = 0; k < lanes; ++k) {
      base[k] += list[base[k] + half * width - 1] < x[k] ? half * width : 0;
    }
    blocks -= half;
  }
}

}  // namespace deltamatch::match::detail

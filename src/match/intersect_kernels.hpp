// The kernels of each instruction set, for intersect.cpp to choose from.
#pragma once

#include "match/intersect.hpp"

namespace deltamatch::match::detail {

extern const Kernels portable_kernels;
#ifdef __x86_64__
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;
#endif

/// For ascending needles x: moves base[k], the start of the part of the list that may hold x[k], to the start of the one block
/// of `width` entries that may; `blocks` is the length of every part. Bisects over the blocks' last entries, all lanes side by
/// side, without branches on the data.
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

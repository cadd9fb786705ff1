// What the kernels of all vector instruction sets share: the choice between the ways to intersect two lists, and the ways
// themselves. Only the work on whole blocks is left to each instruction set.
//
// The one source file of an instruction set includes this, after it has defined DELTAMATCH_TARGET, the attribute of its
// functions. All of this is then compiled for that set and must not be mixed with what another file compiled. Hence the unnamed
// namespace.
//
// Every store writes exactly the entries that it must. So `out` may be `a` itself: an entry of the result never lies beyond its
// equal in `a`.
#pragma once

#ifndef DELTAMATCH_TARGET
#error "define DELTAMATCH_TARGET, the attribute of functions for the instruction set, before this header is included"
#endif

#include <immintrin.h>

#include <algorithm>

#include "match/intersect_kernels.hpp"

namespace deltamatch::match::detail {
namespace {

// `Set` is a struct of the including file. `width` is the number of entries in a block. `small_needles` is the most needles for
// which all pairs are compared. `holds` looks for a needle in a block, and `merge_blocks` intersects two blocks. `all_pairs`
// intersects a few needles with a list of `blocks` blocks, the last of which may be shorter.

/// A list of at most this many blocks is kept in registers.
constexpr std::size_t small_blocks = 4;

/// From this skew on, searching the long list is faster than merging (measured by bench/micro/intersect_bench.cpp).
constexpr std::size_t search_skew = 12;

/// A search first looks this many times the mean distance ahead. Only then it takes the whole rest of the list.
constexpr std::size_t search_span = 4;

/// Bisects over the last entries of blocks to find the block that may hold a needle, then compares the whole block. It does
/// that for `lanes` needles side by side, without branches that depend on the data. The list must have at least `width`
/// entries.
template <class Set, bool write, std::size_t lanes>
DELTAMATCH_TARGET std::size_t search(const std::uint32_t* needles, std::size_t n, const std::uint32_t* list, std::size_t size,
                                     std::uint32_t* out) noexcept {
  constexpr std::size_t width = Set::width;
  const std::size_t blocks = (size + width - 1) / width;
  const std::size_t span = search_span * lanes * (blocks / n + 1);
  std::size_t found = 0;
  std::size_t first = 0;  // later needles are not in the blocks before
  for (std::size_t i = 0; i < n; i += lanes) {
    std::uint32_t x[lanes];
    std::size_t base[lanes];
    for (std::size_t k = 0; k < lanes; ++k) {
      x[k] = needles[std::min(i + k, n - 1)];
      base[k] = first * width;
    }
    std::size_t rest = blocks - first;
    if (span < rest && list[(first + span) * width - 1] >= x[lanes - 1]) rest = span;
    bisect<width>(list, rest, x, base);
    first = base[lanes - 1] / width;
    unsigned hits = 0;
    for (std::size_t k = 0; k < lanes; ++k) {
      const bool hit = Set::holds(list + std::min(base[k], size - width), x[k]);
      hits |= static_cast<unsigned>(hit && i + k < n) << k;
    }
    for (; hits != 0; hits &= hits - 1, ++found) {
      if constexpr (write) out[found] = x[_tzcnt_u32(hits)];
    }
  }
  return found;
}

template <class Set, bool write>
DELTAMATCH_TARGET std::size_t unlike(const std::uint32_t* needles, std::size_t n, const std::uint32_t* list, std::size_t size,
                                     std::uint32_t* out) noexcept {
  if (n == 0) return 0;
  if (n <= Set::small_needles && size <= small_blocks * Set::width) {
    switch ((size + Set::width - 1) / Set::width) {
      case 1:
        return Set::template all_pairs<write, 1>(needles, n, list, size, out);
      case 2:
        return Set::template all_pairs<write, 2>(needles, n, list, size, out);
      case 3:
        return Set::template all_pairs<write, 3>(needles, n, list, size, out);
      default:
        return Set::template all_pairs<write, 4>(needles, n, list, size, out);
    }
  }
  if (n == 1) return search<Set, write, 1>(needles, n, list, size, out);
  return n <= 4 ? search<Set, write, 4>(needles, n, list, size, out) : search<Set, write, 8>(needles, n, list, size, out);
}

/// Compares block with block, and goes on in the list whose block ends first. No branch depends on which it is.
template <class Set, bool write>
DELTAMATCH_TARGET std::size_t merge(const std::uint32_t* a, std::size_t na, const std::uint32_t* b, std::size_t nb,
                                    std::uint32_t* out) noexcept {
  constexpr std::size_t width = Set::width;
  std::size_t i = 0;
  std::size_t j = 0;
  std::size_t found = 0;
  while (i + width <= na && j + width <= nb) {
    const std::uint32_t a_last = a[i + width - 1];  // read before the output may overwrite it
    const std::uint32_t b_last = b[j + width - 1];
    found += Set::template merge_blocks<write>(a + i, b + j, out + found);
    i += a_last <= b_last ? width : 0;
    j += b_last <= a_last ? width : 0;
  }
  // If `out` is `a`, results may cover entries of the block at i that are done with. These are skipped, so that the rest
  // ascends.
  i = std::max(i, found);
  na -= i;
  nb -= j;
  if constexpr (write) out += found;
  return found + (na < nb ? unlike<Set, write>(a + i, na, b + j, nb, out) : unlike<Set, write>(b + j, nb, a + i, na, out));
}

template <class Set, bool write>
DELTAMATCH_TARGET std::size_t intersect(const std::uint32_t* a, std::size_t na, const std::uint32_t* b, std::size_t nb,
                                        std::uint32_t* out) noexcept {
  const std::size_t least = std::min(na, nb);
  const std::size_t most = std::max(na, nb);
  if (least >= Set::width && most / search_skew < least) return merge<Set, write>(a, na, b, nb, out);
  return na < nb ? unlike<Set, write>(a, na, b, nb, out) : unlike<Set, write>(b, nb, a, na, out);
}

template <class Set>
DELTAMATCH_TARGET std::size_t count(const std::uint32_t* a, std::size_t na, const std::uint32_t* b, std::size_t nb) noexcept {
  return intersect<Set, false>(a, na, b, nb, nullptr);
}

}  // namespace
}  // namespace deltamatch::match::detail

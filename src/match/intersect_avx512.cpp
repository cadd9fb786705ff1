// Intersections with AVX-512 (F, BW, VL) and BMI2. Compiled into every x86-64 binary, run only where the processor has them.
//
// Every store writes exactly the entries it has to: that is what makes the output free to be `a` itself (an entry of the
// result never comes to lie beyond the entry of `a` that it equals).
#include "match/intersect_kernels.hpp"

#ifdef __x86_64__

// GCC 12 takes the undefined registers of its own intrinsics for mistakes (bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <immintrin.h>

#include <algorithm>

#define DELTAMATCH_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx2,bmi,bmi2,popcnt")))

namespace deltamatch::match::detail {
namespace {

constexpr std::size_t width = 16;

/// In registers: a list of at most that many blocks against at most `width` needles.
constexpr std::size_t small_blocks = 4;

/// From that skew on, searching the long list beats merging (measured by bench/micro/intersect_bench.cpp).
constexpr std::size_t search_skew = 12;

/// A search looks that many times the mean distance ahead before it takes in the whole rest of the list.
constexpr std::size_t search_span = 4;

DELTAMATCH_TARGET inline __mmask16 first_lanes(std::size_t n) noexcept {
  return static_cast<__mmask16>(_bzhi_u32(0xffff, static_cast<unsigned>(std::min<std::size_t>(n, width))));
}

DELTAMATCH_TARGET inline __m512i broadcast(std::uint32_t x) noexcept { return _mm512_set1_epi32(static_cast<int>(x)); }

template <bool write>
DELTAMATCH_TARGET inline std::size_t emit(__m512i values, __mmask16 hits, std::uint32_t* out) noexcept {
  const auto count = static_cast<unsigned>(_mm_popcnt_u32(hits));
  if constexpr (write) {
    _mm512_mask_storeu_epi32(out, static_cast<__mmask16>(_bzhi_u32(0xffff, count)), _mm512_maskz_compress_epi32(hits, values));
  }
  return count;
}

/// All pairs: the list lies in registers, needles are broadcast.
template <bool write, std::size_t blocks>
DELTAMATCH_TARGET std::size_t all_pairs(const std::uint32_t* needles, std::size_t n, const std::uint32_t* list,
                                        std::size_t size, std::uint32_t* out) noexcept {
  const __mmask16 valid = first_lanes(size - (blocks - 1) * width);
  __m512i block[blocks];
  __mmask16 missing[blocks];
  for (std::size_t k = 0; k < blocks; ++k) {
    missing[k] = k + 1 < blocks ? __mmask16{0xffff} : valid;
    block[k] = _mm512_maskz_loadu_epi32(missing[k], list + k * width);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const __m512i x = broadcast(needles[i]);
    for (std::size_t k = 0; k < blocks; ++k) missing[k] = _mm512_mask_cmpneq_epi32_mask(missing[k], block[k], x);
  }
  std::size_t found = 0;
  for (std::size_t k = 0; k < blocks; ++k) {
    const __mmask16 all = k + 1 < blocks ? __mmask16{0xffff} : valid;
    found += emit<write>(block[k], static_cast<__mmask16>(all & ~missing[k]), out + found);
  }
  return found;
}

DELTAMATCH_TARGET inline bool holds(const std::uint32_t* block, std::uint32_t x) noexcept {
  return _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(block), broadcast(x)) != 0;
}

/// Finds the block that may hold a needle by bisection over the blocks' last entries, without branches on the data, `lanes`
/// needles side by side; then compares the whole block. The list has `width` entries at least.
template <bool write, std::size_t lanes>
DELTAMATCH_TARGET std::size_t search(const std::uint32_t* needles, std::size_t n, const std::uint32_t* list, std::size_t size,
                                     std::uint32_t* out) noexcept {
  const std::size_t blocks = (size + width - 1) / width;
  const std::size_t span = search_span * lanes * (blocks / n + 1);
  std::size_t found = 0;
  std::size_t first = 0;  // needles to come are not in the blocks before
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
      const bool hit = holds(list + std::min(base[k], size - width), x[k]);
      hits |= static_cast<unsigned>(hit && i + k < n) << k;
    }
    for (; hits != 0; hits &= hits - 1, ++found) {
      if constexpr (write) out[found] = x[_tzcnt_u32(hits)];
    }
  }
  return found;
}

template <bool write>
DELTAMATCH_TARGET std::size_t unlike(const std::uint32_t* needles, std::size_t n, const std::uint32_t* list, std::size_t size,
                                     std::uint32_t* out) noexcept {
  if (n == 0) return 0;
  if (n <= width && size <= small_blocks * width) {
    switch ((size + width - 1) / width) {
      case 1:
        return all_pairs<write, 1>(needles, n, list, size, out);
      case 2:
        return all_pairs<write, 2>(needles, n, list, size, out);
      case 3:
        return all_pairs<write, 3>(needles, n, list, size, out);
      default:
        return all_pairs<write, 4>(needles, n, list, size, out);
    }
  }
  if (n == 1) return search<write, 1>(needles, n, list, size, out);
  return n <= 4 ? search<write, 4>(needles, n, list, size, out) : search<write, 8>(needles, n, list, size, out);
}

/// Compares block with block, and moves on in the list whose block ends first; no branch depends on which.
template <bool write>
DELTAMATCH_TARGET std::size_t merge(const std::uint32_t* a, std::size_t na, const std::uint32_t* b, std::size_t nb,
                                    std::uint32_t* out) noexcept {
  std::size_t i = 0;
  std::size_t j = 0;
  std::size_t found = 0;
  while (i + width <= na && j + width <= nb) {
    const __m512i block = _mm512_loadu_si512(a + i);
    const std::uint32_t a_last = a[i + width - 1];
    const std::uint32_t b_last = b[j + width - 1];
    __mmask16 missing[4] = {0xffff, 0xffff, 0xffff, 0xffff};
    for (std::size_t k = 0; k < width; k += 4) {
      for (std::size_t l = 0; l < 4; ++l) {
        missing[l] = _mm512_mask_cmpneq_epi32_mask(missing[l], block, broadcast(b[j + k + l]));
      }
    }
    const auto hits = static_cast<__mmask16>(~((missing[0] & missing[1]) & (missing[2] & missing[3])));
    found += emit<write>(block, hits, out + found);
    i += a_last <= b_last ? width : 0;
    j += b_last <= a_last ? width : 0;
  }
  // In place, results may lie on entries of the block at i that are done with: skipped, so that what is left ascends.
  i = std::max(i, found);
  na -= i;
  nb -= j;
  if constexpr (write) out += found;
  return found + (na < nb ? unlike<write>(a + i, na, b + j, nb, out) : unlike<write>(b + j, nb, a + i, na, out));
}

template <bool write>
DELTAMATCH_TARGET std::size_t intersect(const std::uint32_t* a, std::size_t na, const std::uint32_t* b, std::size_t nb,
                                        std::uint32_t* out) noexcept {
  const std::size_t least = std::min(na, nb);
  const std::size_t most = std::max(na, nb);
  if (least >= width && most / search_skew < least) return merge<write>(a, na, b, nb, out);
  return na < nb ? unlike<write>(a, na, b, nb, out) : unlike<write>(b, nb, a, na, out);
}

DELTAMATCH_TARGET std::size_t count(const std::uint32_t* a, std::size_t na, const std::uint32_t* b, std::size_t nb) noexcept {
  return intersect<false>(a, na, b, nb, nullptr);
}

}  // namespace

const Kernels avx512_kernels = {count, intersect<true>};

}  // namespace deltamatch::match::detail

#endif

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

/// From that skew on, searching the long list beats merging.
#ifndef SKEW512
#define SKEW512 12
#endif
constexpr std::size_t search_skew = SKEW512;

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
  __m512i block[blocks];
  __mmask16 valid[blocks];
  __mmask16 even[blocks] = {};
  __mmask16 odd[blocks] = {};
  for (std::size_t k = 0; k < blocks; ++k) {
    valid[k] = k + 1 < blocks ? __mmask16{0xffff} : first_lanes(size - k * width);
    block[k] = _mm512_maskz_loadu_epi32(valid[k], list + k * width);
  }
  std::size_t i = 0;
  for (; i + 2 <= n; i += 2) {
    const __m512i x = broadcast(needles[i]);
    const __m512i y = broadcast(needles[i + 1]);
    for (std::size_t k = 0; k < blocks; ++k) {
      even[k] = static_cast<__mmask16>(even[k] | _mm512_cmpeq_epi32_mask(block[k], x));
      odd[k] = static_cast<__mmask16>(odd[k] | _mm512_cmpeq_epi32_mask(block[k], y));
    }
  }
  if (i < n) {
    const __m512i x = broadcast(needles[i]);
    for (std::size_t k = 0; k < blocks; ++k) even[k] = static_cast<__mmask16>(even[k] | _mm512_cmpeq_epi32_mask(block[k], x));
  }
  std::size_t found = 0;
  for (std::size_t k = 0; k < blocks; ++k) {
    found += emit<write>(block[k], static_cast<__mmask16>((even[k] | odd[k]) & valid[k]), out + found);
  }
  return found;
}

/// Bisects the list for `width` needles at once by gathers.
template <bool write>
DELTAMATCH_TARGET std::size_t search(const std::uint32_t* needles, std::size_t n, const std::uint32_t* list, std::size_t size,
                                     std::uint32_t* out) noexcept {
  const std::size_t span = search_span * width * (size / n + 1);
  std::size_t found = 0;
  for (std::size_t i = 0; i < n; i += width) {
    const std::size_t lanes = std::min(width, n - i);
    const std::uint32_t last = needles[i + lanes - 1];
    const __mmask16 valid = first_lanes(lanes);
    const __m512i x = _mm512_mask_loadu_epi32(broadcast(last), valid, needles + i);
    // If a needle is in the list, it is among the `rest` entries from its `base` on.
    __m512i base = _mm512_setzero_si512();
    std::size_t rest = span < size && list[span - 1] >= last ? span : size;
    while (rest > 1) {
      const std::size_t half = rest / 2;
      const __m512i probe = _mm512_i32gather_epi32(base, list + half - 1, 4);
      base = _mm512_mask_add_epi32(base, _mm512_cmplt_epi32_mask(probe, x), base, broadcast(static_cast<std::uint32_t>(half)));
      rest -= half;
    }
    const __mmask16 hits = _mm512_mask_cmpeq_epi32_mask(valid, _mm512_i32gather_epi32(base, list, 4), x);
    found += emit<write>(x, hits, out + found);
    const auto skip = static_cast<std::uint32_t>(_mm512_cvtsi512_si32(_mm512_alignr_epi32(base, base, 15)));
    list += skip;
    size -= skip;
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
  if (n == 1) {
    const bool hit = contains(list, size, *needles);
    if constexpr (write) {
      if (hit) *out = *needles;
    }
    return hit ? 1 : 0;
  }
  return search<write>(needles, n, list, size, out);
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
    unsigned hits[4] = {};
    for (std::size_t k = 0; k < width; k += 4) {
      for (std::size_t l = 0; l < 4; ++l) hits[l] |= _mm512_cmpeq_epi32_mask(block, broadcast(b[j + k + l]));
    }
    found += emit<write>(block, static_cast<__mmask16>((hits[0] | hits[1]) | (hits[2] | hits[3])), out + found);
    i += a_last <= b_last ? width : 0;
    j += b_last <= a_last ? width : 0;
  }
  // In place, results may have overwritten entries of the block at i that are done with.
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

/// The entries of a block whose bit is set. Bits are read as 32-bit words: x86 is little-endian.
DELTAMATCH_TARGET inline __mmask16 test_bits(__mmask16 valid, __m512i values, const std::uint64_t* bits) noexcept {
  const __m512i words = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), valid, _mm512_srli_epi32(values, 5), bits, 4);
  const __m512i probe = _mm512_sllv_epi32(broadcast(1), _mm512_and_si512(values, broadcast(31)));
  return _mm512_test_epi32_mask(words, probe);
}

template <bool write>
DELTAMATCH_TARGET std::size_t filter(const std::uint32_t* a, std::size_t n, const std::uint64_t* bits,
                                     std::uint32_t* out) noexcept {
  std::size_t found = 0;
  for (std::size_t i = 0; i < n; i += width) {
    const __mmask16 valid = first_lanes(n - i);
    const __m512i values = _mm512_maskz_loadu_epi32(valid, a + i);
    found += emit<write>(values, test_bits(valid, values, bits), out + found);
  }
  return found;
}

DELTAMATCH_TARGET std::size_t count_bits(const std::uint32_t* a, std::size_t n, const std::uint64_t* bits) noexcept {
  return filter<false>(a, n, bits, nullptr);
}

}  // namespace

const Kernels avx512_kernels = {count, intersect<true>, count_bits, filter<true>};

}  // namespace deltamatch::match::detail

#endif

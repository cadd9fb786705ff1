// Intersections with AVX2 and BMI2. Compiled into every x86-64 binary, run only where the processor has them. Comparisons are
// signed: values are below 2^31.
//
// Every store writes exactly the entries it has to: that is what makes the output free to be `a` itself (an entry of the
// result never comes to lie beyond the entry of `a` that it equals).
#include "match/intersect_kernels.hpp"

#ifdef __x86_64__

#include <immintrin.h>

#include <algorithm>
#include <array>

#define DELTAMATCH_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))

namespace deltamatch::match::detail {
namespace {

constexpr std::size_t width = 8;

/// In registers: a list of at most that many blocks against at most `small_needles` needles.
constexpr std::size_t small_blocks = 4;
constexpr std::size_t small_needles = 16;

/// From that skew on, searching the long list beats merging (measured by bench/micro/intersect_bench.cpp).
constexpr std::size_t search_skew = 12;

/// A search looks that many times the mean distance ahead before it takes in the whole rest of the list.
constexpr std::size_t search_span = 4;

/// For every set of lanes the permutation that moves them to the front, a byte a lane.
constexpr std::array<std::uint64_t, 256> make_fronts() {
  std::array<std::uint64_t, 256> fronts{};
  for (std::uint64_t set = 0; set < 256; ++set) {
    unsigned place = 0;
    for (std::uint64_t lane = 0; lane < 8; ++lane) {
      if ((set >> lane & 1) != 0) fronts[set] |= lane << (8 * place++);
    }
  }
  return fronts;
}
constexpr std::array<std::uint64_t, 256> fronts = make_fronts();

DELTAMATCH_TARGET inline __m256i broadcast(std::uint32_t x) noexcept { return _mm256_set1_epi32(static_cast<int>(x)); }

/// All bits of the first n lanes.
DELTAMATCH_TARGET inline __m256i first_lanes(std::size_t n) noexcept {
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(broadcast(static_cast<std::uint32_t>(std::min(n, width))), lanes);
}

DELTAMATCH_TARGET inline __m256i load(const std::uint32_t* from) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

DELTAMATCH_TARGET inline __m256i load(const std::uint32_t* from, __m256i valid) noexcept {
  return _mm256_maskload_epi32(reinterpret_cast<const int*>(from), valid);
}

template <bool write>
DELTAMATCH_TARGET inline std::size_t emit(__m256i values, __m256i hits, std::uint32_t* out) noexcept {
  const auto set = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(hits)));
  const auto count = static_cast<std::size_t>(_mm_popcnt_u32(set));
  if constexpr (write) {
    const __m256i front = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(fronts[set])));
    _mm256_maskstore_epi32(reinterpret_cast<int*>(out), first_lanes(count), _mm256_permutevar8x32_epi32(values, front));
  }
  return count;
}

/// All pairs: the list lies in registers, needles are broadcast.
template <bool write, std::size_t blocks>
DELTAMATCH_TARGET std::size_t all_pairs(const std::uint32_t* needles, std::size_t n, const std::uint32_t* list,
                                        std::size_t size, std::uint32_t* out) noexcept {
  const __m256i valid = first_lanes(size - (blocks - 1) * width);
  __m256i block[blocks];
  __m256i hits[blocks];
  for (std::size_t k = 0; k < blocks; ++k) {
    block[k] = k + 1 < blocks ? load(list + k * width) : load(list + k * width, valid);
    hits[k] = _mm256_setzero_si256();
  }
  for (std::size_t i = 0; i < n; ++i) {
    const __m256i x = broadcast(needles[i]);
    for (std::size_t k = 0; k < blocks; ++k) hits[k] = _mm256_or_si256(hits[k], _mm256_cmpeq_epi32(block[k], x));
  }
  hits[blocks - 1] = _mm256_and_si256(hits[blocks - 1], valid);
  std::size_t found = 0;
  for (std::size_t k = 0; k < blocks; ++k) found += emit<write>(block[k], hits[k], out + found);
  return found;
}

DELTAMATCH_TARGET inline bool holds(const std::uint32_t* block, std::uint32_t x) noexcept {
  return _mm256_movemask_epi8(_mm256_cmpeq_epi32(load(block), broadcast(x))) != 0;
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
  if (n <= small_needles && size <= small_blocks * width) {
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
    const __m256i block = load(a + i);
    const std::uint32_t a_last = a[i + width - 1];
    const std::uint32_t b_last = b[j + width - 1];
    __m256i even = _mm256_setzero_si256();
    __m256i odd = _mm256_setzero_si256();
    for (std::size_t k = 0; k < width; k += 2) {
      even = _mm256_or_si256(even, _mm256_cmpeq_epi32(block, broadcast(b[j + k])));
      odd = _mm256_or_si256(odd, _mm256_cmpeq_epi32(block, broadcast(b[j + k + 1])));
    }
    found += emit<write>(block, _mm256_or_si256(even, odd), out + found);
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

const Kernels avx2_kernels = {count, intersect<true>};

}  // namespace deltamatch::match::detail

#endif

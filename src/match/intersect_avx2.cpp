// Intersections with AVX2 and BMI2. Compiled into every x86-64 binary, but run only if the processor has both. Comparisons are
// signed, because values are below 2^31.
#include "match/intersect_kernels.hpp"

#ifdef __x86_64__

#include <immintrin.h>

#include <algorithm>
#include <array>

#define DELTAMATCH_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#include "match/intersect_blocks.hpp"

namespace deltamatch::match::detail {
namespace {

constexpr std::size_t width = 8;

/// For every set of lanes, the permutation that moves them to the front, one byte per lane.
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

struct Avx2 {
  static constexpr std::size_t width = detail::width;
  static constexpr std::size_t small_needles = 16;

  DELTAMATCH_TARGET static bool holds(const std::uint32_t* block, std::uint32_t x) noexcept {
    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(load(block), broadcast(x))) != 0;
  }

  template <bool write>
  DELTAMATCH_TARGET static std::size_t merge_blocks(const std::uint32_t* a, const std::uint32_t* b,
                                                    std::uint32_t* out) noexcept {
    const __m256i block = load(a);
    __m256i even = _mm256_setzero_si256();
    __m256i odd = _mm256_setzero_si256();
    for (std::size_t k = 0; k < width; k += 2) {
      even = _mm256_or_si256(even, _mm256_cmpeq_epi32(block, broadcast(b[k])));
      odd = _mm256_or_si256(odd, _mm256_cmpeq_epi32(block, broadcast(b[k + 1])));
    }
    return emit<write>(block, _mm256_or_si256(even, odd), out);
  }

  /// Keeps the list in registers and broadcasts the needles.
  template <bool write, std::size_t blocks>
  DELTAMATCH_TARGET static std::size_t all_pairs(const std::uint32_t* needles, std::size_t n, const std::uint32_t* list,
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
};

}  // namespace

const Kernels avx2_kernels = {count<Avx2>, intersect<Avx2, true>};

}  // namespace deltamatch::match::detail

#endif

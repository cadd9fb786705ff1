// Intersections with AVX-512 (F, BW, VL) and BMI2. Compiled into every x86-64 binary, but run only if the processor has them.
#include "match/intersect_kernels.hpp"

#ifdef __x86_64__

// GCC 12 warns about undefined registers in its own intrinsics (bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <immintrin.h>

#include <algorithm>

#define DELTAMATCH_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx2,bmi,bmi2,popcnt")))
#include "match/intersect_blocks.hpp"

namespace deltamatch::match::detail {
namespace {

constexpr std::size_t width = 16;

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

struct Avx512 {
  static constexpr std::size_t width = detail::width;
  static constexpr std::size_t small_needles = width;

  DELTAMATCH_TARGET static bool holds(const std::uint32_t* block, std::uint32_t x) noexcept {
    return _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(block), broadcast(x)) != 0;
  }

  template <bool write>
  DELTAMATCH_TARGET static std::size_t merge_blocks(const std::uint32_t* a, const std::uint32_t* b,
                                                    std::uint32_t* out) noexcept {
    const __m512i block = _mm512_loadu_si512(a);
    __mmask16 missing[4] = {0xffff, 0xffff, 0xffff, 0xffff};
    for (std::size_t k = 0; k < width; k += 4) {
      for (std::size_t l = 0; l < 4; ++l) {
        missing[l] = _mm512_mask_cmpneq_epi32_mask(missing[l], block, broadcast(b[k + l]));
      }
    }
    const auto hits = static_cast<__mmask16>(~((missing[0] & missing[1]) & (missing[2] & missing[3])));
    return emit<write>(block, hits, out);
  }

  /// Keeps the list in registers and broadcasts the needles.
  template <bool write, std::size_t blocks>
  DELTAMATCH_TARGET static std::size_t all_pairs(const std::uint32_t* needles, std::size_t n, const std::uint32_t* list,
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
};

}  // namespace

const Kernels avx512_kernels = {count<Avx512>, intersect<Avx512, true>};

}  // namespace deltamatch::match::detail

#endif

// Set operations on neighbour lists.
//
// Needs: arrays strictly ascending, values below 2^31 (no marks), any alignment. Chosen once by what the processor has
// (AVX-512, AVX2, or portable code), per call by the skew of the sizes: block-wise merge for like sizes, bisection of the
// longer list for several entries of the shorter side by side for unlike ones, all pairs in registers for a few entries. What
// is trivial (an empty list, disjoint ranges) is settled inline.
#pragma once

#include <cstddef>
#include <cstdint>

namespace deltamatch::match {

enum class Isa : std::uint8_t { portable, avx2, avx512 };

/// The best that this processor runs.
[[nodiscard]] Isa best_isa() noexcept;

/// What is in use: best_isa() from the start.
[[nodiscard]] Isa isa() noexcept;

/// For tests and benchmarks, while nothing else runs. Returns false and changes nothing where the processor lacks it.
bool set_isa(Isa isa) noexcept;

namespace detail {

/// One instruction set's kernels.
struct Kernels {
  std::size_t (*intersect_count)(const std::uint32_t* a, std::size_t na, const std::uint32_t* b, std::size_t nb) noexcept;
  std::size_t (*intersect)(const std::uint32_t* a, std::size_t na, const std::uint32_t* b, std::size_t nb,
                           std::uint32_t* out) noexcept;
};

extern const Kernels* kernels;

inline bool disjoint(const std::uint32_t* a, std::size_t na, const std::uint32_t* b, std::size_t nb) noexcept {
  return na == 0 || nb == 0 || a[na - 1] < b[0] || b[nb - 1] < a[0];
}

}  // namespace detail

/// Position of the first entry >= x, n where there is none. Branch-free binary search, O(log n).
[[nodiscard]] inline std::size_t lower_bound(const std::uint32_t* a, std::size_t n, std::uint32_t x) noexcept {
  const std::uint32_t* base = a;
  while (n > 1) {
    const std::size_t half = n / 2;
    base += static_cast<std::size_t>(base[half - 1] < x) * half;
    n -= half;
  }
  return static_cast<std::size_t>(base - a) + (n == 1 && *base < x);
}

[[nodiscard]] inline bool contains(const std::uint32_t* a, std::size_t n, std::uint32_t x) noexcept {
  const std::size_t position = lower_bound(a, n, x);
  return position < n && a[position] == x;
}

/// The size of the intersection. O(na + nb), O(s log(l / s)) for a short and a long list.
[[nodiscard]] inline std::size_t intersect_count(const std::uint32_t* a, std::size_t na, const std::uint32_t* b,
                                                 std::size_t nb) noexcept {
  if (detail::disjoint(a, na, b, nb)) return 0;
  return detail::kernels->intersect_count(a, na, b, nb);
}

/// Writes the intersection to `out`, ascending, and returns its size. `out` has room for min(na, nb) entries and is `a` itself
/// or overlaps neither list; nothing beyond the result is written.
inline std::size_t intersect(const std::uint32_t* a, std::size_t na, const std::uint32_t* b, std::size_t nb,
                             std::uint32_t* out) noexcept {
  if (detail::disjoint(a, na, b, nb)) return 0;
  return detail::kernels->intersect(a, na, b, nb, out);
}

/// How many entries of `a` have their bit set. `bits` covers every entry of `a`. For one instruction set only: gathers were
/// measured no faster.
[[nodiscard]] inline std::size_t count_in_bits(const std::uint32_t* a, std::size_t n, const std::uint64_t* bits) noexcept {
  std::size_t found = 0;
  for (std::size_t i = 0; i < n; ++i) found += bits[a[i] >> 6] >> (a[i] & 63) & 1;
  return found;
}

/// Writes the entries of `a` that have their bit set to `out`, ascending, and returns how many. `out` has room for n entries,
/// all of which may be written, and is `a` itself or does not overlap it.
inline std::size_t filter_by_bits(const std::uint32_t* a, std::size_t n, const std::uint64_t* bits,
                                  std::uint32_t* out) noexcept {
  std::size_t found = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t x = a[i];
    out[found] = x;
    found += bits[x >> 6] >> (x & 63) & 1;
  }
  return found;
}

}  // namespace deltamatch::match

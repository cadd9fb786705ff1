// Set operations on neighbour lists.
//
// Arrays must ascend strictly and have values below 2^31 (no marks). They may have any alignment. The instruction set is chosen
// once, by what the processor has: AVX-512, AVX2, or portable code. The kernel is chosen per call, by the sizes:
// - like sizes: merge block by block;
// - unlike sizes: bisect the longer list for several entries of the shorter at once;
// - a few entries: compare all pairs in registers.
// Empty lists and disjoint ranges are handled inline.
#pragma once

#include <cstddef>
#include <cstdint>

namespace deltamatch::match {

enum class Isa : std::uint8_t { portable, avx2, avx512 };

/// The best instruction set that this processor runs.
[[nodiscard]] Isa best_isa() noexcept;

/// The instruction set in use, initially best_isa().
[[nodiscard]] Isa isa() noexcept;

/// For tests and benchmarks, while nothing else runs. Returns false and changes nothing if the processor lacks it.
bool set_isa(Isa isa) noexcept;

namespace detail {

/// The kernels of one instruction set.
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

/// The position of the first entry >= x, or n if there is none. A binary search without branches, O(log n).
[[nodiscard]] inline std::size_t lower_bound(const std::uint32_t* a, std::size_t n, std::uint32_t x) noexcept {
  const std::uint32_t* base = a;
  while (n > 1) {
    const std::size_t half = n / 2;
    base += static_cast<std::size_t>(base[half - 1] < x) * half;
    n -= half;
  }
  return static_cast<std::size_t>(base - a) + (n == 1 && *base < x);
}

/// The same for a search that begins at `at`, at or before the result. O(log of the distance).
[[nodiscard]] inline std::size_t gallop(const std::uint32_t* a, std::size_t at, std::size_t n, std::uint32_t x) noexcept {
  std::size_t step = 1;
  while (at + step <= n && a[at + step - 1] < x) {
    at += step;
    step *= 2;
  }
  return at + lower_bound(a + at, n - at < step ? n - at : step, x);
}

[[nodiscard]] inline bool contains(const std::uint32_t* a, std::size_t n, std::uint32_t x) noexcept {
  const std::size_t position = lower_bound(a, n, x);
  return position < n && a[position] == x;
}

/// The size of the intersection. O(na + nb), or O(s log(l / s)) for a short and a long list of sizes s and l.
[[nodiscard]] inline std::size_t intersect_count(const std::uint32_t* a, std::size_t na, const std::uint32_t* b,
                                                 std::size_t nb) noexcept {
  if (detail::disjoint(a, na, b, nb)) return 0;
  return detail::kernels->intersect_count(a, na, b, nb);
}

/// Writes the intersection to `out`, ascending, and returns its size. `out` needs room for min(na, nb) entries. It must be `a`
/// itself or overlap neither list. Nothing beyond the result is written.
inline std::size_t intersect(const std::uint32_t* a, std::size_t na, const std::uint32_t* b, std::size_t nb,
                             std::uint32_t* out) noexcept {
  if (detail::disjoint(a, na, b, nb)) return 0;
  return detail::kernels->intersect(a, na, b, nb, out);
}

/// How many entries of `a` have their bit set. `bits` must cover every entry of `a`. There is no vector version: gathers were
/// measured to be no faster.
[[nodiscard]] inline std::size_t count_in_bits(const std::uint32_t* a, std::size_t n, const std::uint64_t* bits) noexcept {
  std::size_t found = 0;
  for (std::size_t i = 0; i < n; ++i) found += bits[a[i] >> 6] >> (a[i] & 63) & 1;
  return found;
}

/// Writes the entries of `a` that have their bit set to `out`, ascending, and returns their number. `out` needs room for n
/// entries, all of which may be written. It must be `a` itself or not overlap it.
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

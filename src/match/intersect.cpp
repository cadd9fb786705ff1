// The portable kernels, and the choice of the instruction set.
#include "match/intersect.hpp"

#include <algorithm>
#include <array>

#include "match/intersect_kernels.hpp"

namespace deltamatch::match {
namespace detail {
namespace {

/// From this skew on, searching the long list is faster than merging (measured by bench/micro/intersect_bench.cpp).
constexpr std::size_t search_skew = 2;

/// A search first looks this many times the mean distance ahead. Only then it takes the whole rest of the list.
constexpr std::size_t search_span = 4;

/// Merges without branches that depend on the data. If `out` is `a`, writes stay behind the entries of `a` still to be read.
template <bool write>
std::size_t merge(const std::uint32_t* a, std::size_t na, const std::uint32_t* b, std::size_t nb, std::uint32_t* out) noexcept {
  std::size_t i = 0;
  std::size_t j = 0;
  std::size_t found = 0;
  while (i < na && j < nb) {
    const std::uint32_t x = a[i];
    const std::uint32_t y = b[j];
    if constexpr (write) {
      if (x == y) out[found] = x;
    }
    found += x == y;
    i += x <= y;
    j += y <= x;
  }
  return found;
}

/// Bisects for `lanes` needles at a time. If `out` is an input, results lie before the entries that are read later.
template <bool write, std::size_t lanes>
std::size_t search(const std::uint32_t* needles, std::size_t n, const std::uint32_t* list, std::size_t size,
                   std::uint32_t* out) noexcept {
  const std::size_t span = search_span * lanes * (size / n + 1);
  std::size_t found = 0;
  std::size_t first = 0;  // later needles are not before this index
  for (std::size_t i = 0; i < n; i += lanes) {
    std::uint32_t x[lanes];
    std::size_t base[lanes];
    for (std::size_t k = 0; k < lanes; ++k) {
      x[k] = needles[std::min(i + k, n - 1)];
      base[k] = first;
    }
    std::size_t rest = size - first;
    if (span < rest && list[first + span - 1] >= x[lanes - 1]) rest = span;
    bisect<1>(list, rest, x, base);
    first = base[lanes - 1];
    bool hit[lanes];
    for (std::size_t k = 0; k < lanes; ++k) hit[k] = list[base[k]] == x[k] && i + k < n;
    for (std::size_t k = 0; k < lanes; ++k) {
      if constexpr (write) {
        if (hit[k]) out[found] = x[k];
      }
      found += hit[k];
    }
  }
  return found;
}

template <bool write>
std::size_t unlike(const std::uint32_t* needles, std::size_t n, const std::uint32_t* list, std::size_t size,
                   std::uint32_t* out) noexcept {
  return n < 4 ? search<write, 1>(needles, n, list, size, out) : search<write, 4>(needles, n, list, size, out);
}

template <bool write>
std::size_t intersect(const std::uint32_t* a, std::size_t na, const std::uint32_t* b, std::size_t nb,
                      std::uint32_t* out) noexcept {
  if (na / search_skew >= nb) return unlike<write>(b, nb, a, na, out);
  if (nb / search_skew >= na) return unlike<write>(a, na, b, nb, out);
  return merge<write>(a, na, b, nb, out);
}

std::size_t count(const std::uint32_t* a, std::size_t na, const std::uint32_t* b, std::size_t nb) noexcept {
  return intersect<false>(a, na, b, nb, nullptr);
}

}  // namespace

const Kernels portable_kernels = {count, intersect<true>};

// Valid from the start of the program. A dynamic initialiser then chooses the processor's best.
constinit const Kernels* kernels = &portable_kernels;

namespace {
[[maybe_unused]] const bool chosen = set_isa(best_isa());
}

}  // namespace detail

Isa best_isa() noexcept {
#ifdef __x86_64__
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("popcnt"))
    return Isa::portable;
  const bool wide =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  return wide ? Isa::avx512 : Isa::avx2;
#else
  return Isa::portable;
#endif
}

Isa isa() noexcept {
#ifdef __x86_64__
  if (detail::kernels == &detail::avx512_kernels) return Isa::avx512;
  if (detail::kernels == &detail::avx2_kernels) return Isa::avx2;
#endif
  return Isa::portable;
}

bool set_isa(Isa isa) noexcept {
  if (isa > best_isa()) return false;
#ifdef __x86_64__
  const std::array tables = {&detail::portable_kernels, &detail::avx2_kernels, &detail::avx512_kernels};
  detail::kernels = tables[static_cast<std::size_t>(isa)];
#endif
  return true;
}

}  // namespace deltamatch::match

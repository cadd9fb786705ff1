// Portable kernels, and the choice of the instruction set.
#include "match/intersect.hpp"

#include <algorithm>
#include <array>

#include "match/intersect_kernels.hpp"

namespace deltamatch::match {
namespace detail {
namespace {

/// From that skew on, searching the long list beats merging.
constexpr std::size_t search_skew = 16;

/// Merges without branches on the data. In place, `out` stays behind the entries of `a` still to be read.
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

/// Searches every needle behind the place of the one before: doubling steps, then bisection.
template <bool write>
std::size_t search(const std::uint32_t* needles, std::size_t n, const std::uint32_t* list, std::size_t size,
                   std::uint32_t* out) noexcept {
  std::size_t found = 0;
  for (std::size_t i = 0; i < n && size > 0; ++i) {
    const std::uint32_t x = needles[i];
    std::size_t step = 1;
    while (step < size && list[step - 1] < x) step *= 2;
    const std::size_t position = lower_bound(list, std::min(step, size), x);
    list += position;
    size -= position;
    if (size == 0 || *list != x) continue;
    if constexpr (write) out[found] = x;
    ++found;
  }
  return found;
}

template <bool write>
std::size_t intersect(const std::uint32_t* a, std::size_t na, const std::uint32_t* b, std::size_t nb,
                      std::uint32_t* out) noexcept {
  if (na > nb) {
    return na / search_skew >= nb ? search<write>(b, nb, a, na, out) : merge<write>(a, na, b, nb, out);
  }
  return nb / search_skew >= na ? search<write>(a, na, b, nb, out) : merge<write>(a, na, b, nb, out);
}

std::size_t count(const std::uint32_t* a, std::size_t na, const std::uint32_t* b, std::size_t nb) noexcept {
  return intersect<false>(a, na, b, nb, nullptr);
}

std::size_t count_bits(const std::uint32_t* a, std::size_t n, const std::uint64_t* bits) noexcept {
  std::size_t found = 0;
  for (std::size_t i = 0; i < n; ++i) found += bits[a[i] >> 6] >> (a[i] & 63) & 1;
  return found;
}

std::size_t filter_bits(const std::uint32_t* a, std::size_t n, const std::uint64_t* bits, std::uint32_t* out) noexcept {
  std::size_t found = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t x = a[i];
    if ((bits[x >> 6] >> (x & 63) & 1) != 0) out[found++] = x;
  }
  return found;
}

}  // namespace

const Kernels portable_kernels = {count, intersect<true>, count_bits, filter_bits};

// Usable from the first instruction of the program on; the processor's best follows among the dynamic initialisers.
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

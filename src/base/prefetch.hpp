// Asks for cache lines ahead of their use.
#pragma once

namespace deltamatch {

// GCC takes a function that does nothing but prefetch for one without effect, and drops the calls of it. The empty statement
// keeps them.

/// Asks for the cache line at an address, which may be any.
inline void fetch_line(const void* address) noexcept {
  asm volatile("" : : "r"(address));
  __builtin_prefetch(address);
}

/// The same, for a line that will be written.
inline void fetch_line_to_write(const void* address) noexcept {
  asm volatile("" : : "r"(address));
  __builtin_prefetch(address, 1);
}

}  // namespace deltamatch

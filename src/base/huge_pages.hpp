// Memory on huge pages, for large tables that are read in random order. Without them each miss would also cost a page walk, and
// a prefetch waits for that.
#pragma once

#include <cstddef>
#include <vector>

namespace deltamatch {

/// Allocates memory. Large memory is on huge pages if the system has them.
[[nodiscard]] void* allocate_pages(std::size_t bytes, std::size_t alignment);
/// Frees it; both numbers must be those of the allocation.
void release_pages(void* memory, std::size_t bytes, std::size_t alignment) noexcept;

template <class T>
struct HugeAllocator {
  using value_type = T;  // NOLINT(readability-identifier-naming): the standard library's name
  HugeAllocator() noexcept = default;
  template <class U>
  HugeAllocator(const HugeAllocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor): as the standard library asks
  /// A container asks for no more than fits the address space.
  [[nodiscard]] T* allocate(std::size_t count) { return static_cast<T*>(allocate_pages(count * sizeof(T), alignof(T))); }
  void deallocate(T* memory, std::size_t count) noexcept { release_pages(memory, count * sizeof(T), alignof(T)); }
  friend bool operator==(const HugeAllocator&, const HugeAllocator&) noexcept { return true; }
};

template <class T>
using HugeVector = std::vector<T, HugeAllocator<T>>;

}  // namespace deltamatch

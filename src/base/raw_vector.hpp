// A vector whose new elements have no values yet, for memory that a loop fills at once, perhaps with several threads.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace deltamatch {

/// An allocator that leaves the elements that `resize` adds as they are in memory. The caller must write them before it reads
/// them.
template <class T>
struct RawAllocator : std::allocator<T> {
  static_assert(std::is_trivially_default_constructible_v<T> && std::is_trivially_destructible_v<T>);
  template <class U>
  struct rebind {  // NOLINT(readability-identifier-naming): the standard library's name
    using other = RawAllocator<U>;
  };
  template <class U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    std::construct_at(at, std::forward<Arguments>(arguments)...);
  }
};

template <class T>
using RawVector = std::vector<T, RawAllocator<T>>;

}  // namespace deltamatch

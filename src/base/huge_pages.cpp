#include "base/huge_pages.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <algorithm>

namespace deltamatch {

namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;

std::align_val_t alignment_of(std::size_t bytes, std::size_t least) noexcept {
  return std::align_val_t{bytes >= huge_page ? huge_page : std::max(least, std::size_t{__STDCPP_DEFAULT_NEW_ALIGNMENT__})};
}

}  // namespace

void* allocate_pages(std::size_t bytes, std::size_t alignment) {
  void* const memory = ::operator new(bytes, alignment_of(bytes, alignment));
#ifdef __linux__
  if (bytes >= huge_page) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

void release_pages(void* memory, std::size_t bytes, std::size_t alignment) noexcept {
  ::operator delete(memory, bytes, alignment_of(bytes, alignment));
}

}  // namespace deltamatch

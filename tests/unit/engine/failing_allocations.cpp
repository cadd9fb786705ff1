// Replaces operator new and delete by malloc and free, which sanitizers also watch. A countdown makes one allocation fail.
#include "failing_allocations.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string_view>

namespace deltamatch::test {
namespace {

thread_local std::int64_t left = -1;  // allocations until one fails; negative: none will fail
thread_local bool has_failed = false;

std::atomic<std::int64_t> left_elsewhere = -1;  // the same for all threads that are not exempt
std::atomic<bool> has_failed_elsewhere = false;
thread_local bool exempt = false;

std::atomic<bool> counts = false;
std::atomic<std::int64_t> counted = 0;

// Whether oneTBB itself allocates. While a batch settles, the thread that runs a loop does so when it starts a helper, for a
// mask of cores. If it gets no memory, Workers runs the loop with fewer threads, so the batch does not fail.
bool is_scheduler(const void* caller) noexcept {
  Dl_info where{};
  return dladdr(caller, &where) != 0 && where.dli_fname != nullptr &&
         std::string_view(where.dli_fname).find("libtbb") != std::string_view::npos;
}

bool fails(const void* caller) noexcept {
  if (counts.load(std::memory_order_relaxed) && !is_scheduler(caller)) ++counted;
  if (!exempt && left_elsewhere.load(std::memory_order_relaxed) >= 0 && left_elsewhere.fetch_sub(1) == 0) {
    has_failed_elsewhere = true;
    return true;
  }
  if (left < 0 || left-- > 0) return false;
  has_failed = true;
  return true;
}

void* allocate(std::size_t size, const void* caller) {
  void* memory = fails(caller) ? nullptr : std::malloc(std::max<std::size_t>(size, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* allocate(std::size_t size, std::align_val_t alignment, const void* caller) {
  const std::size_t step = std::max(static_cast<std::size_t>(alignment), sizeof(void*));
  void* memory = nullptr;
  if (fails(caller) || posix_memalign(&memory, step, std::max<std::size_t>(size, 1)) != 0) throw std::bad_alloc();
  return memory;
}

}  // namespace

FailAllocation::FailAllocation(std::int64_t at) noexcept {
  left = at;
  has_failed = false;
}
FailAllocation::~FailAllocation() { left = -1; }
bool FailAllocation::failed() const noexcept { return has_failed; }

FailAllocationElsewhere::FailAllocationElsewhere(std::int64_t at) noexcept {
  exempt = true;
  has_failed_elsewhere = false;
  left_elsewhere = at;
}
FailAllocationElsewhere::~FailAllocationElsewhere() {
  left_elsewhere = -1;
  exempt = false;
}
bool FailAllocationElsewhere::failed() const noexcept { return has_failed_elsewhere; }

CountAllocations::CountAllocations() noexcept {
  counted = 0;
  counts = true;
}
CountAllocations::~CountAllocations() { counts = false; }
std::int64_t CountAllocations::count() const noexcept { return counted; }

}  // namespace deltamatch::test

void* operator new(std::size_t size) { return deltamatch::test::allocate(size, __builtin_return_address(0)); }
void* operator new[](std::size_t size) { return deltamatch::test::allocate(size, __builtin_return_address(0)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return deltamatch::test::allocate(size, alignment, __builtin_return_address(0));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return deltamatch::test::allocate(size, alignment, __builtin_return_address(0));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return deltamatch::test::allocate(size, __builtin_return_address(0));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t size, const std::nothrow_t& nothrow) noexcept { return operator new(size, nothrow); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

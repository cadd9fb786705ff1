// Allocations that fail on demand, or are counted: all forms of the test program's operator new do so when told to.
#pragma once

#include <cstdint>

namespace deltamatch::test {

/// While it lives, allocation number `at` (from 0) of this thread throws std::bad_alloc. All others succeed as usual.
class FailAllocation {
 public:
  explicit FailAllocation(std::int64_t at) noexcept;
  ~FailAllocation();
  FailAllocation(const FailAllocation&) = delete;
  FailAllocation& operator=(const FailAllocation&) = delete;

  /// Whether that allocation was requested.
  [[nodiscard]] bool failed() const noexcept;
};

/// The same for all other threads: allocation number `at` of all of them together.
class FailAllocationElsewhere {
 public:
  explicit FailAllocationElsewhere(std::int64_t at) noexcept;
  ~FailAllocationElsewhere();
  FailAllocationElsewhere(const FailAllocationElsewhere&) = delete;
  FailAllocationElsewhere& operator=(const FailAllocationElsewhere&) = delete;

  /// Whether that allocation was requested.
  [[nodiscard]] bool failed() const noexcept;
};

/// Counts the allocations of all threads while it lives, without those of oneTBB itself. Only one may live at a time.
class CountAllocations {
 public:
  CountAllocations() noexcept;
  ~CountAllocations();
  CountAllocations(const CountAllocations&) = delete;
  CountAllocations& operator=(const CountAllocations&) = delete;

  [[nodiscard]] std::int64_t count() const noexcept;
};

}  // namespace deltamatch::test

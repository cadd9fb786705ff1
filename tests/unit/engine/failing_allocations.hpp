// Allocations that fail on demand: the test program's operator new, in all its forms, fails once when it is told to.
#pragma once

#include <cstdint>

namespace deltamatch::test {

/// While one lives, the allocation number `at` (from 0) of this thread throws std::bad_alloc; all others go the usual way.
class FailAllocation {
 public:
  explicit FailAllocation(std::int64_t at) noexcept;
  ~FailAllocation();
  FailAllocation(const FailAllocation&) = delete;
  FailAllocation& operator=(const FailAllocation&) = delete;

  /// Whether that allocation was asked for.
  [[nodiscard]] bool failed() const noexcept;
};

/// The same for the threads other than this one: the allocation number `at` of all of them together.
class FailAllocationElsewhere {
 public:
  explicit FailAllocationElsewhere(std::int64_t at) noexcept;
  ~FailAllocationElsewhere();
  FailAllocationElsewhere(const FailAllocationElsewhere&) = delete;
  FailAllocationElsewhere& operator=(const FailAllocationElsewhere&) = delete;

  /// Whether that allocation was asked for.
  [[nodiscard]] bool failed() const noexcept;
};

}  // namespace deltamatch::test

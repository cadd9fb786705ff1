// Where the data graph's lists live so that a device can read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/arena.hpp"

namespace deltamatch::gpu {

/// Host memory that is registered with CUDA slab by slab, on huge pages where the system has them: devices read it under the
/// host's own pointers.
///
/// Where CUDA refuses to register a slab it stays ordinary memory, which devices must not read: `registered` says so from then
/// on, and `notice` why. Releasing a slab blocks while kernels run; since a kernel may wait for the host, a slab must never be
/// released while one does.
class PinnedSlabs final : public graph::SlabAllocator {
 public:
  /// Throws Error where one of the devices cannot read registered memory under the host's pointers. For tests, from the n-th
  /// slab on (counted from 1; 0: none) registering is refused.
  explicit PinnedSlabs(std::vector<int> devices, std::uint32_t refused_from = 0);
  ~PinnedSlabs() override;

  void* allocate(std::size_t bytes) override;
  void release(void* slab, std::size_t bytes) noexcept override;

  /// Whether devices may read all slabs that are in use.
  [[nodiscard]] bool registered() const;
  /// For the user: why not; empty where they may.
  [[nodiscard]] std::string notice() const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Slab {
    std::size_t bytes;
    bool registered;
  };
  [[nodiscard]] bool enroll(void* slab, std::size_t bytes);

  std::vector<int> devices_;
  std::uint32_t refused_from_;
  mutable std::mutex mutex_;
  std::unordered_map<void*, Slab> slabs_;
  std::uint32_t allocated_ = 0;  // slabs so far, as far as refused_from_
  std::size_t bytes_ = 0;
  std::size_t unregistered_ = 0;
  std::string notice_;
};

/// Unified memory, which moves between host and device page by page. No more than fits into the device's memory when it is
/// asked for: beyond that pages go back and forth. Throws graph::SlabShortage there.
class ManagedSlabs final : public graph::SlabAllocator {
 public:
  /// Throws Error where host and one of the devices, of which there is at least one, cannot use unified memory at the same
  /// time.
  explicit ManagedSlabs(const std::vector<int>& devices);

  /// Throws graph::SlabShortage, and Error with CUDA's reason where it is CUDA that refuses.
  void* allocate(std::size_t bytes) override;
  /// Never while a kernel runs.
  void release(void* slab, std::size_t bytes) noexcept override;

  [[nodiscard]] std::size_t bytes() const;

 private:
  int device_;
  std::size_t limit_;  // free memory of the device that has the least, at first
  mutable std::mutex mutex_;
  std::size_t bytes_ = 0;
};

}  // namespace deltamatch::gpu

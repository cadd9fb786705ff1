// Slabs for the data graph's lists that a device can read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/arena.hpp"

namespace deltamatch::gpu {

/// Host memory that is registered with CUDA slab by slab. It uses huge pages if the system has them. Devices read it through
/// the host's own pointers.
///
/// If CUDA refuses to register a slab, the slab stays ordinary memory, which devices must not read. From then on `registered`
/// is false and `notice` says why.
///
/// Releasing a slab blocks while kernels run. A kernel may wait for the host, so never release a slab while one runs.
class PinnedSlabs final : public graph::SlabAllocator {
 public:
  /// Throws Error if one of the devices cannot read registered memory through the host's pointers. For tests, registering is
  /// refused from slab number `refused_from` on (counted from 1; 0: never).
  explicit PinnedSlabs(std::vector<int> devices, std::uint32_t refused_from = 0);
  ~PinnedSlabs() override;

  void* allocate(std::size_t bytes) override;
  void release(void* slab, std::size_t bytes) noexcept override;

  /// Whether devices may read all slabs that are in use.
  [[nodiscard]] bool registered() const;
  /// For the user: why devices may not read them. Empty if they may.
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
  std::uint32_t allocated_ = 0;  // slabs so far, counted up to refused_from_
  std::size_t bytes_ = 0;
  std::size_t unregistered_ = 0;
  std::string notice_;
};

/// Unified memory, which moves between host and device page by page. It is limited to the device memory that was free at first.
/// With more than that, pages would move back and forth. Throws graph::SlabShortage at the limit.
class ManagedSlabs final : public graph::SlabAllocator {
 public:
  /// Throws Error if the host and one of the devices cannot use unified memory at the same time. `devices` is not empty.
  explicit ManagedSlabs(const std::vector<int>& devices);

  /// Throws graph::SlabShortage. If CUDA refuses, throws Error with CUDA's reason.
  void* allocate(std::size_t bytes) override;
  /// Must not be called while a kernel runs.
  void release(void* slab, std::size_t bytes) noexcept override;

  [[nodiscard]] std::size_t bytes() const;

 private:
  int device_;
  std::size_t limit_;  // free memory of the device that had the least at first
  mutable std::mutex mutex_;
  std::size_t bytes_ = 0;
};

}  // namespace deltamatch::gpu

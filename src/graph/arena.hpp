// Memory of the adjacency lists: blocks of a few size classes cut from large slabs. Slabs come from an allocator that is handed
// in, so that a GPU build can register each slab with the device once. Blocks that are given back may still be read by a kernel
// of the running batch: they are reused only after `recycle`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "deltamatch/error.hpp"

namespace deltamatch::graph {

/// There is no memory of the kind that an allocator gives, and it can say why, which std::bad_alloc cannot. Whoever does
/// without a slab after std::bad_alloc does so after this.
class SlabShortage : public Error {
 public:
  using Error::Error;
};

/// Where slabs come from. Owned by the caller and outlives every arena that uses it.
class SlabAllocator {
 public:
  virtual ~SlabAllocator() = default;
  /// Memory aligned to at least 64 bytes; throws std::bad_alloc or SlabShortage, and Error where something else is wrong.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* slab, std::size_t bytes) noexcept = 0;
};

/// Slabs from the heap.
SlabAllocator& heap_slabs() noexcept;

/// Not thread-safe.
class Arena {
 public:
  explicit Arena(SlabAllocator& slabs = heap_slabs()) noexcept : slabs_(&slabs) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// 32-bit words that a block for `words` words really has; at least `words`.
  static std::size_t block_words(std::size_t words) noexcept;

  /// A block of block_words(words) words, aligned to 16 bytes, uninitialised. Throws std::bad_alloc and what the
  /// allocator throws; afterwards give_back of all blocks that were handed out cannot throw.
  std::uint32_t* allocate(std::size_t words);
  /// `words` as it was passed to allocate. The block stays readable until `recycle`.
  void give_back(std::uint32_t* block, std::size_t words) noexcept;
  /// Blocks given back may be handed out again from now on.
  void recycle() noexcept;

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Of blocks that were given back and not handed out again.
  [[nodiscard]] std::size_t free_bytes() const noexcept { return free_bytes_; }

 private:
  // Classes hold 8, 12, 16, 24, 32, 48, ... words: a list that outgrows its block moves to one at least a third larger, which
  // keeps growth amortised O(1) and wastes a sixth on average.
  static constexpr std::size_t class_count = 64;
  static std::size_t class_of(std::size_t words) noexcept;
  static std::size_t class_words(std::size_t index) noexcept;

  struct Slab {
    void* memory;
    std::size_t bytes;
  };
  SlabAllocator* slabs_;
  std::vector<Slab> all_;
  std::uint32_t* cursor_ = nullptr;
  std::size_t left_words_ = 0;
  std::size_t bytes_ = 0;
  std::size_t free_bytes_ = 0;
  std::array<std::uint32_t*, class_count> free_{};     // reusable now
  std::array<std::uint32_t*, class_count> retired_{};  // reusable after recycle
  std::array<std::uint32_t*, class_count> retired_last_{};
};

}  // namespace deltamatch::graph

// The memory of the adjacency lists: blocks of a few size classes, cut from large slabs.
//
// The caller passes the slab allocator, so that a backend can register each slab with its device once. A kernel of the
// running batch may still read blocks that were given back. So they are reused only after `recycle`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "deltamatch/error.hpp"

namespace deltamatch::graph {

/// An allocator has no memory of its kind left, and can say why, which std::bad_alloc cannot. Code that can do without a slab
/// must treat this like std::bad_alloc.
class SlabShortage : public Error {
 public:
  using Error::Error;
};

/// The source of slabs. The caller owns it, and it must outlive every arena that uses it.
class SlabAllocator {
 public:
  virtual ~SlabAllocator() = default;
  /// Returns memory aligned to at least 64 bytes. Throws std::bad_alloc or SlabShortage if there is none, and Error for other
  /// failures.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* slab, std::size_t bytes) noexcept = 0;
};

/// Returns the allocator that takes slabs from the heap.
SlabAllocator& heap_slabs() noexcept;

/// Allocates blocks from slabs. Not thread-safe.
class Arena {
 public:
  explicit Arena(SlabAllocator& slabs = heap_slabs()) noexcept : slabs_(&slabs) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// The number of 32-bit words that a block for `words` words really has; at least `words`.
  static std::size_t block_words(std::size_t words) noexcept;

  /// Returns an uninitialised block of block_words(words) words, aligned to 16 bytes. Throws std::bad_alloc and what the
  /// allocator throws. After it returns, give_back of the block cannot fail.
  std::uint32_t* allocate(std::size_t words);
  /// Gives a block back. `words` must be the number passed to allocate. The block stays readable until `recycle`.
  void give_back(std::uint32_t* block, std::size_t words) noexcept;
  /// Allows blocks that were given back to be handed out again.
  void recycle() noexcept;

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Bytes of blocks that were given back and not handed out again.
  [[nodiscard]] std::size_t free_bytes() const noexcept { return free_bytes_; }

 private:
  // Size classes have 8, 12, 16, 24, 32, 48, ... words. A list that outgrows its block moves to one that is at least a third
  // larger. This keeps growth amortised O(1) and wastes a sixth on average.
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
  std::array<std::uint32_t*, class_count> free_{};     // first nodes of blocks that are reusable now
  std::array<std::uint32_t*, class_count> retired_{};  // the same, reusable after recycle
  std::array<std::uint32_t*, class_count> retired_last_{};
};

}  // namespace deltamatch::graph

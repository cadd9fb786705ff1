#include "graph/arena.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/huge_pages.hpp"

namespace deltamatch::graph {

namespace {

constexpr std::size_t slab_alignment = 64;
constexpr std::size_t first_slab_bytes = std::size_t{1} << 16;
constexpr std::size_t largest_slab_bytes = std::size_t{1} << 25;

class HeapSlabs final : public SlabAllocator {
 public:
  void* allocate(std::size_t bytes) override { return allocate_pages(bytes, slab_alignment); }
  void release(void* slab, std::size_t bytes) noexcept override { release_pages(slab, bytes, slab_alignment); }
};

// Free blocks are kept in nodes. A node is a free block that holds the addresses of others. So taking a block seldom waits for
// memory. The node's first word is the address of the next node, and in its low bits the number of blocks that it holds.
constexpr std::uintptr_t count_mask = 15;  // blocks are aligned to 16 bytes
constexpr std::size_t most_held = 7;       // so that a node is a cache line

std::uintptr_t head_of(const std::uint32_t* node) noexcept {
  std::uintptr_t head;
  std::memcpy(&head, node, sizeof head);
  return head;
}
std::uint32_t* next_of(const std::uint32_t* node) noexcept {
  return reinterpret_cast<std::uint32_t*>(head_of(node) & ~count_mask);  // NOLINT(performance-no-int-to-ptr)
}
std::size_t held_by(const std::uint32_t* node) noexcept { return head_of(node) & count_mask; }
void set_head(std::uint32_t* node, const std::uint32_t* next, std::size_t held) noexcept {
  const std::uintptr_t head = reinterpret_cast<std::uintptr_t>(next) | held;
  std::memcpy(node, &head, sizeof head);
}
/// The place in a node of the `i`-th block that it holds.
std::uint32_t* place_of(std::uint32_t* node, std::size_t i) noexcept {
  constexpr std::size_t address_words = sizeof(std::uintptr_t) / sizeof(std::uint32_t);
  return node + (1 + i) * address_words;
}

}  // namespace

SlabAllocator& heap_slabs() noexcept {
  static HeapSlabs slabs;
  return slabs;
}

Arena::~Arena() {
  for (const Slab& slab : all_) slabs_->release(slab.memory, slab.bytes);
}

std::size_t Arena::class_of(std::size_t words) noexcept {
  if (words <= 8) return 0;
  const std::size_t power = std::bit_width(words - 1) - 1;  // 2^power < words <= 2^(power+1)
  const std::size_t half = std::size_t{3} << (power - 1);
  return 2 * (power - 3) + (words <= half ? 1 : 2);
}

std::size_t Arena::class_words(std::size_t index) noexcept {
  return (index % 2 == 0 ? std::size_t{8} : std::size_t{12}) << (index / 2);
}

std::size_t Arena::block_words(std::size_t words) noexcept { return class_words(class_of(words)); }

std::uint32_t* Arena::allocate(std::size_t words) {
  const std::size_t index = class_of(words);
  if (index >= class_count) throw std::bad_alloc();
  if (std::uint32_t* node = free_[index]) {
    free_bytes_ -= class_words(index) * sizeof(std::uint32_t);
    const std::size_t held = held_by(node);
    if (held == 0) {
      free_[index] = next_of(node);
      return node;
    }
    std::uint32_t* block;
    std::memcpy(&block, place_of(node, held - 1), sizeof block);
    set_head(node, next_of(node), held - 1);
    return block;
  }
  const std::size_t size = class_words(index);
  if (size > left_words_) {
    // The rest of the old slab stays unused. It is smaller than one block, and slabs double in size.
    const std::size_t bytes =
        std::max(size * sizeof(std::uint32_t), std::clamp(std::bit_floor(bytes_ / 2), first_slab_bytes, largest_slab_bytes));
    all_.reserve(all_.size() + 1);
    void* memory = slabs_->allocate(bytes);
    all_.push_back({memory, bytes});
    bytes_ += bytes;
    cursor_ = static_cast<std::uint32_t*>(memory);
    left_words_ = bytes / sizeof(std::uint32_t);
  }
  std::uint32_t* block = cursor_;
  cursor_ += size;
  left_words_ -= size;
  return block;
}

void Arena::give_back(std::uint32_t* block, std::size_t words) noexcept {
  const std::size_t index = class_of(words);
  const std::size_t room = std::min(class_words(index) * sizeof(std::uint32_t) / sizeof block - 1, most_held);
  free_bytes_ += class_words(index) * sizeof(std::uint32_t);
  std::uint32_t* const node = retired_[index];
  if (const std::size_t held = node == nullptr ? room : held_by(node); held < room) {
    std::memcpy(place_of(node, held), &block, sizeof block);
    set_head(node, next_of(node), held + 1);
    return;
  }
  if (node == nullptr) retired_last_[index] = block;
  set_head(block, node, 0);
  retired_[index] = block;
}

void Arena::recycle() noexcept {
  for (std::size_t index = 0; index < class_count; ++index) {
    if (retired_[index] == nullptr) continue;
    set_head(retired_last_[index], free_[index], held_by(retired_last_[index]));
    free_[index] = retired_[index];
    retired_[index] = nullptr;
  }
}

}  // namespace deltamatch::graph

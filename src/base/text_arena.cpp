#include "base/text_arena.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "deltamatch/error.hpp"

namespace deltamatch {
namespace {

constexpr std::size_t header_size = sizeof(std::uint32_t);
constexpr std::size_t least_slab = 4096;
constexpr std::size_t largest_slab = std::size_t{16} << 20;

}  // namespace

std::size_t TextArena::block_size(std::size_t length) noexcept {
  const std::size_t size = (length + header_size + 7) / 8 * 8;
  return size <= small_limit ? size : std::bit_ceil(size);
}

std::size_t TextArena::class_of(std::size_t size) noexcept {
  return size <= small_limit ? size / 8 : small_limit / 8 + static_cast<std::size_t>(std::bit_width(size / small_limit)) - 1;
}

const std::byte* TextArena::store(std::string_view text) {
  if (text.size() > max_length) throw Error("text", "a text has 2 GiB or more", "shorten the ids and labels of the input");
  const std::size_t size = block_size(text.size());
  std::byte*& head = free_[class_of(size)];
  std::byte* block = head;
  if (block != nullptr) {
    std::memcpy(&head, block, sizeof head);
  } else {
    if (left_ < size) {
      if (slabs_.size() == slabs_.capacity()) slabs_.reserve(2 * slabs_.size() + 2);
      Slab next = spare_.size >= size ? std::exchange(spare_, Slab{}) : make_slab(size);
      retire_tail();
      cursor_ = next.memory.get();
      left_ = next.size;
      slabs_.push_back(std::move(next));
    }
    block = std::exchange(cursor_, cursor_ + size);
    left_ -= size;
  }
  const auto length = static_cast<std::uint32_t>(text.size());
  std::memcpy(block, &length, sizeof length);
  if (!text.empty()) std::memcpy(block + header_size, text.data(), text.size());
  return block;
}

void TextArena::release(const std::byte* block) noexcept {
  push_free(const_cast<std::byte*>(block), block_size(text(block).size()));
}

void TextArena::reserve(std::size_t count, std::size_t text_bytes) {
  // A block has at most 11 bytes more than its string, or is less than twice as long as string and length field.
  const std::size_t need = 2 * text_bytes + 12 * count;
  if (left_ >= need || spare_.size >= need) return;
  if (slabs_.size() == slabs_.capacity()) slabs_.reserve(2 * slabs_.size() + 2);
  bytes_ -= std::exchange(spare_, Slab{}).size;
  spare_ = make_slab(need);
}

TextArena::Slab TextArena::make_slab(std::size_t least) {
  const std::size_t size = std::max({(least + 7) / 8 * 8, least_slab, std::min(bytes_ / 4 / 8 * 8, largest_slab)});
  Slab slab{std::make_unique_for_overwrite<std::byte[]>(size), size};
  bytes_ += size;
  return slab;
}

/// Turns the rest of the current slab into free blocks.
void TextArena::retire_tail() noexcept {
  while (left_ > 0) {
    const std::size_t size = left_ <= small_limit ? left_ : std::bit_floor(left_);
    push_free(cursor_, size);
    cursor_ += size;
    left_ -= size;
  }
}

void TextArena::push_free(std::byte* block, std::size_t size) noexcept {
  std::byte*& head = free_[class_of(size)];
  std::memcpy(block, &head, sizeof head);
  head = block;
}

}  // namespace deltamatch

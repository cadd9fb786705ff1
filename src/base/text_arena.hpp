// An arena for strings. Each string has one stable address, and memory of released strings is used again.
//
// A string is a block (32-bit length, bytes) of a size class: a multiple of 8 up to 512 bytes, a power of two beyond. Each
// class has a list of released blocks. So an endless stream of new strings uses no more memory than the peak of each class.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace deltamatch {

class TextArena {
 public:
  /// The maximum length of a string, in bytes.
  static constexpr std::size_t max_length = (std::size_t{1} << 31) - 8;

  TextArena() noexcept = default;
  TextArena(TextArena&&) noexcept = default;
  TextArena& operator=(TextArena&&) noexcept = default;

  /// Copies `text`. The result identifies the copy until it is released. Throws Error beyond max_length. Strong exception
  /// guarantee.
  [[nodiscard]] const std::byte* store(std::string_view text);

  /// Returns the string of a `block` that store returned.
  [[nodiscard]] static std::string_view text(const std::byte* block) noexcept {
    std::uint32_t length = 0;
    std::memcpy(&length, block, sizeof length);
    return {reinterpret_cast<const char*>(block + sizeof length), length};
  }

  /// Releases a `block` that this arena's store returned.
  void release(const std::byte* block) noexcept;

  /// Reserves memory, so that up to `count` strings with `text_bytes` in total can be stored without an allocation. Releases in
  /// between do no harm. Replaces the previous reservation.
  void reserve(std::size_t count, std::size_t text_bytes);

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  static constexpr std::size_t small_limit = 512;
  static constexpr std::size_t class_count = small_limit / 8 + 1 + 32;

  struct Slab {
    std::unique_ptr<std::byte[]> memory;
    std::size_t size = 0;
  };

  static std::size_t block_size(std::size_t length) noexcept;
  static std::size_t class_of(std::size_t size) noexcept;

  [[nodiscard]] Slab make_slab(std::size_t least);
  void retire_tail() noexcept;
  void push_free(std::byte* block, std::size_t size) noexcept;

  std::vector<Slab> slabs_;  ///< the last one is being filled, from cursor_ on
  Slab spare_;               ///< unused; holds what `reserve` promised beyond the rest of the last slab
  std::byte* cursor_ = nullptr;
  std::size_t left_ = 0;
  std::size_t bytes_ = 0;
  std::array<std::byte*, class_count> free_{};
};

}  // namespace deltamatch

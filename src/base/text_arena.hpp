// Strings in slabs: one address each, stable, and the room of released strings is used again.
//
// A string is a block (32-bit length, bytes) of a size class: multiples of 8 up to 512 bytes, powers of two beyond. Released
// blocks wait in a list per class. So a stream of ever new strings holds no more memory than the most it needed per class.
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
  /// The longest string, in bytes.
  static constexpr std::size_t max_length = (std::size_t{1} << 31) - 8;

  TextArena() noexcept = default;
  TextArena(TextArena&&) noexcept = default;
  TextArena& operator=(TextArena&&) noexcept = default;

  /// Copies `text`; the result names the copy until it is released. Throws Error beyond max_length. Strong exception guarantee.
  [[nodiscard]] const std::byte* store(std::string_view text);

  /// The string that store returned `block` for.
  [[nodiscard]] static std::string_view text(const std::byte* block) noexcept {
    std::uint32_t length = 0;
    std::memcpy(&length, block, sizeof length);
    return {reinterpret_cast<const char*>(block + sizeof length), length};
  }

  /// `block` came from this arena's store.
  void release(const std::byte* block) noexcept;

  /// Up to `count` strings with `text_bytes` in all can then be stored without an allocation, releases between or not. The
  /// previous reservation lapses.
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
  Slab spare_;               ///< untouched; holds what `reserve` promised beyond the rest of the last slab
  std::byte* cursor_ = nullptr;
  std::size_t left_ = 0;
  std::size_t bytes_ = 0;
  std::array<std::byte*, class_count> free_{};
};

}  // namespace deltamatch

// Allocates places in a pool of device memory, from the host. The method is two-level segregated fit (Masmano et al.).
// Allocating and freeing are O(1), neighbouring gaps merge, and nothing is written to the pool itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/prefetch.hpp"

namespace deltamatch::gpu {

class DeviceArena {
 public:
  using Id = std::uint32_t;
  static constexpr Id none = 0xffffffff;
  /// Places and sizes are multiples of this many words: 16 bytes.
  static constexpr std::uint64_t granule = 4;

  explicit DeviceArena(std::uint64_t words = 0);

  /// The least size of a class that holds this many words, up to a sixteenth more. If all blocks have such sizes, a growing
  /// block mostly keeps its size, and freed places suit others.
  [[nodiscard]] static std::uint64_t rounded(std::uint64_t words) noexcept;
  /// The same, with room to grow by an eighth, in whole granules.
  [[nodiscard]] static std::uint64_t roomy(std::uint64_t words) noexcept {
    return rounded(words + words / 8 / granule * granule);
  }
  /// Takes a place for `words` words, at least 1. Returns none if no gap is large enough. Throws std::bad_alloc.
  [[nodiscard]] Id allocate(std::uint64_t words);
  void free(Id block) noexcept;
  /// Prefetches what freeing the block will read, for a loop that reaches it soon: first the block, some steps later its
  /// neighbours.
  void prefetch(Id block) const noexcept { fetch_line(&nodes_[block]); }
  void prefetch_neighbours(Id block) const noexcept {
    if (nodes_[block].before != none) fetch_line(&nodes_[nodes_[block].before]);
    if (nodes_[block].after != none) fetch_line(&nodes_[nodes_[block].after]);
  }
  [[nodiscard]] bool has_room(std::uint64_t words) const noexcept { return find((words + granule - 1) / granule) != none; }
  /// In words.
  [[nodiscard]] std::uint64_t offset(Id block) const noexcept { return nodes_[block].offset * granule; }
  [[nodiscard]] std::uint64_t size(Id block) const noexcept { return nodes_[block].size * granule; }
  [[nodiscard]] std::uint64_t words() const noexcept { return words_; }
  [[nodiscard]] std::uint64_t used() const noexcept { return used_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return nodes_.capacity() * sizeof(Node); }

 private:
  // Gaps of 2^k to 2^(k+1) granules are split into 16 classes. Gaps below 16 granules have a class for each size.
  static constexpr unsigned fine_log = 4;
  static constexpr unsigned fine = 1U << fine_log;
  static constexpr unsigned coarse = 40;
  // How many gaps of the wanted size's own class are tried if no larger class has any.
  static constexpr unsigned tries = 8;

  struct Node {               // a block or a gap
    std::uint64_t offset;     // in granules
    std::uint64_t size : 63;  // in granules
    std::uint64_t gap : 1;
    Id before;  // neighbours in the pool
    Id after;
    Id previous;  // of the same class, while it is a gap
    Id next;
  };
  struct Class {
    unsigned coarse;
    unsigned fine;
  };
  static Class class_of(std::uint64_t size) noexcept;
  [[nodiscard]] Id find(std::uint64_t size) const noexcept;
  [[nodiscard]] Id find_larger(std::uint64_t size) const noexcept;
  void insert(Id gap) noexcept;
  void remove(Id gap) noexcept;
  void join(Id left, Id right) noexcept;

  std::uint64_t words_;
  std::uint64_t used_ = 0;
  std::vector<Node> nodes_;
  Id spare_ = none;  // nodes not in use, linked by next
  std::uint64_t coarse_map_ = 0;
  std::array<std::uint32_t, coarse> fine_maps_{};
  std::array<std::array<Id, fine>, coarse> heads_{};
};

}  // namespace deltamatch::gpu

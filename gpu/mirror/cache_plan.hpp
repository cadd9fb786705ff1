// Which vertices have a block in the cache and where it lies: the bookkeeping, without any device.
//
// select marks what is wanted and says what must move in. What is not wanted stays while there is room, least recently wanted
// first to go; a selection leaves some room for lists that grow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "gpu/mirror/device_arena.hpp"
#include "gpu/mirror/layout.hpp"

namespace deltamatch::gpu {

/// A vertex with all its lists in one store.
struct HotVertex {
  VertexId vertex;
  std::uint32_t store;  ///< graph::StoreKind
  friend bool operator==(const HotVertex&, const HotVertex&) = default;
};

/// What a vertex's lists need when they are packed: [directory][ids][tags], see pack.hpp.
struct BlockShape {
  std::uint32_t entries = 0;
  std::uint32_t slices = 0;
  std::uint32_t version = 0;  ///< of the lists
  bool tagged = false;

  [[nodiscard]] std::uint32_t directory_log() const noexcept;
  /// A multiple of DeviceArena::granule; 0 where there are no entries.
  [[nodiscard]] std::uint64_t words() const noexcept;
};

/// A vertex that is cached.
struct CacheSlot {
  std::uint64_t offset = 0;  ///< of its block in the pool, in words
  HotVertex owner{};
  BlockShape shape;
  DeviceArena::Id block = DeviceArena::none;  ///< none: it has no entries
  std::uint32_t wanted = 0;                   ///< the last selection that wanted it; 0: the slot is free
};

/// Puts those of long blocks first, the longest in front: they do not find room everywhere, and leave room for others.
template <class WordsAt>
void longest_first(std::vector<std::uint32_t>& order, const WordsAt& words_at) {
  constexpr std::uint64_t long_words = 1024;
  const auto rest = std::ranges::partition(order, [&](std::uint32_t i) { return words_at(i) >= long_words; });
  std::ranges::sort(order.begin(), rest.begin(), std::greater(), words_at);
}

class CachePlan {
 public:
  /// Whether blocks take what they need, or have room to grow in.
  enum class Blocks : std::uint8_t { exact, rounded };
  explicit CachePlan(std::uint64_t pool_words = 0, Blocks blocks = Blocks::rounded);

  /// What a selection came to.
  struct Selection {
    std::vector<CacheSlot> moved;     ///< have a new place, which must be filled
    std::vector<HotVertex> evicted;   ///< have none any more
    std::vector<HotVertex> unplaced;  ///< would have one where gaps were larger
    std::uint64_t kept = 0;
  };

  void reserve_vertices(std::uint32_t store, std::size_t count);
  /// Null where the vertex is not cached. Valid until the next call that is not const.
  [[nodiscard]] const CacheSlot* find(HotVertex vertex) const noexcept {
    const std::vector<std::uint32_t>& slots = slot_of_[vertex.store];
    return vertex.vertex < slots.size() && slots[vertex.vertex] != 0 ? &slots_[slots[vertex.vertex]] : nullptr;
  }
  /// Fetches what find looks at, in a loop that comes to the vertex soon; then the slot, some steps later.
  void prefetch(HotVertex vertex) const noexcept {
    if (vertex.vertex < slot_of_[vertex.store].size()) __builtin_prefetch(&slot_of_[vertex.store][vertex.vertex]);
  }
  void prefetch_slot(HotVertex vertex) const noexcept {
    if (const CacheSlot* slot = find(vertex)) __builtin_prefetch(slot);
  }
  /// Then its place, some steps later.
  void prefetch_block(HotVertex vertex) const noexcept {
    const CacheSlot* slot = find(vertex);
    if (slot != nullptr && slot->block != DeviceArena::none) arena_.prefetch(slot->block);
  }
  /// Wants these; `shapes` is parallel. Vertices that do not fit into the pool's share for selections beside those before them
  /// are passed over.
  void select(std::span<const HotVertex> hot, std::span<const BlockShape> shapes, Selection& selection);

  /// Whether the vertex is cached and the last selection wanted it, or it was added since; before the first: whether it is
  /// cached.
  [[nodiscard]] bool wants(HotVertex vertex) const noexcept {
    const CacheSlot* slot = find(vertex);
    return slot != nullptr && slot->wanted == selections_;
  }
  [[nodiscard]] Blocks blocks() const noexcept { return blocks_; }
  /// Words of the pool that a block of this shape takes.
  [[nodiscard]] std::uint64_t words_of(const BlockShape& shape) const noexcept {
    return blocks_ == Blocks::exact ? shape.words() : DeviceArena::rounded(shape.words());
  }
  [[nodiscard]] bool has_room(const BlockShape& shape) const noexcept {
    return shape.entries == 0 || arena_.has_room(words_of(shape));
  }
  /// Drops what the last selection did not want, least recently wanted first, until there is room or no such vertex; tells
  /// which.
  void make_room(const BlockShape& shape, std::vector<HotVertex>& evicted);
  /// Lets a cached vertex keep its place where lists of this shape fit it and leave little of it, an eighth or a granule; else
  /// false, and nothing has changed. Threads may call it at once, each for other vertices. O(1).
  bool reshape(HotVertex vertex, const BlockShape& shape) noexcept;
  /// Gives a cached vertex a place that suits the shape: what it had is free before. False where there is no room; the vertex
  /// is then not cached.
  bool replace(HotVertex vertex, const BlockShape& shape);
  /// Gives a vertex a place that has none, as if the last selection had wanted it; before the first, for good. False where
  /// there is no room.
  bool add(HotVertex vertex, const BlockShape& shape);
  /// The vertex leaves the cache, if it is there.
  void drop(HotVertex vertex) noexcept;
  void drop_store(std::uint32_t store) noexcept;
  /// Calls visit(slot) for every cached vertex of a store, in no order.
  template <class Visit>
  void for_each(std::uint32_t store, Visit&& visit) const {
    for (const CacheSlot& slot : slots_) {
      if (slot.wanted != 0 && slot.owner.store == store) visit(slot);
    }
  }

  /// Words that a selection may fill: the rest of the pool is for lists that grow, and for gaps.
  [[nodiscard]] std::uint64_t selectable_words() const noexcept { return arena_.words() / 16 * 15; }
  [[nodiscard]] std::uint64_t pool_words() const noexcept { return arena_.words(); }
  [[nodiscard]] std::uint64_t used_words() const noexcept { return arena_.used(); }
  [[nodiscard]] std::uint64_t vertices() const noexcept { return vertices_; }
  [[nodiscard]] std::uint64_t lists() const noexcept { return lists_; }
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  // That a selection wanted a slot; holds as long as no later one did and the slot's vertex is there.
  struct Wish {
    std::uint32_t slot;
    std::uint32_t selection;
  };

  CacheSlot* place(HotVertex vertex, const BlockShape& shape);
  [[nodiscard]] bool holds(const Wish& wish) const noexcept { return slots_[wish.slot].wanted == wish.selection; }
  void forget_wishes() noexcept;
  void prefetch_eviction(std::size_t wish) const noexcept;
  bool evict_one(std::vector<HotVertex>& evicted);

  DeviceArena arena_;
  Blocks blocks_;
  std::vector<CacheSlot> slots_;  // [0] is nobody's
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::uint32_t> slot_of_[stores];  // by vertex; 0: not cached
  std::vector<Wish> wishes_;                    // of all selections, one behind the other
  std::size_t first_wish_ = 0;
  std::vector<std::uint32_t> moving_;  // positions in the selection
  std::uint32_t selections_ = 1;
  std::uint64_t vertices_ = 0;
  std::uint64_t lists_ = 0;
};

}  // namespace deltamatch::gpu

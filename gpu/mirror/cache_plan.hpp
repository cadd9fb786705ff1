// Which vertices have a block in the cache, and where it lies. Needs no device.
//
// select marks the wanted vertices and says which must move in. Others stay while there is room; the least recently wanted are
// evicted first. A selection leaves some room for lists that grow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/prefetch.hpp"
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
  /// A multiple of DeviceArena::granule; 0 if there are no entries.
  [[nodiscard]] std::uint64_t words() const noexcept;
};

/// A cached vertex.
struct CacheSlot {
  std::uint64_t offset = 0;  ///< of its block in the pool, in words
  HotVertex owner{};
  BlockShape shape;
  DeviceArena::Id block = DeviceArena::none;  ///< none: it has no entries
  std::uint32_t wanted = 0;                   ///< the last selection that wanted it; 0: the slot is free
};

/// Puts long blocks first, the longest in front. They do not fit everywhere, and leave room for others.
template <class WordsAt>
void longest_first(std::vector<std::uint32_t>& order, const WordsAt& words_at) {
  constexpr std::uint64_t long_words = 1024;
  const auto rest = std::ranges::partition(order, [&](std::uint32_t i) { return words_at(i) >= long_words; });
  std::ranges::sort(order.begin(), rest.begin(), std::greater(), words_at);
}

class CachePlan {
 public:
  /// How much room blocks have to grow: none, up to a sixteenth, or an eighth more while the pool has it.
  enum class Blocks : std::uint8_t { exact, rounded, roomy };
  explicit CachePlan(std::uint64_t pool_words = 0, Blocks blocks = Blocks::rounded);

  /// The result of a selection.
  struct Selection {
    std::vector<CacheSlot> moved;     ///< have a new place, which must be filled
    std::vector<HotVertex> evicted;   ///< have lost their place
    std::vector<HotVertex> unplaced;  ///< would have one if gaps were larger
    std::uint64_t kept = 0;
  };

  void reserve_vertices(std::uint32_t store, std::size_t count);
  /// The slot of a vertex; null if it is not cached. Valid until the next non-const call.
  [[nodiscard]] const CacheSlot* find(HotVertex vertex) const noexcept {
    const std::vector<std::uint32_t>& slots = slot_of_[vertex.store];
    return vertex.vertex < slots.size() && slots[vertex.vertex] != 0 ? &slots_[slots[vertex.vertex]] : nullptr;
  }
  /// Prefetches what find reads, for a loop that reaches the vertex soon. Call prefetch_slot some steps later.
  void prefetch(HotVertex vertex) const noexcept {
    if (vertex.vertex < slot_of_[vertex.store].size()) fetch_line(&slot_of_[vertex.store][vertex.vertex]);
  }
  void prefetch_slot(HotVertex vertex) const noexcept {
    if (const CacheSlot* slot = find(vertex)) fetch_line(slot);
  }
  /// Prefetches the block's place in the arena. Call it some steps after prefetch_slot.
  void prefetch_block(HotVertex vertex) const noexcept {
    const CacheSlot* slot = find(vertex);
    if (slot != nullptr && slot->block != DeviceArena::none) arena_.prefetch(slot->block);
  }
  /// Prefetches what freeing the block reads beside it. Call it some steps after prefetch_block.
  void prefetch_neighbours(HotVertex vertex) const noexcept {
    const CacheSlot* slot = find(vertex);
    if (slot != nullptr && slot->block != DeviceArena::none) arena_.prefetch_neighbours(slot->block);
  }
  /// Makes a selection of the vertices in `hot`; `shapes` is parallel. Earlier vertices have precedence. A vertex is skipped if
  /// it does not fit into selectable_words beside earlier ones.
  void select(std::span<const HotVertex> hot, std::span<const BlockShape> shapes, Selection& selection);

  /// Whether the vertex is cached and the last selection wanted it, or it was added since. Before the first selection: whether
  /// it is cached.
  [[nodiscard]] bool wants(HotVertex vertex) const noexcept {
    const CacheSlot* slot = find(vertex);
    return slot != nullptr && slot->wanted == selections_;
  }
  [[nodiscard]] Blocks blocks() const noexcept { return blocks_; }
  /// Words of the pool that a block of this shape takes at least. Roomy blocks take more while the pool has it.
  [[nodiscard]] std::uint64_t words_of(const BlockShape& shape) const noexcept {
    return blocks_ == Blocks::exact ? shape.words() : DeviceArena::rounded(shape.words());
  }
  [[nodiscard]] bool has_room(const BlockShape& shape) const noexcept {
    return shape.entries == 0 || arena_.has_room(words_of(shape));
  }
  /// Drops vertices that the last selection did not want, until there is room or no such vertex is left. The least recently
  /// wanted go first. Adds them to `evicted`.
  void make_room(const BlockShape& shape, std::vector<HotVertex>& evicted);
  /// Lets a cached vertex keep its place for lists of this shape. They must fit and may waste little: an eighth or a granule, a
  /// quarter if blocks are roomy.
  /// If not, returns false and changes nothing. Threads may call it at the same time for different vertices. O(1).
  bool reshape(HotVertex vertex, const BlockShape& shape) noexcept;
  /// Frees the place of a cached vertex and takes one that suits the shape. Returns false if there is no room; the vertex is
  /// then no longer cached.
  bool replace(HotVertex vertex, const BlockShape& shape);
  /// Places a vertex that has no place, as if the last selection had wanted it. Before the first selection, it stays for good.
  /// Returns false if there is no room.
  bool add(HotVertex vertex, const BlockShape& shape);
  /// Drops the vertex, if it is cached.
  void drop(HotVertex vertex) noexcept;
  void drop_store(std::uint32_t store) noexcept;
  /// Calls visit(slot) for every cached vertex of a store, in no particular order.
  template <class Visit>
  void for_each(std::uint32_t store, Visit&& visit) const {
    for (const CacheSlot& slot : slots_) {
      if (slot.wanted != 0 && slot.owner.store == store) visit(slot);
    }
  }

  /// Words that a selection may fill. The rest of the pool is for lists that grow, and for gaps.
  [[nodiscard]] std::uint64_t selectable_words() const noexcept { return arena_.words() / 16 * 15; }
  [[nodiscard]] std::uint64_t pool_words() const noexcept { return arena_.words(); }
  [[nodiscard]] std::uint64_t used_words() const noexcept { return arena_.used(); }
  [[nodiscard]] std::uint64_t vertices() const noexcept { return vertices_; }
  [[nodiscard]] std::uint64_t lists() const noexcept { return lists_; }
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  // A selection wanted a slot. Holds until a later selection wants it, or its vertex leaves.
  struct SlotRequest {
    std::uint32_t slot;
    std::uint32_t selection;
  };

  [[nodiscard]] DeviceArena::Id allocate(std::uint64_t words);
  CacheSlot* place(HotVertex vertex, const BlockShape& shape);
  [[nodiscard]] bool holds(const SlotRequest& request) const noexcept {
    return slots_[request.slot].wanted == request.selection;
  }
  void drop_requests() noexcept;
  void prefetch_eviction(std::size_t request) const noexcept;
  bool evict_one(std::vector<HotVertex>& evicted);

  DeviceArena arena_;
  Blocks blocks_;
  std::vector<CacheSlot> slots_;  // [0] belongs to no vertex
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::uint32_t> slot_of_[stores];  // by vertex; 0: not cached
  std::vector<SlotRequest> requests_;           // of all selections, in their order
  std::size_t first_request_ = 0;
  std::vector<std::uint32_t> moving_;  // positions in the selection
  std::uint32_t selections_ = 1;
  std::uint64_t vertices_ = 0;
  std::uint64_t lists_ = 0;
};

}  // namespace deltamatch::gpu

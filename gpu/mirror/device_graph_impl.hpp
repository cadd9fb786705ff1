// The parts of the mirror. device_graph.cpp finds what has changed and sends the batch. device_merge.cpp brings blocks up to
// date on the device. device_fill.cpp sends rows and blocks. device_ring.cpp makes the ring that kernels fill.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "gpu/cuda/packed_arrays.hpp"
#include "gpu/mirror/device_graph.hpp"
#include "gpu/mirror/pack.hpp"
#include "gpu/mirror/staging.hpp"

namespace deltamatch::gpu {

static_assert(stores == graph::store_kinds);
// Vertices that a thread takes at a time.
inline constexpr std::size_t look_grain = 512;
// Words of a block that a warp copies.
inline constexpr std::uint32_t piece_words = 2048;
[[nodiscard]] constexpr std::uint32_t pieces_of(std::uint64_t words) noexcept {
  return static_cast<std::uint32_t>((words + piece_words - 1) / piece_words);
}
/// Writes the pieces of a block. It lies at `from` in what is sent or made, and belongs at `to` in the pool.
inline void cut(std::uint64_t to, std::uint64_t from, std::uint64_t words, Piece* pieces) noexcept {
  for (std::uint64_t at = 0; at < words; at += piece_words) {
    *pieces++ = {to + at, static_cast<std::uint32_t>(from + at),
                 static_cast<std::uint32_t>(std::min<std::uint64_t>(piece_words, words - at))};
  }
}
// A smaller cache is given up. A resident graph has at least the second size for its lists.
inline constexpr std::size_t least_cache_bytes = std::size_t{1} << 12;
inline constexpr std::size_t least_pool_bytes = std::size_t{1} << 20;

struct DeviceGraph::Impl {
  // The staged batch of one store, with all parts in one memory. The host's copy outlives the settling.
  struct Batch {
    const std::uint32_t* vertices = nullptr;
    const std::uint32_t* first_slice = nullptr;
    const DeltaSlice* slices = nullptr;
    std::uint32_t rows = 0;
    std::uint64_t number = 0;  // graph::Adjacency::stages
  };
  // What is known of one store.
  struct Mirror {
    explicit Mirror(DeviceOps& ops) : rows(ops, Buffer::Place::device) {}

    const graph::Adjacency* store = nullptr;
    graph::Adjacency::Mark mark;
    RelationSet relations;             // that blocks are packed with
    Buffer rows;                       // on the device
    std::size_t valid_rows = 0;        // rows that have been sent
    std::vector<VertexId> dirty;       // sent rows that must be sent again
    std::vector<std::uint32_t> merge;  // rows of the last batch whose vertices are brought up to date on the device
    std::vector<VertexId> fill;        // vertices that should have a place and have none
    bool fill_all = true;
    std::vector<std::uint32_t> granules;  // by vertex: packed size of its lists (Storage::cached)
    Batch batch;                          // on the host
    Store view{};

    /// Whether a row of the batch may change packed lists.
    [[nodiscard]] bool touched(std::uint32_t row) const noexcept {
      for (std::uint32_t i = batch.first_slice[row]; i < batch.first_slice[row + 1]; ++i) {
        if (relations.contains(batch.slices[i].relation)) return true;
      }
      return false;
    }
    void restart() noexcept {
      mark = {};
      valid_rows = 0;
      fill.clear();
      fill_all = true;
      batch = {};
    }
  };

  // Offsets of one store's staged batch in the memory that is sent.
  struct BatchLayout {
    graph::Adjacency::Staged staged{};
    std::size_t slice_count = 0;
    std::size_t vertices = 0, first_slice = 0, slices = 0, added = 0, added_tags = 0, removed = 0, removed_tags = 0;
    bool tagged = false;
  };

  // Words of lists by CachePlan::Blocks.
  struct ResidentWords {
    std::uint64_t exact = 0;
    std::uint64_t rounded = 0;
    std::uint64_t roomy = 0;

    ResidentWords& operator+=(const ResidentWords& more) noexcept {
      exact += more.exact;
      rounded += more.rounded;
      roomy += more.roomy;
      return *this;
    }
  };

  // How much of each part rows take in the launch that merges them.
  struct MergeSizes {
    std::uint32_t pieces = 0;
    std::uint32_t copies = 0;     // pieces that copy new blocks to their places
    std::uint32_t directory = 0;  // words of directories
    std::uint64_t words = 0;      // words of the new blocks

    MergeSizes& operator+=(const MergeSizes& more) noexcept {
      pieces += more.pieces;
      copies += more.copies;
      directory += more.directory;
      words += more.words;
      return *this;
    }
    friend MergeSizes operator+(MergeSizes a, const MergeSizes& b) noexcept { return a += b; }
    // Of the input, with so many rows.
    [[nodiscard]] std::size_t bytes(std::size_t rows) const noexcept {
      return rows * sizeof(MergeRow) + pieces * sizeof(MergePiece) + copies * sizeof(Piece) + directory * sizeof(std::uint32_t);
    }
  };

  Impl(std::unique_ptr<DeviceOps> device, const DeviceGraphOptions& wanted, Workers& pool_of_threads)
      : ops(std::move(device)),
        options(wanted),
        cache_limit(wanted.cache_bytes == 0 ? SIZE_MAX : wanted.cache_bytes),
        workers(&pool_of_threads),
        mirrors{Mirror(*ops), Mirror(*ops), Mirror(*ops)},
        staging(*ops, wanted.chunk_bytes),
        batch_host(*ops, Buffer::Place::host),
        batch_device(*ops, Buffer::Place::device),
        made(*ops, Buffer::Place::device),
        pool(*ops, Buffer::Place::device),
        ring_words(*ops, Buffer::Place::device),
        ring_places(*ops, Buffer::Place::device),
        ring_notes(*ops, Buffer::Place::device) {}
  ~Impl() {
    try {
      ops->drain();
    } catch (...) {  // NOLINT(bugprone-empty-catch): the launch has already reported it
    }
  }

  void start_over();
  void begin(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved, const Reads& reads);
  void use_relations(Mirror& mirror, unsigned s, const RelationSet& used);
  void follow(unsigned s, const graph::Adjacency* store, const RelationSet& used);
  void follow_changes(Mirror& mirror, unsigned s, std::span<const VertexId> changes);
  void forget_outdated(Mirror& mirror, unsigned s);
  void empty_cache();
  void merge(unsigned s);
  void keep_places(const Mirror& mirror);
  [[nodiscard]] bool move(Mirror& mirror, HotVertex vertex, const BlockShape& shape);
  [[nodiscard]] static MergeRow merge_row(const Mirror& mirror, std::uint32_t row, const CacheSlot* old,
                                          const BlockShape& shape);
  [[nodiscard]] static MergeSizes sizes_of(const Mirror& mirror, const MergeRow& row);
  [[nodiscard]] bool fits_chunk(const MergeSizes& sizes, std::size_t rows) const noexcept;
  [[nodiscard]] bool reserve_made(std::size_t bytes);
  void give_up_merges(Mirror& mirror, std::span<const std::uint32_t> rows);
  void send_merges(Mirror& mirror);
  void launch_merges(Mirror& mirror, std::span<const std::uint32_t> rows, const MergeSizes& sizes);
  void make_room(const BlockShape& shape);
  void reserve_rows(Mirror& mirror);
  [[nodiscard]] std::size_t spare_bytes();
  void release_cache();
  void make_pool();
  void make_ring(std::size_t bytes);
  void release_ring() noexcept;
  void clear_ring();
  void send_batch(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved);
  [[nodiscard]] static BatchLayout lay_out(const graph::Adjacency& store, Parts& parts);
  void reserve_batch(std::size_t bytes);
  void write_batch(Mirror& mirror, const BatchLayout& layout);
  [[nodiscard]] Store view_of(const Mirror& mirror, const BatchLayout& layout) const;
  void make_resident();
  [[nodiscard]] bool fill(unsigned s);
  [[nodiscard]] bool fill_some(std::span<const HotVertex> vertices);
  void order_longest_first();
  void regain(unsigned s);
  [[nodiscard]] std::uint64_t place_longest_first();
  void renew_pool();
  [[nodiscard]] ResidentWords resident_words(const Mirror& mirror) const;
  void look_up_shapes(std::span<const HotVertex> vertices);
  void size_up(Mirror& mirror, std::span<const VertexId> changes);
  void send_blocks(std::span<const CacheSlot> slots);
  void send_chunk(std::span<const CacheSlot> slots, std::uint32_t pieces, std::uint64_t words);
  void send_rows(Mirror& mirror, unsigned s);
  void send_row_range(Mirror& mirror, unsigned s);
  void send_dirty_rows(Mirror& mirror, unsigned s);
  [[nodiscard]] Row row_of(const Mirror& mirror, unsigned s, VertexId vertex) const noexcept;
  void select(std::span<const HotVertex> wanted);
  // The label that decides which lists of a vertex are packed.
  [[nodiscard]] LabelId owner(const Mirror& mirror, VertexId vertex) const noexcept {
    return mirror.relations.by_owner() ? followed->dictionary.label(vertex) : empty_label;
  }
  [[nodiscard]] BlockShape shape_of(const Mirror& mirror, VertexId vertex) const noexcept {
    return packed_shape(*mirror.store, vertex, mirror.relations, owner(mirror, vertex));
  }
  [[nodiscard]] bool caches() const noexcept { return options.storage != Storage::host; }
  [[nodiscard]] bool resident() const noexcept { return options.storage == Storage::resident; }

  std::unique_ptr<DeviceOps> ops;
  const graph::DataGraph* followed = nullptr;
  DeviceGraphOptions options;
  std::size_t cache_limit;  // for packed blocks; falls when memory runs out
  Workers* workers;
  Mirror mirrors[stores];
  Staging staging;
  Buffer batch_host;
  Buffer batch_device;
  Buffer made;  // merged blocks, before they are copied to their places
  Buffer pool;
  bool has_pool = false;
  Buffer ring_words;
  Buffer ring_places;
  Buffer ring_notes;  // its state, what warps announce, and what its segments hold
  DemandState ring_start{};
  bool forgetting = false;  // at the next begin
  bool dividing = false;    // the same
  CachePlan plan;
  GraphView view{};
  bool sound = false;  // the last begin and select succeeded
  DeviceGraphStatistics counts;
  std::uint64_t batch_bytes = 0;

  // Scratch memory.
  std::vector<HotVertex> hot;
  std::vector<BlockShape> shapes;
  std::vector<std::uint32_t> order;
  enum class Fate : std::uint8_t { nothing, stays, moves };
  std::vector<Fate> fates;                  // by position in hot
  std::vector<MergeRow> merge_rows;         // by position in hot, of vertices that are merged
  std::vector<std::uint32_t> merges;        // positions in hot, in the order of merging
  std::vector<MergeSizes> group_sizes;      // of look_grain rows each; then where their parts begin
  std::vector<std::uint64_t> chunk_words;   // by block of a chunk: its offset
  std::vector<std::uint32_t> chunk_pieces;  // by block of a chunk: its first piece
  CachePlan::Selection selection;
};

}  // namespace deltamatch::gpu

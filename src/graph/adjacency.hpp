// The adjacency store: per vertex one block with all its neighbour lists, one list per relation.
//
// A block is [directory][ids][payload]: the directory holds (relation, end) pairs ascending by relation, ids are the lists one
// behind the other, each ascending, and the payload column (0, 1 or 2 words an entry) runs parallel to the ids. A vertex with
// one relation pays 8 bytes for its directory; relations that a vertex lacks cost nothing, however many labels there are.
//
// A batch never touches the blocks before it is settled. `stage` turns it into a delta: per (vertex, relation) the sorted ids
// it adds and the sorted ids it removes, and the blocks that settling will need. So before and after are both readable (list
// \ removed is what is stable), undoing is dropping the delta, nothing that a kernel has cached changes under it, and `settle`
// cannot fail.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/types.hpp"
#include "graph/arena.hpp"
#include "graph/change_log.hpp"

namespace deltamatch::graph {

using RelationId = std::uint32_t;
inline constexpr RelationId no_relation = 0xffffffff;

/// One end of a data edge: an entry of `vertex`'s list of `relation`. The payload is what the column holds.
struct HalfEdge {
  VertexId vertex;
  RelationId relation;
  VertexId neighbour;
  std::uint32_t tag;  ///< orders entries with equal neighbours; 0 where there are none
  std::uint64_t payload;
  friend auto operator<=>(const HalfEdge&, const HalfEdge&) = default;
};

/// A neighbour list as it stood before the batch, and the batch's changes of it. All parts ascend (by id, then tag); `removed`
/// is a part of `ids`, `added` is apart from it. Tags are null in stores without tags. Pointers hold until the next stage or
/// settle.
struct List {
  const std::uint32_t* ids = nullptr;
  const std::uint32_t* tags = nullptr;
  const std::uint32_t* added = nullptr;
  const std::uint32_t* added_tags = nullptr;
  const std::uint32_t* removed = nullptr;
  const std::uint32_t* removed_tags = nullptr;
  std::uint32_t size = 0;
  std::uint32_t added_size = 0;
  std::uint32_t removed_size = 0;
};

/// Figures of a relation over all vertices, for the planner.
struct RelationFigures {
  std::uint64_t entries = 0;  ///< sum of list lengths
  std::uint64_t lists = 0;    ///< lists that are not empty
  double squares = 0;         ///< sum of squared list lengths
  std::uint32_t longest = 0;  ///< no list is or was longer
};

/// Payload of the entries of a store.
enum class Column : std::uint8_t { none = 0, tag = 1, time = 2 };

struct BulkEdges;
struct LabelPart;
struct BlockSide;

class Adjacency {
 public:
  Adjacency(Column column, SlabAllocator& slabs);

  /// Rows for vertices below `count`. Strong guarantee.
  void reserve_vertices(std::size_t count);

  /// Stages a batch: both spans ascend strictly; every added entry is absent, every removed one present. `figures` is extended
  /// to all relations that occur. O(batch x log list). Strong guarantee; nothing may be staged already.
  void stage(std::span<const HalfEdge> added, std::span<const HalfEdge> removed, Workers& workers);
  void stage(std::span<const HalfEdge> added, std::span<const HalfEdge> removed);
  /// Drops what is staged.
  void unstage() noexcept;
  /// Writes what is staged into the blocks. O(moved entries).
  void settle(Workers& workers) noexcept;
  /// Fills a store that has no payload column and has held nothing, whose changes nobody follows yet. When it throws, the store
  /// is of no use. adjacency_bulk.cpp.
  void build(const BulkEdges& bulk, Workers& workers);
  /// The same from blocks of edges. The parts are consecutive from vertex 0 on; the sides ascend by row label, then relation,
  /// and are such that the neighbours of each list ascend. adjacency_blocks.cpp.
  void build(std::span<const LabelPart> parts, std::span<const BlockSide> sides, Workers& workers);

  /// Gives every vertex v the number to[v], a permutation of those that have rows, in a store without a payload column. Nothing
  /// may be staged. `done`: room for as many. O(entries x log list) in parallel; mirrors start over.
  void renumber(std::span<const VertexId> to, std::vector<bool>& done, Workers& workers) noexcept;

  [[nodiscard]] List list(VertexId vertex, RelationId relation) const noexcept;
  /// The fast part of `list`: the settled ids (and tags, in stores that have them). Returns whether the vertex is touched by
  /// the staged batch, so that `list` may say more.
  bool find(VertexId vertex, RelationId relation, const std::uint32_t*& ids, const std::uint32_t*& tags,
            std::uint32_t& size) const noexcept {
    const Row& row = rows_[vertex];
    const std::uint32_t s = find_slice(row, relation);
    if (s != no_relation) {
      ids = row.ids() + row.begin(s);
      tags = ids + row.capacity;
      size = row.end(s) - row.begin(s);
    } else {
      size = 0;
    }
    return row.staged != 0;
  }
  /// The settled ids of a list; valid where nothing is staged, or to see the state before the batch.
  [[nodiscard]] std::span<const std::uint32_t> ids(VertexId vertex, RelationId relation) const noexcept;
  /// Entries of the vertex over all relations, settled.
  [[nodiscard]] std::uint32_t degree(VertexId vertex) const noexcept;
  /// Entries of the vertex once the staged batch is settled.
  [[nodiscard]] std::uint32_t degree_after(VertexId vertex) const noexcept;
  /// Calls visit(relation, ids, payload words) for every settled list of the vertex.
  template <class Visit>
  void for_each_list(VertexId vertex, Visit&& visit) const;
  /// The payload words of an entry, or null where the entry is absent.
  [[nodiscard]] const std::uint32_t* payload(VertexId vertex, RelationId relation, VertexId neighbour) const noexcept;
  std::uint32_t* payload(VertexId vertex, RelationId relation, VertexId neighbour) noexcept;

  /// Grows whenever the vertex's block changes in contents or place.
  [[nodiscard]] std::uint32_t version(VertexId vertex) const noexcept { return rows_[vertex].version; }
  [[nodiscard]] std::span<const RelationFigures> figures() const noexcept { return figures_; }
  /// Memory of so many lists and entries of a relation; rows, and what blocks have room for besides, belong to no relation.
  [[nodiscard]] std::uint64_t list_bytes(const RelationFigures& figures) const noexcept {
    return sizeof(std::uint32_t) * (2 * figures.lists + (1 + column_words()) * figures.entries);
  }
  /// No list of the relation is longer, before or after the staged batch.
  [[nodiscard]] std::uint32_t longest(RelationId relation) const noexcept {
    const auto& figures = delta_rows_.empty() ? figures_ : staged_figures_;
    return relation < figures.size() ? figures[relation].longest : 0;
  }
  /// No vertex has more entries before the staged batch. O(relations).
  [[nodiscard]] std::uint64_t degree_bound() const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept;
  [[nodiscard]] std::size_t vertices() const noexcept { return rows_.size(); }
  [[nodiscard]] Column column() const noexcept { return column_; }
  void prefetch(VertexId vertex) const noexcept { __builtin_prefetch(&rows_[vertex]); }
  void prefetch_block(VertexId vertex) const noexcept {
    const std::uint32_t* block = rows_[vertex].block;
    __builtin_prefetch(block);
    __builtin_prefetch(block + 16);
  }
  /// The rows of the vertex's neighbours, where these are few; its block must be near already. Many are fetched by whoever
  /// reads them in a loop.
  void prefetch_neighbours(VertexId vertex) const noexcept {
    for (const std::uint32_t id : few_neighbours(vertex)) __builtin_prefetch(&rows_[id]);
  }
  /// Their blocks; the rows must be near already.
  void prefetch_neighbour_blocks(VertexId vertex) const noexcept {
    for (const std::uint32_t id : few_neighbours(vertex)) __builtin_prefetch(rows_[id].block);
  }
  /// Where a search in the vertex's lists will look first; its block must be near already.
  void prefetch_search(VertexId vertex) const noexcept {
    const Row& row = rows_[vertex];
    if (row.block == nullptr) return;
    const std::uint32_t total = row.total();
    if (total < 32) return;
    const std::uint32_t* ids = row.ids();
    __builtin_prefetch(ids + total / 2);
    __builtin_prefetch(ids + total / 4);
    __builtin_prefetch(ids + total / 4 * 3);
  }

  // For mirrors of the store in another memory.

  /// The changes of one list; ends where the next one's begin.
  struct DeltaSlice {
    RelationId relation;
    std::uint32_t added_begin;
    std::uint32_t removed_begin;
    std::uint32_t begin;  ///< of the list among the vertex's entries before the batch; an empty one, where it will be
    std::uint32_t end;
  };
  /// A settled block as it lies in memory; null where the vertex has no lists.
  struct Block {
    const std::uint32_t* words;
    std::uint32_t capacity;  ///< entries that the ids column has room for; the payload begins behind it
    std::uint32_t slices;
    std::uint32_t directory_log;  ///< the directory has room for 2^directory_log slices
    bool staged;                  ///< the staged batch touches the vertex
  };
  /// The columns of the staged batch. `slices` has a sentinel behind it unless nothing is staged.
  struct Staged {
    std::size_t rows;
    std::span<const DeltaSlice> slices;
    std::span<const std::uint32_t> added;
    std::span<const std::uint32_t> added_payload;
    std::span<const std::uint32_t> removed;
    std::span<const std::uint32_t> removed_payload;
  };
  struct StagedRow {
    VertexId vertex;
    std::uint32_t first_slice;
  };
  /// How far a mirror has followed the store.
  struct Mark {
    std::uint64_t store = 0;  ///< 0: not at all
    std::uint64_t changes = 0;
    std::uint64_t compactions = 0;
    std::uint64_t settled = 0;  ///< the batch that was settled last
    friend bool operator==(const Mark&, const Mark&) = default;
  };

  /// From now on the vertices that change are remembered.
  void track_changes() noexcept { changes_.track(); }
  [[nodiscard]] Mark mark() const noexcept { return {serial_, changes_.end(), compactions_, settled_}; }
  /// The vertices whose lists have changed since, with repetitions: of a batch in order of its rows. nullopt: any may have.
  /// Where mark().compactions differs, all blocks have moved besides. Valid until the next stage or settle.
  [[nodiscard]] std::optional<std::span<const VertexId>> changes_since(const Mark& mark) const noexcept {
    if (mark.store != serial_) return std::nullopt;
    return changes_.since(mark.changes);
  }
  [[nodiscard]] Block block(VertexId vertex) const noexcept {
    const Row& row = rows_[vertex];
    return {row.block, row.capacity, row.slices, row.directory_log, row.staged != 0};
  }
  /// Batches staged so far; the number of the one that is staged now.
  [[nodiscard]] std::uint64_t stages() const noexcept { return stages_; }
  [[nodiscard]] Staged staged() const noexcept {
    return {delta_rows_.size(), delta_slices_, added_.ids, added_.payload, removed_.ids, removed_.payload};
  }
  /// Ascending by vertex.
  [[nodiscard]] StagedRow staged_row(std::size_t row) const noexcept {
    return {delta_rows_[row].vertex, delta_rows_[row].first_slice};
  }

 private:
  struct Row {
    std::uint32_t* block = nullptr;
    std::uint32_t capacity = 0;  // entries
    std::uint32_t version = 0;
    std::uint32_t staged = 0;  // 1 + index into delta_rows_, 0: untouched by the batch
    std::uint32_t slices : 27 = 0;
    std::uint32_t directory_log : 5 = 0;  // the directory has room for 2^directory_log slices

    [[nodiscard]] std::uint32_t directory_words() const noexcept { return 2u << directory_log; }
    [[nodiscard]] std::uint32_t* ids() const noexcept { return block == nullptr ? nullptr : block + directory_words(); }
    [[nodiscard]] std::uint32_t total() const noexcept { return begin(slices); }
    // Of the directory's s-th list.
    [[nodiscard]] std::uint32_t begin(std::uint32_t s) const noexcept { return s == 0 ? 0 : block[2 * s - 1]; }
    [[nodiscard]] std::uint32_t end(std::uint32_t s) const noexcept { return block[2 * s + 1]; }
    [[nodiscard]] bool holds(std::uint32_t s, RelationId relation) const noexcept {
      return s < slices && block[2 * s] == relation;
    }
  };
  struct DeltaRow {
    std::uint32_t* block = nullptr;  // the block to move to, or null: the lists stay where they are
    std::uint32_t capacity = 0;
    std::uint32_t total = 0;  // entries before the batch
    VertexId vertex = 0;
    std::uint32_t first_slice = 0;
    std::uint32_t end_slice = 0;
    std::uint8_t directory_log = 0;
    bool empties = false;  // nothing is left
    bool moves = false;    // to a block of another size
  };
  struct Entries {  // columns of the delta
    std::vector<std::uint32_t> ids;
    std::vector<std::uint32_t> payload;
    // Which of the vertex's entries before the batch it is, or goes in front of: found while settling, when the lists have to
    // come near anyway.
    std::vector<std::uint32_t> places;
    void assign(std::span<const HalfEdge> halves, Column column);
    [[nodiscard]] std::size_t bytes() const noexcept;
  };
  struct Search {  // for the first entry that is not less than (id, tag)
    const std::uint32_t* ids;
    const std::uint32_t* tags;
    std::uint32_t begin;
    std::uint32_t size;
    std::uint32_t id;
    std::uint32_t tag;
    std::uint32_t* place;
  };

  [[nodiscard]] std::span<const std::uint32_t> few_neighbours(VertexId vertex) const noexcept {
    constexpr std::uint32_t few = 24;
    const Row& row = rows_[vertex];
    if (row.slices == 0 || row.total() > few) return {};
    return {row.ids(), row.total()};
  }

  // Directories up to this many slices are scanned, longer ones searched.
  static constexpr std::uint32_t scanned_slices = 16;

  static std::uint64_t next_serial() noexcept;
  void sum_figures(Workers& workers);
  [[nodiscard]] unsigned column_words() const noexcept { return static_cast<unsigned>(column_); }
  [[nodiscard]] std::size_t block_words(std::uint32_t capacity, std::uint32_t directory_log) const noexcept {
    return (std::size_t{2} << directory_log) + std::size_t{capacity} * (1 + column_words());
  }
  [[nodiscard]] const DeltaSlice* delta_slice(const DeltaRow& row, RelationId relation) const noexcept;
  void build_slices(std::span<const HalfEdge> added, std::span<const HalfEdge> removed);
  void plan_rows(std::span<DeltaRow> deltas);
  void plan_row(DeltaRow& delta);
  void sum_staged_figures();
  void allocate_blocks();
  void settle_rows(std::span<DeltaRow> deltas) noexcept;
  template <bool tagged>
  void find_places(std::span<const DeltaRow> deltas) noexcept;
  template <bool tagged>
  static void search(std::span<Search> lanes) noexcept;
  void settle_row(DeltaRow& delta) noexcept;
  void remove_entries(const Row& row, const DeltaRow& delta) noexcept;
  void add_entries(const Row& from, const Row& to, const DeltaRow& delta) noexcept;
  void update_directory(Row& row, const DeltaRow& delta) noexcept;
  static void open_slice(Row& row, RelationId relation) noexcept;
  void move_entries(const Row& from, std::uint32_t begin, std::uint32_t end, const Row& to, std::uint32_t place) const noexcept;
  void compact() noexcept;
  [[nodiscard]] static std::uint32_t find_slice(const Row& row, RelationId relation) noexcept {
    const std::uint32_t* directory = row.block;
    if (row.slices > scanned_slices) return search_slice(row, relation);
    for (std::uint32_t s = 0; s < row.slices; ++s) {
      if (directory[2 * s] == relation) return s;
    }
    return no_relation;
  }
  [[nodiscard]] static std::uint32_t search_slice(const Row& row, RelationId relation) noexcept;
  /// The first list whose relation is not less.
  [[nodiscard]] static std::uint32_t lower_slice(const Row& row, RelationId relation) noexcept;
  [[nodiscard]] static std::uint32_t log_ceil(std::uint32_t n) noexcept {
    return n <= 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(n - 1));
  }

  Column column_;
  std::unique_ptr<Arena> arena_;
  SlabAllocator* slabs_;
  std::vector<Row> rows_;
  std::vector<RelationFigures> figures_;

  std::vector<DeltaRow> delta_rows_;      // ascending by vertex
  std::vector<DeltaSlice> delta_slices_;  // with one sentinel behind
  Entries added_;
  Entries removed_;
  std::vector<RelationFigures> staged_figures_;

  std::uint64_t serial_ = next_serial();  // tells a new store from an old one at the same address
  std::uint64_t stages_ = 0;
  std::uint64_t settled_ = 0;
  std::uint64_t compactions_ = 0;
  ChangeLog changes_;
};

template <class Visit>
void Adjacency::for_each_list(VertexId vertex, Visit&& visit) const {
  const Row& row = rows_[vertex];
  std::uint32_t begin = 0;
  for (std::uint32_t s = 0; s < row.slices; ++s) {
    const std::uint32_t end = row.block[2 * s + 1];
    const std::uint32_t* ids = row.ids();
    visit(row.block[2 * s], std::span(ids + begin, end - begin), ids + row.capacity + std::size_t{begin} * column_words());
    begin = end;
  }
}

}  // namespace deltamatch::graph

// The adjacency store. Each vertex has one block with all its neighbour lists, one list per relation.
//
// A block is [directory][ids][payload]. The directory holds (relation, end) pairs, ascending by relation. The ids are the lists
// one after the other, each ascending. The payload column (0, 1 or 2 words per entry) is parallel to the ids. A vertex with one
// relation needs 8 bytes for its directory. Relations that a vertex lacks cost nothing, however many labels exist.
//
// A batch does not change the blocks until it is settled. `stage` makes a delta of it: for each (vertex, relation) the sorted
// ids that it adds and those that it removes. It also allocates the blocks that settling needs.
// - So the states before and after are both readable. The stable part of a list is list \ removed.
// - Undoing a batch means dropping the delta, and `settle` cannot fail.
// - The lists that a kernel has cached do not change while a batch is staged.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/prefetch.hpp"
#include "base/raw_vector.hpp"
#include "base/types.hpp"
#include "graph/arena.hpp"
#include "graph/change_log.hpp"

namespace deltamatch::graph {

using RelationId = std::uint32_t;
inline constexpr RelationId no_relation = 0xffffffff;

/// One end of a data edge: an entry in `vertex`'s list of `relation`. The payload goes to the payload column.
struct HalfEdge {
  VertexId vertex;
  RelationId relation;
  VertexId neighbour;
  std::uint32_t tag;  ///< orders entries with equal neighbours; 0 in stores without tags
  std::uint64_t payload;
  friend auto operator<=>(const HalfEdge&, const HalfEdge&) = default;
};

/// By vertex, relation, neighbour and tag.
struct HalfEdgeOrder {
  __extension__ using Key = unsigned __int128;
  static VertexId vertex(const HalfEdge& half) noexcept { return half.vertex; }
  static Key key(const HalfEdge& half) noexcept {
    const std::uint64_t high = std::uint64_t{half.vertex} << 32 | half.relation;
    const std::uint64_t low = std::uint64_t{half.neighbour} << 32 | half.tag;
    return static_cast<Key>(high) << 64 | low;
  }
};

/// A neighbour list as it was before the batch, and the batch's changes to it. All parts ascend (by id, then by tag). `removed`
/// is a subset of `ids`; `added` is disjoint from it. Tags are null in stores without tags. The pointers are valid until the
/// next stage or settle.
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

/// Statistics of a relation over all vertices, for the planner.
struct RelationFigures {
  std::uint64_t entries = 0;  ///< sum of list lengths
  std::uint64_t lists = 0;    ///< number of lists that are not empty
  double squares = 0;         ///< sum of squared list lengths
  std::uint32_t longest = 0;  ///< upper bound on the length of any list, now and in the past
  bool parallel = false;      ///< some list may have several entries of one neighbour, in stores with tags
};

/// What the payload column of a store holds.
enum class Column : std::uint8_t { none = 0, tag = 1, time = 2 };

struct BulkEdges;
struct LabelPart;
struct BlockSide;

class Adjacency {
 public:
  Adjacency(Column column, SlabAllocator& slabs);

  /// Makes rows for the vertices below `count`. Strong guarantee.
  void reserve_vertices(std::size_t count);

  /// Stages a batch. Both spans must ascend strictly. Every added entry must be absent, and every removed one present. Extends
  /// `figures` to all relations. O(batch x log list). Strong guarantee, but all blocks may move. Nothing may be staged already.
  void stage(std::span<const HalfEdge> added, std::span<const HalfEdge> removed, Workers& workers);
  void stage(std::span<const HalfEdge> added, std::span<const HalfEdge> removed);
  /// Drops the staged batch.
  void unstage() noexcept;
  /// Writes the staged batch into the blocks. Allocates nothing. O(moved entries).
  void settle(Workers& workers) noexcept;
  /// Fills an empty store. The store must have no payload column, must never have held anything, and no one may follow its
  /// changes yet. If it throws, the store is unusable. Implemented in adjacency_bulk.cpp.
  void build(const BulkEdges& bulk, Workers& workers);
  /// The same from blocks of edges. The parts must be consecutive from vertex 0 on. The sides must ascend by row label, then by
  /// relation, in an order in which the neighbours of each list ascend. Implemented in adjacency_blocks.cpp.
  void build(std::span<const LabelPart> parts, std::span<const BlockSide> sides, Workers& workers);

  /// Gives every vertex v the number to[v], in a store without a payload column. `to` is a permutation of the vertices that
  /// have rows. Nothing may be staged. `done` must have room for as many. O(entries x log list) in parallel. Mirrors must start
  /// over.
  void renumber(std::span<const VertexId> to, std::vector<bool>& done, Workers& workers) noexcept;

  [[nodiscard]] List list(VertexId vertex, RelationId relation) const noexcept;
  /// The fast part of `list`: the settled ids (and tags, in stores that have them). Returns whether the staged batch touches
  /// the vertex. If so, `list` may return more.
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
  /// The settled ids of a list. They are the current list if nothing is staged, otherwise the list before the batch.
  [[nodiscard]] std::span<const std::uint32_t> ids(VertexId vertex, RelationId relation) const noexcept;
  /// The number of settled entries of the vertex over all relations.
  [[nodiscard]] std::uint32_t degree(VertexId vertex) const noexcept;
  /// The number of entries that the vertex's block has room for: an upper bound on degree, which the row alone tells. 0: none.
  [[nodiscard]] std::uint32_t room(VertexId vertex) const noexcept {
    return vertex < rows_.size() ? rows_[vertex].capacity : 0;
  }
  /// The number of entries that the vertex will have after the staged batch is settled.
  [[nodiscard]] std::uint32_t degree_after(VertexId vertex) const noexcept;
  /// The vertices that lose all their entries in the staged batch, or else in the batch that was settled last.
  [[nodiscard]] std::span<const VertexId> emptied() const noexcept { return emptied_; }
  /// Calls visit(relation, ids, payload words) for each settled list of the vertex.
  template <class Visit>
  void for_each_list(VertexId vertex, Visit&& visit) const;
  /// The payload words of an entry, or null if there is no such entry.
  [[nodiscard]] const std::uint32_t* payload(VertexId vertex, RelationId relation, VertexId neighbour) const noexcept;
  std::uint32_t* payload(VertexId vertex, RelationId relation, VertexId neighbour) noexcept;
  class Finder;

  /// The relations of which the vertex has entries before the staged batch, or gets some in it: bit r % 64 for relation r. So a
  /// bit that is missing tells that all lists of these relations are empty, before and after the batch. O(relations).
  [[nodiscard]] std::uint64_t signature(VertexId vertex) const noexcept;
  [[nodiscard]] static constexpr std::uint64_t signature_bit(RelationId relation) noexcept {
    return std::uint64_t{1} << relation % 64;
  }

  /// Increases whenever the vertex's block changes or moves.
  [[nodiscard]] std::uint32_t version(VertexId vertex) const noexcept { return rows_[vertex].version; }
  [[nodiscard]] std::span<const RelationFigures> figures() const noexcept { return figures_; }
  /// The memory that a relation's lists and entries use. Rows and spare room in blocks belong to no relation.
  [[nodiscard]] std::uint64_t list_bytes(const RelationFigures& figures) const noexcept {
    return sizeof(std::uint32_t) * (2 * figures.lists + (1 + column_words()) * figures.entries);
  }
  /// Upper bound on the length of the relation's lists, before and after the staged batch.
  [[nodiscard]] std::uint32_t longest(RelationId relation) const noexcept {
    const auto& figures = delta_rows_.empty() ? figures_ : staged_figures_;
    return relation < figures.size() ? figures[relation].longest : 0;
  }
  /// Whether a list of the relation may have several entries of one neighbour, before or after the staged batch. Only stores
  /// with tags say so.
  [[nodiscard]] bool parallel(RelationId relation) const noexcept {
    const auto& figures = delta_rows_.empty() ? figures_ : staged_figures_;
    return relation < figures.size() && figures[relation].parallel;
  }
  /// Upper bound on the number of entries of a vertex before the staged batch. O(relations).
  [[nodiscard]] std::uint64_t degree_bound() const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept;
  [[nodiscard]] std::size_t vertices() const noexcept { return rows_.size(); }
  [[nodiscard]] Column column() const noexcept { return column_; }
  /// Prefetches the vertex's row, which may be on two lines.
  void prefetch(VertexId vertex) const noexcept {
    const Row* const row = rows_.data() + vertex;
    fetch_line(row);
    fetch_line(row + 1);
  }
  void prefetch_block(VertexId vertex) const noexcept {
    const Row& row = rows_[vertex];
    fetch_line(row.block);
    fetch_line(row.block + 16);
    if (row.staged != 0) fetch_line(&delta_rows_[row.staged - 1]);
  }
  /// Prefetches what the staged batch changes of the vertex. What prefetch_block asked for must be in the cache already.
  void prefetch_staged(VertexId vertex) const noexcept {
    const Row& row = rows_[vertex];
    if (row.staged != 0) fetch_line(&delta_slices_[delta_rows_[row.staged - 1].first_slice]);
  }
  /// Prefetches the rows of the vertex's neighbours, if they are few. The vertex's block must be in the cache already. Many
  /// neighbours are prefetched by the loop that reads them.
  void prefetch_neighbours(VertexId vertex) const noexcept {
    for (const std::uint32_t id : few_neighbours(vertex)) fetch_line(&rows_[id]);
  }
  /// Prefetches the blocks of these neighbours. Their rows must be in the cache already.
  void prefetch_neighbour_blocks(VertexId vertex) const noexcept {
    for (const std::uint32_t id : few_neighbours(vertex)) fetch_line(rows_[id].block);
  }
  /// Prefetches the places that a search in the vertex's lists reads first. Its block must be in the cache already.
  void prefetch_search(VertexId vertex) const noexcept {
    const Row& row = rows_[vertex];
    if (row.block == nullptr) return;
    const std::uint32_t total = row.total();
    if (total < 32) return;
    const std::uint32_t* ids = row.ids();
    fetch_line(ids + total / 2);
    fetch_line(ids + total / 4);
    fetch_line(ids + total / 4 * 3);
  }

  // For mirrors of the store in another memory.

  /// The changes of one list. They end where those of the next slice begin.
  struct DeltaSlice {
    RelationId relation;
    std::uint32_t added_begin;
    std::uint32_t removed_begin;
    std::uint32_t begin;  ///< of the list among the vertex's entries before the batch; for a new list, its future place
    std::uint32_t end;
  };
  /// A settled block in memory; null if the vertex has no lists.
  struct Block {
    const std::uint32_t* words;
    std::uint32_t capacity;  ///< number of entries that fit into the ids column; the payload follows it
    std::uint32_t slices;
    std::uint32_t directory_log;  ///< the directory has room for 2^directory_log slices
    bool staged;                  ///< the staged batch touches the vertex
  };
  /// The columns of the staged batch. A sentinel follows `slices`, unless nothing is staged.
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
    std::uint64_t settled = 0;  ///< number of the batch that was settled last
    friend bool operator==(const Mark&, const Mark&) = default;
  };

  /// Starts to record which vertices change.
  void track_changes() noexcept { changes_.track(); }
  [[nodiscard]] Mark mark() const noexcept { return {serial_, changes_.end(), compactions_, settled_}; }
  /// The vertices whose lists have changed since `mark`, with repetitions. Those of one batch are in order of its rows.
  /// nullopt: any vertex may have changed. If mark().compactions differs, all blocks have moved too. Valid until the next stage
  /// or settle.
  [[nodiscard]] std::optional<std::span<const VertexId>> changes_since(const Mark& mark) const noexcept {
    if (mark.store != serial_) return std::nullopt;
    return changes_.since(mark.changes);
  }
  [[nodiscard]] Block block(VertexId vertex) const noexcept {
    const Row& row = rows_[vertex];
    return {row.block, row.capacity, row.slices, row.directory_log, row.staged != 0};
  }
  /// The number of batches staged so far, which is also the number of the staged batch.
  [[nodiscard]] std::uint64_t stages() const noexcept { return stages_; }
  [[nodiscard]] Staged staged() const noexcept {
    return {delta_rows_.size(), delta_slices_, added_.ids, added_.payload, removed_.ids, removed_.payload};
  }
  /// The rows ascend by vertex.
  [[nodiscard]] StagedRow staged_row(std::size_t row) const noexcept {
    return {delta_rows_[row].vertex, delta_rows_[row].first_slice};
  }

 private:
  struct Row {
    std::uint32_t* block = nullptr;
    std::uint32_t capacity = 0;  // entries
    std::uint32_t version = 0;
    std::uint32_t staged = 0;  // 1 + index into delta_rows_; 0: the batch does not touch it
    std::uint32_t slices : 27 = 0;
    std::uint32_t directory_log : 5 = 0;  // the directory has room for 2^directory_log slices

    [[nodiscard]] std::uint32_t directory_words() const noexcept { return 2u << directory_log; }
    [[nodiscard]] std::uint32_t* ids() const noexcept { return block == nullptr ? nullptr : block + directory_words(); }
    [[nodiscard]] std::uint32_t total() const noexcept { return begin(slices); }
    // Bounds of the directory's s-th list.
    [[nodiscard]] std::uint32_t begin(std::uint32_t s) const noexcept { return s == 0 ? 0 : block[2 * s - 1]; }
    [[nodiscard]] std::uint32_t end(std::uint32_t s) const noexcept { return block[2 * s + 1]; }
    [[nodiscard]] bool holds(std::uint32_t s, RelationId relation) const noexcept {
      return s < slices && block[2 * s] == relation;
    }
  };
  struct DeltaRow {
    std::uint32_t* block;  // the block to move to, or null if the lists stay in their block
    std::uint32_t capacity;
    std::uint32_t total;  // entries before the batch
    VertexId vertex;
    std::uint32_t first_slice;
    std::uint32_t end_slice;
    std::uint8_t directory_log;
    bool empties;   // no entries are left
    bool moves;     // to a block of another size
    bool reshapes;  // the directory gets or loses lists
  };
  struct Entries {  // columns of the delta
    RawVector<std::uint32_t> ids;
    RawVector<std::uint32_t> payload;
    // The place of each entry: its index among the vertex's entries before the batch, or the index that it is inserted before.
    RawVector<std::uint32_t> places;
    void resize(std::size_t count, Column column);
    void assign(std::span<const HalfEdge> halves, std::size_t begin, std::size_t end, Column column) noexcept;
    [[nodiscard]] std::size_t bytes() const noexcept;
  };
  // What a thread adds to the figures. Sums of integers do not depend on the order of threads.
  class FigureChanges {
   public:
    struct Change {
      std::int64_t entries = 0;
      std::int64_t lists = 0;
      __extension__ __int128 squares = 0;
      std::uint32_t longest = 0;
      bool parallel = false;
      bool listed = false;
    };
    void note(RelationId relation, std::uint32_t before, std::uint32_t after);
    /// Some list of the relation, which is noted, has several entries of one neighbour.
    void note_parallel(RelationId relation) noexcept { changes_[relation].parallel = true; }
    void add_to(std::vector<RelationFigures>& figures) const;
    void forget() noexcept;

   private:
    std::vector<Change> changes_;        // by relation
    std::vector<RelationId> relations_;  // that have changed
  };
  // The half-edges of consecutive vertices in a batch. They end where those of the next part begin.
  struct Part {
    std::uint32_t added;
    std::uint32_t removed;
    std::uint32_t rows;    // how many it has; then, the number of rows before it; then, also with its own
    std::uint32_t slices;  // the same
  };
  struct Search {  // searches the first entry that is not less than (id, tag)
    const std::uint32_t* ids;
    const std::uint32_t* tags;
    std::uint32_t begin;
    std::uint32_t size;
    std::uint32_t end;
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

  // Number of searches that run side by side: about as many cache misses as a core can have in flight.
  static constexpr std::size_t search_lanes = 32;
  // Directories up to this many slices are scanned; longer ones are searched.
  static constexpr std::uint32_t scanned_slices = 16;

  static std::uint64_t next_serial() noexcept;
  void sum_figures(Workers& workers);
  [[nodiscard]] unsigned column_words() const noexcept { return static_cast<unsigned>(column_); }
  [[nodiscard]] std::size_t block_words(std::uint32_t capacity, std::uint32_t directory_log) const noexcept {
    return (std::size_t{2} << directory_log) + std::size_t{capacity} * (1 + column_words());
  }
  /// Whether it was so before the staged batch (`parallel`).
  [[nodiscard]] bool was_parallel(RelationId relation) const noexcept {
    return relation < figures_.size() && figures_[relation].parallel && figures_[relation].entries > 0;
  }
  [[nodiscard]] const DeltaSlice* delta_slice(const DeltaRow& row, RelationId relation) const noexcept;
  void cut_parts(std::span<const HalfEdge> added, std::span<const HalfEdge> removed, std::size_t grain);
  void build_slices(std::span<const HalfEdge> added, std::span<const HalfEdge> removed, Workers& workers);
  void plan_rows(Workers& workers);
  void plan_rows(std::size_t begin, std::size_t end, std::vector<std::uint32_t>& changing, FigureChanges& figures);
  void plan_row(DeltaRow& delta, FigureChanges& figures);
  void note_parallels(const DeltaRow& delta, FigureChanges& figures) const;
  void sum_staged_figures();
  void allocate_blocks();
  void clear_delta() noexcept;
  void settle_rows(std::span<DeltaRow> deltas) noexcept;
  template <bool tagged>
  void find_places(std::span<const DeltaRow> deltas, bool settling) noexcept;
  template <bool tagged>
  static void search(std::span<Search> lanes) noexcept;
  void fetch_moving(const Row& row, const DeltaRow& delta) const noexcept;
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
  /// Returns the first list whose relation is not less than `relation`.
  [[nodiscard]] static std::uint32_t lower_slice(const Row& row, RelationId relation) noexcept;
  [[nodiscard]] static std::uint32_t log_ceil(std::uint32_t n) noexcept {
    return n <= 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(n - 1));
  }

  Column column_;
  std::unique_ptr<Arena> arena_;
  SlabAllocator* slabs_;
  std::vector<Row> rows_;
  std::vector<RelationFigures> figures_;

  RawVector<DeltaRow> delta_rows_;                    // ascending by vertex
  RawVector<DeltaSlice> delta_slices_;                // followed by one sentinel
  std::vector<Part> parts_;                           // followed by one sentinel
  std::vector<std::vector<std::uint32_t>> changing_;  // by portion of the rows: those that move or become empty
  std::vector<VertexId> emptied_;                     // by the batch that was staged last
  std::vector<FigureChanges> figure_changes_;         // by worker
  Entries added_;
  Entries removed_;
  std::vector<RelationFigures> staged_figures_;

  std::uint64_t serial_ = next_serial();  // distinguishes a new store from an old one at the same address
  std::uint64_t stages_ = 0;
  std::uint64_t settled_ = 0;
  std::uint64_t compactions_ = 0;
  ChangeLog changes_;
};

/// Finds entries of the settled lists. Many searches run side by side, because a single one waits for memory at each step.
class Adjacency::Finder {
 public:
  explicit Finder(const Adjacency& store) noexcept : store_(&store) {}
  Finder(const Finder&) = delete;
  Finder& operator=(const Finder&) = delete;

  /// Sets `found`, at the latest in `finish`, to the payload words of the entry, or to the entry itself in a store without
  /// payload. Null: there is no such entry.
  void add(VertexId vertex, RelationId relation, VertexId neighbour, const std::uint32_t*& found) noexcept {
    found = nullptr;
    if (vertex >= store_->rows_.size()) return;
    const Row& row = store_->rows_[vertex];
    const std::uint32_t s = find_slice(row, relation);
    if (s == no_relation) return;
    const std::uint32_t* const ids = row.ids();
    const std::uint32_t begin = row.begin(s);
    const std::uint32_t end = row.end(s);
    lanes_[count_] = {ids, ids + row.capacity, begin, end - begin, end, neighbour, 0, &places_[count_]};
    found_[count_] = &found;
    if (++count_ == lanes_.size()) finish();
  }
  void finish() noexcept;

 private:
  const Adjacency* store_;
  std::size_t count_ = 0;
  std::array<Search, search_lanes> lanes_;
  std::array<std::uint32_t, search_lanes> places_;
  std::array<const std::uint32_t**, search_lanes> found_;
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

// Staging: makes the delta of a batch.
//
// The vertices are processed in portions. Their directories say which lists change, and which blocks are too small.
#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "base/prefetch.hpp"
#include "graph/adjacency.hpp"

namespace deltamatch::graph {

namespace {

// How far ahead loops over the batch's vertices prefetch rows and blocks.
constexpr std::size_t prefetch_distance = 8;
// About the number of half-edges that a thread makes slices of at a time.
constexpr std::size_t part_grain = 512;
// Number of vertices whose changes a thread plans at a time.
constexpr std::size_t plan_grain = 256;
// Capacity of a small graph's change log. In a large graph it is a quarter of the number of vertices.
constexpr std::size_t logged_changes = 1024;
// Up to this many free bytes, compaction is not worthwhile.
constexpr std::size_t wasted_bytes = std::size_t{1} << 22;

}  // namespace

void Adjacency::Entries::resize(std::size_t count, Column column) {
  ids.resize(count);
  places.resize(count);
  payload.resize(count * static_cast<unsigned>(column));
}

void Adjacency::Entries::assign(std::span<const HalfEdge> halves, std::size_t begin, std::size_t end, Column column) noexcept {
  const auto words = static_cast<unsigned>(column);
  for (std::size_t i = begin; i < end; ++i) {
    ids[i] = halves[i].neighbour;
    if (words == 0) continue;
    std::memcpy(&payload[i * words], &halves[i].payload, words * sizeof(std::uint32_t));  // little-endian: copies the low words
  }
}

std::size_t Adjacency::Entries::bytes() const noexcept {
  return (ids.capacity() + payload.capacity() + places.capacity()) * sizeof(std::uint32_t);
}

/// Cuts a batch into parts of about `grain` half-edges, between vertices.
void Adjacency::cut_parts(std::span<const HalfEdge> added, std::span<const HalfEdge> removed, std::size_t grain) {
  const std::span<const HalfEdge> longer = added.size() >= removed.size() ? added : removed;
  parts_.assign(1, Part{});
  for (std::size_t at = 0; longer.size() - at > grain;) {
    const VertexId last = longer[at + grain - 1].vertex;
    const auto begin = std::partition_point(longer.begin() + static_cast<std::ptrdiff_t>(at + grain), longer.end(),
                                            [&](const HalfEdge& half) { return half.vertex == last; });
    if (begin == longer.end()) break;
    at = static_cast<std::size_t>(begin - longer.begin());
    const auto begin_in = [&](std::span<const HalfEdge> halves) {
      const auto first = std::ranges::lower_bound(halves, begin->vertex, {}, &HalfEdge::vertex);
      return static_cast<std::uint32_t>(first - halves.begin());
    };
    parts_.push_back({begin_in(added), begin_in(removed), 0, 0});
  }
  parts_.push_back({static_cast<std::uint32_t>(added.size()), static_cast<std::uint32_t>(removed.size()), 0, 0});
}

/// Makes the rows and slices of the batch. All threads count those of their parts first, so each knows where to write. If there
/// is one part, it is enough to know how many there are at most.
void Adjacency::build_slices(std::span<const HalfEdge> added, std::span<const HalfEdge> removed, Workers& workers) {
  // Calls visit(first half-edge, its place in added, its place in removed) for each list of a part.
  const auto visit_lists = [&](std::size_t part, auto&& visit) {
    const auto key = [](const HalfEdge& half) { return std::uint64_t{half.vertex} << 32 | half.relation; };
    std::uint32_t a = parts_[part].added;
    std::uint32_t r = parts_[part].removed;
    const std::uint32_t added_end = parts_[part + 1].added;
    const std::uint32_t removed_end = parts_[part + 1].removed;
    while (a < added_end || r < removed_end) {
      const HalfEdge& first = r == removed_end || (a < added_end && key(added[a]) <= key(removed[r])) ? added[a] : removed[r];
      visit(first, a, r);
      const std::uint64_t list = key(first);
      while (a < added_end && key(added[a]) == list) ++a;
      while (r < removed_end && key(removed[r]) == list) ++r;
    }
  };
  const std::size_t parts = parts_.size() - 1;
  workers.for_each(parts, 1, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      std::uint32_t rows = 0;
      std::uint32_t slices = 0;
      HalfEdge last{invalid_vertex, no_relation, 0, 0, 0};
      const auto count = [&](const HalfEdge& half) {  // without branches
        const bool row = half.vertex != last.vertex;
        rows += static_cast<std::uint32_t>(row);
        slices += static_cast<std::uint32_t>(row) | static_cast<std::uint32_t>(half.relation != last.relation);
        last = half;
      };
      const std::span<const HalfEdge> part_added = added.subspan(parts_[p].added, parts_[p + 1].added - parts_[p].added);
      const std::span<const HalfEdge> part_removed =
          removed.subspan(parts_[p].removed, parts_[p + 1].removed - parts_[p].removed);
      if (parts == 1 || part_removed.empty() || part_added.empty()) {
        std::ranges::for_each(part_added, count);
        last = {invalid_vertex, no_relation, 0, 0, 0};
        std::ranges::for_each(part_removed, count);
      } else {
        visit_lists(p, [&](const HalfEdge& first, std::uint32_t, std::uint32_t) { count(first); });
      }
      parts_[p].rows = rows;
      parts_[p].slices = slices;
    }
  });
  std::uint32_t rows = 0;
  std::uint32_t slices = 0;
  for (Part& part : parts_) {
    rows += std::exchange(part.rows, rows);
    slices += std::exchange(part.slices, slices);
  }
  delta_slices_.resize(slices + 1);
  delta_rows_.resize(rows);  // the last step that may fail, because undoing reads the rows
  workers.for_each(parts, 1, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      std::uint32_t row = parts_[p].rows;
      std::uint32_t slice = parts_[p].slices;
      VertexId vertex = invalid_vertex;
      visit_lists(p, [&](const HalfEdge& first, std::uint32_t a, std::uint32_t r) {
        if (first.vertex != vertex) delta_rows_[row++] = {nullptr, 0, 0, first.vertex, slice, slice, 0, false, false, false};
        vertex = first.vertex;
        delta_slices_[slice++] = {first.relation, a, r, 0, 0};
        delta_rows_[row - 1].end_slice = slice;
      });
      added_.assign(added, parts_[p].added, parts_[p + 1].added, column_);
      removed_.assign(removed, parts_[p].removed, parts_[p + 1].removed, column_);
      parts_[p].rows = row;
      parts_[p].slices = slice;
    }
  });
  const Part& last = parts_[parts - 1];
  delta_rows_.resize(last.rows);
  delta_slices_.resize(last.slices + 1);
  delta_slices_.back() = {no_relation, parts_.back().added, parts_.back().removed, 0, 0};
}

void Adjacency::stage(std::span<const HalfEdge> added, std::span<const HalfEdge> removed) {
  Workers alone(1);
  stage(added, removed, alone);
}

void Adjacency::stage(std::span<const HalfEdge> added, std::span<const HalfEdge> removed, Workers& workers) {
  assert(delta_rows_.empty());
  emptied_.clear();
  if (arena_->free_bytes() > wasted_bytes && 3 * arena_->free_bytes() > arena_->bytes()) compact();
  try {
    added_.resize(added.size(), column_);
    removed_.resize(removed.size(), column_);
    cut_parts(added, removed,
              workers.size() == 1 ? SIZE_MAX : workers.grain(std::max(added.size(), removed.size()), part_grain));
    build_slices(added, removed, workers);
    plan_rows(workers);
    sum_staged_figures();
    allocate_blocks();
    changes_.prepare(delta_rows_.size(), std::max(rows_.size() / 4, logged_changes));
    ++stages_;
  } catch (...) {
    unstage();
    throw;
  }
}

// Copies all blocks into a fresh arena, each into the smallest class that fits. In a growing graph, lists leave small blocks
// behind that fit nothing any more. This bounds the waste by a third, at amortised O(1) per moved entry. Staging does it,
// because settling must not need memory.
void Adjacency::compact() noexcept {
  try {
    auto fresh = std::make_unique<Arena>(*slabs_);
    std::vector<Row> rows = rows_;
    for (Row& row : rows) {
      if (row.block == nullptr) continue;
      Row moved = row;
      const std::uint32_t total = row.total();
      moved.directory_log = log_ceil(row.slices);
      const std::size_t words = block_words(total, moved.directory_log);
      moved.block = fresh->allocate(words);
      moved.capacity = static_cast<std::uint32_t>((Arena::block_words(words) - moved.directory_words()) / (1 + column_words()));
      std::memcpy(moved.block, row.block, 2 * std::size_t{row.slices} * sizeof(std::uint32_t));
      move_entries(row, 0, total, moved, 0);
      ++moved.version;
      row = moved;
    }
    rows_.swap(rows);
    arena_ = std::move(fresh);
    ++compactions_;
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the waste stays
  }
}

void Adjacency::plan_rows(Workers& workers) {
  const std::size_t grain = workers.grain(delta_rows_.size(), plan_grain);
  const std::size_t portions = (delta_rows_.size() + grain - 1) / grain;
  changing_.resize(portions);  // no more, because all are visited: a small batch may follow a large one
  if (figure_changes_.size() < workers.size()) figure_changes_.resize(workers.size());
  workers.for_each(delta_rows_.size(), grain, [this, grain](unsigned worker, std::size_t begin, std::size_t end) {
    plan_rows(begin, end, changing_[begin / grain], figure_changes_[worker]);
  });
}

void Adjacency::plan_rows(std::size_t begin, std::size_t end, std::vector<std::uint32_t>& changing, FigureChanges& figures) {
  for (std::size_t i = begin; i < std::min(end, begin + 2 * prefetch_distance); ++i) prefetch(delta_rows_[i].vertex);
  for (std::size_t i = begin; i < end; ++i) {
    if (i + 2 * prefetch_distance < end) prefetch(delta_rows_[i + 2 * prefetch_distance].vertex);
    if (i + prefetch_distance < end) {
      const std::uint32_t* const block = rows_[delta_rows_[i + prefetch_distance].vertex].block;
      fetch_line(block);
      fetch_line(block + 16);
    }
    DeltaRow& delta = delta_rows_[i];
    plan_row(delta, figures);
    rows_[delta.vertex].staged = static_cast<std::uint32_t>(i + 1);
    if (delta.moves || delta.empties) changing.push_back(static_cast<std::uint32_t>(i));
  }
  const std::span<const DeltaRow> planned = std::span<const DeltaRow>(delta_rows_).subspan(begin, end - begin);
  if (column_ != Column::tag || added_.ids.empty()) return;
  find_places<true>(planned, false);
  for (const DeltaRow& delta : planned) note_parallels(delta, figures);
}

/// Notes the relations of which the vertex gets a second entry of one neighbour. Its places must be known.
void Adjacency::note_parallels(const DeltaRow& delta, FigureChanges& figures) const {
  const std::uint32_t* const ids = rows_[delta.vertex].ids();
  for (std::uint32_t s = delta.first_slice; s < delta.end_slice; ++s) {
    const DeltaSlice& slice = delta_slices_[s];
    if (slice.added_begin == delta_slices_[s + 1].added_begin || was_parallel(slice.relation)) continue;
    bool parallel = false;
    for (std::uint32_t i = slice.added_begin; i < delta_slices_[s + 1].added_begin; ++i) {
      const std::uint32_t place = added_.places[i];
      const std::uint32_t id = added_.ids[i];
      parallel = parallel || (i > slice.added_begin && added_.ids[i - 1] == id) ||
                 (place > slice.begin && ids[place - 1] == id) || (place < slice.end && ids[place] == id);
    }
    if (parallel) figures.note_parallel(slice.relation);
  }
}

// Finds the changed lists, and decides whether the vertex's block is large enough. No other block has been allocated yet.
void Adjacency::plan_row(DeltaRow& delta, FigureChanges& figures) {
  const Row& row = rows_[delta.vertex];
  std::uint32_t slices = row.slices;
  std::uint32_t total = row.total();
  delta.total = total;
  for (std::uint32_t s = delta.first_slice; s < delta.end_slice; ++s) {
    DeltaSlice& slice = delta_slices_[s];
    const std::uint32_t at = lower_slice(row, slice.relation);
    const bool present = row.holds(at, slice.relation);
    slice.begin = row.begin(at);
    slice.end = present ? row.end(at) : slice.begin;
    if (!present) ++slices;
    const std::uint32_t added = delta_slices_[s + 1].added_begin - slice.added_begin;
    const std::uint32_t removed = delta_slices_[s + 1].removed_begin - slice.removed_begin;
    total += added - removed;  // modulo 2^32
    const std::uint32_t before = slice.end - slice.begin;
    delta.reshapes = delta.reshapes || !present || before + added == removed;
    figures.note(slice.relation, before, before + added - removed);
  }
  delta.empties = total == 0;
  const bool fits = total <= row.capacity && slices <= (1u << row.directory_log) && row.block != nullptr;
  const bool wasteful = block_words(total, log_ceil(slices)) * 4 < block_words(row.capacity, row.directory_log);
  delta.moves = !delta.empties && (!fits || wasteful);
  if (!delta.moves) return;
  delta.directory_log = static_cast<std::uint8_t>(log_ceil(slices));
  delta.capacity = total;
}

void Adjacency::FigureChanges::note(RelationId relation, std::uint32_t before, std::uint32_t after) {
  if (relation >= changes_.size()) changes_.resize(relation + 1);
  Change& change = changes_[relation];
  if (!change.listed) relations_.push_back(relation);
  change.listed = true;
  change.entries += std::int64_t{after} - before;
  change.lists += static_cast<std::int64_t>(after != 0) - static_cast<std::int64_t>(before != 0);
  change.squares += (std::int64_t{after} - before) * (static_cast<decltype(change.squares)>(after) + before);
  change.longest = std::max(change.longest, after);
}

void Adjacency::FigureChanges::add_to(std::vector<RelationFigures>& figures) const {
  for (const RelationId relation : relations_) {
    const Change& change = changes_[relation];
    if (relation >= figures.size()) figures.resize(relation + 1);
    RelationFigures& of = figures[relation];
    of.parallel = of.parallel || change.parallel;
    of.entries += static_cast<std::uint64_t>(change.entries);
    of.lists += static_cast<std::uint64_t>(change.lists);
    of.squares += static_cast<double>(change.squares);
    of.longest = std::max(of.longest, change.longest);
  }
}

void Adjacency::FigureChanges::forget() noexcept {
  for (const RelationId relation : relations_) changes_[relation] = {};
  relations_.clear();
}

void Adjacency::sum_staged_figures() {
  staged_figures_ = figures_;
  for (RelationFigures& figures : staged_figures_) figures.parallel = figures.parallel && figures.entries > 0;
  for (const FigureChanges& changes : figure_changes_) changes.add_to(staged_figures_);
}

void Adjacency::allocate_blocks() {
  for (const std::vector<std::uint32_t>& changing : changing_) {
    for (const std::uint32_t row : changing) {
      DeltaRow& delta = delta_rows_[row];
      if (delta.empties) emptied_.push_back(delta.vertex);
      if (!delta.moves) continue;
      const std::size_t words = block_words(delta.capacity, delta.directory_log);
      delta.block = arena_->allocate(words);
      const std::size_t room = Arena::block_words(words) - (std::size_t{2} << delta.directory_log);
      delta.capacity = static_cast<std::uint32_t>(room / (1 + column_words()));
    }
  }
}

void Adjacency::unstage() noexcept {
  emptied_.clear();
  for (const DeltaRow& delta : delta_rows_) {
    rows_[delta.vertex].staged = 0;
    if (delta.block != nullptr) arena_->give_back(delta.block, block_words(delta.capacity, delta.directory_log));
  }
  arena_->recycle();
  clear_delta();
}

void Adjacency::clear_delta() noexcept {
  delta_rows_.clear();
  delta_slices_.clear();
  for (std::vector<std::uint32_t>& changing : changing_) changing.clear();
  for (FigureChanges& changes : figure_changes_) changes.forget();
}

}  // namespace deltamatch::graph

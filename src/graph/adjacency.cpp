#include "graph/adjacency.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstring>
#include <utility>

#include "base/prefetch.hpp"

namespace deltamatch::graph {

namespace {

// How far ahead loops over the batch's vertices prefetch rows and blocks.
constexpr std::size_t prefetch_distance = 8;
// Number of vertices whose changes a thread plans at a time.
constexpr std::size_t plan_grain = 256;
// Capacity of a small graph's change log. In a large graph it is a quarter of the number of vertices.
constexpr std::size_t logged_changes = 1024;

}  // namespace

Adjacency::Adjacency(Column column, SlabAllocator& slabs)
    : column_(column), arena_(std::make_unique<Arena>(slabs)), slabs_(&slabs) {}

void Adjacency::reserve_vertices(std::size_t count) {
  if (count > rows_.size()) rows_.resize(count);
}

void Adjacency::Entries::assign(std::span<const HalfEdge> halves, Column column) {
  const auto words = static_cast<unsigned>(column);
  ids.resize(halves.size());
  places.resize(halves.size());
  payload.resize(halves.size() * words);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    ids[i] = halves[i].neighbour;
    if (words == 0) continue;
    std::memcpy(&payload[i * words], &halves[i].payload, words * sizeof(std::uint32_t));  // little-endian: copies the low words
  }
}

std::size_t Adjacency::Entries::bytes() const noexcept {
  return (ids.capacity() + payload.capacity() + places.capacity()) * sizeof(std::uint32_t);
}

void Adjacency::build_slices(std::span<const HalfEdge> added, std::span<const HalfEdge> removed) {
  const auto key = [](const HalfEdge& half) { return std::uint64_t{half.vertex} << 32 | half.relation; };
  std::size_t a = 0;
  std::size_t r = 0;
  while (a < added.size() || r < removed.size()) {
    const HalfEdge& first =
        r == removed.size() || (a < added.size() && key(added[a]) <= key(removed[r])) ? added[a] : removed[r];
    if (delta_rows_.empty() || delta_rows_.back().vertex != first.vertex) {
      delta_rows_.emplace_back().vertex = first.vertex;
      delta_rows_.back().first_slice = static_cast<std::uint32_t>(delta_slices_.size());
    }
    delta_slices_.push_back({first.relation, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(r), 0, 0});
    delta_rows_.back().end_slice = static_cast<std::uint32_t>(delta_slices_.size());
    const std::uint64_t group = key(first);
    while (a < added.size() && key(added[a]) == group) ++a;
    while (r < removed.size() && key(removed[r]) == group) ++r;
  }
  delta_slices_.push_back({no_relation, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(r), 0, 0});
}

void Adjacency::stage(std::span<const HalfEdge> added, std::span<const HalfEdge> removed) {
  Workers alone(1);
  stage(added, removed, alone);
}

void Adjacency::stage(std::span<const HalfEdge> added, std::span<const HalfEdge> removed, Workers& workers) {
  assert(delta_rows_.empty());
  try {
    added_.assign(added, column_);
    removed_.assign(removed, column_);
    build_slices(added, removed);
    workers.for_each(delta_rows_.size(), plan_grain, [this](unsigned, std::size_t begin, std::size_t end) {
      plan_rows(std::span(delta_rows_).subspan(begin, end - begin));
    });
    sum_staged_figures();
    allocate_blocks();
    changes_.prepare(delta_rows_.size(), std::max(rows_.size() / 4, logged_changes));
    ++stages_;
  } catch (...) {
    unstage();
    throw;
  }
}

void Adjacency::plan_rows(std::span<DeltaRow> deltas) {
  for (const DeltaRow& delta : deltas.first(std::min(deltas.size(), 2 * prefetch_distance))) prefetch(delta.vertex);
  for (std::size_t i = 0; i < deltas.size(); ++i) {
    if (i + 2 * prefetch_distance < deltas.size()) prefetch(deltas[i + 2 * prefetch_distance].vertex);
    if (i + prefetch_distance < deltas.size()) fetch_line(rows_[deltas[i + prefetch_distance].vertex].block);
    plan_row(deltas[i]);
    rows_[deltas[i].vertex].staged = static_cast<std::uint32_t>(&deltas[i] - delta_rows_.data() + 1);
  }
}

// Finds the changed lists, and decides whether the vertex's block is large enough. No other block has been allocated yet.
void Adjacency::plan_row(DeltaRow& delta) {
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
    delta.reshapes = delta.reshapes || !present || slice.end - slice.begin + added == removed;
  }
  delta.empties = total == 0;
  const bool fits = total <= row.capacity && slices <= (1u << row.directory_log) && row.block != nullptr;
  const bool wasteful = block_words(total, log_ceil(slices)) * 4 < block_words(row.capacity, row.directory_log);
  delta.moves = !delta.empties && (!fits || wasteful);
  if (!delta.moves) return;
  delta.directory_log = static_cast<std::uint8_t>(log_ceil(slices));
  delta.capacity = total;
}

void Adjacency::sum_staged_figures() {
  staged_figures_ = figures_;
  for (std::size_t s = 0; s + 1 < delta_slices_.size(); ++s) {
    const DeltaSlice& slice = delta_slices_[s];
    const std::uint32_t before = slice.end - slice.begin;
    const std::uint32_t added = delta_slices_[s + 1].added_begin - slice.added_begin;
    const std::uint32_t after = before + added - (delta_slices_[s + 1].removed_begin - slice.removed_begin);
    if (slice.relation >= staged_figures_.size()) staged_figures_.resize(slice.relation + 1);
    RelationFigures& figures = staged_figures_[slice.relation];
    figures.entries += std::uint64_t{after} - before;
    figures.lists += std::uint64_t{after != 0} - std::uint64_t{before != 0};
    figures.squares += static_cast<double>(after) * after - static_cast<double>(before) * before;
    figures.longest = std::max(figures.longest, after);
  }
}

void Adjacency::allocate_blocks() {
  for (DeltaRow& delta : delta_rows_) {
    if (!delta.moves) continue;
    const std::size_t words = block_words(delta.capacity, delta.directory_log);
    delta.block = arena_->allocate(words);
    const std::size_t room = Arena::block_words(words) - (std::size_t{2} << delta.directory_log);
    delta.capacity = static_cast<std::uint32_t>(room / (1 + column_words()));
  }
}

void Adjacency::unstage() noexcept {
  for (const DeltaRow& delta : delta_rows_) {
    rows_[delta.vertex].staged = 0;
    if (delta.block != nullptr) arena_->give_back(delta.block, block_words(delta.capacity, delta.directory_log));
  }
  arena_->recycle();
  delta_rows_.clear();
  delta_slices_.clear();
}

std::uint32_t Adjacency::lower_slice(const Row& row, RelationId relation) noexcept {
  std::uint32_t low = 0;
  if (row.slices <= scanned_slices) {  // a count, because which list a batch touches cannot be predicted
    for (std::uint32_t s = 0; s < row.slices; ++s) low += static_cast<std::uint32_t>(row.block[2 * s] < relation);
    return low;
  }
  std::uint32_t high = row.slices;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (row.block[2 * middle] < relation) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::uint32_t Adjacency::search_slice(const Row& row, RelationId relation) noexcept {
  const std::uint32_t at = lower_slice(row, relation);
  return row.holds(at, relation) ? at : no_relation;
}

const Adjacency::DeltaSlice* Adjacency::delta_slice(const DeltaRow& row, RelationId relation) const noexcept {
  const auto first = delta_slices_.begin() + row.first_slice;
  const auto last = delta_slices_.begin() + row.end_slice;
  const auto at = std::lower_bound(first, last, relation,
                                   [](const DeltaSlice& slice, RelationId wanted) { return slice.relation < wanted; });
  return at != last && at->relation == relation ? &*at : nullptr;
}

List Adjacency::list(VertexId vertex, RelationId relation) const noexcept {
  List list;
  const Row& row = rows_[vertex];
  const std::uint32_t s = find_slice(row, relation);
  if (s != no_relation) {
    const std::uint32_t begin = row.begin(s);
    list.ids = row.ids() + begin;
    list.size = row.end(s) - begin;
    if (column_ == Column::tag) list.tags = row.ids() + row.capacity + begin;
  }
  if (row.staged != 0) [[unlikely]] {
    const DeltaSlice* slice = delta_slice(delta_rows_[row.staged - 1], relation);
    if (slice == nullptr) return list;
    list.added = added_.ids.data() + slice->added_begin;
    list.added_size = slice[1].added_begin - slice->added_begin;
    list.removed = removed_.ids.data() + slice->removed_begin;
    list.removed_size = slice[1].removed_begin - slice->removed_begin;
    if (column_ == Column::tag) {
      list.added_tags = added_.payload.data() + slice->added_begin;
      list.removed_tags = removed_.payload.data() + slice->removed_begin;
    }
  }
  return list;
}

std::span<const std::uint32_t> Adjacency::ids(VertexId vertex, RelationId relation) const noexcept {
  if (vertex >= rows_.size()) return {};
  const Row& row = rows_[vertex];
  const std::uint32_t s = find_slice(row, relation);
  if (s == no_relation) return {};
  return {row.ids() + row.begin(s), row.end(s) - row.begin(s)};
}

std::uint32_t Adjacency::degree(VertexId vertex) const noexcept { return vertex < rows_.size() ? rows_[vertex].total() : 0; }

std::uint64_t Adjacency::degree_bound() const noexcept {
  std::uint64_t bound = 0;
  for (const RelationFigures& figures : figures_) bound += figures.longest;
  return bound;
}

std::uint32_t Adjacency::degree_after(VertexId vertex) const noexcept {
  if (vertex >= rows_.size()) return 0;
  const Row& row = rows_[vertex];
  std::uint32_t degree = row.total();
  if (row.staged != 0) {
    const DeltaRow& delta = delta_rows_[row.staged - 1];
    const DeltaSlice& first = delta_slices_[delta.first_slice];
    const DeltaSlice& end = delta_slices_[delta.end_slice];
    degree += end.added_begin - first.added_begin;
    degree -= end.removed_begin - first.removed_begin;
  }
  return degree;
}

std::uint64_t Adjacency::signature(VertexId vertex) const noexcept {
  std::uint64_t bits = 0;
  if (vertex >= rows_.size()) return bits;
  const Row& row = rows_[vertex];
  for (std::uint32_t s = 0; s < row.slices; ++s) bits |= signature_bit(row.block[2 * s]);
  if (row.staged == 0) return bits;
  const DeltaRow& delta = delta_rows_[row.staged - 1];
  for (std::uint32_t s = delta.first_slice; s < delta.end_slice; ++s) bits |= signature_bit(delta_slices_[s].relation);
  return bits;
}

const std::uint32_t* Adjacency::payload(VertexId vertex, RelationId relation, VertexId neighbour) const noexcept {
  if (vertex >= rows_.size()) return nullptr;
  const Row& row = rows_[vertex];
  const std::uint32_t s = find_slice(row, relation);
  if (s == no_relation) return nullptr;
  const std::uint32_t* const ids = row.ids();
  const std::uint32_t* const end = ids + row.end(s);
  const std::uint32_t* const at = std::lower_bound(ids + row.begin(s), end, neighbour);
  if (at == end || *at != neighbour) return nullptr;
  return ids + row.capacity + (at - ids) * column_words();
}

std::uint32_t* Adjacency::payload(VertexId vertex, RelationId relation, VertexId neighbour) noexcept {
  return const_cast<std::uint32_t*>(std::as_const(*this).payload(vertex, relation, neighbour));
}

std::size_t Adjacency::bytes() const noexcept {
  return arena_->bytes() + rows_.capacity() * sizeof(Row) + delta_rows_.capacity() * sizeof(DeltaRow) +
         delta_slices_.capacity() * sizeof(DeltaSlice) + added_.bytes() + removed_.bytes() + changes_.bytes();
}

std::uint64_t Adjacency::next_serial() noexcept {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace deltamatch::graph

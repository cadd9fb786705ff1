#include "graph/adjacency.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstring>
#include <utility>

namespace deltamatch::graph {

namespace {

// How far ahead loops over the batch's vertices fetch rows and blocks.
constexpr std::size_t prefetch_distance = 8;
// Free blocks that are not worth compacting for.
constexpr std::size_t wasted_bytes = std::size_t{1} << 22;
// Vertices a thread settles at a time.
constexpr std::size_t settle_grain = 64;
// Changes that a small graph's log holds; a large one's holds a quarter of the vertices.
constexpr std::size_t logged_changes = 1024;

std::uint32_t log_ceil(std::uint32_t n) noexcept { return n <= 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(n - 1)); }

}  // namespace

Adjacency::Adjacency(Column column, SlabAllocator& slabs)
    : column_(column), arena_(std::make_unique<Arena>(slabs)), slabs_(&slabs) {}

void Adjacency::reserve_vertices(std::size_t count) {
  if (count > rows_.size()) rows_.resize(count);
}

void Adjacency::Entries::assign(std::span<const HalfEdge> halves, Column column) {
  const auto words = static_cast<unsigned>(column);
  ids.resize(halves.size());
  payload.resize(halves.size() * words);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    ids[i] = halves[i].neighbour;
    if (words == 0) continue;
    std::memcpy(&payload[i * words], &halves[i].payload, words * sizeof(std::uint32_t));  // little-endian: the low words
  }
}

void Adjacency::build_slices(std::span<const HalfEdge> added, std::span<const HalfEdge> removed) {
  const auto key = [](const HalfEdge& half) { return std::uint64_t{half.vertex} << 32 | half.relation; };
  std::size_t a = 0;
  std::size_t r = 0;
  while (a < added.size() || r < removed.size()) {
    const HalfEdge& first =
        r == removed.size() || (a < added.size() && key(added[a]) <= key(removed[r])) ? added[a] : removed[r];
    if (delta_rows_.empty() || delta_rows_.back().vertex != first.vertex) {
      delta_rows_.push_back({first.vertex, static_cast<std::uint32_t>(delta_slices_.size()), nullptr, 0, 0, false});
    }
    delta_slices_.push_back({first.relation, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(r)});
    const std::uint64_t group = key(first);
    while (a < added.size() && key(added[a]) == group) ++a;
    while (r < removed.size() && key(removed[r]) == group) ++r;
  }
  delta_slices_.push_back({no_relation, static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(r)});
}

void Adjacency::stage(std::span<const HalfEdge> added, std::span<const HalfEdge> removed) {
  assert(delta_rows_.empty());
  try {
    added_.assign(added, column_);
    removed_.assign(removed, column_);
    build_slices(added, removed);
    auto relations = static_cast<RelationId>(figures_.size());
    for (const DeltaSlice& slice : delta_slices_) {
      if (slice.relation != no_relation) relations = std::max(relations, slice.relation + 1);
    }
    staged_figures_ = figures_;
    staged_figures_.resize(relations);
    plan_rows();
    changes_.prepare(delta_rows_.size(), std::max(rows_.size() / 4, logged_changes));
    ++stages_;
  } catch (...) {
    unstage();
    throw;
  }
}

void Adjacency::plan_rows() {
  for (std::size_t i = 0; i < delta_rows_.size(); ++i) {
    if (i + 2 * prefetch_distance < delta_rows_.size()) prefetch(delta_rows_[i + 2 * prefetch_distance].vertex);
    if (i + prefetch_distance < delta_rows_.size()) {
      __builtin_prefetch(rows_[delta_rows_[i + prefetch_distance].vertex].block);
    }
    const std::uint32_t end =
        i + 1 < delta_rows_.size() ? delta_rows_[i + 1].first_slice : static_cast<std::uint32_t>(delta_slices_.size() - 1);
    plan_row(delta_rows_[i], end);
    rows_[delta_rows_[i].vertex].staged = static_cast<std::uint32_t>(i + 1);
  }
}

void Adjacency::plan_row(DeltaRow& delta, std::uint32_t end_slice) {
  const Row& row = rows_[delta.vertex];
  std::uint32_t slices = row.slices;
  std::uint32_t total = row.total();
  for (std::uint32_t s = delta.first_slice; s < end_slice; ++s) {
    const DeltaSlice& slice = delta_slices_[s];
    const std::uint32_t at = find_slice(row, slice.relation);
    const std::uint32_t begin = at == 0 || at == no_relation ? 0 : row.block[2 * at - 1];
    const std::uint32_t before = at == no_relation ? 0 : row.block[2 * at + 1] - begin;
    const std::uint32_t added = delta_slices_[s + 1].added_begin - slice.added_begin;
    const std::uint32_t after = before + added - (delta_slices_[s + 1].removed_begin - slice.removed_begin);
    if (at == no_relation) ++slices;
    total += after - before;
    RelationFigures& figures = staged_figures_[slice.relation];
    figures.entries += std::uint64_t{after} - before;
    figures.lists += std::uint64_t{after != 0} - std::uint64_t{before != 0};
    figures.squares += static_cast<double>(after) * after - static_cast<double>(before) * before;
    figures.longest = std::max(figures.longest, after);
  }
  delta.empties = total == 0;
  const bool fits = total <= row.capacity && slices <= (1u << row.directory_log) && row.block != nullptr;
  const bool wasteful = block_words(total, log_ceil(slices)) * 4 < block_words(row.capacity, row.directory_log);
  if (delta.empties || (fits && !wasteful)) return;
  delta.directory_log = log_ceil(slices);
  const std::size_t words = block_words(total, delta.directory_log);
  delta.block = arena_->allocate(words);
  const std::size_t room = Arena::block_words(words) - (std::size_t{2} << delta.directory_log);
  delta.capacity = static_cast<std::uint32_t>(room / (1 + column_words()));
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

void Adjacency::settle(Workers& workers) noexcept {
  // Old blocks are given back afterwards, since the arena is not for several threads; until then delta.block holds them.
  workers.for_each(delta_rows_.size(), settle_grain, [this](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (i + 2 * prefetch_distance < end) prefetch(delta_rows_[i + 2 * prefetch_distance].vertex);
      if (i + prefetch_distance < end) prefetch_block(delta_rows_[i + prefetch_distance].vertex);
      if (i + prefetch_distance / 2 < end) prefetch_search(delta_rows_[i + prefetch_distance / 2].vertex);
      const std::uint32_t end_slice =
          i + 1 < delta_rows_.size() ? delta_rows_[i + 1].first_slice : static_cast<std::uint32_t>(delta_slices_.size() - 1);
      settle_row(delta_rows_[i], end_slice);
    }
  });
  for (const DeltaRow& delta : delta_rows_) {
    Row& row = rows_[delta.vertex];
    if (delta.empties && row.block != nullptr) {
      arena_->give_back(row.block, block_words(row.capacity, row.directory_log));
      const std::uint32_t version = row.version;
      row = Row{};
      row.version = version;
    }
    if (delta.block != nullptr && delta.capacity != 0) {
      arena_->give_back(delta.block, block_words(delta.capacity, delta.directory_log));
    }
    row.staged = 0;
    changes_.append(delta.vertex);
  }
  if (!delta_rows_.empty()) settled_ = stages_;
  arena_->recycle();
  delta_rows_.clear();
  delta_slices_.clear();
  figures_.swap(staged_figures_);
  if (arena_->free_bytes() > wasted_bytes && 3 * arena_->free_bytes() > arena_->bytes()) compact();
}

// Copies all blocks into a fresh arena, each into the smallest class that holds it. While a graph grows its lists leave small
// blocks behind that nothing fits into any more; this bounds them by a third, at O(1) amortised per entry that moved.
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
      copy_lists(row, moved);
      ++moved.version;
      row = moved;
    }
    rows_.swap(rows);
    arena_ = std::move(fresh);
    ++compactions_;
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): then the waste stays
  }
}

void Adjacency::copy_lists(const Row& from, const Row& to) const noexcept {
  const std::uint32_t total = from.total();
  std::memcpy(to.block, from.block, 2 * std::size_t{from.slices} * sizeof(std::uint32_t));
  std::memcpy(to.ids(), from.ids(), total * sizeof(std::uint32_t));
  std::memcpy(to.ids() + to.capacity, from.ids() + from.capacity, std::size_t{total} * column_words() * sizeof(std::uint32_t));
}

void Adjacency::settle_row(const DeltaRow& delta, std::uint32_t end_slice) noexcept {
  Row& row = rows_[delta.vertex];
  ++row.version;
  if (delta.empties) return;
  if (delta.block != nullptr) {
    Row moved = row;
    moved.block = delta.block;
    moved.capacity = delta.capacity;
    moved.directory_log = delta.directory_log;
    auto& old = const_cast<DeltaRow&>(delta);  // NOLINT(cppcoreguidelines-pro-type-const-cast): hands the old block back
    if (row.block != nullptr) {
      // The old block may be the larger one: then entries are removed before they move.
      remove_entries(row, delta.first_slice, end_slice);
      copy_lists(row, moved);
    }
    old.block = row.block;
    old.capacity = row.capacity;
    old.directory_log = row.directory_log;
    row = moved;
  } else {
    remove_entries(row, delta.first_slice, end_slice);
  }
  open_slices(row, delta.first_slice, end_slice);
  add_entries(row, delta.first_slice, end_slice);
  close_slices(row);
}

void Adjacency::move_entries(const Row& row, std::uint32_t to, std::uint32_t from, std::uint32_t count) const noexcept {
  if (to == from || count == 0) return;
  std::uint32_t* ids = row.ids();
  std::memmove(ids + to, ids + from, count * sizeof(std::uint32_t));
  const unsigned words = column_words();
  if (words == 0) return;
  std::uint32_t* payload = ids + row.capacity;
  std::memmove(payload + std::size_t{to} * words, payload + std::size_t{from} * words,
               std::size_t{count} * words * sizeof(std::uint32_t));
}

// Closes the gaps of removed entries from the first one on, and moves the ends of the lists behind it.
void Adjacency::remove_entries(Row& row, std::uint32_t first, std::uint32_t end) noexcept {
  if (delta_slices_[first].removed_begin == delta_slices_[end].removed_begin) return;
  const unsigned words = column_ == Column::tag ? 1 : 0;
  std::uint32_t write = 0;  // entries [0, write) are in place, [read, total) are still to be moved down
  std::uint32_t read = 0;
  std::uint32_t begin = 0;  // of the present slice, before removal
  std::uint32_t next = first;
  for (std::uint32_t s = 0; s < row.slices; ++s) {
    const std::uint32_t slice_end = row.block[2 * s + 1];
    while (next < end && delta_slices_[next].relation < row.block[2 * s]) ++next;
    if (next < end && delta_slices_[next].relation == row.block[2 * s]) {
      std::uint32_t from = begin;
      for (std::uint32_t i = delta_slices_[next].removed_begin; i < delta_slices_[next + 1].removed_begin; ++i) {
        from = lower_bound(row, from, slice_end, removed_.ids[i], words != 0 ? &removed_.payload[i] : nullptr);
        move_entries(row, write, read, from - read);
        write += from - read;
        read = ++from;
      }
    }
    row.block[2 * s + 1] = slice_end - (read - write);
    begin = slice_end;
  }
  move_entries(row, write, read, begin - read);
}

// Puts empty lists into the directory for relations that the vertex lacked.
void Adjacency::open_slices(Row& row, std::uint32_t first, std::uint32_t end) noexcept {
  for (std::uint32_t s = first; s < end; ++s) {
    if (delta_slices_[s].added_begin == delta_slices_[s + 1].added_begin) continue;
    const RelationId relation = delta_slices_[s].relation;
    std::uint32_t at = row.slices;
    while (at > 0 && row.block[2 * at - 2] > relation) --at;
    if (at > 0 && row.block[2 * at - 2] == relation) continue;
    std::memmove(row.block + 2 * at + 2, row.block + 2 * at, 2 * std::size_t{row.slices - at} * sizeof(std::uint32_t));
    row.block[2 * at] = relation;
    row.block[2 * at + 1] = at == 0 ? 0 : row.block[2 * at - 1];
    row.slices = row.slices + 1;
  }
}

// Opens the gaps for added entries from the last one down: each entry moves once, and none before the first gap.
void Adjacency::add_entries(Row& row, std::uint32_t first, std::uint32_t end) noexcept {
  std::uint32_t shift = delta_slices_[end].added_begin - delta_slices_[first].added_begin;
  const unsigned words = column_words();
  std::uint32_t next = end;
  for (std::uint32_t s = row.slices; s-- > 0 && shift > 0;) {
    std::uint32_t source_end = row.block[2 * s + 1];
    const std::uint32_t begin = s == 0 ? 0 : row.block[2 * s - 1];
    row.block[2 * s + 1] = source_end + shift;
    while (next > first && delta_slices_[next - 1].relation > row.block[2 * s]) --next;
    if (next > first && delta_slices_[next - 1].relation == row.block[2 * s]) {
      for (std::uint32_t i = delta_slices_[next].added_begin; i-- > delta_slices_[next - 1].added_begin;) {
        const std::uint32_t* payload = column_ == Column::tag ? &added_.payload[i] : nullptr;
        const std::uint32_t at = lower_bound(row, begin, source_end, added_.ids[i], payload);
        move_entries(row, at + shift, at, source_end - at);
        source_end = at;
        --shift;
        row.ids()[at + shift] = added_.ids[i];
        if (words != 0) {
          std::memcpy(row.ids() + row.capacity + std::size_t{at + shift} * words, &added_.payload[std::size_t{i} * words],
                      words * sizeof(std::uint32_t));
        }
      }
    }
    move_entries(row, begin + shift, begin, source_end - begin);
  }
}

// Takes lists that have become empty out of the directory.
void Adjacency::close_slices(Row& row) noexcept {
  std::uint32_t kept = 0;
  std::uint32_t begin = 0;
  for (std::uint32_t s = 0; s < row.slices; ++s) {
    const RelationId relation = row.block[2 * s];
    const std::uint32_t end = row.block[2 * s + 1];
    if (end == begin) continue;
    row.block[2 * kept] = relation;
    row.block[2 * kept + 1] = end;
    ++kept;
    begin = end;
  }
  row.slices = kept;
}

std::uint32_t Adjacency::search_slice(const Row& row, RelationId relation) noexcept {
  const std::uint32_t* directory = row.block;
  std::uint32_t low = 0;
  std::uint32_t high = row.slices;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (directory[2 * middle] < relation) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < row.slices && directory[2 * low] == relation ? low : no_relation;
}

std::uint32_t Adjacency::lower_bound(const Row& row, std::uint32_t begin, std::uint32_t end, std::uint32_t id,
                                     const std::uint32_t* payload) noexcept {
  const std::uint32_t* ids = row.ids();
  const std::uint32_t* tags = ids + row.capacity;
  while (begin < end) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    if (ids[middle] < id || (payload != nullptr && ids[middle] == id && tags[middle] < *payload)) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

const Adjacency::DeltaSlice* Adjacency::delta_slice(const DeltaRow& row, RelationId relation) const noexcept {
  const std::uint32_t end = &row + 1 < delta_rows_.data() + delta_rows_.size()
                                ? (&row + 1)->first_slice
                                : static_cast<std::uint32_t>(delta_slices_.size() - 1);
  const auto first = delta_slices_.begin() + row.first_slice;
  const auto last = delta_slices_.begin() + end;
  const auto at = std::lower_bound(first, last, relation,
                                   [](const DeltaSlice& slice, RelationId wanted) { return slice.relation < wanted; });
  return at != last && at->relation == relation ? &*at : nullptr;
}

List Adjacency::list(VertexId vertex, RelationId relation) const noexcept {
  List list;
  const Row& row = rows_[vertex];
  const std::uint32_t s = find_slice(row, relation);
  if (s != no_relation) {
    const std::uint32_t begin = s == 0 ? 0 : row.block[2 * s - 1];
    list.ids = row.ids() + begin;
    list.size = row.block[2 * s + 1] - begin;
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
  const std::uint32_t begin = s == 0 ? 0 : row.block[2 * s - 1];
  return {row.ids() + begin, row.block[2 * s + 1] - begin};
}

std::uint32_t Adjacency::degree(VertexId vertex) const noexcept { return vertex < rows_.size() ? rows_[vertex].total() : 0; }

std::uint32_t Adjacency::degree_after(VertexId vertex) const noexcept {
  if (vertex >= rows_.size()) return 0;
  const Row& row = rows_[vertex];
  std::uint32_t degree = row.total();
  if (row.staged != 0) {
    const DeltaRow& delta = delta_rows_[row.staged - 1];
    const std::uint32_t end = row.staged < delta_rows_.size() ? delta_rows_[row.staged].first_slice
                                                              : static_cast<std::uint32_t>(delta_slices_.size() - 1);
    degree += delta_slices_[end].added_begin - delta_slices_[delta.first_slice].added_begin;
    degree -= delta_slices_[end].removed_begin - delta_slices_[delta.first_slice].removed_begin;
  }
  return degree;
}

const std::uint32_t* Adjacency::payload(VertexId vertex, RelationId relation, VertexId neighbour) const noexcept {
  if (vertex >= rows_.size()) return nullptr;
  const Row& row = rows_[vertex];
  const std::uint32_t s = find_slice(row, relation);
  if (s == no_relation) return nullptr;
  const std::uint32_t end = row.block[2 * s + 1];
  const std::uint32_t at = lower_bound(row, s == 0 ? 0 : row.block[2 * s - 1], end, neighbour, nullptr);
  if (at == end || row.ids()[at] != neighbour) return nullptr;
  return row.ids() + row.capacity + std::size_t{at} * column_words();
}

std::uint32_t* Adjacency::payload(VertexId vertex, RelationId relation, VertexId neighbour) noexcept {
  return const_cast<std::uint32_t*>(std::as_const(*this).payload(vertex, relation, neighbour));
}

std::size_t Adjacency::bytes() const noexcept {
  return arena_->bytes() + rows_.capacity() * sizeof(Row) + delta_rows_.capacity() * sizeof(DeltaRow) +
         delta_slices_.capacity() * sizeof(DeltaSlice) + changes_.bytes() +
         (added_.ids.capacity() + added_.payload.capacity() + removed_.ids.capacity() + removed_.payload.capacity()) *
             sizeof(std::uint32_t);
}

std::uint64_t Adjacency::next_serial() noexcept {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace deltamatch::graph

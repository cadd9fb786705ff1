// Settling: writes the staged delta into the blocks.
//
// The lists of a batch are spread over memory, and each is read once. So the vertices are processed in portions. The searches
// of a portion run side by side and load the lists into the cache. Then each list's entries move once, in one pass over its
// changes. Nothing here allocates memory, so nothing can fail.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/prefetch.hpp"
#include "graph/adjacency.hpp"

namespace deltamatch::graph {

namespace {

// Number of vertices that a thread settles at a time. What their searches load stays in the cache until the entries move.
constexpr std::size_t settle_grain = 128;

}  // namespace

void Adjacency::settle(Workers& workers) noexcept {
  // Blocks that become free are given back afterwards, because the arena is not thread-safe. Until then the delta holds them.
  const std::size_t grain = workers.grain(delta_rows_.size(), settle_grain);
  workers.for_each(delta_rows_.size(), grain, [this](unsigned, std::size_t begin, std::size_t end) {
    settle_rows(std::span(delta_rows_).subspan(begin, end - begin));
  });
  for (const std::vector<std::uint32_t>& changing : changing_) {
    for (const std::uint32_t row : changing) {
      const DeltaRow& delta = delta_rows_[row];
      if (delta.block != nullptr) arena_->give_back(delta.block, block_words(delta.capacity, delta.directory_log));
    }
  }
  changes_.append(delta_rows_.size(), [this](std::size_t row) { return delta_rows_[row].vertex; });
  if (!delta_rows_.empty()) settled_ = stages_;
  arena_->recycle();
  clear_delta();
  figures_.swap(staged_figures_);
}

void Adjacency::settle_rows(std::span<DeltaRow> deltas) noexcept {
  if (column_ == Column::tag) {
    find_places<true>(deltas, true);
  } else {
    find_places<false>(deltas, true);
  }
  for (DeltaRow& delta : deltas) settle_row(delta);
}

void Adjacency::settle_row(DeltaRow& delta) noexcept {
  // A copy, because a load of a whole row would wait for a store to a part of it.
  const Row row = rows_[delta.vertex];
  Row to = row;
  ++to.version;
  to.staged = 0;
  if (delta.block != nullptr || delta.empties) {
    to.block = std::exchange(delta.block, row.block);
    to.capacity = std::exchange(delta.capacity, row.capacity);
    to.directory_log = std::exchange(delta.directory_log, static_cast<std::uint8_t>(row.directory_log));
  }
  if (delta.empties) {
    to.slices = 0;
    rows_[delta.vertex] = to;
    return;
  }
  if (to.block != row.block && row.slices != 0) {
    std::memcpy(to.block, row.block, 2 * std::size_t{row.slices} * sizeof(std::uint32_t));
  }
  // The old block may be larger than the new one, so entries are removed before they move.
  remove_entries(row, delta);
  add_entries(row, to, delta);
  update_directory(to, delta);
  rows_[delta.vertex] = to;
}

// Moves entries [begin, end) to [place, ...). Both rows may be the same.
void Adjacency::move_entries(const Row& from, std::uint32_t begin, std::uint32_t end, const Row& to,
                             std::uint32_t place) const noexcept {
  if (begin == end || (from.block == to.block && begin == place)) return;
  const std::size_t count = end - begin;
  std::memmove(to.ids() + place, from.ids() + begin, count * sizeof(std::uint32_t));
  const unsigned words = column_words();
  if (words == 0) return;
  std::memmove(to.ids() + to.capacity + std::size_t{place} * words, from.ids() + from.capacity + std::size_t{begin} * words,
               count * words * sizeof(std::uint32_t));
}

// Closes the gaps of removed entries from the first one on, over all lists. Each entry moves at most once, and none before the
// first gap moves. Does not change the directory.
void Adjacency::remove_entries(const Row& row, const DeltaRow& delta) noexcept {
  const std::uint32_t first = delta_slices_[delta.first_slice].removed_begin;
  const std::uint32_t last = delta_slices_[delta.end_slice].removed_begin;
  for (std::uint32_t i = first; i < last; ++i) {
    const std::uint32_t gap = removed_.places[i];
    move_entries(row, gap + 1, i + 1 < last ? removed_.places[i + 1] : delta.total, row, gap - (i - first));
  }
}

// Opens gaps for added entries from the last one down, over all lists.
void Adjacency::add_entries(const Row& from, const Row& to, const DeltaRow& delta) noexcept {
  const unsigned words = column_words();
  const std::uint32_t first = delta_slices_[delta.first_slice].added_begin;
  const std::uint32_t first_removed = delta_slices_[delta.first_slice].removed_begin;
  std::uint32_t removed = delta_slices_[delta.end_slice].removed_begin;  // one past the last removed entry before the place
  std::uint32_t rest = delta.total - (removed - first_removed);          // entries [0, rest) are still to be moved
  for (std::uint32_t i = delta_slices_[delta.end_slice].added_begin; i-- > first;) {
    while (removed > first_removed && removed_.places[removed - 1] >= added_.places[i]) --removed;
    const std::uint32_t place = added_.places[i] - (removed - first_removed);
    const std::uint32_t gap = place + (i - first);
    move_entries(from, place, rest, to, gap + 1);
    rest = place;
    to.ids()[gap] = added_.ids[i];
    if (words == 0) continue;
    std::memcpy(to.ids() + to.capacity + std::size_t{gap} * words, &added_.payload[std::size_t{i} * words],
                words * sizeof(std::uint32_t));
  }
  move_entries(from, 0, rest, to, 0);
}

// Updates the ends of the lists. Adds lists that the vertex lacked, and removes lists that have become empty.
void Adjacency::update_directory(Row& row, const DeltaRow& delta) noexcept {
  const auto growth = [](const DeltaSlice* slice) {  // modulo 2^32
    return (slice[1].added_begin - slice[0].added_begin) - (slice[1].removed_begin - slice[0].removed_begin);
  };
  if (!delta.reshapes && row.slices <= scanned_slices) {  // without branches, because most batches change one list of a vertex
    for (std::uint32_t s = delta.first_slice; s < delta.end_slice; ++s) {
      const RelationId relation = delta_slices_[s].relation;
      const std::uint32_t shift = growth(&delta_slices_[s]);
      std::uint32_t* const directory = row.block;
      const std::uint32_t slices = row.slices;
      for (std::uint32_t i = 0; i < slices; ++i) directory[2 * i + 1] += directory[2 * i] >= relation ? shift : 0;
    }
    return;
  }
  const DeltaSlice* next = &delta_slices_[delta.first_slice];
  const DeltaSlice* const last = &delta_slices_[delta.end_slice];
  std::uint32_t shift = 0;
  for (std::uint32_t s = delta.first_slice; s < delta.end_slice; ++s) open_slice(row, delta_slices_[s].relation);
  std::uint32_t kept = 0;
  std::uint32_t begin = 0;
  for (std::uint32_t s = 0; s < row.slices; ++s) {
    const RelationId relation = row.block[2 * s];
    if (next != last && next->relation == relation) {
      shift += growth(next);
      ++next;
    }
    const std::uint32_t end = row.end(s) + shift;
    if (end == begin) continue;
    row.block[2 * kept] = relation;
    row.block[2 * kept + 1] = end;
    ++kept;
    begin = end;
  }
  row.slices = kept;
}

// Adds an empty list to the directory, unless it has a list of the relation.
void Adjacency::open_slice(Row& row, RelationId relation) noexcept {
  const std::uint32_t at = lower_slice(row, relation);
  if (row.holds(at, relation)) return;
  const std::uint32_t begin = row.begin(at);
  std::memmove(row.block + 2 * at + 2, row.block + 2 * at, 2 * std::size_t{row.slices - at} * sizeof(std::uint32_t));
  row.block[2 * at] = relation;
  row.block[2 * at + 1] = begin;
  row.slices = row.slices + 1;
}

}  // namespace deltamatch::graph

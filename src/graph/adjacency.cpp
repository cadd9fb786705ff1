#include "graph/adjacency.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstring>
#include <utility>

#include "base/prefetch.hpp"

namespace deltamatch::graph {

Adjacency::Adjacency(Column column, SlabAllocator& slabs)
    : column_(column), arena_(std::make_unique<Arena>(slabs)), slabs_(&slabs) {}

void Adjacency::reserve_vertices(std::size_t count) {
  if (count > rows_.size()) rows_.resize(count);
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
  return arena_->bytes() + emptied_.capacity() * sizeof(VertexId) + rows_.capacity() * sizeof(Row) +
         delta_rows_.capacity() * sizeof(DeltaRow) + delta_slices_.capacity() * sizeof(DeltaSlice) + added_.bytes() +
         removed_.bytes() + changes_.bytes();
}

std::uint64_t Adjacency::next_serial() noexcept {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace deltamatch::graph

#include <algorithm>
#include <atomic>
#include <utility>

#include "gpu/cuda/check.hpp"
#include "gpu/mirror/device_graph_impl.hpp"

namespace deltamatch::gpu {

namespace {

// Entries that a warp merges.
constexpr std::uint32_t piece_entries = 1024;
// Least memory for merged blocks.
constexpr std::size_t least_made_bytes = std::size_t{1} << 20;

// The work of a row: its old entries and the added ones.
std::uint32_t work_of(const MergeRow& row, const DeltaSlice* slices) noexcept {
  return row.from_entries + slices[row.end_slice].added_begin - slices[row.first_slice].added_begin;
}
std::uint64_t words_made(const MergeRow& row, const graph::Adjacency& store) noexcept {
  return BlockShape{row.to_entries, row.to_slices, 0, store.column() == graph::Column::tag}.words();
}

}  // namespace

// Brings blocks up to date on the device, from the last batch, which still lies there. Some keep their places; threads find
// these together. The others move.
void DeviceGraph::Impl::merge(unsigned s) {
  Mirror& mirror = mirrors[s];
  if (mirror.merge.empty() || mirror.fill_all) return;
  hot.clear();
  for (const std::uint32_t i : mirror.merge) hot.push_back({mirror.batch.vertices[i], s});
  keep_places(mirror);
  merges.clear();
  order.clear();
  for (std::uint32_t k = 0; k < hot.size(); ++k) {
    if (fates[k] == Fate::stays) merges.push_back(k);
    if (fates[k] == Fate::moves) order.push_back(k);
  }
  longest_first(order, [&](std::uint32_t i) { return shapes[i].words(); });
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i + 32 < order.size()) plan.prefetch(hot[order[i + 32]]);
    if (i + 24 < order.size()) plan.prefetch_slot(hot[order[i + 24]]);
    if (i + 16 < order.size()) plan.prefetch_block(hot[order[i + 16]]);
    if (i + 8 < order.size()) plan.prefetch_neighbours(hot[order[i + 8]]);
    const std::uint32_t k = order[i];
    const BlockShape& shape = shapes[k];
    if (resident() && shape.entries == 0) {
      plan.drop(hot[k]);
      continue;
    }
    const CacheSlot* had = plan.find(hot[k]);
    if (had == nullptr && !resident()) continue;  // it has made room for another
    merge_rows[k] = merge_row(mirror, mirror.merge[k], had, shape);
    if (!move(mirror, hot[k], shape)) continue;
    ++counts.merged;
    if (shape.entries != 0) merges.push_back(k);
  }
  send_merges(mirror);
}

// Sets `shapes`, `fates`, and `merge_rows` for vertices that keep their place.
void DeviceGraph::Impl::keep_places(const Mirror& mirror) {
  shapes.resize(hot.size());
  fates.assign(hot.size(), Fate::nothing);
  merge_rows.resize(hot.size());
  std::atomic<std::uint64_t> merged = 0;
  workers->for_each(hot.size(), look_grain, [&](unsigned, std::size_t begin, std::size_t end) {
    std::uint64_t stay = 0;
    for (std::size_t k = begin; k < end; ++k) {
      if (k + 8 < end) plan.prefetch_block(hot[k + 8]);
      if (k + 16 < end) plan.prefetch_slot(hot[k + 16]);
      if (k + 24 < end) plan.prefetch(hot[k + 24]);
      if (k + 8 < end) mirror.store->prefetch(hot[k + 8].vertex);
      if (k + 4 < end) mirror.store->prefetch_block(hot[k + 4].vertex);
      if (!mirror.touched(mirror.merge[k])) continue;
      shapes[k] = shape_of(mirror, hot[k].vertex);
      fates[k] = Fate::moves;
      const CacheSlot* had = plan.find(hot[k]);
      if (had == nullptr || shapes[k].entries == 0) continue;
      const MergeRow row = merge_row(mirror, mirror.merge[k], had, shapes[k]);
      if (!plan.reshape(hot[k], shapes[k])) continue;
      merge_rows[k] = row;
      fates[k] = Fate::stays;
      ++stay;
    }
    merged += stay;
  });
  counts.merged += merged;
}

// Gives a vertex a place that its lists fit. Returns false if there is none.
bool DeviceGraph::Impl::move(Mirror& mirror, HotVertex vertex, const BlockShape& shape) {
  const bool wanted = resident() || plan.wants(vertex);
  if (plan.find(vertex) != nullptr && plan.replace(vertex, shape)) return true;
  if (!wanted) {
    ++counts.evicted;
    return false;
  }
  if (!resident()) make_room(shape);
  if (plan.add(vertex, shape)) return true;
  mirror.fill.push_back(vertex.vertex);
  return false;
}

// Evicts vertices that no selection wants any more, as many as needed.
void DeviceGraph::Impl::make_room(const BlockShape& shape) {
  selection.evicted.clear();
  plan.make_room(shape, selection.evicted);
  for (const HotVertex vertex : selection.evicted) mirrors[vertex.store].dirty.push_back(vertex.vertex);
  counts.evicted += selection.evicted.size();
}

// A row that merges from the vertex's old place, if any. The new place is not known yet.
MergeRow DeviceGraph::Impl::merge_row(const Mirror& mirror, std::uint32_t row, const CacheSlot* old, const BlockShape& shape) {
  MergeRow merged{};
  if (old != nullptr) {
    merged.from = old->offset;
    merged.from_entries = old->shape.entries;
    merged.from_slices = old->shape.slices;
    merged.from_log = old->shape.directory_log();
  }
  merged.to_entries = shape.entries;
  merged.to_slices = shape.slices;
  merged.to_log = shape.directory_log();
  merged.first_slice = mirror.batch.first_slice[row];
  merged.end_slice = mirror.batch.first_slice[row + 1];
  return merged;
}

// What a row adds to the parts of a launch.
DeviceGraph::Impl::MergeSizes DeviceGraph::Impl::sizes_of(const Mirror& mirror, const MergeRow& row) {
  const std::uint64_t words = words_made(row, *mirror.store);
  return {(work_of(row, mirror.batch.slices) + piece_entries - 1) / piece_entries, pieces_of(words), 2 * row.to_slices, words};
}

// Takes memory for merged blocks before they are copied to their places. Returns false if there is none.
bool DeviceGraph::Impl::reserve_made(std::size_t bytes) {
  if (bytes <= made.bytes()) return true;
  ops->drain();
  // A list that is longer than a chunk is likely to grow.
  const std::size_t wanted = bytes <= least_made_bytes ? least_made_bytes : std::max(staging.chunk_bytes(), bytes + bytes / 4);
  for (const std::size_t room : {wanted, bytes}) {
    try {
      made.reserve(room);
      return true;
    } catch (const DeviceOutOfMemory&) {  // try the least size
      continue;
    }
  }
  return false;
}

// Blocks that cannot be merged are sent again, like those without a place.
void DeviceGraph::Impl::give_up_merges(Mirror& mirror, std::span<const std::uint32_t> rows) {
  for (const std::uint32_t k : rows) {
    if (resident() || plan.wants(hot[k])) mirror.fill.push_back(hot[k].vertex);
    plan.drop(hot[k]);
  }
  counts.merged -= rows.size();
}

// Merges the blocks in launches whose input and output fit a chunk each, unless a single list is longer. A launch merges all of
// its blocks from their old places before it copies any to its new one.
void DeviceGraph::Impl::send_merges(Mirror& mirror) {
  const std::span<const std::uint32_t> all = merges;
  for (std::size_t first = 0; first < all.size();) {
    // The sizes of so many rows each, which threads find together. They tell where a launch ends, and where its rows begin.
    const std::size_t groups = (all.size() - first + look_grain - 1) / look_grain;
    group_sizes.assign(groups, {});
    workers->for_each(groups, 1, [&](unsigned, std::size_t begin, std::size_t end) {
      for (std::size_t g = begin; g < end; ++g) {
        const std::size_t group_end = std::min(first + (g + 1) * look_grain, all.size());
        for (std::size_t i = first + g * look_grain; i < group_end; ++i) group_sizes[g] += sizes_of(mirror, merge_rows[all[i]]);
      }
    });
    MergeSizes sizes{};
    std::size_t end = first;
    for (std::size_t g = 0; g < groups && fits_chunk(sizes + group_sizes[g], end + look_grain - first); ++g) {
      sizes += std::exchange(group_sizes[g], sizes);
      end = std::min(end + look_grain, all.size());
    }
    if (end == first) {  // even one group is too long
      for (; end < all.size(); ++end) {
        const MergeSizes more = sizes + sizes_of(mirror, merge_rows[all[end]]);
        if (end > first && !fits_chunk(more, end + 1 - first)) break;
        sizes = more;
      }
      group_sizes[0] = {};
    }
    launch_merges(mirror, all.subspan(first, end - first), sizes);
    first = end;
  }
}

// Whether a launch of so many rows fits.
bool DeviceGraph::Impl::fits_chunk(const MergeSizes& sizes, std::size_t rows) const noexcept {
  return sizes.bytes(rows) <= staging.chunk_bytes() && sizes.words * sizeof(std::uint32_t) <= staging.chunk_bytes();
}

// A vertex that has meanwhile made room for another has no new place. `group_sizes` says where the parts of each look_grain
// rows begin.
void DeviceGraph::Impl::launch_merges(Mirror& mirror, std::span<const std::uint32_t> rows, const MergeSizes& sizes) {
  if (!reserve_made(sizes.words * sizeof(std::uint32_t))) {
    give_up_merges(mirror, rows);
    return;
  }
  Parts parts;
  const std::size_t rows_at = parts.add<MergeRow>(rows.size());
  const std::size_t pieces_at = parts.add<MergePiece>(sizes.pieces);
  const std::size_t copies_at = parts.add<Piece>(sizes.copies);
  const std::size_t directories_at = parts.add<std::uint32_t>(sizes.directory);
  staging.open(parts.bytes());
  auto* const merged = staging.host<MergeRow>(rows_at);
  auto* const pieces = staging.host<MergePiece>(pieces_at);
  auto* const copies = staging.host<Piece>(copies_at);
  auto* const directories = staging.host<std::uint32_t>(directories_at);
  const auto write_group = [&](std::size_t g) {
    MergeSizes at = group_sizes[g];
    const std::size_t end = std::min((g + 1) * look_grain, rows.size());
    for (std::size_t i = g * look_grain; i < end; ++i) {
      if (i + 8 < end) mirror.store->prefetch(hot[rows[i + 8]].vertex);
      if (i + 4 < end) mirror.store->prefetch_block(hot[rows[i + 4]].vertex);
      const HotVertex vertex = hot[rows[i]];
      MergeRow& row = merged[i];
      row = merge_rows[rows[i]];
      row.to = at.words;
      row.directory = at.directory;
      pack_directory(*mirror.store, vertex.vertex, mirror.relations, owner(mirror, vertex.vertex), directories + row.directory);
      const std::uint32_t work = work_of(row, mirror.batch.slices);
      MergePiece* piece = pieces + at.pieces;
      for (std::uint32_t from = 0; from < work; from += std::min(piece_entries, work - from)) {
        *piece++ = {static_cast<std::uint32_t>(i), from, from + std::min(piece_entries, work - from)};
      }
      const std::uint64_t words = words_made(row, *mirror.store);
      if (const CacheSlot* slot = plan.find(vertex)) {
        cut(slot->offset, row.to, words, copies + at.copies);
      } else {
        std::fill_n(copies + at.copies, pieces_of(words), Piece{});
      }
      at += sizes_of(mirror, row);
    }
  };
  workers->for_each((rows.size() + look_grain - 1) / look_grain, 1, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t g = begin; g < end; ++g) write_group(g);
  });
  staging.send(parts.bytes());
  const MergeWork work{pool.as<const std::uint32_t>(),
                       made.as<std::uint32_t>(),
                       staging.device<MergeRow>(rows_at),
                       staging.device<MergePiece>(pieces_at),
                       staging.device<std::uint32_t>(directories_at),
                       mirror.view};
  ops->merge(work, sizes.pieces);
  ops->scatter_words(pool.as<std::uint32_t>(), staging.device<Piece>(copies_at), sizes.copies, made.as<std::uint32_t>());
  staging.close();
}

}  // namespace deltamatch::gpu

#include <algorithm>
#include <cstring>
#include <optional>

#include "gpu/device_graph_impl.hpp"

namespace deltamatch::gpu {

namespace {

// Entries that a warp merges.
constexpr std::uint32_t piece_entries = 1024;
// Places that a launch must make free to be worth its time, tens of microseconds: as long as sending so much again would take.
// Of a small cache the share.
constexpr std::uint64_t launch_words = std::uint64_t{1} << 18;
constexpr std::uint64_t launch_share = 64;

}  // namespace

// Brings blocks up to date on the device, from the batch before, which still lies there.
void DeviceGraph::Impl::merge(unsigned s) {
  Mirror& mirror = mirrors[s];
  if (mirror.merge.empty() || mirror.fill_all) return;
  hot.clear();
  for (const std::uint32_t i : mirror.merge) hot.push_back({mirror.batch.vertices[i], s});
  look_up_shapes(hot);
  order_longest_first();
  Merges merges;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i + 16 < order.size()) plan.prefetch(hot[order[i + 16]]);
    if (i + 8 < order.size()) plan.prefetch_slot(hot[order[i + 8]]);
    const std::uint32_t k = order[i];
    if (!mirror.touched(mirror.merge[k])) continue;
    const BlockShape& shape = shapes[k];
    if (resident() && shape.entries == 0) {
      plan.drop(hot[k]);
      continue;
    }
    const std::optional<CacheSlot> old = move(mirror, hot[k], shape, merges);
    if (!old) continue;
    ++counts.merged;
    if (shape.entries == 0) continue;
    const std::uint32_t first_slice = mirror.batch.first_slice[mirror.merge[k]];
    const std::uint32_t end_slice = mirror.batch.first_slice[mirror.merge[k] + 1];
    const std::uint32_t work =
        old->shape.entries + mirror.batch.slices[end_slice].added_begin - mirror.batch.slices[first_slice].added_begin;
    for (std::uint32_t begin = 0; begin < work; begin += std::min(piece_entries, work - begin)) {
      merges.pieces.push_back(
          {static_cast<std::uint32_t>(merges.rows.size()), begin, begin + std::min(piece_entries, work - begin)});
    }
    merges.rows.push_back({old->offset, plan.find(hot[k])->offset, old->shape.entries, old->shape.slices,
                           old->shape.directory_log(), shape.entries, shape.slices, shape.directory_log(), merges.directory,
                           first_slice, end_slice, 0});
    merges.vertices.push_back(hot[k].vertex);
    merges.directory += 2 * shape.slices;
    if (merges.bytes() >= staging.chunk_bytes()) send_merges(mirror, merges);
  }
  if (!merges.rows.empty()) send_merges(mirror, merges);
  plan.release_replaced();
  send_blocks(merges.anew);
}

// Gives a vertex the place that its lists now need. What it had; none where there is nothing to merge from or to.
std::optional<CacheSlot> DeviceGraph::Impl::move(Mirror& mirror, HotVertex vertex, const BlockShape& shape, Merges& merges) {
  // There may be room where what is merged has left its old places.
  const std::uint64_t worthwhile = std::min(launch_words, plan.pool_words() / launch_share);
  if (!merges.rows.empty() && !plan.has_room(shape) && plan.replaced_words() >= std::max(worthwhile, plan.words_of(shape))) {
    send_merges(mirror, merges);
  }
  const CacheSlot* had = plan.find(vertex);
  if (had == nullptr && !resident()) return std::nullopt;  // it has made room for another since the merge began
  if (!plan.has_room(shape)) {
    if (!resident() && !plan.wants(vertex)) {
      plan.drop(vertex);
      ++counts.evicted;
      return std::nullopt;
    }
    make_room(shape);
    // What has left may have been about to be merged.
    const bool left = !selection.evicted.empty() && !merges.rows.empty();
    if (left && !plan.has_room(shape) && plan.replaced_words() >= plan.words_of(shape)) send_merges(mirror, merges);
    had = plan.find(vertex);
  }
  const CacheSlot old = had == nullptr ? CacheSlot{} : *had;
  if (had == nullptr ? plan.add(vertex, shape) : plan.replace(vertex, shape)) return old;
  // What it had is free now and mostly suits it, but cannot be merged to where it is read from.
  if (had != nullptr && plan.add(vertex, shape)) {
    merges.anew.push_back(*plan.find(vertex));
  } else {
    mirror.fill.push_back(vertex.vertex);
  }
  return std::nullopt;
}

// Of what no selection wants any more, as much leaves as it takes.
void DeviceGraph::Impl::make_room(const BlockShape& shape) {
  selection.evicted.clear();
  plan.make_room(shape, selection.evicted);
  for (const HotVertex vertex : selection.evicted) mirrors[vertex.store].dirty.push_back(vertex.vertex);
  counts.evicted += selection.evicted.size();
}

// What is replaced is free for later launches, since they come later in the queue; so it must not be freed before.
void DeviceGraph::Impl::send_merges(const Mirror& mirror, Merges& merges) {
  const std::vector<MergeRow>& rows = merges.rows;
  const std::vector<MergePiece>& pieces = merges.pieces;
  Parts parts;
  const std::size_t rows_at = parts.add<MergeRow>(rows.size());
  const std::size_t pieces_at = parts.add<MergePiece>(pieces.size());
  const std::size_t directories_at = parts.add<std::uint32_t>(rows.back().directory + 2 * std::size_t{rows.back().to_slices});
  staging.open(parts.bytes());
  std::memcpy(staging.host<void>(rows_at), rows.data(), rows.size() * sizeof(MergeRow));
  std::memcpy(staging.host<void>(pieces_at), pieces.data(), pieces.size() * sizeof(MergePiece));
  auto* directories = staging.host<std::uint32_t>(directories_at);
  workers->for_each(rows.size(), look_grain, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      pack_directory(*mirror.store, merges.vertices[i], mirror.relations, owner(mirror, merges.vertices[i]),
                     directories + rows[i].directory);
    }
  });
  staging.send(parts.bytes());
  const MergeWork work{pool.as<std::uint32_t>(), staging.device<MergeRow>(rows_at), staging.device<MergePiece>(pieces_at),
                       staging.device<std::uint32_t>(directories_at), mirror.view};
  ops->merge(work, pieces.size());
  staging.close();
  plan.release_replaced();
  merges.rows.clear();
  merges.pieces.clear();
  merges.vertices.clear();
  merges.directory = 0;
}

}  // namespace deltamatch::gpu

#include "gpu/device_sums.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "gpu/cuda/check.hpp"
#include "gpu/program/eligibility.hpp"

namespace deltamatch::gpu {

namespace {

// Besides the root's tables: one is filled while another is read.
constexpr std::size_t least_capacity = std::size_t{1} << 11;
constexpr std::size_t most_capacity = std::size_t{1} << 29;
// A hashed table may exceed three quarters by one entry for each thread. It must still not fill up.
static_assert(least_capacity / 4 > 32 * heavy_warps);
// Room for members of sets, for each entry of a hashed table.
constexpr std::size_t room_for_entry = 4;
// The items of one warp seldom need more, and small tables stay in the device's caches.
constexpr std::size_t most_light_capacity = std::size_t{1} << 13;
// Tables that were too small grow by this factor.
constexpr std::size_t growth = 8;

}  // namespace

void DeviceSums::prepare(const FlatSums& flat, std::uint32_t share, std::uint32_t shares, std::size_t vertices,
                         std::size_t most, Bundle& bundle) {
  light_.items.clear();
  heavy_.items.clear();
  given_up_.clear();
  if (flat.empty()) return;
  at_.programs = bundle.add(std::span(flat.programs));
  at_.terms = bundle.add(std::span(flat.terms));
  at_.factors = bundle.add(std::span(flat.factors));
  at_.vertices = bundle.add(std::span(flat.vertices));
  at_.edges = bundle.add(std::span(flat.edges));
  at_.anchors = bundle.add(std::span(flat.anchors));
  tables_ = flat.root_tables + working_tables;
  sets_ = flat.sets_at_once;
  vertices_ = vertices;
  most_ = most / 2;
  take(flat.light, share, shares, light_, bundle);
  take(flat.heavy, share, shares, heavy_, bundle);
}

void DeviceSums::take(std::span<const SumItem> items, std::uint32_t share, std::uint32_t shares, BlockGroup& group,
                      Bundle& bundle) {
  for (std::size_t i = share; i < items.size(); i += shares) group.items.push_back(items[i]);
  if (group.items.empty()) return;
  group.at_items = bundle.add(std::span(std::as_const(group.items)));
  group.blocks = static_cast<unsigned>(std::min<std::size_t>(sum_blocks(group.warps), group.items.size()));
  lay_out(planned_capacity(group), group);
  group.refused.reserve(1 + group.items.size());
}

std::size_t DeviceSums::planned_capacity(const BlockGroup& group) const {
  const std::size_t all = std::bit_floor(most_ / group.blocks / SumMemory::stride_for(tables_, 1, room_for_entry));
  return group.warps == light_warps ? std::min(all, most_light_capacity) : all;
}

// Lays out tables of `capacity` entries, or with one entry for each vertex if that takes no more memory.
void DeviceSums::lay_out(std::size_t capacity, BlockGroup& group) const {
  SumMemory made{};
  made.tables = tables_;
  const std::size_t all_sets = std::size_t{sets_} * vertices_;
  capacity = std::clamp(capacity, least_capacity, most_capacity);
  made.block_stride = SumMemory::stride_for(tables_, capacity, room_for_entry * capacity);
  const std::size_t dense_stride = SumMemory::stride_for(tables_, vertices_, all_sets);
  made.dense = dense_stride <= made.block_stride || capacity >= 2 * vertices_ ? 1 : 0;
  if (made.dense != 0 && all_sets > UINT32_MAX) throw DeviceOutOfMemory("sets of vertices");
  made.capacity = static_cast<std::uint32_t>(made.dense != 0 ? vertices_ : capacity);
  made.room = static_cast<std::uint32_t>(made.dense != 0 ? all_sets : room_for_entry * capacity);
  if (made.dense != 0) made.block_stride = dense_stride;
  group.blocks = static_cast<unsigned>(std::clamp<std::size_t>(most_ / made.block_stride, 1, group.blocks));
  const auto layout = [](const SumMemory& of) { return std::tuple(of.dense, of.capacity, of.tables, of.room); };
  group.unclean = group.unclean || layout(made) != layout(group.memory);
  made.start = group.tables.reserve(group.blocks * made.block_stride);
  if (std::exchange(group.generation, group.tables.generation()) != group.tables.generation()) group.unclean = true;
  group.memory = made;
}

void DeviceSums::launch(SumLaunch work, const Bundle& bundle, cudaStream_t stream) {
  work.programs = bundle.at<SumProgram>(at_.programs);
  work.terms = bundle.at<SumTerm>(at_.terms);
  work.factors = bundle.at<SumFactor>(at_.factors);
  work.vertices = bundle.at<SumVertex>(at_.vertices);
  work.edges = bundle.at<SumEdge>(at_.edges);
  work.anchors = bundle.at<Anchor>(at_.anchors);
  work_ = work;
  for (BlockGroup* group : {&heavy_, &light_}) {
    if (!group->items.empty()) queue(*group, bundle.at<SumItem>(group->at_items), stream);
  }
}

void DeviceSums::queue(BlockGroup& group, const SumItem* items, cudaStream_t stream) {
  work_.items = items;
  work_.item_count = static_cast<std::uint32_t>(group.items.size());
  work_.memory = group.memory;
  work_.refused = group.refused.get();
  // Tables that still lie in the same place are as clean as the last kernel left them.
  if (std::exchange(group.unclean, true)) group.clean_blocks = 0;
  if (group.blocks > group.clean_blocks) {
    check(cudaMemset2DAsync(group.memory.start + group.clean_blocks * group.memory.block_stride, group.memory.block_stride, 0,
                            group.memory.clear_bytes(), group.blocks - group.clean_blocks, stream),
          "cudaMemset2DAsync");
    group.clean_blocks = group.blocks;
  }
  check(cudaMemsetAsync(work_.refused, 0, sizeof(std::uint32_t), stream), "cudaMemsetAsync");
  check(cudaMemsetAsync(&work_.queue->next_chunk, 0, sizeof(work_.queue->next_chunk), stream), "cudaMemsetAsync");
  gpu::launch(work_, group.blocks, group.warps, stream);
}

void DeviceSums::collect(BlockGroup& group, std::vector<SumItem>& refused) {
  if (group.items.empty()) return;
  group.unclean = false;
  std::uint32_t count = 0;
  check(cudaMemcpy(&count, group.refused.get(), sizeof count, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::vector<std::uint32_t> numbers(count);
  if (count > 0)
    check(cudaMemcpy(numbers.data(), group.refused.get() + 1, count * sizeof count, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::ranges::sort(numbers);
  for (const std::uint32_t number : numbers) refused.push_back(group.items[number]);
  group.items.clear();
}

bool DeviceSums::launch_again(cudaStream_t stream) {
  if (empty()) return false;
  std::vector<SumItem> again;
  collect(heavy_, again);
  const bool grow = !again.empty();
  collect(light_, again);
  if (again.empty()) return false;
  try {
    heavy_.items = std::move(again);
    heavy_.blocks = static_cast<unsigned>(std::min<std::size_t>(sum_blocks(heavy_.warps), heavy_.items.size()));
    const bool grows = grow && heavy_.memory.dense == 0 && heavy_.memory.capacity < most_capacity;
    if (grow && !grows) throw DeviceOutOfMemory("tables of weights");
    lay_out(grow ? growth * std::size_t{heavy_.memory.capacity} : planned_capacity(heavy_), heavy_);
    heavy_.refused.reserve(1 + heavy_.items.size());
    again_.reserve(heavy_.items.size());
  } catch (const DeviceOutOfMemory&) {
    for (const SumItem& item : heavy_.items) given_up_.push_back(item.program);
    heavy_.items.clear();
    return false;
  }
  const SumItem* items = again_.get();
  check(
      cudaMemcpyAsync(again_.get(), heavy_.items.data(), heavy_.items.size() * sizeof(SumItem), cudaMemcpyHostToDevice, stream),
      "cudaMemcpyAsync");
  queue(heavy_, items, stream);
  return true;
}

}  // namespace deltamatch::gpu

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

void DeviceSums::take(std::span<const SumItem> items, std::uint32_t share, std::uint32_t shares, Team& team, Bundle& bundle) {
  for (std::size_t i = share; i < items.size(); i += shares) team.items.push_back(items[i]);
  if (team.items.empty()) return;
  team.at_items = bundle.add(std::span(std::as_const(team.items)));
  team.blocks = static_cast<unsigned>(std::min<std::size_t>(sum_blocks(team.warps), team.items.size()));
  lay_out(planned_capacity(team), team);
  team.refused.reserve(1 + team.items.size());
}

std::size_t DeviceSums::planned_capacity(const Team& team) const {
  const std::size_t all = std::bit_floor(most_ / team.blocks / SumMemory::stride_for(tables_, 1, room_for_entry));
  return team.warps == light_warps ? std::min(all, most_light_capacity) : all;
}

// Lays out tables of `capacity` entries, or with one entry for each vertex if that takes no more memory.
void DeviceSums::lay_out(std::size_t capacity, Team& team) const {
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
  team.blocks = static_cast<unsigned>(std::clamp<std::size_t>(most_ / made.block_stride, 1, team.blocks));
  const auto layout = [](const SumMemory& of) { return std::tuple(of.dense, of.capacity, of.tables, of.room); };
  team.unclean = team.unclean || layout(made) != layout(team.memory);
  made.start = team.tables.reserve(team.blocks * made.block_stride);
  if (std::exchange(team.generation, team.tables.generation()) != team.tables.generation()) team.unclean = true;
  team.memory = made;
}

void DeviceSums::launch(SumLaunch work, const Bundle& bundle, cudaStream_t stream) {
  work.programs = bundle.at<SumProgram>(at_.programs);
  work.terms = bundle.at<SumTerm>(at_.terms);
  work.factors = bundle.at<SumFactor>(at_.factors);
  work.vertices = bundle.at<SumVertex>(at_.vertices);
  work.edges = bundle.at<SumEdge>(at_.edges);
  work.anchors = bundle.at<Anchor>(at_.anchors);
  work_ = work;
  for (Team* team : {&heavy_, &light_}) {
    if (!team->items.empty()) queue(*team, bundle.at<SumItem>(team->at_items), stream);
  }
}

void DeviceSums::queue(Team& team, const SumItem* items, cudaStream_t stream) {
  work_.items = items;
  work_.item_count = static_cast<std::uint32_t>(team.items.size());
  work_.memory = team.memory;
  work_.refused = team.refused.get();
  // Tables that still lie in the same place are as clean as the last kernel left them.
  if (std::exchange(team.unclean, true)) team.clean_blocks = 0;
  if (team.blocks > team.clean_blocks) {
    check(cudaMemset2DAsync(team.memory.start + team.clean_blocks * team.memory.block_stride, team.memory.block_stride, 0,
                            team.memory.clear_bytes(), team.blocks - team.clean_blocks, stream),
          "cudaMemset2DAsync");
    team.clean_blocks = team.blocks;
  }
  check(cudaMemsetAsync(work_.refused, 0, sizeof(std::uint32_t), stream), "cudaMemsetAsync");
  check(cudaMemsetAsync(&work_.queue->next_chunk, 0, sizeof(work_.queue->next_chunk), stream), "cudaMemsetAsync");
  gpu::launch(work_, team.blocks, team.warps, stream);
}

void DeviceSums::collect(Team& team, std::vector<SumItem>& refused) {
  if (team.items.empty()) return;
  team.unclean = false;
  std::uint32_t count = 0;
  check(cudaMemcpy(&count, team.refused.get(), sizeof count, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::vector<std::uint32_t> numbers(count);
  if (count > 0)
    check(cudaMemcpy(numbers.data(), team.refused.get() + 1, count * sizeof count, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::ranges::sort(numbers);
  for (const std::uint32_t number : numbers) refused.push_back(team.items[number]);
  team.items.clear();
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

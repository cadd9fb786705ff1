#include "gpu/mirror/cache_plan.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "base/prefetch.hpp"

namespace deltamatch::gpu {

namespace {

// Slots are prefetched this many steps before they are read.
constexpr std::size_t ahead = 8;

}  // namespace

std::uint32_t BlockShape::directory_log() const noexcept {
  return slices <= 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(slices - 1));
}

std::uint64_t BlockShape::words() const noexcept {
  if (entries == 0) return 0;
  const std::uint64_t words = (std::uint64_t{2} << directory_log()) + std::uint64_t{entries} * (tagged ? 2 : 1);
  return (words + DeviceArena::granule - 1) / DeviceArena::granule * DeviceArena::granule;
}

CachePlan::CachePlan(std::uint64_t pool_words, Blocks blocks) : arena_(pool_words), blocks_(blocks), slots_(1) {}

void CachePlan::reserve_vertices(std::uint32_t store, std::size_t count) {
  if (count > slot_of_[store].size()) slot_of_[store].resize(count);
}

// Takes a place, with room to grow if there is some.
DeviceArena::Id CachePlan::allocate(std::uint64_t words) {
  DeviceArena::Id block = DeviceArena::none;
  if (blocks_ == Blocks::roomy) block = arena_.allocate(DeviceArena::roomy(words));
  return block != DeviceArena::none ? block : arena_.allocate(words);
}

// Places a vertex that has no place yet. Returns null if there is no room.
CacheSlot* CachePlan::place(HotVertex vertex, const BlockShape& shape) {
  if (free_slots_.empty()) {
    slots_.emplace_back();
    free_slots_.reserve(slots_.capacity());  // so that dropping cannot fail
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
  }
  const std::uint64_t words = words_of(shape);
  const DeviceArena::Id block = words == 0 ? DeviceArena::none : allocate(words);
  if (words != 0 && block == DeviceArena::none) return nullptr;
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  slots_[slot] = {words == 0 ? 0 : arena_.offset(block), vertex, shape, block, selections_};
  slot_of_[vertex.store][vertex.vertex] = slot;
  ++vertices_;
  lists_ += shape.slices;
  return &slots_[slot];
}

void CachePlan::drop(HotVertex vertex) noexcept {
  if (vertex.vertex >= slot_of_[vertex.store].size()) return;
  std::uint32_t& slot = slot_of_[vertex.store][vertex.vertex];
  if (slot == 0) return;
  if (slots_[slot].block != DeviceArena::none) arena_.free(slots_[slot].block);
  slots_[slot].wanted = 0;
  --vertices_;
  lists_ -= slots_[slot].shape.slices;
  free_slots_.push_back(slot);
  slot = 0;
}

void CachePlan::drop_store(std::uint32_t store) noexcept {
  for_each(store, [&](const CacheSlot& slot) { drop(slot.owner); });
}

bool CachePlan::reshape(HotVertex vertex, const BlockShape& shape) noexcept {
  CacheSlot& slot = slots_[slot_of_[vertex.store][vertex.vertex]];
  const std::uint64_t words = shape.words();
  const std::uint64_t has = slot.block == DeviceArena::none ? 0 : arena_.size(slot.block);
  if (words > has || words_of(shape) + std::max(has / (blocks_ == Blocks::roomy ? 4 : 8), DeviceArena::granule) < has ||
      (words == 0 && has != 0))
    return false;
  if (shape.slices != slot.shape.slices) std::atomic_ref(lists_).fetch_add(shape.slices - std::uint64_t{slot.shape.slices});
  slot.shape = shape;
  return true;
}

bool CachePlan::replace(HotVertex vertex, const BlockShape& shape) {
  CacheSlot& slot = slots_[slot_of_[vertex.store][vertex.vertex]];
  if (slot.block != DeviceArena::none) arena_.free(std::exchange(slot.block, DeviceArena::none));
  const std::uint64_t words = words_of(shape);
  if (words != 0) slot.block = allocate(words);
  if (words != 0 && slot.block == DeviceArena::none) {
    drop(vertex);
    return false;
  }
  slot.offset = words == 0 ? 0 : arena_.offset(slot.block);
  lists_ += shape.slices;
  lists_ -= slot.shape.slices;
  slot.shape = shape;
  return true;
}

bool CachePlan::add(HotVertex vertex, const BlockShape& shape) {
  const CacheSlot* placed = place(vertex, shape);
  if (placed == nullptr) return false;
  if (selections_ > 1) requests_.push_back({slot_of_[vertex.store][vertex.vertex], selections_});
  return true;
}

// Removes wishes that no longer hold, once they may be the majority.
void CachePlan::drop_requests() noexcept {
  if (requests_.size() < 2 * vertices_) return;
  std::size_t kept = 0;
  for (std::size_t i = first_request_; i < requests_.size(); ++i) {
    if (holds(requests_[i])) requests_[kept++] = requests_[i];
  }
  requests_.resize(kept);
  first_request_ = 0;
}

// Prefetches what evicting reads soon. Each step reads what an earlier one has fetched.
void CachePlan::prefetch_eviction(std::size_t request) const noexcept {
  if (request + 4 * ahead < requests_.size()) fetch_line(&slots_[requests_[request + 4 * ahead].slot]);
  if (request + 2 * ahead >= requests_.size()) return;
  const auto slot_at = [&](std::size_t i) -> const CacheSlot& { return slots_[requests_[i].slot]; };
  if (const CacheSlot& slot = slot_at(request + 2 * ahead); slot.block != DeviceArena::none) {
    arena_.prefetch(slot.block);
    fetch_line(&slot_of_[slot.owner.store][slot.owner.vertex]);
  }
  if (const CacheSlot& slot = slot_at(request + ahead); slot.block != DeviceArena::none) arena_.prefetch_neighbours(slot.block);
}

// Drops the least recently wanted vertex. Returns false if the current selection wants all vertices that are left.
bool CachePlan::evict_one(std::vector<HotVertex>& evicted) {
  for (; first_request_ < requests_.size() && requests_[first_request_].selection != selections_; ++first_request_) {
    prefetch_eviction(first_request_);
    if (!holds(requests_[first_request_])) continue;
    evicted.push_back(slots_[requests_[first_request_].slot].owner);
    drop(evicted.back());
    return true;
  }
  return false;
}

void CachePlan::select(std::span<const HotVertex> hot, std::span<const BlockShape> shapes, Selection& selection) {
  selection.moved.clear();
  selection.evicted.clear();
  selection.unplaced.clear();
  selection.kept = 0;
  drop_requests();
  ++selections_;
  moving_.clear();
  // Marks what stays before anything moves, so that nothing evicts it.
  std::uint64_t left = selectable_words();
  for (std::size_t i = 0; i < hot.size(); ++i) {
    if (i + 2 * ahead < hot.size()) prefetch(hot[i + 2 * ahead]);
    if (i + ahead < hot.size()) prefetch_slot(hot[i + ahead]);
    const std::uint32_t slot = slot_of_[hot[i].store][hot[i].vertex];
    const bool placed = slot != 0 && slots_[slot].block != DeviceArena::none;
    const std::uint64_t words = placed ? arena_.size(slots_[slot].block) : words_of(shapes[i]);
    if (words > left) continue;
    left -= words;
    if (slot == 0) {
      moving_.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    slots_[slot].wanted = selections_;
    requests_.push_back({slot, selections_});
    ++selection.kept;
  }
  longest_first(moving_, [&](std::uint32_t i) { return shapes[i].words(); });
  for (const std::uint32_t i : moving_) {
    if (find(hot[i]) != nullptr) continue;  // the selection names it twice
    make_room(shapes[i], selection.evicted);
    if (add(hot[i], shapes[i])) {
      selection.moved.push_back(*find(hot[i]));
    } else {
      selection.unplaced.push_back(hot[i]);
    }
  }
  while (used_words() > selectable_words() && evict_one(selection.evicted)) {
  }
}

void CachePlan::make_room(const BlockShape& shape, std::vector<HotVertex>& evicted) {
  while (!has_room(shape) && evict_one(evicted)) {
  }
}

std::size_t CachePlan::bytes() const noexcept {
  std::size_t numbers = free_slots_.capacity();
  for (const auto& slots : slot_of_) numbers += slots.capacity();
  return arena_.bytes() + slots_.capacity() * sizeof(CacheSlot) + requests_.capacity() * sizeof(SlotRequest) +
         numbers * sizeof(std::uint32_t);
}

}  // namespace deltamatch::gpu

#include "gpu/cache_plan.hpp"

#include <bit>

namespace deltamatch::gpu {

std::uint32_t BlockShape::directory_log() const noexcept {
  return slices <= 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(slices - 1));
}

std::uint64_t BlockShape::words() const noexcept {
  if (entries == 0) return 0;
  const std::uint64_t words = (std::uint64_t{2} << directory_log()) + std::uint64_t{entries} * (tagged ? 2 : 1);
  return (words + DeviceArena::granule - 1) / DeviceArena::granule * DeviceArena::granule;
}

CachePlan::CachePlan(std::uint64_t pool_words) : arena_(pool_words), slots_(1) {}

void CachePlan::reserve_vertices(std::uint32_t store, std::size_t count) {
  if (count > slot_of_[store].size()) slot_of_[store].resize(count);
}

// Puts a slot at the most recently wanted end.
void CachePlan::link(std::uint32_t slot) noexcept {
  const std::uint32_t last = slots_[0].older;
  slots_[slot].older = last;
  slots_[slot].newer = 0;
  slots_[last].newer = slot;
  slots_[0].older = slot;
}

void CachePlan::unlink(std::uint32_t slot) noexcept {
  slots_[slots_[slot].older].newer = slots_[slot].newer;
  slots_[slots_[slot].newer].older = slots_[slot].older;
}

void CachePlan::want(std::uint32_t slot) noexcept {
  slots_[slot].wanted = selections_;
  unlink(slot);
  link(slot);
}

// Null where there is no room. The vertex has no place.
CacheSlot* CachePlan::place(HotVertex vertex, const BlockShape& shape) {
  if (free_slots_.empty()) {
    slots_.emplace_back();
    free_slots_.reserve(slots_.capacity());  // so that dropping cannot fail
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
  }
  const std::uint64_t words = shape.words();
  const DeviceArena::Id block = words == 0 ? DeviceArena::none : arena_.allocate(words);
  if (words != 0 && block == DeviceArena::none) return nullptr;
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  slots_[slot] = {words == 0 ? 0 : arena_.offset(block), vertex, shape, block, selections_, 0, 0};
  link(slot);
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
  unlink(slot);
  --vertices_;
  lists_ -= slots_[slot].shape.slices;
  free_slots_.push_back(slot);
  slot = 0;
}

void CachePlan::drop_store(std::uint32_t store) noexcept {
  for (std::uint32_t slot = slots_[0].newer; slot != 0;) {
    const std::uint32_t next = slots_[slot].newer;
    if (slots_[slot].owner.store == store) drop(slots_[slot].owner);
    slot = next;
  }
}

bool CachePlan::replace(HotVertex vertex, const BlockShape& shape) {
  const std::uint32_t old = slot_of_[vertex.store][vertex.vertex];
  if (old == 0) return place(vertex, shape) != nullptr;
  const std::uint64_t words = shape.words();
  const DeviceArena::Id block = words == 0 ? DeviceArena::none : arena_.allocate(words);
  CacheSlot& slot = slots_[old];
  if (slot.block != DeviceArena::none) replaced_.push_back(slot.block);
  slot.block = block;
  if (words != 0 && block == DeviceArena::none) {
    drop(vertex);
    return false;
  }
  slot.offset = words == 0 ? 0 : arena_.offset(block);
  lists_ += shape.slices;
  lists_ -= slot.shape.slices;
  slot.shape = shape;
  return true;
}

void CachePlan::release_replaced() noexcept {
  for (const DeviceArena::Id block : replaced_) arena_.free(block);
  replaced_.clear();
}

void CachePlan::select(std::span<const HotVertex> hot, std::span<const BlockShape> shapes, Selection& selection) {
  selection.moved.clear();
  selection.evicted.clear();
  selection.kept = 0;
  ++selections_;
  // What is kept is marked before anything moves, so that nothing evicts it.
  wanted_.assign(hot.size(), 0);
  std::uint64_t left = selectable_words();
  for (std::size_t i = 0; i < hot.size(); ++i) {
    const std::uint64_t words = shapes[i].words();
    if (words > left) continue;
    left -= words;
    const std::uint32_t slot = slot_of_[hot[i].store][hot[i].vertex];
    wanted_[i] = slot == 0 ? 1 : 0;
    if (slot == 0) continue;
    want(slot);
    ++selection.kept;
  }
  for (std::size_t i = 0; i < hot.size(); ++i) {
    if (wanted_[i] == 0 || find(hot[i]) != nullptr) continue;
    while (place(hot[i], shapes[i]) == nullptr) {
      const std::uint32_t oldest = slots_[0].newer;
      if (oldest == 0 || slots_[oldest].wanted == selections_) break;
      selection.evicted.push_back(slots_[oldest].owner);
      drop(slots_[oldest].owner);
    }
    if (find(hot[i]) != nullptr) selection.moved.push_back(hot[i]);
  }
}

std::size_t CachePlan::bytes() const noexcept {
  return arena_.bytes() + slots_.capacity() * sizeof(CacheSlot) +
         (slot_of_[0].capacity() + slot_of_[1].capacity() + free_slots_.capacity()) * sizeof(std::uint32_t);
}

}  // namespace deltamatch::gpu

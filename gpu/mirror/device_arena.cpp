#include "gpu/mirror/device_arena.hpp"

#include <bit>

namespace deltamatch::gpu {

DeviceArena::DeviceArena(std::uint64_t words) : words_(words / granule * granule) {
  for (auto& heads : heads_) heads.fill(none);
  if (words_ == 0) return;
  nodes_.push_back({0, words_ / granule, 0, none, none, none, none});
  insert(0);
}

DeviceArena::Class DeviceArena::class_of(std::uint64_t size) noexcept {
  if (size < fine) return {0, static_cast<unsigned>(size)};
  const auto log = static_cast<unsigned>(std::bit_width(size)) - 1;
  return {log - fine_log + 1, static_cast<unsigned>(size >> (log - fine_log)) - fine};
}

std::uint64_t DeviceArena::rounded(std::uint64_t words) noexcept {
  const std::uint64_t size = (words + granule - 1) / granule;
  const std::uint64_t step = size < fine ? 1 : std::uint64_t{1} << (std::bit_width(size) - 1 - fine_log);
  return (size + step - 1) / step * step * granule;
}

// Returns a gap of a class in which every gap is large enough, or none.
DeviceArena::Id DeviceArena::find_larger(std::uint64_t size) const noexcept {
  if (size >= fine) size += (std::uint64_t{1} << (std::bit_width(size) - 1 - fine_log)) - 1;  // the next class unless exact
  auto [first, second] = class_of(size);
  if (first >= coarse) return none;
  std::uint32_t fine_map = fine_maps_[first] & (~0U << second);
  if (fine_map == 0) {
    const std::uint64_t coarse_map = coarse_map_ & (~std::uint64_t{0} << (first + 1));
    if (coarse_map == 0) return none;
    first = static_cast<unsigned>(std::countr_zero(coarse_map));
    fine_map = fine_maps_[first];
  }
  return heads_[first][static_cast<unsigned>(std::countr_zero(fine_map))];
}

DeviceArena::Id DeviceArena::find(std::uint64_t size) const noexcept {
  const Id larger = find_larger(size);
  if (larger != none) return larger;
  const auto [first, second] = class_of(size);
  Id gap = first < coarse ? heads_[first][second] : none;
  for (unsigned i = 0; i < tries && gap != none; ++i) {
    if (nodes_[gap].size >= size) return gap;
    gap = nodes_[gap].next;
  }
  return none;
}

void DeviceArena::insert(Id gap) noexcept {
  const auto [first, second] = class_of(nodes_[gap].size);
  Id& head = heads_[first][second];
  nodes_[gap].previous = none;
  nodes_[gap].next = head;
  if (head != none) nodes_[head].previous = gap;
  head = gap;
  nodes_[gap].gap = 1;
  fine_maps_[first] |= 1U << second;
  coarse_map_ |= std::uint64_t{1} << first;
}

void DeviceArena::remove(Id gap) noexcept {
  const auto [first, second] = class_of(nodes_[gap].size);
  const Node& node = nodes_[gap];
  if (node.next != none) nodes_[node.next].previous = node.previous;
  if (node.previous != none) {
    nodes_[node.previous].next = node.next;
  } else {
    heads_[first][second] = node.next;
    if (node.next == none) fine_maps_[first] &= ~(1U << second);
    if (fine_maps_[first] == 0) coarse_map_ &= ~(std::uint64_t{1} << first);
  }
  nodes_[gap].gap = 0;
}

// Joins two neighbours. The right one's node becomes spare. Neither may be in a class.
void DeviceArena::join(Id left, Id right) noexcept {
  nodes_[left].size += nodes_[right].size;
  nodes_[left].after = nodes_[right].after;
  if (nodes_[left].after != none) nodes_[nodes_[left].after].before = left;
  nodes_[right].next = spare_;
  spare_ = right;
}

DeviceArena::Id DeviceArena::allocate(std::uint64_t words) {
  const std::uint64_t size = (words + granule - 1) / granule;
  const Id block = find(size);
  if (block == none) return none;
  if (nodes_[block].size > size && spare_ == none) {  // all that can fail comes first
    nodes_.emplace_back();
    nodes_.back().next = none;
    spare_ = static_cast<Id>(nodes_.size() - 1);
  }
  remove(block);
  if (nodes_[block].size > size) {
    const Id rest = spare_;
    spare_ = nodes_[rest].next;
    const Node& node = nodes_[block];
    nodes_[rest] = {node.offset + size, node.size - size, 0, block, node.after, none, none};
    if (node.after != none) nodes_[node.after].before = rest;
    nodes_[block].after = rest;
    nodes_[block].size = size;
    insert(rest);
  }
  used_ += size * granule;
  return block;
}

void DeviceArena::free(Id block) noexcept {
  used_ -= nodes_[block].size * granule;
  if (const Id after = nodes_[block].after; after != none && nodes_[after].gap != 0) {
    remove(after);
    join(block, after);
  }
  if (const Id before = nodes_[block].before; before != none && nodes_[before].gap != 0) {
    remove(before);
    join(before, block);
    block = before;
  }
  insert(block);
}

}  // namespace deltamatch::gpu

// Where a warp's work comes from.
//
// Warps take chunks of anchors until none are left. Then they take items, which are parts of work that busier warps put into a
// queue in device memory. This is StMatch's work stealing, except that the busy warp pushes. Results are added to the total of
// their program.
#pragma once

#include "gpu/loops/total.hpp"
#include "gpu/loops/warp_sets.cuh"

namespace deltamatch::gpu::device {

// An idle warp looks for its item after pauses that grow, in nanoseconds. Some looks also check whether all work is done.
inline constexpr unsigned shortest_pause = 256;
inline constexpr unsigned longest_pause = 4096;
inline constexpr unsigned looks_for_end = 4;

// Whether the host has asked the kernel to stop.
template <Kind kind>
__device__ bool stop_is_set(const Warp<kind>& warp) {
  unsigned flag = 0;
  if (warp.lane == 0) flag = load_relaxed(&warp.work.queue->stop);
  return __shfl_sync(all_lanes, flag, 0) != 0;
}

// Adds the warp's results so far to the program's total, and the time that they took. Then the program is no longer open.
template <Kind kind>
__device__ __noinline__ void flush(Warp<kind>& warp) {
  if (warp.program_index == none) return;
  long long total = warp.total;
  bool overflow = warp.overflow;
#pragma unroll 1
  for (unsigned offset = 16; offset > 0; offset /= 2) {
    const long long other = __shfl_down_sync(all_lanes, total, offset);
    warp.overflow = false;
    total = add(warp, total, other);
    overflow = overflow || warp.overflow;
  }
  overflow = __any_sync(all_lanes, overflow);
  if (warp.lane == 0) {
    Total& to = warp.work.totals[warp.program_index];
    if (total != 0) add_to(to, total);
    if (overflow) to.overflow = 1;
    fetch_add(&to.clocks, static_cast<unsigned long long>(clock64() - warp.opened()));
  }
  warp.total = 0;
  warp.overflow = false;
  warp.program_index = none;
}

// Reads the program that the next work belongs to.
template <Kind kind>
__device__ void open_program(Warp<kind>& warp, std::uint32_t index) {
  if (index == warp.program_index) return;
  flush(warp);
  warp.program_index = index;
  __syncwarp();
  const auto* from = reinterpret_cast<const std::uint32_t*>(&warp.work.programs[index]);
  if (warp.lane < sizeof(Program) / 4) reinterpret_cast<std::uint32_t*>(&warp.program())[warp.lane] = from[warp.lane];
  if (warp.lane == 0) warp.opened() = clock64();
  __syncwarp();
}

// Makes a frame with one batch, whose results go to the total. `running`: steps are being run on it.
template <Kind kind>
__device__ void begin_frame(Warp<kind>& warp, std::uint32_t depth, std::uint32_t batch, bool running) {
  Header& own = warp.header(depth);
  own.filled = batch;
  own.batch = batch;
  own.next = 0;
  own.total = 0;
  own.pc = 0;
  own.end = 0;
  own.running = running ? 1 : 0;
  own.tail = 1;
  own.global = 1;
  own.base = 0;
  if constexpr (kind.reuses) {
    own.kept = 0;
    own.window = 0;
    own.slots = 0;
  }
}

// Makes the next anchors the batch of depth 0. Returns false if none are left.
template <Kind kind>
__device__ __noinline__ bool take_chunk(Warp<kind>& warp) {
  __syncwarp();
  std::uint32_t index = 0;
  if (warp.lane == 0) index = atomicAdd(&warp.work.queue->next_chunk, 1U);
  index = __shfl_sync(all_lanes, index, 0);
  if (index >= warp.work.chunk_count || stop_is_set(warp)) return false;
  const Chunk chunk = warp.work.chunks[index];
  open_program(warp, chunk.program);
  Anchor anchor{0, 0, 0};
  bool active = warp.lane < chunk.count;
  long long weight = 1;
  if (active) {
    anchor = warp.work.anchors[chunk.first + warp.lane];
    if (warp.program().ordered && ((warp.program().anchor_above && anchor.head < anchor.tail) ||
                                   (warp.program().anchor_below && anchor.head > anchor.tail))) {
      active = false;
    }
  }
#pragma unroll 1
  for (std::uint32_t i = 0; active && i < warp.program().closing; ++i) {
    const Probe probe = warp.work.probes[warp.program().first_closing + i];
    const View list = look_up(warp, probe.query_relation, anchor.tail);
    const std::uint32_t ways = multiplicity(warp, probe, list, anchor.tail, anchor.head, anchor);
    if (ways == 0) active = false;
    if (kind.sums) weight = multiply(warp, weight, ways);
  }
#pragma unroll 1
  for (std::uint32_t i = 0; !kind.sums && active && i < warp.program().joined; ++i) {
    const Joined joined = warp.work.joined[warp.program().first_joined + i];
    active = entries_to(look_up(warp, joined.query_relation, anchor.tail), anchor.head) == joined.edges;
  }
  const unsigned kept = __ballot_sync(all_lanes, active);
  if (active) {
    const std::uint32_t slot = __popc(kept & ((1U << warp.lane) - 1));
    warp.vertices(0)[slot] = anchor.tail;
    warp.vertices(0)[32 + slot] = anchor.head;
    warp.labels()[slot] = anchor.label;
    if (kind.sums) warp.weights(0)[slot] = weight;
  }
  if (warp.lane == 0) begin_frame(warp, 0, __popc(kept), false);
  __syncwarp();
  return true;
}

// How many warps wait beyond the items that are there for them. Negative if items wait.
template <Kind kind>
__device__ long long waiting(const Warp<kind>& warp) {
  return static_cast<long long>(load_relaxed(&warp.work.queue->popped) - load_relaxed(&warp.work.queue->pushed));
}

// Whether all warps wait. `pushed` only grows, so it is read last.
template <Kind kind>
__device__ bool all_wait(const Warp<kind>& warp) {
  const unsigned long long popped = load_relaxed(&warp.work.queue->popped);
  __threadfence();
  return popped - load_relaxed(&warp.work.queue->pushed) == warp.work.warps;
}

// How often the items had been used up before this ticket was drawn.
template <Kind kind>
__device__ std::uint32_t lap_of(const Warp<kind>& warp, unsigned long long ticket) {
  return static_cast<std::uint32_t>(ticket / warp.work.item_capacity);
}

// Whether more warps than idle_least wait for work that nobody has given yet.
template <Kind kind>
__device__ bool work_is_wanted(const Warp<kind>& warp) {
  int answer = 0;
  if (warp.lane == 0) answer = waiting(warp) > warp.work.idle_least ? 1 : 0;
  return __shfl_sync(all_lanes, answer, 0) != 0;
}

// Bits of the depths with kept sets that the loop `node` or one below it reads. `node` is one below `depth`.
template <Kind kind>
__device__ std::uint32_t sets_kept(const Warp<kind>& warp, std::uint32_t depth, std::uint32_t node) {
  if (!kind.reuses || node == Item::whole) return 0;
  const bool kept = warp.lane > 0 && warp.lane <= depth + 1 && warp.header(warp.lane).kept != 0;
  return __ballot_sync(all_lanes, kept) & warp.work.nodes[node].sets_read;
}

// Puts the partial match in a slot into the queue, with a range of its children or of steps. The queue has room: at most one
// item per warp exceeds the number of waiting warps.
template <Kind kind>
__device__ __noinline__ void give_item(Warp<kind>& warp, std::uint32_t depth, std::uint32_t slot, std::uint32_t node,
                                       std::uint32_t begin, std::uint32_t end) {
  unsigned long long ticket = 0;
  if (warp.lane == 0) ticket = atomicAdd(&warp.work.queue->pushed, 1ULL);
  ticket = __shfl_sync(all_lanes, ticket, 0);
  const std::uint32_t index = ticket % warp.work.item_capacity;
  const std::uint32_t lap = lap_of(warp, ticket);
  if (warp.lane == 0) {
    const volatile std::uint32_t* sequence = warp.work.item_sequence + index;
#pragma unroll 1
    while (*sequence != 2 * lap) __nanosleep(32);  // its last reader has not finished
    __threadfence();
  }
  __syncwarp();
  const std::uint32_t sets = sets_kept(warp, depth, node);
  Item& item = warp.work.items[index];
  if (warp.lane <= depth + 1) item.vertices[warp.lane] = vertex_at(warp, depth, slot, warp.lane);
  if (warp.lane == 0) {
    item.program = warp.program_index;
    item.node = node;
    item.depth = depth;
    item.begin = begin;
    item.end = end;
    item.label = anchor_of(warp, depth, slot).label;
    item.sets = sets;
    item.weight = kind.sums ? warp.products(depth)[slot] : 1;
  }
  __threadfence();
  __syncwarp();
  if (warp.lane == 0) *const_cast<volatile std::uint32_t*>(warp.work.item_sequence + index) = 2 * lap + 1;
  __syncwarp();
}

// Finds the sets again that the giver of the item had. The numbers of the item's children depend on them. The item has one
// partial match.
template <Kind kind>
__device__ __noinline__ void restore_sets(Warp<kind>& warp, std::uint32_t depth, std::uint32_t node, std::uint32_t sets) {
  if (node == Item::whole) return;
  if (warp.lane == 0) {
#pragma unroll 1
    for (std::uint32_t d = depth; d > 0; --d) {
      node = warp.work.nodes[node].parent;
      warp.header(d).node = node;
      if (kind.sums) warp.products(d - 1)[0] = 1;
    }
  }
  __syncwarp();
#pragma unroll 1
  for (sets &= (2U << depth) - 1; sets != 0; sets &= sets - 1) {
    warp.depth = __ffs(static_cast<int>(sets)) - 1;
    restore_set(warp);
    if (warp.lane == 0) warp.header(warp.depth).total = 0;
    __syncwarp();
  }
}

// Makes the frames of the item with this ticket, which has arrived.
template <Kind kind>
__device__ void receive(Warp<kind>& warp, unsigned long long ticket) {
  const std::uint32_t index = ticket % warp.work.item_capacity;
  const volatile Item& item = warp.work.items[index];
  const std::uint32_t depth = item.depth;
  const std::uint32_t node = item.node;
  const std::uint32_t begin = item.begin;
  const std::uint32_t end = item.end;
  const long long weight = item.weight;
  const std::uint32_t label = item.label;
  const std::uint32_t sets = kind.reuses ? item.sets : 0;
  const std::uint32_t vertex = warp.lane < max_positions ? item.vertices[warp.lane] : 0;
  open_program(warp, item.program);
  __syncwarp();
  if (warp.lane == 0) {
    __threadfence();
    *const_cast<volatile std::uint32_t*>(warp.work.item_sequence + index) = 2 * lap_of(warp, ticket) + 2;
    begin_frame(warp, 0, 1, true);
    warp.labels()[0] = label;
#pragma unroll 1
    for (std::uint32_t d = 1; d <= depth; ++d) {
      begin_frame(warp, d, 1, true);
      warp.parents(d)[0] = 0;
    }
    if (kind.sums) warp.products(depth)[0] = weight;
    warp.vertices(0)[0] = vertex;
  }
  if (warp.lane == 1) warp.vertices(0)[32] = vertex;
  if (warp.lane >= 2 && warp.lane <= depth + 1) warp.vertices(warp.lane - 1)[0] = vertex;
  __syncwarp();
  if constexpr (kind.reuses) restore_sets(warp, depth, node, sets);
  warp.depth = depth;
  if (node == Item::whole) {
    if (warp.lane == 0) {
      warp.header(depth).pc = begin;
      warp.header(depth).end = end;
    }
  } else if (kind.reuses && end == Item::all) {
    push_frame(warp, node, true, 0, 1);
  } else {
    const bool kept = (sets >> (depth + 1) & 1U) != 0;
    unsigned wide = 0;
    if (!kept) expand(warp, depth + 1, warp.work.nodes[node], Aim::loop, wide);
    push_frame(warp, node, true, 0);
    if (kept) restore_set(warp);
    if (warp.lane == 0) {
      warp.header(warp.depth).next = begin;
      warp.header(warp.depth).total = end;
    }
  }
  __syncwarp();
}

// Waits for an item and makes its frames. Returns false once all warps wait.
template <Kind kind>
__device__ __noinline__ bool take_item(Warp<kind>& warp) {
  flush(warp);  // waiting is no work for its program
  unsigned long long ticket = 0;
  int there = 0;
  if (warp.lane == 0) {
    ticket = atomicAdd(&warp.work.queue->popped, 1ULL);
    const volatile std::uint32_t* sequence = warp.work.item_sequence + ticket % warp.work.item_capacity;
    const std::uint32_t awaited = 2 * lap_of(warp, ticket) + 1;
    unsigned pause = shortest_pause;
#pragma unroll 1
    for (unsigned looks = 0;; ++looks) {
      there = *sequence == awaited ? 1 : 0;
      // A warp that gives work is not waiting. So once all wait, no item follows.
      if (there != 0 || (looks % looks_for_end == 0 && all_wait(warp))) break;
      __nanosleep(pause);
      pause = min(pause * 2, longest_pause);
    }
    __threadfence();
  }
  if (__shfl_sync(all_lanes, there, 0) == 0) return false;
  receive(warp, __shfl_sync(all_lanes, ticket, 0));
  return true;
}

}  // namespace deltamatch::gpu::device

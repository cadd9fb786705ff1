// Where a warp's work comes from: sixth layer of the matching kernel.
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

__device__ inline unsigned load_relaxed(const unsigned int* p) { return *reinterpret_cast<const volatile unsigned int*>(p); }
__device__ inline unsigned long long load_relaxed(const unsigned long long* p) {
  return *reinterpret_cast<const volatile unsigned long long*>(p);
}

template <bool sums, bool in_shared, bool reuses>
class Items : public Sets<sums, in_shared, reuses> {
 protected:
  using Base = Sets<sums, in_shared, reuses>;
  using Base::add;
  using Base::anchor_of;
  using Base::Base;
  using Base::depth_;
  using Base::expand;
  using Base::header;
  using Base::labels;
  using Base::lane_;
  using Base::overflow_;
  using Base::parents;
  using Base::products;
  using Base::program;
  using Base::push;
  using Base::vertex_at;
  using Base::vertices;
  using Base::work_;
  using typename Base::Aim;

  __device__ bool stopped() const {
    unsigned flag = 0;
    if (lane_ == 0) flag = load_relaxed(&work_.queue->stop);
    return __shfl_sync(all_lanes, flag, 0) != 0;
  }

  __device__ void open(std::uint32_t index) {
    if (index == program_index_) return;
    flush();
    program_index_ = index;
    __syncwarp();
    const auto* from = reinterpret_cast<const std::uint32_t*>(&work_.programs[index]);
    if (lane_ < sizeof(Program) / 4) reinterpret_cast<std::uint32_t*>(&program())[lane_] = from[lane_];
    __syncwarp();
  }

  // Adds the warp's results so far to the program's total.
  __device__ __noinline__ void flush() {
    if (program_index_ == none) return;
    long long total = total_;
    bool overflow = overflow_;
#pragma unroll 1
    for (unsigned offset = 16; offset > 0; offset /= 2) {
      const long long other = __shfl_down_sync(all_lanes, total, offset);
      overflow_ = false;
      total = add(total, other);
      overflow = overflow || overflow_;
    }
    overflow = __any_sync(all_lanes, overflow);
    if (lane_ == 0 && (total != 0 || overflow)) {
      Total& to = work_.totals[program_index_];
      add_to(to, total);
      if (overflow) to.overflow = 1;
    }
    total_ = 0;
    overflow_ = false;
  }

  // Makes the next anchors the batch of depth 0. Returns false if none are left.
  __device__ __noinline__ bool take_chunk() {
    __syncwarp();
    std::uint32_t index = 0;
    if (lane_ == 0) index = atomicAdd(&work_.queue->next_chunk, 1U);
    index = __shfl_sync(all_lanes, index, 0);
    if (index >= work_.chunk_count || stopped()) return false;
    const Chunk chunk = work_.chunks[index];
    open(chunk.program);
    Anchor anchor{0, 0, 0};
    bool active = lane_ < chunk.count;
    long long weight = 1;
    if (active) {
      anchor = work_.anchors[chunk.first + lane_];
      if (program().ordered &&
          ((program().anchor_above && anchor.head < anchor.tail) || (program().anchor_below && anchor.head > anchor.tail))) {
        active = false;
      }
    }
#pragma unroll 1
    for (std::uint32_t i = 0; active && i < program().closing; ++i) {
      const Probe probe = work_.probes[program().first_closing + i];
      const View list = this->look_up(probe.reading, anchor.tail);
      const std::uint32_t ways = this->multiplicity(probe, list, anchor.tail, anchor.head, anchor);
      if (ways == 0) active = false;
      if (sums) weight = this->multiply(weight, ways);
    }
#pragma unroll 1
    for (std::uint32_t i = 0; !sums && active && i < program().joined; ++i) {
      const Joined joined = work_.joined[program().first_joined + i];
      active = this->entries_to(this->look_up(joined.reading, anchor.tail), anchor.head) == joined.edges;
    }
    const unsigned kept = __ballot_sync(all_lanes, active);
    if (active) {
      const std::uint32_t slot = __popc(kept & ((1U << lane_) - 1));
      vertices(0)[slot] = anchor.tail;
      vertices(0)[32 + slot] = anchor.head;
      labels()[slot] = anchor.label;
      if (sums) this->weights(0)[slot] = weight;
    }
    if (lane_ == 0) begin_root(__popc(kept), false);
    __syncwarp();
    return true;
  }

  // Whether more warps than idle_least wait for work that nobody has given yet.
  __device__ bool wanted() const {
    int answer = 0;
    if (lane_ == 0) answer = waiting() > work_.idle_least ? 1 : 0;
    return __shfl_sync(all_lanes, answer, 0) != 0;
  }

  // Puts the partial match in a slot into the queue, with a range of its children or of steps. The queue has room: at most one
  // item per warp exceeds the number of waiting warps.
  __device__ __noinline__ void give(std::uint32_t depth, std::uint32_t slot, std::uint32_t node, std::uint32_t begin,
                                    std::uint32_t end) {
    unsigned long long ticket = 0;
    if (lane_ == 0) ticket = atomicAdd(&work_.queue->pushed, 1ULL);
    ticket = __shfl_sync(all_lanes, ticket, 0);
    const std::uint32_t index = ticket % work_.item_capacity;
    const std::uint32_t lap = lap_of(ticket);
    if (lane_ == 0) {
      const volatile std::uint32_t* sequence = work_.item_sequence + index;
#pragma unroll 1
      while (*sequence != 2 * lap) __nanosleep(32);  // its last reader has not finished
      __threadfence();
    }
    __syncwarp();
    const std::uint32_t sets = sets_kept(depth, node);
    Item& item = work_.items[index];
    if (lane_ <= depth + 1) item.vertices[lane_] = vertex_at(depth, slot, lane_);
    if (lane_ == 0) {
      item.program = program_index_;
      item.node = node;
      item.depth = depth;
      item.begin = begin;
      item.end = end;
      item.label = anchor_of(depth, slot).label;
      item.sets = sets;
      item.weight = sums ? products(depth)[slot] : 1;
    }
    __threadfence();
    __syncwarp();
    if (lane_ == 0) *const_cast<volatile std::uint32_t*>(work_.item_sequence + index) = 2 * lap + 1;
    __syncwarp();
  }

  // Waits for an item and makes its frames. Returns false once all warps wait.
  __device__ __noinline__ bool take_item() {
    unsigned long long ticket = 0;
    int there = 0;
    if (lane_ == 0) {
      ticket = atomicAdd(&work_.queue->popped, 1ULL);
      const volatile std::uint32_t* sequence = work_.item_sequence + ticket % work_.item_capacity;
      const std::uint32_t awaited = 2 * lap_of(ticket) + 1;
      unsigned pause = shortest_pause;
#pragma unroll 1
      for (unsigned looks = 0;; ++looks) {
        there = *sequence == awaited ? 1 : 0;
        // A warp that gives work is not waiting. So once all wait, no item follows.
        if (there != 0 || (looks % looks_for_end == 0 && all_wait())) break;
        __nanosleep(pause);
        pause = min(pause * 2, longest_pause);
      }
      __threadfence();
    }
    if (__shfl_sync(all_lanes, there, 0) == 0) return false;
    receive(__shfl_sync(all_lanes, ticket, 0));
    return true;
  }

  std::uint32_t program_index_ = none;
  long long total_ = 0;

 private:
  __device__ void begin_root(std::uint32_t count, bool done) {
    Header& root = header(0);
    root.filled = count;
    root.batch = count;
    root.next = 0;
    root.total = 0;
    root.pc = 0;
    root.end = 0;
    root.running = done ? 1 : 0;
    root.tail = 1;
    root.global = 1;
    root.base = 0;
    if constexpr (reuses) {
      root.kept = 0;
      root.window = 0;
      root.slots = 0;
    }
  }

  // Bits of the depths with kept sets that the loop `node` or one below it reads. `node` is one below `depth`.
  __device__ std::uint32_t sets_kept(std::uint32_t depth, std::uint32_t node) const {
    if (!reuses || node == Item::whole) return 0;
    const bool kept = lane_ > 0 && lane_ <= depth + 1 && header(lane_).kept != 0;
    return __ballot_sync(all_lanes, kept) & work_.nodes[node].sets_read;
  }

  // How many warps wait beyond the items that are there for them. Negative if items wait.
  __device__ long long waiting() const {
    return static_cast<long long>(load_relaxed(&work_.queue->popped) - load_relaxed(&work_.queue->pushed));
  }

  // `pushed` only grows, so it is read last.
  __device__ bool all_wait() const {
    const unsigned long long popped = load_relaxed(&work_.queue->popped);
    __threadfence();
    return popped - load_relaxed(&work_.queue->pushed) == work_.warps;
  }

  __device__ std::uint32_t lap_of(unsigned long long ticket) const {
    return static_cast<std::uint32_t>(ticket / work_.item_capacity);
  }

  // Makes the frames of the item with this ticket, which has arrived.
  __device__ void receive(unsigned long long ticket) {
    const std::uint32_t index = ticket % work_.item_capacity;
    const volatile Item& item = work_.items[index];
    const std::uint32_t depth = item.depth;
    const std::uint32_t node = item.node;
    const std::uint32_t begin = item.begin;
    const std::uint32_t end = item.end;
    const long long weight = item.weight;
    const std::uint32_t label = item.label;
    const std::uint32_t sets = reuses ? item.sets : 0;
    const std::uint32_t vertex = lane_ < max_positions ? item.vertices[lane_] : 0;
    open(item.program);
    __syncwarp();
    if (lane_ == 0) {
      __threadfence();
      *const_cast<volatile std::uint32_t*>(work_.item_sequence + index) = 2 * lap_of(ticket) + 2;
      begin_root(1, true);
      labels()[0] = label;
#pragma unroll 1
      for (std::uint32_t d = 1; d <= depth; ++d) {
        Header& own = header(d);
        own.filled = 1;
        own.batch = 1;
        own.next = 0;
        own.total = 0;
        own.pc = 0;
        own.end = 0;
        own.running = 1;
        own.tail = 1;
        own.global = 1;
        own.base = 0;
        if constexpr (reuses) {
          own.kept = 0;
          own.window = 0;
          own.slots = 0;
        }
        parents(d)[0] = 0;
      }
      if (sums) products(depth)[0] = weight;
      vertices(0)[0] = vertex;
    }
    if (lane_ == 1) vertices(0)[32] = vertex;
    if (lane_ >= 2 && lane_ <= depth + 1) vertices(lane_ - 1)[0] = vertex;
    __syncwarp();
    if constexpr (reuses) restore_sets(depth, node, sets);
    depth_ = depth;
    if (node == Item::whole) {
      if (lane_ == 0) {
        header(depth).pc = begin;
        header(depth).end = end;
      }
    } else if (reuses && end == Item::all) {
      push(node, true, 0, 1);
    } else {
      const bool kept = (sets >> (depth + 1) & 1U) != 0;
      unsigned wide = 0;
      if (!kept) expand(depth + 1, work_.nodes[node], Aim::loop, wide);
      push(node, true, 0);
      if (kept) this->restore_set();
      if (lane_ == 0) {
        header(depth_).next = begin;
        header(depth_).total = end;
      }
    }
    __syncwarp();
  }

  // Finds the sets again that the giver of the item had. The numbers of the item's children depend on them. The item has one
  // partial match.
  __device__ __noinline__ void restore_sets(std::uint32_t depth, std::uint32_t node, std::uint32_t sets) {
    if (node == Item::whole) return;
    if (lane_ == 0) {
#pragma unroll 1
      for (std::uint32_t d = depth; d > 0; --d) {
        node = work_.nodes[node].parent;
        header(d).node = node;
        if (sums) products(d - 1)[0] = 1;
      }
    }
    __syncwarp();
#pragma unroll 1
    for (sets &= (2U << depth) - 1; sets != 0; sets &= sets - 1) {
      depth_ = __ffs(static_cast<int>(sets)) - 1;
      this->restore_set();
      if (lane_ == 0) header(depth_).total = 0;
      __syncwarp();
    }
  }
};

}  // namespace deltamatch::gpu::device

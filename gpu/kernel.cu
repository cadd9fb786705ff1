// The matching kernel: an interpreter of plan::Program, one warp for each group of anchors.
//
// A warp walks depth first. The frame of a depth holds up to 63 partial matches (their last vertex and their parent in the
// frame above); steps run on batches of at most 32 of them, a partial match for each lane. To extend a batch, every lane looks
// up the lists of its own partial match and takes the shortest; then the 32 lanes read the concatenated children of the whole
// batch, whoever's they are, test each for membership in the other lists by search, and keep the survivors by ballot. So lanes
// stay busy on short lists and on long ones, and nothing is sized by a degree.
//
// A warp that finds others idle gives away the last children of its shallowest frame.
#include "gpu/kernel.hpp"

#include <cuda_runtime.h>

#include <algorithm>

#include "gpu/check.hpp"

namespace deltamatch::gpu {

namespace {

constexpr unsigned all_lanes = 0xffffffffU;
constexpr std::uint32_t none = 0xffffffffU;
constexpr std::uint32_t pass_removed = 0;  // match::Pass
constexpr std::uint32_t pass_added = 1;
constexpr unsigned warps_per_block = 4;
constexpr unsigned resident_blocks = 5;  // of a multiprocessor: bounds the registers of a thread
// A busy warp looks for idle ones once in so many clocks, and an idle one for work at intervals that grow up to so many
// nanoseconds: looking oftener, thousands of warps would queue up at the counters.
constexpr long long donate_interval = 30000;
constexpr unsigned shortest_pause = 1024;
constexpr unsigned longest_pause = 32768;
constexpr std::uint32_t most_donations = 4;
// Fewer children than this are not worth giving away.
constexpr std::uint32_t least_donation = 64;
// Directories up to this many slices are scanned.
constexpr std::uint32_t scanned_slices = 8;
constexpr std::uint32_t max_edges = 64;

// Offsets within a frame, in words.
constexpr std::uint32_t frame_chosen = 12;                // bytes
constexpr std::uint32_t frame_prefix = frame_chosen + 8;  // 33 words, padded
constexpr std::uint32_t frame_views = frame_prefix + 36;  // per probe: 32 pointers, 32 counts, 32 slices
constexpr std::uint32_t view_words = 128;
// Flags in a view's count: stable entries may be excluded, added ones admitted. Without them the list is what `ids` says.
constexpr std::uint32_t minus_flag = 1U << 31;
constexpr std::uint32_t plus_flag = 1U << 30;
constexpr std::uint32_t count_mask = plus_flag - 1;
// Behind the views, for each position that a child must differ from: the vertices there, by parent.
constexpr std::uint32_t partial_words = 64 + 16;  // vertices, parents in bytes
constexpr std::uint32_t home_words = 16;          // with sums, behind the parents: homes in bytes
// Lists of candidates from this length on are counted one by one, by all lanes together.
constexpr std::uint32_t wide_list = 24;
constexpr std::uint32_t searches = 4;

struct Header {
  std::uint32_t node;
  std::uint32_t pc;
  std::uint32_t end;
  std::uint32_t filled;
  std::uint32_t batch;
  std::uint32_t next;
  std::uint32_t total;
  std::uint32_t parallel;  // bit set of the node's probes whose lists may hold an id several times
  std::uint8_t running;    // steps are being run on the batch
  std::uint8_t tail;
  std::uint8_t global;  // all frames up to here are tail: results add to the program's total
  std::uint8_t base;    // depth of the frame whose sums take the results
};
static_assert(sizeof(Header) <= frame_chosen * 4);

constexpr std::uint32_t program_words = (sizeof(Program) / 4 + 3) / 4 * 4;
static_assert(sizeof(Program) % 4 == 0 && sizeof(Program) <= 128);

struct View {
  const std::uint32_t* ids;
  std::uint32_t count;
  std::uint32_t slice;
};

__device__ inline std::uint32_t lower_bound(const std::uint32_t* a, std::uint32_t n, std::uint32_t x) {
  std::uint32_t at = 0;
  while (n > 0) {
    const std::uint32_t half = n >> 1;
    const bool less = a[at + half] < x;
    at = less ? at + half + 1 : at;
    n = less ? n - half - 1 : half;
  }
  return at;
}

__device__ inline bool holds(const std::uint32_t* a, std::uint32_t n, std::uint32_t x) {
  if (n == 0) return false;
  while (n > 1) {
    const std::uint32_t half = n >> 1;
    a = a[half] <= x ? a + half : a;
    n -= half;
  }
  return *a == x;
}

__device__ inline unsigned load_relaxed(const unsigned int* p) { return *reinterpret_cast<const volatile unsigned int*>(p); }
__device__ inline unsigned long long load_relaxed(const unsigned long long* p) {
  return *reinterpret_cast<const volatile unsigned long long*>(p);
}

template <bool sums>
class Warp {
 public:
  __device__ Warp(const Launch& work, const WarpLayout& layout, std::uint32_t* memory)
      : work_(work),
        layout_(layout),
        memory_(memory),
        program_(*reinterpret_cast<Program*>(memory + layout.words - program_words)),
        lane_(threadIdx.x % 32) {}

  __device__ void run() {
    while (take_chunk()) walk(0);
    // No anchors are left: wait for what busy warps give away.
    if (lane_ == 0) {
      atomicAdd(&work_.queue->idle, 1U);
      atomicSub(&work_.queue->busy, 1U);
    }
    unsigned pause = shortest_pause;
    while (true) {
      const int state = take_item();
      if (state < 0) break;
      if (state > 0) {
        walk(depth_);
        if (lane_ == 0) {
          atomicAdd(&work_.queue->idle, 1U);
          atomicSub(&work_.queue->busy, 1U);
        }
        pause = shortest_pause;
        continue;
      }
      __nanosleep(pause);
      pause = min(pause * 2, longest_pause);
    }
    finish();
  }

 private:
  // --- frames ---

  __device__ std::uint32_t* frame(std::uint32_t depth) const { return memory_ + layout_.frame[depth]; }
  __device__ Header& header(std::uint32_t depth) const { return *reinterpret_cast<Header*>(frame(depth)); }
  __device__ std::uint32_t* vertices(std::uint32_t depth) const { return memory_ + layout_.partials[depth]; }
  __device__ std::uint8_t* parents(std::uint32_t depth) const { return reinterpret_cast<std::uint8_t*>(vertices(depth) + 64); }
  __device__ std::uint8_t* homes(std::uint32_t depth) const {
    return reinterpret_cast<std::uint8_t*>(vertices(depth) + partial_words);
  }
  __device__ std::uint8_t* chosen(std::uint32_t depth) const {
    return reinterpret_cast<std::uint8_t*>(frame(depth) + frame_chosen);
  }
  __device__ std::uint32_t* prefix(std::uint32_t depth) const { return frame(depth) + frame_prefix; }
  __device__ std::uint32_t* labels() const { return frame(0) + frame_prefix; }
  __device__ const std::uint32_t** view_ids(std::uint32_t depth, std::uint32_t probe) const {
    return reinterpret_cast<const std::uint32_t**>(frame(depth) + frame_views + probe * view_words);
  }
  __device__ std::uint32_t* view_counts(std::uint32_t depth, std::uint32_t probe) const {
    return frame(depth) + frame_views + probe * view_words + 64;
  }
  __device__ std::uint32_t* view_slices(std::uint32_t depth, std::uint32_t probe) const {
    return frame(depth) + frame_views + probe * view_words + 96;
  }
  __device__ std::uint32_t* apart(std::uint32_t depth, std::uint32_t probes, std::uint32_t i) const {
    return frame(depth) + frame_views + probes * view_words + 32 * i;
  }
  __device__ long long* products(std::uint32_t depth) const {
    return reinterpret_cast<long long*>(memory_ + layout_.products[depth]);
  }
  __device__ long long* weights(std::uint32_t depth) const {
    return reinterpret_cast<long long*>(memory_ + layout_.weights[depth]);
  }
  __device__ long long* sums_of(std::uint32_t depth) const {
    return reinterpret_cast<long long*>(memory_ + layout_.sums[depth]);
  }
  __device__ bool keeps_weights(std::uint32_t depth) const { return depth == 0 || layout_.weighted != 0; }
  // Of a partial match: what its parent's product came to where results go to the total, times its parallel entries.
  __device__ long long weight_of(std::uint32_t depth, std::uint32_t slot) const {
    if (keeps_weights(depth)) return weights(depth)[slot];
    return header(depth).tail != 0 ? products(depth - 1)[parents(depth)[slot]] : 1;
  }

  __device__ std::uint32_t root_of(std::uint32_t depth, std::uint32_t slot) const {
    for (; depth > 0; --depth) slot = parents(depth)[slot];
    return slot;
  }

  // The vertex at a position of the partial match in a slot.
  __device__ std::uint32_t vertex_at(std::uint32_t depth, std::uint32_t slot, std::uint32_t position) const {
    const std::uint32_t target = position < 2 ? 0 : position - 1;
    for (; depth > target; --depth) slot = parents(depth)[slot];
    return vertices(depth)[position == 1 ? 32 + slot : slot];
  }

  __device__ Anchor anchor_of(std::uint32_t depth, std::uint32_t slot) const {
    const std::uint32_t root = root_of(depth, slot);
    return {vertices(0)[root], vertices(0)[32 + root], labels()[root]};
  }

  // --- lists ---

  __device__ __noinline__ View look_up(std::uint32_t reading, std::uint32_t vertex) {
    View view{nullptr, 0, none};
    const Reading& where = work_.graph.readings[reading];
    const std::uint32_t relation = where.relation;
    if (relation == none) return view;
    const Store& store = work_.graph.stores[where.derived];
    if (vertex >= store.vertices) return view;
    const uint4 raw = __ldg(reinterpret_cast<const uint4*>(store.rows) + vertex);
    const auto* block = reinterpret_cast<const std::uint32_t*>(static_cast<std::uint64_t>(raw.y) << 32 | raw.x);
    const std::uint32_t shape = raw.w;
    const std::uint32_t slices = shape >> 7;
    if (work_.accesses[where.derived] != nullptr) atomicAdd(&work_.accesses[where.derived][vertex], 1U);
    if (slices > 0) {
      if ((shape & Row::cached_bit) != 0) {
        ++hits_;
      } else {
        ++misses_;
      }
      std::uint32_t at = 0;
      if (slices <= scanned_slices) {
        while (at < slices && block[2 * at] != relation) ++at;
      } else {
        std::uint32_t n = slices;
        while (n > 0) {
          const std::uint32_t half = n >> 1;
          const bool less = block[2 * (at + half)] < relation;
          at = less ? at + half + 1 : at;
          n = less ? n - half - 1 : half;
        }
        if (at < slices && block[2 * at] != relation) at = slices;
      }
      if (at < slices) {
        const std::uint32_t begin = at == 0 ? 0 : block[2 * at - 1];
        view.count = block[2 * at + 1] - begin;
        view.ids = block + (2U << (shape >> 2 & 31U)) + begin;
      }
    }
    if ((shape & Row::staged_bit) != 0) {
      const std::uint32_t row = lower_bound(store.delta_vertices, store.delta_rows, vertex);
      if (row < store.delta_rows && store.delta_vertices[row] == vertex) {
        std::uint32_t s = store.delta_first_slice[row];
        std::uint32_t n = store.delta_first_slice[row + 1] - s;
        const std::uint32_t end = s + n;
        while (n > 0) {
          const std::uint32_t half = n >> 1;
          const bool less = store.slices[s + half].relation < relation;
          s = less ? s + half + 1 : s;
          n = less ? n - half - 1 : half;
        }
        if (s < end && store.slices[s].relation == relation) view.slice = s;
      }
    }
    return view;
  }

  // Whether the changed data edge between `vertex` and `neighbour` ranks high enough to be read.
  __device__ bool admits(const Anchor& anchor, std::uint32_t vertex, std::uint32_t neighbour, std::uint32_t label,
                         bool incoming, bool inclusive) const {
    const bool turned = work_.graph.directed ? incoming : vertex > neighbour;
    const std::uint32_t tail = turned ? neighbour : vertex;
    const std::uint32_t head = turned ? vertex : neighbour;
    if (tail != anchor.tail) return tail > anchor.tail;
    if (head != anchor.head) return head > anchor.head;
    return inclusive ? label >= anchor.label : label > anchor.label;
  }

  // Changed entries of a base relation's list are admitted from this neighbour on.
  __device__ std::uint32_t threshold(const Anchor& anchor, std::uint32_t vertex, const Reading& where, bool inclusive) const {
    const bool label_suffices = inclusive ? where.edge_label >= anchor.label : where.edge_label > anchor.label;
    if (work_.graph.directed ? !where.incoming : vertex <= anchor.tail) {
      if (vertex > anchor.tail) return 0;
      if (vertex < anchor.tail) return none;
      return label_suffices ? anchor.head : anchor.head + 1;
    }
    const bool at_tail = vertex > anchor.head || (vertex == anchor.head && label_suffices);
    return at_tail ? anchor.tail : anchor.tail + 1;
  }

  // Whether the k-th stable entry of a derived list is not taken away.
  __device__ bool stays(const Store& store, const View& view, std::uint32_t id, std::uint32_t tag, const Anchor& anchor,
                        std::uint32_t owner, bool inclusive) const {
    if (view.slice == none) return true;
    const DeltaSlice slice = store.slices[view.slice];
    const std::uint32_t count = store.slices[view.slice + 1].removed_begin - slice.removed_begin;
    const std::uint32_t* removed = store.removed + slice.removed_begin;
    for (std::uint32_t i = lower_bound(removed, count, id); i < count && removed[i] == id; ++i) {
      if (store.removed_tags[slice.removed_begin + i] != tag) continue;
      return program_.pass == pass_removed && admits(anchor, owner, id, tag >> 1, (tag & 1U) != 0, inclusive);
    }
    return true;
  }

  // How many admitted entries of a list lead to `id`.
  __device__ __noinline__ std::uint32_t multiplicity(const Probe& probe, const View& view, std::uint32_t owner,
                                                     std::uint32_t id, const Anchor& anchor) const {
    const std::uint32_t at = lower_bound(view.ids, view.count, id);
    const bool here = at < view.count && view.ids[at] == id;
    const Reading& where = work_.graph.readings[probe.reading];
    if (view.slice == none && !where.parallel) return here ? 1 : 0;
    const Store& store = work_.graph.stores[where.derived];
    if (!where.derived) {
      const DeltaSlice slice = store.slices[view.slice];
      if (here) {
        const std::uint32_t count = store.slices[view.slice + 1].removed_begin - slice.removed_begin;
        if (!holds(store.removed + slice.removed_begin, count, id)) return 1;
        return program_.pass == pass_removed && id >= threshold(anchor, owner, where, probe.inclusive) ? 1 : 0;
      }
      if (program_.pass != pass_added || id < threshold(anchor, owner, where, probe.inclusive)) return 0;
      const std::uint32_t count = store.slices[view.slice + 1].added_begin - slice.added_begin;
      return holds(store.added + slice.added_begin, count, id) ? 1 : 0;
    }
    std::uint32_t found = 0;
    if (here) {
      const std::uint32_t capacity = store.rows[owner].capacity;
      for (std::uint32_t k = at; k < view.count && view.ids[k] == id; ++k) {
        found += stays(store, view, id, view.ids[k + capacity], anchor, owner, probe.inclusive) ? 1 : 0;
      }
    }
    if (view.slice != none && program_.pass == pass_added) {
      const DeltaSlice slice = store.slices[view.slice];
      const std::uint32_t count = store.slices[view.slice + 1].added_begin - slice.added_begin;
      const std::uint32_t* added = store.added + slice.added_begin;
      for (std::uint32_t i = lower_bound(added, count, id); i < count && added[i] == id; ++i) {
        const std::uint32_t tag = store.added_tags[slice.added_begin + i];
        found += admits(anchor, owner, id, tag >> 1, (tag & 1U) != 0, probe.inclusive) ? 1 : 0;
      }
    }
    return found;
  }

  // The tag of the k-th admitted entry of a query edge's list that leads to its target, or none.
  __device__ std::uint32_t option(const QueryEdge& edge, std::uint32_t slot, std::uint32_t k, const Anchor& anchor) {
    const std::uint32_t owner = vertex_at(depth_, slot, edge.source);
    const std::uint32_t id = vertex_at(depth_, slot, edge.target);
    const Reading& where = work_.graph.readings[edge.reading];
    const View view = look_up(edge.reading, owner);
    const Probe probe{static_cast<std::uint16_t>(edge.reading), edge.source, edge.inclusive};
    if (!where.derived) {
      if (k > 0 || multiplicity(probe, view, owner, id, anchor) == 0) return none;
      return where.edge_label << 1 | where.incoming;
    }
    const Store& store = work_.graph.stores[1];
    if (view.count > 0) {
      const std::uint32_t capacity = store.rows[owner].capacity;
      for (std::uint32_t i = lower_bound(view.ids, view.count, id); i < view.count && view.ids[i] == id; ++i) {
        const std::uint32_t tag = view.ids[i + capacity];
        if (!stays(store, view, id, tag, anchor, owner, edge.inclusive)) continue;
        if (k-- == 0) return tag;
      }
    }
    if (view.slice != none && program_.pass == pass_added) {
      const DeltaSlice slice = store.slices[view.slice];
      const std::uint32_t count = store.slices[view.slice + 1].added_begin - slice.added_begin;
      const std::uint32_t* added = store.added + slice.added_begin;
      for (std::uint32_t i = lower_bound(added, count, id); i < count && added[i] == id; ++i) {
        const std::uint32_t tag = store.added_tags[slice.added_begin + i];
        if (!admits(anchor, owner, id, tag >> 1, (tag & 1U) != 0, edge.inclusive)) continue;
        if (k-- == 0) return tag;
      }
    }
    return none;
  }

  // --- extension ---

  // Looks up the lists from which the batch at `depth` - 1 is extended; fills views, chosen and prefix. Returns the children.
  // With `split`, the lanes whose children lie in long lists without changes come back in `wide` and are not among them.
  __device__ __noinline__ std::uint32_t expand(std::uint32_t depth, const Node& node, bool split, unsigned& wide) {
    __syncwarp();  // the frame may still be read
    const std::uint32_t parent = depth - 1;
    bool active = lane_ < header(parent).batch;
    if (sums && active) active = products(parent)[lane_] != 0;
    std::uint32_t least = none;
    std::uint32_t best = 0;
    std::uint32_t plus_of_best = 0;
    std::uint32_t parallel = 0;
    bool changed = false;
    for (std::uint32_t p = 0; p < node.probes; ++p) {
      const Probe probe = work_.probes[node.first_probe + p];
      parallel |= static_cast<std::uint32_t>(work_.graph.readings[probe.reading].parallel) << p;
      View view{nullptr, 0, none};
      if (active && least != 0) view = look_up(probe.reading, vertex_at(parent, lane_, probe.position));
      std::uint32_t plus = 0;
      std::uint32_t flags = 0;
      if (view.slice != none) flags = flags_of(probe, view, parent, plus);
      view_ids(depth, p)[lane_] = view.ids;
      view_counts(depth, p)[lane_] = view.count | flags;
      view_slices(depth, p)[lane_] = view.slice;
      changed = changed || flags != 0;
      const std::uint32_t size = view.count + plus;
      if (size < least) {
        least = size;
        best = p;
        plus_of_best = plus;
      }
    }
    std::uint32_t children = active ? least : 0;
    if (program_.ordered && children > 0 && (node.above | node.below) != 0) {
      std::uint32_t low = 0;
      std::uint32_t high = none;
      bounds(parent, lane_, node, low, high);
      const std::uint32_t* ids = view_ids(depth, best)[lane_];
      const std::uint32_t flagged = view_counts(depth, best)[lane_];
      const std::uint32_t count = flagged & count_mask;
      const std::uint32_t begin = lower_bound(ids, count, low);
      const std::uint32_t end = high == none ? count : lower_bound(ids, count, high);
      view_ids(depth, best)[lane_] = ids + begin;
      view_counts(depth, best)[lane_] = (end > begin ? end - begin : 0) | (flagged & ~count_mask);
      children = (end > begin ? end - begin : 0) + plus_of_best;
    }
    chosen(depth)[lane_] = static_cast<std::uint8_t>(best);
    if (active) {
      for (std::uint32_t i = 0; i < node.distinct; ++i) {
        apart(depth, node.probes, i)[lane_] = vertex_at(parent, lane_, work_.positions[node.first_position + i]);
      }
    }
    if (lane_ == 0) header(depth).parallel = parallel;
    const bool alone = split && children >= wide_list && !changed && parallel == 0;
    wide = __ballot_sync(all_lanes, alone);
    std::uint32_t before = alone ? 0 : children;
    for (unsigned offset = 1; offset < 32; offset *= 2) {
      const std::uint32_t other = __shfl_up_sync(all_lanes, before, offset);
      if (lane_ >= offset) before += other;
    }
    prefix(depth)[lane_ + 1] = before;
    if (lane_ == 0) prefix(depth)[0] = 0;
    __syncwarp();
    return __shfl_sync(all_lanes, before, 31);
  }

  // What the batch's changes of a list mean for this lane's partial match. `plus`: added entries to look at.
  __device__ __noinline__ std::uint32_t flags_of(const Probe& probe, const View& view, std::uint32_t parent,
                                                 std::uint32_t& plus) const {
    const Reading& where = work_.graph.readings[probe.reading];
    const Store& store = work_.graph.stores[where.derived];
    const DeltaSlice slice = store.slices[view.slice];
    const DeltaSlice next = store.slices[view.slice + 1];
    const std::uint32_t added = next.added_begin - slice.added_begin;
    const std::uint32_t removed = next.removed_begin - slice.removed_begin;
    const bool adds = program_.pass == pass_added;
    bool minus = removed > 0;
    bool admitted = adds && added > 0;
    if (!where.derived && (admitted || (minus && !adds))) {
      const std::uint32_t from =
          threshold(anchor_of(parent, lane_), vertex_at(parent, lane_, probe.position), where, probe.inclusive);
      // Ascending: the last added is admitted if any is, the first removed excluded if any is.
      if (adds) {
        admitted = store.added[next.added_begin - 1] >= from;
      } else {
        minus = store.removed[slice.removed_begin] < from;
      }
    }
    plus = admitted ? added : 0;
    return (minus ? minus_flag : 0) | (admitted ? plus_flag : 0);
  }

  __device__ void bounds(std::uint32_t parent, std::uint32_t slot, const Node& node, std::uint32_t& low,
                         std::uint32_t& high) const {
    const std::uint8_t* positions = work_.positions + node.first_position + node.distinct;
    for (std::uint32_t i = 0; i < node.above; ++i) low = max(low, vertex_at(parent, slot, positions[i]) + 1);
    positions += node.above;
    for (std::uint32_t i = 0; i < node.below; ++i) high = min(high, vertex_at(parent, slot, positions[i]));
  }

  struct Child {
    bool found;
    std::uint32_t vertex;
    std::uint32_t slot;  // of its parent
    std::uint32_t ways;  // parallel entries
  };

  // The child of this lane: number `at` of those that expand announced.
  __device__ __noinline__ Child child(std::uint32_t depth, const Node& node, std::uint32_t at, std::uint32_t total) {
    Child child{false, 0, 0, 1};
    if (at >= total) return child;
    const std::uint32_t* starts = prefix(depth);
    std::uint32_t slot = 0;
#pragma unroll
    for (std::uint32_t step = 16; step > 0; step /= 2) {
      if (starts[slot + step] <= at) slot += step;
    }
    child.slot = slot;
    const std::uint32_t offset = at - starts[slot];
    const std::uint32_t q = chosen(depth)[slot];
    const std::uint32_t parallel = header(depth).parallel;
    const std::uint32_t probes = node.probes;
    const std::uint32_t first_count = view_counts(depth, q)[slot];
    if ((first_count & minus_flag) == 0 && offset < (first_count & count_mask) && (parallel >> q & 1U) == 0) {
      child.vertex = view_ids(depth, q)[slot][offset];
    } else {
      const Probed first = changed_child(depth, node, slot, q, offset);
      if (first.ways == 0) return child;
      child.vertex = first.vertex;
      child.ways = first.ways;
    }
    for (std::uint32_t i = 0; i < node.distinct; ++i) {
      if (apart(depth, probes, i)[slot] == child.vertex) return child;
    }
    for (std::uint32_t p = 0; p < probes; ++p) {
      if (p == q) continue;
      const std::uint32_t count = view_counts(depth, p)[slot];
      if ((parallel >> p & 1U) == 0) {
        const bool here = holds(view_ids(depth, p)[slot], count & count_mask, child.vertex);
        if (here && (count & minus_flag) == 0) continue;
        if (!here && (count & plus_flag) == 0) return child;
      }
      const std::uint32_t ways = changed_multiplicity(depth, node.first_probe, p, slot, child.vertex);
      if (ways == 0) return child;
      child.ways *= ways;
    }
    if (!program_.weighted) child.ways = 1;
    child.found = true;
    return child;
  }

  // As child(at) and child(at + 32), with their searches side by side. The first of the two exists in all lanes.
  __device__ __noinline__ void two_children(std::uint32_t depth, const Node& node, std::uint32_t at, std::uint32_t total,
                                            Child& one, Child& two) {
    if (header(depth).parallel != 0) {
      one = child(depth, node, at, total);
      two = child(depth, node, at + 32, total);
      return;
    }
    const std::uint32_t* starts = prefix(depth);
    const std::uint32_t probes = node.probes;
    Child made[2];
    std::uint32_t q[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      made[k] = {at + 32 * k < total, 0, 0, 1};
      const std::uint32_t own = made[k].found ? at + 32 * k : total - 1;
      std::uint32_t slot = 0;
#pragma unroll
      for (std::uint32_t step = 16; step > 0; step /= 2) {
        if (starts[slot + step] <= own) slot += step;
      }
      made[k].slot = slot;
      q[k] = chosen(depth)[slot];
      const std::uint32_t offset = own - starts[slot];
      const std::uint32_t count = view_counts(depth, q[k])[slot];
      if ((count & minus_flag) == 0 && offset < (count & count_mask)) {
        made[k].vertex = view_ids(depth, q[k])[slot][offset];
      } else {
        const Probed first = changed_child(depth, node, slot, q[k], offset);
        made[k].vertex = first.vertex;
        made[k].found = made[k].found && first.ways != 0;
      }
    }
    for (std::uint32_t i = 0; i < node.distinct; ++i) {
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        made[k].found = made[k].found && apart(depth, probes, i)[made[k].slot] != made[k].vertex;
      }
    }
    for (std::uint32_t p = 0; p < probes; ++p) {
      const std::uint32_t* place[2];
      std::uint32_t n[2];
      std::uint32_t count[2];
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        count[k] = view_counts(depth, p)[made[k].slot];
        n[k] = made[k].found && p != q[k] ? count[k] & count_mask : 0;
        place[k] = n[k] > 0 ? view_ids(depth, p)[made[k].slot] : starts;
      }
      const bool none_at[2] = {n[0] == 0, n[1] == 0};
      while (n[0] > 1 || n[1] > 1) {
        std::uint32_t middle[2];
#pragma unroll
        for (int k = 0; k < 2; ++k) middle[k] = place[k][n[k] >> 1];
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          const std::uint32_t half = n[k] >> 1;
          if (middle[k] <= made[k].vertex) place[k] += half;
          n[k] -= half;
        }
      }
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        if (!made[k].found || p == q[k]) continue;
        const bool here = !none_at[k] && *place[k] == made[k].vertex;
        if ((count[k] & (here ? minus_flag : plus_flag)) == 0) {
          made[k].found = here;
        } else {
          made[k].found = changed_multiplicity(depth, node.first_probe, p, made[k].slot, made[k].vertex) != 0;
        }
      }
      if (!made[0].found && !made[1].found) break;
    }
    one = made[0];
    two = made[1];
  }

  struct Probed {
    std::uint32_t vertex;
    std::uint32_t ways;  // 0: not admitted, or told apart already
  };

  // What the batch changes and parallel edges take their own way, out of line: most lists have neither.
  __device__ __noinline__ std::uint32_t changed_multiplicity(std::uint32_t depth, std::uint32_t first_probe, std::uint32_t p,
                                                             std::uint32_t slot, std::uint32_t id) {
    const View view{view_ids(depth, p)[slot], view_counts(depth, p)[slot] & count_mask, view_slices(depth, p)[slot]};
    const Probe probe = work_.probes[first_probe + p];
    return multiplicity(probe, view, vertex_at(depth - 1, slot, probe.position), id, anchor_of(depth - 1, slot));
  }

  __device__ __noinline__ Probed changed_child(std::uint32_t depth, const Node& node, std::uint32_t slot, std::uint32_t q,
                                               std::uint32_t offset) {
    const std::uint32_t parent = depth - 1;
    const Probe first = work_.probes[node.first_probe + q];
    const View view{view_ids(depth, q)[slot], view_counts(depth, q)[slot] & count_mask, view_slices(depth, q)[slot]};
    const Reading& where = work_.graph.readings[first.reading];
    const Store& store = work_.graph.stores[where.derived];
    const bool stable = offset < view.count;
    Probed child{0, 0};
    if (stable) {
      child.vertex = view.ids[offset];
      if (where.parallel && offset > 0 && view.ids[offset - 1] == child.vertex) return child;
    } else {
      const std::uint32_t* added = store.added + store.slices[view.slice].added_begin;
      const std::uint32_t j = offset - view.count;
      child.vertex = added[j];
      if (where.parallel && j > 0 && added[j - 1] == child.vertex) return child;
      if (program_.ordered) {
        std::uint32_t low = 0;
        std::uint32_t high = none;
        bounds(parent, slot, node, low, high);
        if (child.vertex < low || child.vertex >= high) return child;
      }
    }
    const Anchor anchor = anchor_of(parent, slot);
    const std::uint32_t owner = vertex_at(parent, slot, first.position);
    if (view.slice != none && !where.derived) {
      if (stable) {
        const DeltaSlice slice = store.slices[view.slice];
        const std::uint32_t removed = store.slices[view.slice + 1].removed_begin - slice.removed_begin;
        if (removed > 0 && holds(store.removed + slice.removed_begin, removed, child.vertex) &&
            (program_.pass == pass_added || child.vertex < threshold(anchor, owner, where, first.inclusive))) {
          return child;
        }
      } else if (child.vertex < threshold(anchor, owner, where, first.inclusive)) {
        return child;
      }
      child.ways = 1;
      return child;
    }
    // Where entries to one vertex come and go at once, the child stands at the first that stays, else at the first added.
    const std::uint32_t capacity = view.count > 0 ? store.rows[owner].capacity : 0;
    bool stands = false;
    for (std::uint32_t i = stable ? offset : lower_bound(view.ids, view.count, child.vertex);
         i < view.count && view.ids[i] == child.vertex && !stands; ++i) {
      stands = stays(store, view, child.vertex, view.ids[i + capacity], anchor, owner, first.inclusive);
    }
    if (stands == stable) child.ways = multiplicity(first, view, owner, child.vertex, anchor);
    return child;
  }

  // --- arithmetic that never wraps silently ---

  __device__ long long multiply(long long a, long long b) {
    const long long low = a * b;
    if (__mul64hi(a, b) != (low >> 63)) overflow_ = true;
    return low;
  }
  __device__ long long add(long long a, long long b) {
    const long long sum = static_cast<long long>(static_cast<unsigned long long>(a) + static_cast<unsigned long long>(b));
    if (((a ^ sum) & (b ^ sum)) < 0) overflow_ = true;
    return sum;
  }
  __device__ void add_shared(long long* to, long long value) {
    const auto old =
        static_cast<long long>(atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value)));
    static_cast<void>(add(old, value));
  }
  __device__ long long binomial(long long n, std::uint32_t k) {
    if (k == 1) return n;
    if (n < k) return 0;
    long long result = 1;
    for (std::uint32_t i = 0; i < k; ++i) {
      // result * (n - i) / (i + 1) is whole.
      const long long product = multiply(result, n - i);
      result = product / (i + 1);
    }
    return result;
  }

  // --- steps ---

  // Multiplies the products by the number of candidates of a node; without sums adds it to the total.
  __device__ __noinline__ void count(const Node& node) {
    const std::uint32_t depth = depth_ + 1;
    if (count_lists(node)) return;
    if (sums) {
      sums_of(depth)[lane_] = 0;
      __syncwarp();
    }
    unsigned wide = 0;
    const std::uint32_t total = expand(depth, node, true, wide);
    for (; wide != 0; wide &= wide - 1) {
      const auto slot = static_cast<std::uint32_t>(__ffs(static_cast<int>(wide)) - 1);
      const std::uint32_t hits = count_wide(depth, node, slot);
      if (!sums) {
        total_ += hits;
      } else {
        const std::uint32_t all = __reduce_add_sync(all_lanes, hits);
        if (lane_ == 0) sums_of(depth)[slot] = all;
      }
    }
    __syncwarp();
    for (std::uint32_t at = 0; at < total; at += 32) {
      const Child found = child(depth, node, at + lane_, total);
      if (!sums) {
        total_ += found.found ? 1 : 0;
        continue;
      }
      const unsigned hits = __ballot_sync(all_lanes, found.found);
      if (hits == 0) continue;
      const std::uint32_t first = __ffs(static_cast<int>(hits)) - 1;
      const std::uint32_t first_slot = __shfl_sync(all_lanes, found.slot, static_cast<int>(first));
      const bool alike = __all_sync(all_lanes, !found.found || (found.slot == first_slot && found.ways == 1));
      if (alike) {
        if (lane_ == first) add_shared(&sums_of(depth)[found.slot], __popc(hits));
      } else if (found.found) {
        add_shared(&sums_of(depth)[found.slot], found.ways);
      }
      __syncwarp();
    }
    if (!sums) return;
    __syncwarp();
    if (lane_ < header(depth_).batch) {
      products(depth_)[lane_] = multiply(products(depth_)[lane_], binomial(sums_of(depth)[lane_], node.choose));
    }
    __syncwarp();
  }

  // Candidates of one partial match that this lane finds among its share of the shortest list.
  __device__ std::uint32_t count_wide(std::uint32_t depth, const Node& node, std::uint32_t slot) const {
    const std::uint32_t q = chosen(depth)[slot];
    const std::uint32_t probes = node.probes;
    const std::uint32_t distinct = node.distinct;
    const std::uint32_t* ids = view_ids(depth, q)[slot];
    const std::uint32_t count = view_counts(depth, q)[slot];
    std::uint32_t hits = 0;
    if (probes == 2) {
      const std::uint32_t* others = view_ids(depth, 1 - q)[slot];
      const std::uint32_t size = view_counts(depth, 1 - q)[slot];
      if (size == 0) return 0;
      // Several searches at a time, so that their loads overlap.
      for (std::uint32_t at = lane_; at < count; at += 32 * searches) {
        std::uint32_t id[searches];
        const std::uint32_t* place[searches];
#pragma unroll
        for (std::uint32_t k = 0; k < searches; ++k) {
          id[k] = at + 32 * k < count ? ids[at + 32 * k] : none;
          place[k] = others;
        }
        for (std::uint32_t n = size; n > 1;) {
          const std::uint32_t half = n >> 1;
          std::uint32_t middle[searches];
#pragma unroll
          for (std::uint32_t k = 0; k < searches; ++k) middle[k] = place[k][half];
#pragma unroll
          for (std::uint32_t k = 0; k < searches; ++k) place[k] += middle[k] <= id[k] ? half : 0;
          n -= half;
        }
#pragma unroll
        for (std::uint32_t k = 0; k < searches; ++k) {
          bool found = *place[k] == id[k];
          for (std::uint32_t i = 0; i < distinct; ++i) found = found && apart(depth, probes, i)[slot] != id[k];
          hits += found ? 1 : 0;
        }
      }
      return hits;
    }
    for (std::uint32_t at = lane_; at < count; at += 32) {
      const std::uint32_t id = ids[at];
      bool found = true;
      for (std::uint32_t p = 0; p < probes && found; ++p) {
        if (p != q) found = holds(view_ids(depth, p)[slot], view_counts(depth, p)[slot], id);
      }
      for (std::uint32_t i = 0; i < distinct; ++i) found = found && apart(depth, probes, i)[slot] != id;
      hits += found ? 1 : 0;
    }
    return hits;
  }

  // One list alone, each lane its own: its length tells. False where it does not.
  __device__ __noinline__ bool count_lists(const Node& node) {
    if (node.probes != 1) return false;
    const Probe probe = work_.probes[node.first_probe];
    const Reading& where = work_.graph.readings[probe.reading];
    if (where.parallel || where.derived || (program_.ordered && (node.above | node.below) != 0)) return false;
    if (lane_ < header(depth_).batch && !(sums && products(depth_)[lane_] == 0)) {
      const std::uint32_t owner = vertex_at(depth_, lane_, probe.position);
      const View view = look_up(probe.reading, owner);
      const Anchor anchor = anchor_of(depth_, lane_);
      std::uint32_t size = view.count;
      if (view.slice != none) {
        const Store& store = work_.graph.stores[0];
        const DeltaSlice slice = store.slices[view.slice];
        const DeltaSlice next = store.slices[view.slice + 1];
        const std::uint32_t from = threshold(anchor, owner, where, probe.inclusive);
        const std::uint32_t removed = next.removed_begin - slice.removed_begin;
        if (program_.pass == pass_added) {
          const std::uint32_t added = next.added_begin - slice.added_begin;
          size += added - lower_bound(store.added + slice.added_begin, added, from);
          size -= removed;
        } else {
          size -= lower_bound(store.removed + slice.removed_begin, removed, from);
        }
      }
      const std::uint8_t* positions = work_.positions + node.first_position;
      for (std::uint32_t i = 0; i < node.distinct; ++i) {
        size -= multiplicity(probe, view, owner, vertex_at(depth_, lane_, positions[i]), anchor);
      }
      if (sums) {
        products(depth_)[lane_] = multiply(products(depth_)[lane_], binomial(size, node.choose));
      } else {
        total_ += size;
      }
    }
    __syncwarp();
    return true;
  }

  __device__ void push(std::uint32_t node_index, bool tail, std::uint32_t total) {
    const std::uint32_t depth = depth_ + 1;
    if (lane_ == 0) {
      const Header& above = header(depth_);
      Header& made = header(depth);
      made.node = node_index;
      made.filled = 0;
      made.batch = 0;
      made.next = 0;
      made.total = total;
      made.running = 0;
      made.tail = tail ? 1 : 0;
      made.global = tail && above.global ? 1 : 0;
      made.base = tail ? above.base : static_cast<std::uint8_t>(depth);
    }
    if (sums && !tail) sums_of(depth)[lane_] = 0;
    __syncwarp();
    depth_ = depth;
  }

  // Puts the children that were found behind the `filled` partial matches there are; returns how many there are then.
  __device__ std::uint32_t keep(const Child& found, std::uint32_t filled, bool tail, bool global) {
    const unsigned hits = __ballot_sync(all_lanes, found.found);
    if (found.found) {
      const std::uint32_t slot = filled + __popc(hits & ((1U << lane_) - 1));
      vertices(depth_)[slot] = found.vertex;
      parents(depth_)[slot] = static_cast<std::uint8_t>(found.slot);
      if (sums) {
        const std::uint32_t parent = depth_ - 1;
        if (keeps_weights(depth_)) {
          weights(depth_)[slot] = tail ? multiply(products(parent)[found.slot], found.ways) : found.ways;
        }
        if (!global) homes(depth_)[slot] = static_cast<std::uint8_t>(tail ? homes(parent)[found.slot] : found.slot);
      }
    }
    return filled + __popc(hits);
  }

  // Reads children until the frame holds a batch or there are no more.
  __device__ void fill() {
    Header& own = header(depth_);
    const Node& node = work_.nodes[own.node];
    std::uint32_t filled = own.filled;
    std::uint32_t next = own.next;
    const std::uint32_t total = own.total;
    const bool tail = own.tail != 0;
    const bool global = own.global != 0;
    while (filled < 32 && next < total) {
      Child found;
      Child second;
      if (total - next > 32) {
        two_children(depth_, node, next + lane_, total, found, second);
      } else {
        found = child(depth_, node, next + lane_, total);
        second.found = false;
      }
      filled = keep(found, filled, tail, global);
      next += 32;
      const unsigned more = __ballot_sync(all_lanes, second.found);
      if (next < total && filled + __popc(more) <= 63) {
        filled = keep(second, filled, tail, global);
        next += 32;
      }
    }
    __syncwarp();
    if (lane_ == 0) {
      own.filled = filled;
      own.next = min(next, total);
    }
    __syncwarp();
  }

  // The batch is done: what was found beyond it moves to the front.
  __device__ void shift() {
    Header& own = header(depth_);
    const std::uint32_t batch = own.batch;
    const std::uint32_t rest = own.filled - batch;
    if (lane_ < rest) {
      const std::uint32_t vertex = vertices(depth_)[batch + lane_];
      const std::uint8_t parent = parents(depth_)[batch + lane_];
      vertices(depth_)[lane_] = vertex;
      parents(depth_)[lane_] = parent;
      if (sums) {
        if (keeps_weights(depth_)) weights(depth_)[lane_] = weights(depth_)[batch + lane_];
        homes(depth_)[lane_] = homes(depth_)[batch + lane_];
      }
    }
    __syncwarp();
    if (lane_ == 0) {
      own.filled = rest;
      own.running = 0;
    }
    __syncwarp();
  }

  // Runs until the frames from `floor` up are done.
  __device__ void walk(std::uint32_t first) {
    depth_ = first;
    while (true) {
      Header& own = header(depth_);
      if (own.running == 0) {
        const long long now = clock64();
        if (__shfl_sync(all_lanes, now - looked_ > donate_interval ? 1 : 0, 0) != 0) {
          looked_ = now;
          if (stopped()) return;
          donate();
        }
        if (own.filled < 32 && own.next < own.total) fill();
        const std::uint32_t filled = own.filled;
        if (filled == 0) {
          if (depth_ == 0) return;
          if (sums && own.tail == 0) {
            if (lane_ < header(depth_ - 1).batch) {
              products(depth_ - 1)[lane_] = multiply(products(depth_ - 1)[lane_], sums_of(depth_)[lane_]);
            }
            __syncwarp();
          }
          --depth_;
          if (sums) skip_if_zero();
          continue;
        }
        __syncwarp();
        if (lane_ == 0) {
          own.batch = min(filled, 32U);
          own.running = 1;
          if (depth_ == 0) {
            own.pc = program_.first_step;
            own.end = program_.end_step;
          } else {
            own.pc = work_.nodes[own.node].first_step;
            own.end = work_.nodes[own.node].end_step;
          }
        }
        __syncwarp();
        continue;
      }
      const std::uint32_t pc = own.pc;
      if (pc == own.end) {
        shift();
        continue;
      }
      __syncwarp();
      if (lane_ == 0) own.pc = pc + 1;
      __syncwarp();
      run_step(work_.steps[pc]);
    }
  }

  // Where all products are zero, the rest of the term has nothing to add.
  __device__ void skip_if_zero() {
    const bool some = lane_ < header(depth_).batch && products(depth_)[lane_] != 0;
    if (__any_sync(all_lanes, some)) return;
    if (lane_ == 0) {
      Header& own = header(depth_);
      while (own.pc < own.end && work_.steps[own.pc].kind != StepKind::term) ++own.pc;
    }
    __syncwarp();
  }

  __device__ void run_step(const Step& step) {
    const std::uint32_t batch = header(depth_).batch;
    switch (step.kind) {
      case StepKind::term:
        if (sums) {
          if (lane_ < batch) products(depth_)[lane_] = multiply(weight_of(depth_, lane_), step.coefficient);
          __syncwarp();
        } else {
          ways_ = lane_ < batch ? 1 : 0;
        }
        break;
      case StepKind::count:
        count(work_.nodes[step.node]);
        if (sums) {
          skip_if_zero();
        } else {
          ways_ = 0;
        }
        break;
      case StepKind::loop: {
        unsigned wide = 0;
        const std::uint32_t total = expand(depth_ + 1, work_.nodes[step.node], false, wide);
        if (total > 0) {
          push(step.node, step.tail != 0, total);
        } else if (sums && step.tail == 0) {
          products(depth_)[lane_] = 0;
          __syncwarp();
          skip_if_zero();
        }
        break;
      }
      case StepKind::edges:
        ways_ = lane_ < batch ? edges(false) : 0;
        break;
      case StepKind::add:
        if (!sums) {
          total_ = add(total_, ways_);
        } else if (lane_ < batch) {
          const long long product = products(depth_)[lane_];
          if (header(depth_).global != 0) {
            total_ = add(total_, product);
          } else {
            add_shared(&sums_of(header(depth_).base)[homes(depth_)[lane_]], product);
          }
        }
        __syncwarp();
        break;
      case StepKind::emit:
        if (program_.plain != 0) {
          emit_plain(batch);
        } else {
          edges(true);
        }
        total_ += program_.plain != 0 && lane_ < batch ? 1 : 0;
        break;
    }
  }

  // --- listing ---

  __device__ std::uint32_t record_words() const { return program_.vertices + program_.edges; }

  __device__ std::uint32_t anchor_tag(const Anchor& anchor) const { return anchor.label << 1 | program_.anchor_reversed; }

  // The lanes write the records of the batch side by side.
  __device__ __noinline__ void emit_plain(std::uint32_t batch) {
    const std::uint32_t words = record_words();
    std::uint32_t* to = reserve(batch * words);
    for (std::uint32_t i = lane_; i < batch * words; i += 32) {
      const std::uint32_t slot = i / words;
      const std::uint32_t field = i % words;
      std::uint32_t value = 0;
      if (field < program_.vertices) {
        value = vertex_at(depth_, slot, work_.positions[program_.first_vertex + field]);
      } else if (field - program_.vertices == program_.anchor_edge) {
        value = anchor_tag(anchor_of(depth_, slot));
      } else {
        const Reading& where = work_.graph.readings[work_.edges[program_.first_edge + field - program_.vertices].reading];
        value = where.edge_label << 1 | where.incoming;
      }
      to[i] = value;
    }
    __syncwarp();
  }

  __device__ bool taken(const std::uint32_t* tags, std::uint32_t edge, std::uint32_t tag, std::uint32_t slot,
                        const Anchor& anchor) const {
    if (program_.distinct_edges == 0) return false;
    const auto image = [&](std::uint32_t e, std::uint32_t t) {
      const QueryEdge& q = work_.edges[program_.first_edge + e];
      const std::uint32_t source = vertex_at(depth_, slot, q.source);
      const std::uint32_t target = vertex_at(depth_, slot, q.target);
      const bool turned = work_.graph.directed ? (t & 1U) != 0 : source > target;
      return Anchor{turned ? target : source, turned ? source : target, t >> 1};
    };
    const auto same = [](const Anchor& a, const Anchor& b) {
      return a.tail == b.tail && a.head == b.head && a.label == b.label;
    };
    const Anchor own = image(edge, tag);
    if (same(own, anchor)) return true;
    for (std::uint32_t e = 0; e < edge; ++e) {
      if (e != program_.anchor_edge && same(image(e, tags[e]), own)) return true;
    }
    return false;
  }

  // Maps the query edges of the partial match in this lane's slot to data edges in all ways; returns how many there are, and
  // lists them where wanted. All lanes take part.
  __device__ __noinline__ std::uint32_t edges(bool list) {
    const std::uint32_t batch = header(depth_).batch;
    std::uint32_t tags[max_edges];
    std::uint32_t tried[max_edges];
    const bool active = lane_ < batch;
    const std::uint32_t slot = active ? lane_ : 0;
    const Anchor anchor = anchor_of(depth_, slot);
    const int count = program_.edges;
    std::uint32_t ways = 0;
    int e = active ? 0 : -1;
    if (active) tried[0] = 0;
    while (true) {
      // To the next assignment.
      bool found = false;
      while (e >= 0) {
        if (e == count) {
          found = true;
          break;
        }
        std::uint32_t tag = none;
        if (e == program_.anchor_edge) {
          tag = tried[e] == 0 ? anchor_tag(anchor) : none;
        } else {
          do {
            tag = option(work_.edges[program_.first_edge + e], slot, tried[e], anchor);
            if (tag == none || !taken(tags, e, tag, slot, anchor)) break;
            ++tried[e];
          } while (true);
        }
        ++tried[e];
        if (tag == none) {
          --e;
        } else {
          tags[e] = tag;
          ++e;
          if (e < count) tried[e] = 0;
        }
      }
      if (found) ++ways;
      if (list) {
        const unsigned hits = __ballot_sync(all_lanes, found);
        if (hits == 0) break;
        std::uint32_t* to = reserve(__popc(hits) * record_words());
        if (found) {
          to += __popc(hits & ((1U << lane_) - 1)) * record_words();
          for (std::uint32_t v = 0; v < program_.vertices; ++v) {
            to[v] = vertex_at(depth_, slot, work_.positions[program_.first_vertex + v]);
          }
          for (int i = 0; i < count; ++i) to[program_.vertices + i] = tags[i];
        }
        __syncwarp();
      } else if (!found) {
        break;
      }
      if (found) --e;
    }
    if (list) {
      total_ += ways;
    }
    return ways;
  }

  // Room in the warp's page; a full page goes to the host.
  __device__ std::uint32_t* reserve(std::uint32_t words) {
    if (page_ != none && (page_program_ != program_index_ || page_used_ + words > page_words)) publish();
    if (page_ == none) {
      std::uint32_t taken_page = 0;
      if (lane_ == 0) {
        const unsigned long long ticket = atomicAdd(work_.pages.free_tickets, 1ULL);
        volatile std::uint32_t* entry = work_.pages.free + ticket % work_.pages.pages;
        while ((taken_page = *entry) == 0) __nanosleep(500);
        *entry = 0;
        --taken_page;
        __threadfence_system();
      }
      page_ = __shfl_sync(all_lanes, taken_page, 0);
      page_program_ = program_index_;
      page_used_ = 2;
    }
    std::uint32_t* at = work_.pages.memory + std::size_t{page_} * page_words + page_used_;
    page_used_ += words;
    return at;
  }

  __device__ void publish() {
    if (page_ == none) return;
    __syncwarp();
    if (lane_ == 0) {
      std::uint32_t* page = work_.pages.memory + std::size_t{page_} * page_words;
      page[0] = page_program_;
      page[1] = page_used_;
    }
    __threadfence_system();
    __syncwarp();
    if (lane_ == 0) {
      const unsigned long long ticket = atomicAdd(work_.pages.full_tickets, 1ULL);
      __threadfence_system();
      work_.pages.full[ticket % work_.pages.pages] = page_ + 1;
    }
    __syncwarp();
    page_ = none;
  }

  // --- work ---

  __device__ bool stopped() const {
    unsigned flag = 0;
    if (lane_ == 0) flag = load_relaxed(&work_.queue->stop);
    return __shfl_sync(all_lanes, flag, 0) != 0;
  }

  __device__ void open(std::uint32_t program) {
    if (program == program_index_) return;
    flush();
    program_index_ = program;
    __syncwarp();
    const auto* from = reinterpret_cast<const std::uint32_t*>(&work_.programs[program]);
    if (lane_ < sizeof(Program) / 4) reinterpret_cast<std::uint32_t*>(&program_)[lane_] = from[lane_];
    __syncwarp();
  }

  // The warp's results so far go to the program's total.
  __device__ __noinline__ void flush() {
    if (program_index_ == none) return;
    long long total = total_;
    bool overflow = overflow_;
    for (unsigned offset = 16; offset > 0; offset /= 2) {
      const long long other = __shfl_down_sync(all_lanes, total, offset);
      overflow_ = false;
      total = add(total, other);
      overflow = overflow || overflow_;
    }
    overflow = __any_sync(all_lanes, overflow);
    if (lane_ == 0 && (total != 0 || overflow)) {
      Total& to = work_.totals[program_index_];
      const auto low = static_cast<unsigned long long>(total);
      const unsigned long long old = atomicAdd(&to.low, low);
      const unsigned long long carry = old + low < old ? 1 : 0;
      const unsigned long long high = (total < 0 ? ~0ULL : 0ULL) + carry;
      if (high != 0) atomicAdd(&to.high, high);
      if (overflow) to.overflow = 1;
    }
    total_ = 0;
    overflow_ = false;
  }

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
      if (program_.ordered &&
          ((program_.anchor_above && anchor.head < anchor.tail) || (program_.anchor_below && anchor.head > anchor.tail))) {
        active = false;
      }
    }
    for (std::uint32_t i = 0; active && i < program_.closing; ++i) {
      const Probe probe = work_.probes[program_.first_closing + i];
      const View view = look_up(probe.reading, anchor.tail);
      const std::uint32_t ways = multiplicity(probe, view, anchor.tail, anchor.head, anchor);
      if (ways == 0) active = false;
      if (sums) weight = multiply(weight, ways);
    }
    const unsigned kept = __ballot_sync(all_lanes, active);
    if (active) {
      const std::uint32_t slot = __popc(kept & ((1U << lane_) - 1));
      vertices(0)[slot] = anchor.tail;
      vertices(0)[32 + slot] = anchor.head;
      labels()[slot] = anchor.label;
      if (sums) weights(0)[slot] = weight;
    }
    if (lane_ == 0) begin_root(__popc(kept), false);
    __syncwarp();
    return true;
  }

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
  }

  // Gives the last children of the shallowest frames to idle warps, several portions while there are enough of both: work that
  // sits on one warp must reach thousands.
  __device__ __noinline__ void donate() {
    Queue* queue = work_.queue;
    for (std::uint32_t portions = 0; portions < most_donations; ++portions) {
      int wanted = 0;
      if (lane_ == 0) {
        const unsigned idle = load_relaxed(&queue->idle);
        if (idle > 0) {
          const unsigned long long waiting = load_relaxed(&queue->pushed) - load_relaxed(&queue->popped);
          wanted = waiting < idle && waiting < work_.item_capacity / 2 ? 1 : 0;
        }
      }
      if (__shfl_sync(all_lanes, wanted, 0) == 0 || !donate_one()) return;
    }
  }

  __device__ bool donate_one() {
    for (std::uint32_t depth = 1; depth <= depth_; ++depth) {
      Header& own = header(depth);
      if (own.global == 0) return false;
      const std::uint32_t next = own.next;
      const std::uint32_t total = own.total;
      // Children of a shallow frame lead to more than those of the deepest.
      if (next + (depth == depth_ ? least_donation : 1) >= total) continue;
      const std::uint32_t* starts = prefix(depth);
      std::uint32_t slot = 0;
      for (std::uint32_t step = 16; step > 0; step /= 2) {
        if (starts[slot + step] < total) slot += step;
      }
      std::uint32_t from = max(starts[slot], next);
      if (from == next) from = next + (total - next + 1) / 2;
      return give(depth, slot, from - starts[slot], total - starts[slot], from);
    }
    return false;
  }

  __device__ bool give(std::uint32_t depth, std::uint32_t slot, std::uint32_t begin, std::uint32_t end, std::uint32_t rest) {
    Queue* queue = work_.queue;
    unsigned long long ticket = ~0ULL;
    if (lane_ == 0) {
      unsigned long long pushed = load_relaxed(&queue->pushed);
      while (pushed - load_relaxed(&queue->popped) < work_.item_capacity) {
        const unsigned long long seen = atomicCAS(&queue->pushed, pushed, pushed + 1);
        if (seen == pushed) {
          ticket = pushed;
          break;
        }
        pushed = seen;
      }
    }
    ticket = __shfl_sync(all_lanes, ticket, 0);
    if (ticket == ~0ULL) return false;
    const std::uint32_t index = ticket % work_.item_capacity;
    const volatile std::uint32_t* sequence = work_.item_sequence + index;
    const auto lap = static_cast<std::uint32_t>(ticket / work_.item_capacity);
    if (lane_ == 0) {
      while (*sequence != 2 * lap) __nanosleep(32);  // its last reader has not finished
      __threadfence();
    }
    __syncwarp();
    Item& item = work_.items[index];
    const std::uint32_t parent = depth - 1;
    if (lane_ <= depth) item.vertices[lane_] = vertex_at(parent, slot, lane_);
    if (lane_ == 0) {
      item.program = program_index_;
      item.node = header(depth).node;
      item.depth = parent;
      item.begin = begin;
      item.end = end;
      item.label = anchor_of(parent, slot).label;
      item.weight = sums ? products(parent)[slot] : 1;
      header(depth).total = rest;
    }
    __threadfence();
    __syncwarp();
    if (lane_ == 0) {
      work_.item_sequence[index] = 2 * lap + 1;
      atomicAdd(&queue->donated, 1U);
    }
    __syncwarp();
    return true;
  }

  // 1: an item was taken and its frames stand; 0: none yet; -1: there will be none.
  __device__ __noinline__ int take_item() {
    Queue* queue = work_.queue;
    int state = 0;
    unsigned long long ticket = 0;
    if (lane_ == 0) {
      unsigned long long popped = load_relaxed(&queue->popped);
      if (popped < load_relaxed(&queue->pushed)) {
        atomicAdd(&queue->busy, 1U);
        atomicSub(&queue->idle, 1U);
        while (popped < load_relaxed(&queue->pushed)) {
          const unsigned long long seen = atomicCAS(&queue->popped, popped, popped + 1);
          if (seen == popped) {
            ticket = popped;
            state = 1;
            break;
          }
          popped = seen;
        }
        if (state == 0) {
          atomicAdd(&queue->idle, 1U);
          atomicSub(&queue->busy, 1U);
        }
      } else if (load_relaxed(&queue->busy) == 0) {
        __threadfence();
        // Whoever gave something away was busy then: nothing can follow what is not there now.
        if (load_relaxed(&queue->popped) >= load_relaxed(&queue->pushed)) state = -1;
      }
    }
    state = __shfl_sync(all_lanes, state, 0);
    if (state <= 0) return state;
    ticket = __shfl_sync(all_lanes, ticket, 0);
    const std::uint32_t index = ticket % work_.item_capacity;
    const auto lap = static_cast<std::uint32_t>(ticket / work_.item_capacity);
    if (lane_ == 0) {
      const volatile std::uint32_t* sequence = work_.item_sequence + index;
      while (*sequence != 2 * lap + 1) __nanosleep(32);
      __threadfence();
    }
    __syncwarp();
    const volatile Item& item = work_.items[index];
    const std::uint32_t depth = item.depth;
    const std::uint32_t node_index = item.node;
    const std::uint32_t begin = item.begin;
    const std::uint32_t end = item.end;
    const long long weight = item.weight;
    const std::uint32_t label = item.label;
    const std::uint32_t vertex = lane_ < max_positions ? item.vertices[lane_] : 0;
    open(item.program);
    __syncwarp();
    if (lane_ == 0) {
      __threadfence();
      work_.item_sequence[index] = 2 * lap + 2;
      begin_root(1, true);
      labels()[0] = label;
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
        parents(d)[0] = 0;
      }
      if (sums) products(depth)[0] = weight;
    }
    if (lane_ == 0) vertices(0)[0] = vertex;
    if (lane_ == 1) vertices(0)[32] = vertex;
    if (lane_ >= 2 && lane_ <= depth + 1) vertices(lane_ - 1)[0] = vertex;
    __syncwarp();
    depth_ = depth;
    unsigned wide = 0;
    expand(depth + 1, work_.nodes[node_index], false, wide);
    push(node_index, true, end);
    if (lane_ == 0) header(depth_).next = begin;
    __syncwarp();
    return 1;
  }

  __device__ void finish() {
    flush();
    publish();
    for (unsigned offset = 16; offset > 0; offset /= 2) {
      hits_ += __shfl_down_sync(all_lanes, hits_, offset);
      misses_ += __shfl_down_sync(all_lanes, misses_, offset);
    }
    if (lane_ == 0) {
      atomicAdd(&work_.counters->hits, hits_);
      atomicAdd(&work_.counters->misses, misses_);
    }
  }

  const Launch& work_;
  const WarpLayout& layout_;
  std::uint32_t* memory_;
  Program& program_;  // in shared memory, behind the frames
  std::uint32_t lane_;
  std::uint32_t depth_ = 0;
  long long looked_ = 0;  // when it last looked for idle warps
  std::uint32_t program_index_ = none;
  long long total_ = 0;
  long long ways_ = 0;
  bool overflow_ = false;
  unsigned long long hits_ = 0;
  unsigned long long misses_ = 0;
  std::uint32_t page_ = none;
  std::uint32_t page_program_ = none;
  std::uint32_t page_used_ = 0;
};

template <bool sums>
__global__ void __launch_bounds__(warps_per_block * 32, resident_blocks)
    match_kernel(const __grid_constant__ Launch work, const __grid_constant__ WarpLayout layout) {
  extern __shared__ __align__(16) std::uint32_t shared[];
  const unsigned warp = threadIdx.x / 32;
  std::uint32_t* memory = work.frames == nullptr
                              ? shared + warp * layout.words
                              : work.frames + (std::size_t{blockIdx.x} * (blockDim.x / 32) + warp) * layout.words;
  Warp<sums>(work, layout, memory).run();
}

}  // namespace

WarpLayout make_layout(const std::vector<DepthNeeds>& needs, bool sums, bool weighted) {
  WarpLayout layout{};
  layout.depths = static_cast<std::uint32_t>(needs.size());
  layout.weighted = weighted ? 1 : 0;
  std::uint32_t at = 0;
  const auto place = [&](std::uint16_t& part, std::uint32_t words) {
    part = static_cast<std::uint16_t>(at);
    at = (at + words + 3) / 4 * 4;
  };
  for (std::uint32_t d = 0; d < layout.depths; ++d) {
    place(layout.frame[d], frame_views + needs[d].probes * view_words + 32 * needs[d].distinct);
    const bool loops = d == 0 || needs[d].loops;
    if (loops) place(layout.partials[d], partial_words + (sums ? home_words : 0));
    if (sums && loops) place(layout.products[d], 64);
    if (sums && loops && (d == 0 || weighted)) place(layout.weights[d], 128);
    if (sums && needs[d].sums) place(layout.sums[d], 64);
  }
  layout.words = at + program_words;
  if (layout.words > UINT16_MAX) {
    throw Error("matching kernel", "a query is too large for it", "match it with --backend cpu");
  }
  return layout;
}

Grid fit_grid(const WarpLayout& layout, bool sums) {
  const void* kernel =
      sums ? reinterpret_cast<const void*>(&match_kernel<true>) : reinterpret_cast<const void*>(&match_kernel<false>);
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  int processors = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "cudaDeviceGetAttribute");
  Grid grid{};
  unsigned warps = warps_per_block;
  const std::size_t bytes = std::size_t{layout.words} * 4;
  while (warps > 1 && warps * bytes > static_cast<std::size_t>(most)) warps /= 2;
  const bool shared = warps * bytes <= static_cast<std::size_t>(most);
  if (!shared) warps = warps_per_block;
  grid.threads = warps * 32;
  grid.shared_bytes = shared ? warps * bytes : 0;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(grid.shared_bytes)),
        "cudaFuncSetAttribute");
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(grid.threads), grid.shared_bytes),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  if (blocks < 1) throw Error("matching kernel", "does not fit the device", "match this query on the CPU");
  grid.blocks = static_cast<unsigned>(blocks * processors);
  if (!shared) grid.frame_words = std::size_t{grid.warps()} * layout.words;
  return grid;
}

void launch(const Launch& work, const WarpLayout& layout, const Grid& grid, bool sums, CUstream_st* stream) {
  if (sums) {
    match_kernel<true><<<grid.blocks, grid.threads, grid.shared_bytes, stream>>>(work, layout);
  } else {
    match_kernel<false><<<grid.blocks, grid.threads, grid.shared_bytes, stream>>>(work, layout);
  }
  check(cudaGetLastError(), "matching kernel");
}

}  // namespace deltamatch::gpu

// What a warp of the matching kernel (gpu/loops/kernel.cu) knows, and its memory: the frames of its depths.
//
// A warp walks depth first. The frame of a depth holds up to 63 partial matches: their last vertex, and their parent in the
// frame above. Steps run on batches of at most 32 of them, one for each lane.
//
// Frames lie in shared memory. If a query is too large for that, they lie in device memory. The kernel is compiled for both, so
// that the compiler knows which memory it addresses.
#pragma once

#include <cstdint>

#include "gpu/loops/lists.cuh"

namespace deltamatch::gpu::device {

// Offsets within a frame, in words.
inline constexpr std::uint32_t frame_chosen = 12;                // bytes
inline constexpr std::uint32_t frame_prefix = frame_chosen + 8;  // 33 words, padded
inline constexpr std::uint32_t frame_views = frame_prefix + 36;
// The view of a probe. For each lane it holds a pointer, the count with flags, and the slice of the batch's changes. The
// numbers of removed and added entries follow (see gpu/loops/lists.cuh).
inline constexpr std::uint32_t view_counts = 64;
inline constexpr std::uint32_t view_slices = 96;
inline constexpr std::uint32_t view_removed = 128;
inline constexpr std::uint32_t view_added = 160;
inline constexpr std::uint32_t view_words = 192;
// Behind the views, for each position that a child must differ from: the vertices there, by parent.
// Behind those, for each condition of an induced match: the view of the vertex's list of all neighbours. It ends with the
// counts, since induced matching takes whole graphs only.
inline constexpr std::uint32_t joined_words = view_slices;
inline constexpr std::uint32_t partial_words = 64 + 16;  // vertices, parents in bytes
inline constexpr std::uint32_t home_words = 16;          // with sums, behind the parents: homes in bytes

struct Header {
  std::uint32_t node;
  std::uint32_t pc;
  std::uint32_t end;
  std::uint32_t filled;
  std::uint32_t batch;
  std::uint32_t next;
  std::uint32_t total;
  std::uint32_t slow;    // some list needs the slow way
  std::uint8_t running;  // steps are being run on the batch
  std::uint8_t tail;
  std::uint8_t global;  // all frames up to here are tail: results add to the program's total
  std::uint8_t base;    // depth of the frame whose sums take the results
  // Only if sets are reused:
  std::uint8_t lists;     // views that children are read from and searched in
  std::uint8_t distinct;  // positions that they must differ from
  std::uint8_t uncut;     // order constraints are ignored
  std::uint8_t kept;      // children come from sets, which deeper loops read, too
  std::uint8_t window;    // the first slot above whose children are not yet looked up
  std::uint8_t slots;     // end of those slots
  // Only if the device has a ring:
  std::uint8_t in_ring;        // some view lies there
  std::uint32_t ring_segment;  // which was filled when the views were looked up
};
static_assert(sizeof(Header) <= frame_chosen * 4);

inline constexpr std::uint32_t program_words = (sizeof(Program) / 4 + 3) / 4 * 4;
static_assert(sizeof(Program) % 4 == 0 && sizeof(Program) <= 128);
inline constexpr std::uint32_t clock_words = 2;  // behind the program
static_assert(sizeof(Program) / 4 + clock_words <= program_words && program_words % 2 == 0);

extern __shared__ __align__(16) std::uint32_t shared_words[];

/// What a kernel is compiled for.
struct Kind {
  bool sums;       ///< programs have weights
  bool in_shared;  ///< frames lie in shared memory
  bool reuses;     ///< some loop reads a set again
  bool fills;      ///< the device has a DemandRing
};

/// The state of a warp. Each lane has a copy.
template <Kind kind>
struct Warp {
  static constexpr bool fills = kind.fills;

  __device__ Warp(const Launch& its_work, const WarpLayout& its_layout)
      : work(its_work), layout(its_layout), lane(threadIdx.x % 32), first_word(std::size_t{index()} * its_layout.words) {}

  // --- where its memory is ---

  __device__ std::uint32_t* words(std::uint32_t at) const {
    if constexpr (kind.in_shared) {
      return shared_words + (static_cast<std::uint32_t>(first_word) + at);
    } else {
      return work.frames + (first_word + at);
    }
  }
  __device__ Program& program() const { return *reinterpret_cast<Program*>(words(layout.words - program_words)); }
  // The clock when it opened the program.
  __device__ long long& opened() const { return *reinterpret_cast<long long*>(words(layout.words - clock_words)); }
  __device__ std::uint32_t* frame(std::uint32_t at) const { return words(layout.frame[at]); }
  __device__ Header& header(std::uint32_t at) const { return *reinterpret_cast<Header*>(frame(at)); }
  __device__ std::uint32_t* vertices(std::uint32_t at) const { return words(layout.partials[at]); }
  __device__ std::uint8_t* parents(std::uint32_t at) const { return reinterpret_cast<std::uint8_t*>(vertices(at) + 64); }
  // By partial match: the slot whose sums take its results, in the frame `base`.
  __device__ std::uint8_t* homes(std::uint32_t at) const {
    return reinterpret_cast<std::uint8_t*>(vertices(at) + partial_words);
  }
  __device__ std::uint8_t* chosen(std::uint32_t at) const { return reinterpret_cast<std::uint8_t*>(frame(at) + frame_chosen); }
  __device__ std::uint32_t* prefix(std::uint32_t at) const { return frame(at) + frame_prefix; }
  __device__ std::uint32_t* labels() const { return prefix(0); }
  __device__ std::uint32_t* view(std::uint32_t at, std::uint32_t probe) const {
    return frame(at) + frame_views + probe * view_words;
  }
  __device__ std::uint32_t* apart(std::uint32_t at, std::uint32_t probes, std::uint32_t i) const {
    return frame(at) + frame_views + probes * view_words + 32 * i;
  }
  __device__ std::uint32_t* joined_view(std::uint32_t at, const Node& node, std::uint32_t i) const {
    return apart(at, node.probes, node.distinct) + joined_words * i;
  }
  __device__ long long* products(std::uint32_t at) const { return reinterpret_cast<long long*>(words(layout.products[at])); }
  __device__ long long* weights(std::uint32_t at) const { return reinterpret_cast<long long*>(words(layout.weights[at])); }
  __device__ long long* sums_of(std::uint32_t at) const { return reinterpret_cast<long long*>(words(layout.sums[at])); }
  __device__ bool keeps_weights(std::uint32_t at) const { return at == 0 || layout.weighted != 0; }
  // Memory for the sets of a depth: two pieces of set_capacity ids.
  __device__ std::uint32_t* set_memory(std::uint32_t at) const {
    const std::size_t warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    return work.sets + (warp * layout.sets + layout.set[at]) * 2 * work.set_capacity;
  }

  const Launch& work;
  const WarpLayout& layout;
  std::uint32_t lane;
  std::uint32_t depth = 0;  ///< of the frame that it works on
  bool overflow = false;    ///< of this lane: a result exceeded 64 bits
  std::size_t first_word;   ///< of its frames, in the memory that it shares with other warps

  // Look-ups of this lane, by whether the list was in device memory.
  unsigned long long hits = 0;
  unsigned long long misses = 0;
  unsigned long long filled = 0;
  bool reads_ring = false;         ///< an epoch is announced, so look-ups find lists in the ring
  long long announced_at = 0;      ///< clock of that
  std::uint32_t ring_segment = 0;  ///< that was filled then
  bool copies = true;              ///< lists that it misses are copied to the ring
  bool found_place = false;        ///< this lane has found a list in the ring since this was last cleared

  std::uint32_t program_index = none;
  long long total = 0;  ///< what this lane has found for the program

  bool stopped = false;  ///< the host has asked to stop
  long long looked = 0;  ///< clock when it last looked for idle warps

  // The page for listed matches that it fills.
  std::uint32_t page = none;
  std::uint32_t page_program = none;
  std::uint32_t page_used = 0;

  long long ways = 0;  ///< without sums: matches that this lane's partial match stands for

 private:
  __device__ static std::uint32_t index() {
    const std::uint32_t inside = threadIdx.x / 32;
    if constexpr (kind.in_shared) {
      return inside;
    } else {
      return blockIdx.x * (blockDim.x / 32) + inside;
    }
  }
};

// The ids of a slot's list in a view.
__device__ inline const std::uint32_t*& ids_of(std::uint32_t* view, std::uint32_t slot) {
  return reinterpret_cast<const std::uint32_t**>(view)[slot];
}

// The weight of a partial match: its parallel entries, times its parent's product if results go to the total.
template <Kind kind>
__device__ long long weight_of(const Warp<kind>& warp, std::uint32_t depth, std::uint32_t slot) {
  if (warp.keeps_weights(depth)) return warp.weights(depth)[slot];
  return warp.header(depth).tail != 0 ? warp.products(depth - 1)[warp.parents(depth)[slot]] : 1;
}

// The slot of the partial match at depth `target` that the one in `slot` extends.
template <Kind kind>
__device__ std::uint32_t slot_above(const Warp<kind>& warp, std::uint32_t depth, std::uint32_t slot, std::uint32_t target) {
#pragma unroll 1
  for (; depth > target; --depth) slot = warp.parents(depth)[slot];
  return slot;
}

// The vertex at a position of the partial match in a slot.
template <Kind kind>
__device__ std::uint32_t vertex_at(const Warp<kind>& warp, std::uint32_t depth, std::uint32_t slot, std::uint32_t position) {
  const std::uint32_t target = position < 2 ? 0 : position - 1;
  slot = slot_above(warp, depth, slot, target);
  return warp.vertices(target)[position == 1 ? 32 + slot : slot];
}

template <Kind kind>
__device__ __noinline__ Anchor anchor_of(const Warp<kind>& warp, std::uint32_t depth, std::uint32_t slot) {
  slot = slot_above(warp, depth, slot, 0);
  return {warp.vertices(0)[slot], warp.vertices(0)[32 + slot], warp.labels()[slot]};
}

// --- arithmetic that never wraps silently ---

template <Kind kind>
__device__ __noinline__ long long multiply(Warp<kind>& warp, long long a, long long b) {
  const long long low = a * b;
  if (__mul64hi(a, b) != (low >> 63)) warp.overflow = true;
  return low;
}
template <Kind kind>
__device__ long long add(Warp<kind>& warp, long long a, long long b) {
  const auto sum = static_cast<long long>(static_cast<unsigned long long>(a) + static_cast<unsigned long long>(b));
  if (((a ^ sum) & (b ^ sum)) < 0) warp.overflow = true;
  return sum;
}
template <Kind kind>
__device__ void add_shared(Warp<kind>& warp, long long* to, long long value) {
  const auto old =
      static_cast<long long>(atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value)));
  static_cast<void>(add(warp, old, value));
}
template <Kind kind>
__device__ long long binomial(Warp<kind>& warp, long long n, std::uint32_t k) {
  if (k == 1) return n;
  if (n < k) return 0;
  long long result = 1;
#pragma unroll 1
  for (std::uint32_t i = 0; i < k; ++i) {
    // The division leaves no remainder.
    const long long product = multiply(warp, result, n - i);
    result = product / (i + 1);
  }
  return result;
}

}  // namespace deltamatch::gpu::device

// A warp's memory, the frames of its depths: first layer of the matching kernel (gpu/loops/kernel.cu).
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
};
static_assert(sizeof(Header) <= frame_chosen * 4);

inline constexpr std::uint32_t program_words = (sizeof(Program) / 4 + 3) / 4 * 4;
static_assert(sizeof(Program) % 4 == 0 && sizeof(Program) <= 128);

extern __shared__ __align__(16) std::uint32_t shared_words[];

/// `sums`: programs have weights; `in_shared`: frames lie in shared memory; `reuses`: some loop reads a set again.
template <bool sums, bool in_shared, bool reuses>
class Frames {
 protected:
  __device__ Frames(const Launch& work, const WarpLayout& layout)
      : work_(work), layout_(layout), lane_(threadIdx.x % 32), first_word_(std::size_t{warp_index()} * layout.words) {}

  __device__ std::uint32_t* words(std::uint32_t at) const {
    if constexpr (in_shared) {
      return shared_words + (static_cast<std::uint32_t>(first_word_) + at);
    } else {
      return work_.frames + (first_word_ + at);
    }
  }
  __device__ Program& program() const { return *reinterpret_cast<Program*>(words(layout_.words - program_words)); }
  __device__ std::uint32_t* frame(std::uint32_t depth) const { return words(layout_.frame[depth]); }
  __device__ Header& header(std::uint32_t depth) const { return *reinterpret_cast<Header*>(frame(depth)); }
  __device__ std::uint32_t* vertices(std::uint32_t depth) const { return words(layout_.partials[depth]); }
  __device__ std::uint8_t* parents(std::uint32_t depth) const { return reinterpret_cast<std::uint8_t*>(vertices(depth) + 64); }
  // By partial match: the slot whose sums take its results, in the frame `base`.
  __device__ std::uint8_t* homes(std::uint32_t depth) const {
    return reinterpret_cast<std::uint8_t*>(vertices(depth) + partial_words);
  }
  __device__ std::uint8_t* chosen(std::uint32_t depth) const {
    return reinterpret_cast<std::uint8_t*>(frame(depth) + frame_chosen);
  }
  __device__ std::uint32_t* prefix(std::uint32_t depth) const { return frame(depth) + frame_prefix; }
  __device__ std::uint32_t* labels() const { return prefix(0); }
  __device__ std::uint32_t* view(std::uint32_t depth, std::uint32_t probe) const {
    return frame(depth) + frame_views + probe * view_words;
  }
  __device__ static const std::uint32_t*& ids_of(std::uint32_t* view, std::uint32_t slot) {
    return reinterpret_cast<const std::uint32_t**>(view)[slot];
  }
  __device__ std::uint32_t* apart(std::uint32_t depth, std::uint32_t probes, std::uint32_t i) const {
    return frame(depth) + frame_views + probes * view_words + 32 * i;
  }
  __device__ std::uint32_t* joined_view(std::uint32_t depth, const Node& node, std::uint32_t i) const {
    return apart(depth, node.probes, node.distinct) + joined_words * i;
  }
  __device__ long long* products(std::uint32_t depth) const {
    return reinterpret_cast<long long*>(words(layout_.products[depth]));
  }
  __device__ long long* weights(std::uint32_t depth) const {
    return reinterpret_cast<long long*>(words(layout_.weights[depth]));
  }
  __device__ long long* sums_of(std::uint32_t depth) const { return reinterpret_cast<long long*>(words(layout_.sums[depth])); }
  __device__ bool keeps_weights(std::uint32_t depth) const { return depth == 0 || layout_.weighted != 0; }
  // The weight of a partial match: its parallel entries, times its parent's product if results go to the total.
  __device__ long long weight_of(std::uint32_t depth, std::uint32_t slot) const {
    if (keeps_weights(depth)) return weights(depth)[slot];
    return header(depth).tail != 0 ? products(depth - 1)[parents(depth)[slot]] : 1;
  }

  // The slot of the partial match at depth `target` that the one in `slot` extends.
  __device__ std::uint32_t slot_above(std::uint32_t depth, std::uint32_t slot, std::uint32_t target) const {
#pragma unroll 1
    for (; depth > target; --depth) slot = parents(depth)[slot];
    return slot;
  }

  // The vertex at a position of the partial match in a slot.
  __device__ std::uint32_t vertex_at(std::uint32_t depth, std::uint32_t slot, std::uint32_t position) const {
    const std::uint32_t target = position < 2 ? 0 : position - 1;
    slot = slot_above(depth, slot, target);
    return vertices(target)[position == 1 ? 32 + slot : slot];
  }

  __device__ __noinline__ Anchor anchor_of(std::uint32_t depth, std::uint32_t slot) const {
    slot = slot_above(depth, slot, 0);
    return {vertices(0)[slot], vertices(0)[32 + slot], labels()[slot]};
  }

  // Memory for the sets of a depth: two pieces of set_capacity ids.
  __device__ std::uint32_t* set_memory(std::uint32_t depth) const {
    const std::size_t warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    return work_.sets + (warp * layout_.sets + layout_.set[depth]) * 2 * work_.set_capacity;
  }

  // --- arithmetic that never wraps silently ---

  __device__ __noinline__ long long multiply(long long a, long long b) {
    const long long low = a * b;
    if (__mul64hi(a, b) != (low >> 63)) overflow_ = true;
    return low;
  }
  __device__ long long add(long long a, long long b) {
    const auto sum = static_cast<long long>(static_cast<unsigned long long>(a) + static_cast<unsigned long long>(b));
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
#pragma unroll 1
    for (std::uint32_t i = 0; i < k; ++i) {
      // The division leaves no remainder.
      const long long product = multiply(result, n - i);
      result = product / (i + 1);
    }
    return result;
  }

  const Launch& work_;
  const WarpLayout& layout_;
  std::uint32_t lane_;
  std::uint32_t depth_ = 0;
  bool overflow_ = false;

 private:
  __device__ static std::uint32_t warp_index() {
    const std::uint32_t inside = threadIdx.x / 32;
    if constexpr (in_shared) {
      return inside;
    } else {
      return blockIdx.x * (blockDim.x / 32) + inside;
    }
  }

  std::size_t first_word_;
};

}  // namespace deltamatch::gpu::device

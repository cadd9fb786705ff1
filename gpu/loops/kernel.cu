// The matching kernel: an interpreter of plan::Program, with one warp for each group of anchors.
//
// The warp is a class in layers, each in a header of its own:
// - warp_frames: its memory
// - lists, warp_views: lists as a pass sees them
// - warp_searches: what is looked for in lists
// - warp_extension: how partial matches grow
// - warp_sets: sets that loops read again
// - warp_items: where its work comes from
// - warp_sharing: what it gives away
// - warp_counting: candidates that are only counted
// - warp_listing: matches that are listed
// - this file: the walk through the program
//
// Rarely used code is kept out of line, and loops are not unrolled without need. Thousands of warps at different places of the
// program share the instruction cache. Its misses once cost half of the time. For the same reason, programs without sets to
// read again have a kernel without that code.
#include "gpu/loops/kernel.hpp"

#include <cuda_runtime.h>

#include <algorithm>

#include "gpu/cuda/check.hpp"
#include "gpu/cuda/devices.hpp"
#include "gpu/loops/warp_listing.cuh"

namespace deltamatch::gpu {

namespace {

using namespace device;

constexpr unsigned warps_per_block = 4;
constexpr unsigned resident_blocks = 4;  // per multiprocessor; limits the registers of a thread

template <bool sums, bool in_shared, bool reuses>
class Warp : public Listing<sums, in_shared, reuses> {
 public:
  using Base = Listing<sums, in_shared, reuses>;
  __device__ Warp(const Launch& work, const WarpLayout& layout) : Base(work, layout) {}

  __device__ void run() {
    while (this->take_chunk()) walk(0);
    // No anchors are left: take over what others give away.
    while (this->take_item()) walk(depth_);
    finish();
  }

 private:
  using Base::add;
  using Base::depth_;
  using Base::header;
  using Base::lane_;
  using Base::multiply;
  using Base::products;
  using Base::sums_of;
  using Base::total_;
  using Base::work_;
  using typename Base::Aim;

  // Runs until all frames from `first` up are done.
  __device__ void walk(std::uint32_t first) {
    depth_ = first;
    while (true) {
      Header& own = header(depth_);
      if (own.running == 0) {
        if (this->time_to_look()) this->donate();
        if (this->stopped_) return;
        if constexpr (reuses) {
          if (own.filled == 0 && own.next >= own.total && own.window < own.slots)
            this->next_sets(longest_search * work_.set_capacity);
        }
        if (own.filled < 32 && own.next < own.total) this->fill();
        const std::uint32_t filled = own.filled;
        if (filled == 0) {
          if (reuses && own.window < own.slots) continue;
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
            own.pc = this->program().first_step;
            own.end = this->program().end_step;
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
        this->shift();
        continue;
      }
      __syncwarp();
      if (lane_ == 0) own.pc = pc + 1;
      __syncwarp();
      run_step(work_.steps[pc]);
    }
  }

  // If all products are zero, the rest of the term adds nothing.
  __device__ void skip_if_zero() {
    const bool some = lane_ < header(depth_).batch && products(depth_)[lane_] != 0;
    if (__any_sync(all_lanes, some)) return;
    if (lane_ == 0) {
      Header& own = header(depth_);
#pragma unroll 1
      while (own.pc < own.end && work_.steps[own.pc].kind != StepKind::term) ++own.pc;
    }
    __syncwarp();
  }

  __device__ void run_step(const Step& step) {
    const std::uint32_t batch = header(depth_).batch;
    switch (step.kind) {
      case StepKind::term:
        if (sums) {
          if (lane_ < batch) products(depth_)[lane_] = multiply(this->weight_of(depth_, lane_), step.coefficient);
          __syncwarp();
        } else {
          ways_ = lane_ < batch ? 1 : 0;
        }
        break;
      case StepKind::count:
        this->count(work_.nodes[step.node]);
        if (sums) {
          skip_if_zero();
        } else {
          ways_ = 0;
        }
        break;
      case StepKind::loop: {
        const Node& node = work_.nodes[step.node];
        if (reuses && node.keeps_set(depth_ + 1)) {
          this->push(step.node, step.tail != 0, 0, batch);
          break;
        }
        unsigned wide = 0;
        const std::uint32_t total = this->expand(depth_ + 1, node, Aim::loop, wide);
        if (total > 0) {
          this->push(step.node, step.tail != 0, total);
        } else if (sums && step.tail == 0) {
          products(depth_)[lane_] = 0;
          __syncwarp();
          skip_if_zero();
        }
        break;
      }
      case StepKind::edges:
        ways_ = this->edges(false);
        break;
      case StepKind::add:
        if (!sums) {
          total_ = add(total_, ways_);
        } else if (lane_ < batch) {
          const long long product = products(depth_)[lane_];
          if (header(depth_).global != 0) {
            total_ = add(total_, product);
          } else {
            this->add_shared(&sums_of(header(depth_).base)[this->homes(depth_)[lane_]], product);
          }
        }
        __syncwarp();
        break;
      case StepKind::emit:
        if (this->program().plain != 0) {
          this->emit_plain(batch);
        } else {
          this->edges(true);
        }
        total_ += this->program().plain != 0 && lane_ < batch ? 1 : 0;
        break;
    }
  }

  __device__ void finish() {
    this->flush();
    this->publish();
    unsigned long long hits = this->hits_;
    unsigned long long misses = this->misses_;
#pragma unroll 1
    for (unsigned offset = 16; offset > 0; offset /= 2) {
      hits += __shfl_down_sync(all_lanes, hits, offset);
      misses += __shfl_down_sync(all_lanes, misses, offset);
    }
    if (lane_ == 0) {
      atomicAdd(&work_.counters->hits, hits);
      atomicAdd(&work_.counters->misses, misses);
    }
  }

  long long ways_ = 0;
};

template <bool sums, bool in_shared, bool reuses>
__global__ void __launch_bounds__(warps_per_block * 32, resident_blocks)
    match_kernel(const __grid_constant__ Launch work, const __grid_constant__ WarpLayout layout) {
  Warp<sums, in_shared, reuses>(work, layout).run();
}

using Kernel = void (*)(Launch, WarpLayout);

Kernel kernel_of(bool sums, bool in_shared, const WarpLayout& layout) {
  static constexpr Kernel kernels[2][2][2] = {{{match_kernel<false, false, false>, match_kernel<false, false, true>},
                                               {match_kernel<false, true, false>, match_kernel<false, true, true>}},
                                              {{match_kernel<true, false, false>, match_kernel<true, false, true>},
                                               {match_kernel<true, true, false>, match_kernel<true, true, true>}}};
  return kernels[sums ? 1 : 0][in_shared ? 1 : 0][layout.sets > 0 ? 1 : 0];
}

}  // namespace

std::optional<WarpLayout> make_layout(const std::vector<DepthNeeds>& needs, bool sums, bool weighted) {
  WarpLayout layout{};
  layout.depths = static_cast<std::uint32_t>(needs.size());
  layout.weighted = weighted ? 1 : 0;
  std::uint32_t at = 0;
  const auto place = [&](std::uint16_t& part, std::uint32_t words) {
    part = static_cast<std::uint16_t>(at);
    at = (at + words + 3) / 4 * 4;
  };
  for (std::uint32_t d = 0; d < layout.depths; ++d) {
    place(layout.frame[d],
          frame_views + needs[d].probes * view_words + 32 * needs[d].distinct + needs[d].joined * joined_words);
    const bool loops = d == 0 || needs[d].loops;
    if (loops) place(layout.partials[d], partial_words + (sums ? home_words : 0));
    if (sums && loops) place(layout.products[d], 64);
    if (sums && loops && (d == 0 || weighted)) place(layout.weights[d], d == 0 ? 64 : 128);
    if (sums && needs[d].sums) place(layout.sums[d], 64);
    if (needs[d].sets) layout.set[d] = static_cast<std::uint8_t>(layout.sets++);
  }
  layout.words = at + program_words;
  if (layout.words > UINT16_MAX) return std::nullopt;
  return layout;
}

Grid fit_grid(const WarpLayout& layout, bool sums) {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
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
  const auto* kernel = reinterpret_cast<const void*>(kernel_of(sums, shared, layout));
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(grid.shared_bytes)),
        "cudaFuncSetAttribute");
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(grid.threads), grid.shared_bytes),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  if (blocks < 1) throw Error("matching kernel", "does not fit the device", "match this query on the CPU");
  grid.blocks = static_cast<unsigned>(blocks * multiprocessors());
  if (!shared) grid.frame_words = std::size_t{grid.warps()} * layout.words;
  return grid;
}

void launch(const Launch& work, const WarpLayout& layout, const Grid& grid, bool sums, CUstream_st* stream) {
  kernel_of(sums, work.frames == nullptr, layout)<<<grid.blocks, grid.threads, grid.shared_bytes, stream>>>(work, layout);
  check(cudaGetLastError(), "matching kernel");
}

}  // namespace deltamatch::gpu

// The matching kernel: an interpreter of plan::Program, with one warp for each group of anchors.
//
// What a warp knows is the struct Warp. What it does are functions, by subject:
// - warp: the struct, and its memory
// - lists, warp_views: lists as a pass sees them
// - warp_searches: what is looked for in lists
// - warp_demand: missed lists that are kept on the device
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

// If all products are zero, the rest of the term adds nothing.
template <Kind kind>
__device__ void skip_if_zero(Warp<kind>& warp) {
  const bool some = warp.lane < warp.header(warp.depth).batch && warp.products(warp.depth)[warp.lane] != 0;
  if (__any_sync(all_lanes, some)) return;
  if (warp.lane == 0) {
    Header& own = warp.header(warp.depth);
#pragma unroll 1
    while (own.pc < own.end && warp.work.steps[own.pc].kind != StepKind::term) ++own.pc;
  }
  __syncwarp();
}

// Runs a step of the program on the batch.
template <Kind kind>
__device__ void run_step(Warp<kind>& warp, const Step& step) {
  const std::uint32_t batch = warp.header(warp.depth).batch;
  switch (step.kind) {
    case StepKind::term:
      if (kind.sums) {
        if (warp.lane < batch)
          warp.products(warp.depth)[warp.lane] = multiply(warp, weight_of(warp, warp.depth, warp.lane), step.coefficient);
        __syncwarp();
      } else {
        warp.ways = warp.lane < batch ? 1 : 0;
      }
      break;
    case StepKind::count:
      count_candidates(warp, warp.work.nodes[step.node]);
      if (kind.sums) {
        skip_if_zero(warp);
      } else {
        warp.ways = 0;
      }
      break;
    case StepKind::loop: {
      const Node& node = warp.work.nodes[step.node];
      if (kind.reuses && node.keeps_set(warp.depth + 1)) {
        push_frame(warp, step.node, step.tail != 0, 0, batch);
        break;
      }
      unsigned wide = 0;
      open_ring(warp, node);
      const std::uint32_t total = expand(warp, warp.depth + 1, node, Aim::loop, wide);
      close_ring(warp);
      if (total > 0) {
        push_frame(warp, step.node, step.tail != 0, total);
      } else if (kind.sums && step.tail == 0) {
        warp.products(warp.depth)[warp.lane] = 0;
        __syncwarp();
        skip_if_zero(warp);
      }
      break;
    }
    case StepKind::edges:
      warp.ways = map_edges(warp, false);
      break;
    case StepKind::add:
      if (!kind.sums) {
        warp.total = add(warp, warp.total, warp.ways);
      } else if (warp.lane < batch) {
        const long long product = warp.products(warp.depth)[warp.lane];
        if (warp.header(warp.depth).global != 0) {
          warp.total = add(warp, warp.total, product);
        } else {
          add_shared(warp, &warp.sums_of(warp.header(warp.depth).base)[warp.homes(warp.depth)[warp.lane]], product);
        }
      }
      __syncwarp();
      break;
    case StepKind::emit:
      if (warp.program().plain != 0) {
        emit_plain(warp, batch);
      } else {
        map_edges(warp, true);
      }
      warp.total += warp.program().plain != 0 && warp.lane < batch ? 1 : 0;
      break;
  }
}

// Runs until all frames from `first` up are done.
template <Kind kind>
__device__ void walk(Warp<kind>& warp, std::uint32_t first) {
  warp.depth = first;
  while (true) {
    Header& own = warp.header(warp.depth);
    if (own.running == 0) {
      if (time_to_look(warp)) donate(warp);
      if (warp.stopped) return;
      if constexpr (kind.reuses) {
        if (own.filled == 0 && own.next >= own.total && own.window < own.slots)
          next_sets(warp, longest_search * warp.work.set_capacity);
      }
      if (own.filled < 32 && own.next < own.total) fill_frame(warp);
      const std::uint32_t filled = own.filled;
      if (filled == 0) {
        if (kind.reuses && own.window < own.slots) continue;
        if (warp.depth == 0) return;
        if (kind.sums && own.tail == 0) {
          if (warp.lane < warp.header(warp.depth - 1).batch) {
            warp.products(warp.depth - 1)[warp.lane] =
                multiply(warp, warp.products(warp.depth - 1)[warp.lane], warp.sums_of(warp.depth)[warp.lane]);
          }
          __syncwarp();
        }
        --warp.depth;
        if (kind.sums) skip_if_zero(warp);
        continue;
      }
      __syncwarp();
      if (warp.lane == 0) {
        own.batch = min(filled, 32U);
        own.running = 1;
        if (warp.depth == 0) {
          own.pc = warp.program().first_step;
          own.end = warp.program().end_step;
        } else {
          own.pc = warp.work.nodes[own.node].first_step;
          own.end = warp.work.nodes[own.node].end_step;
        }
      }
      __syncwarp();
      continue;
    }
    const std::uint32_t pc = own.pc;
    if (pc == own.end) {
      end_batch(warp);
      continue;
    }
    __syncwarp();
    if (warp.lane == 0) own.pc = pc + 1;
    __syncwarp();
    run_step(warp, warp.work.steps[pc]);
  }
}

// nvcc cannot name a kernel by a value of a class, so the parts of its kind are given one by one.
template <bool sums, bool in_shared, bool reuses, bool fills>
__global__ void __launch_bounds__(warps_per_block * 32, resident_blocks)
    match_kernel(const __grid_constant__ Launch work, const __grid_constant__ WarpLayout layout) {
  Warp<Kind{sums, in_shared, reuses, fills}> warp(work, layout);
  while (take_chunk(warp)) walk(warp, 0);
  // No anchors are left: take over what others give away.
  while (take_item(warp)) walk(warp, warp.depth);
  close_ring(warp);
  publish_page(warp);
  count_look_ups(warp);
}

using Kernel = void (*)(Launch, WarpLayout);

// By what they read: lists, sets too, the ring too.
template <bool sums, bool in_shared>
constexpr Kernel kernels_of[3] = {match_kernel<sums, in_shared, false, false>, match_kernel<sums, in_shared, true, false>,
                                  match_kernel<sums, in_shared, true, true>};

Kernel kernel_of(KernelKind kind, bool in_shared, const WarpLayout& layout) {
  static constexpr const Kernel* kernels[2][2] = {{kernels_of<false, false>, kernels_of<false, true>},
                                                  {kernels_of<true, false>, kernels_of<true, true>}};
  return kernels[kind.sums ? 1 : 0][in_shared ? 1 : 0][kind.fills ? 2 : layout.sets > 0 ? 1 : 0];
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

Grid fit_grid(const WarpLayout& layout, KernelKind kind) {
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
  const auto* kernel = reinterpret_cast<const void*>(kernel_of(kind, shared, layout));
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(grid.shared_bytes)),
        "cudaFuncSetAttribute");
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(grid.threads), grid.shared_bytes),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  if (blocks < 1) throw Error("matching kernel", "the kernel does not fit the device", "match this query on the CPU");
  grid.blocks = static_cast<unsigned>(blocks * multiprocessors());
  if (!shared) grid.frame_words = std::size_t{grid.warps()} * layout.words;
  return grid;
}

void launch(const Launch& work, const WarpLayout& layout, const Grid& grid, KernelKind kind, CUstream_st* stream) {
  kernel_of(kind, work.frames == nullptr, layout)<<<grid.blocks, grid.threads, grid.shared_bytes, stream>>>(work, layout);
  check(cudaGetLastError(), "matching kernel");
}

}  // namespace deltamatch::gpu

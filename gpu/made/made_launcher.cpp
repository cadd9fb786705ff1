#include "gpu/made/made_launcher.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "gpu/cuda/check.hpp"
#include "gpu/cuda/devices.hpp"

namespace deltamatch::gpu {

namespace {

// Plans whose kernels run at once.
constexpr std::size_t most_strands = 8;
// Tasks that wait at a depth at most, beside those of the reserve.
constexpr std::uint32_t queue_tasks = 1U << 19;
// Anchors that a launch takes. The reserve has a place for each of their tasks.
constexpr std::uint32_t most_anchors = 1U << 16;
constexpr std::uint32_t scratch_words = 2048;
// Then a task gives the rest of its work away: hundreds of microseconds.
constexpr long long most_clocks = 300'000;
// Merged lists get one part in this many of the memory that is free at first. All pools of sets get another.
constexpr std::size_t pool_share = 16;
constexpr std::size_t least_pool = std::size_t{4} << 20;  // words
constexpr std::size_t most_pool = std::size_t{1} << 27;

std::uint64_t queue_words(const MadeText& shape) {
  return std::uint64_t{shape.task_words} * (queue_tasks + std::uint64_t{most_anchors} * shape.tasks);
}

}  // namespace

void MadeLauncher::prepare(const std::vector<const MadeKernel*>& kernels, const GraphView& graph) {
  if (kernels.empty()) return;
  if (pool_words_ == 0) {
    pool_words_ = std::clamp(free_device_bytes() / pool_share / sizeof(std::uint32_t), least_pool, most_pool);
    staged_made_ = make_event();
  }
  staged_.prepare(graph.stores[0], pool_words_);
  while (strands_.size() < std::min(kernels.size(), most_strands)) {
    strands_.push_back({make_stream(), make_event(), make_device_memory<MadeState>(1), {}, {}, {}});
  }
  std::uint32_t depths = 1;
  std::size_t scratch = 0;
  for (const MadeKernel* kernel : kernels) {
    auto at = loaded_.find(kernel->cubin);
    if (at == loaded_.end()) {
      Loaded made{LoadedModule(*kernel->cubin), {}, {}};
      for (std::uint32_t depth = 0; depth < kernel->shape.depths; ++depth) {
        made.kernels.push_back(made.module.function("made_" + std::to_string(depth)));
        made.blocks.push_back(std::max(1U, blocks_at_once(made.kernels.back(), made_threads)) *
                              static_cast<unsigned>(multiprocessors()));
      }
      at = loaded_.emplace(kernel->cubin, std::move(made)).first;
    }
    const unsigned warps = std::ranges::max(at->second.blocks) * made_threads / 32;
    queue_words_ = std::max(queue_words_, queue_words(kernel->shape));
    depths = std::max(depths, kernel->shape.depths);
    scratch = std::max(scratch, std::size_t{warps} * kernel->shape.sets * scratch_words);
  }
  for (Strand& strand : strands_) {
    if (depths > 1) strand.tasks.reserve(queue_words_ * (depths - 1) * made_phases);
    if (scratch > 0) strand.scratch.reserve(scratch);
    strand.pool.reserve(pool_words_ / most_strands);
  }
}

void MadeLauncher::launch(const std::vector<MadeWork>& work, const GraphView& graph, Counters* counters, const unsigned* stop,
                          cudaStream_t stream) {
  staged_.make(graph.stores[0], stream);
  check(cudaEventRecord(staged_made_.get(), stream), "cudaEventRecord");
  for (const Strand& strand : strands_)
    check(cudaStreamWaitEvent(strand.stream.get(), staged_made_.get()), "cudaStreamWaitEvent");
  std::size_t next = 0;
  for (std::size_t at = 0; at < work.size(); ++next) {
    std::size_t count = 1;
    while (at + count < work.size() && count < 2 && work[at + count].kernel == work[at].kernel) ++count;
    launch(&work[at], count, graph, counters, stop, strands_[next % strands_.size()]);
    at += count;
  }
  for (const Strand& strand : strands_) {
    check(cudaEventRecord(strand.done.get(), strand.stream.get()), "cudaEventRecord");
    check(cudaStreamWaitEvent(stream, strand.done.get()), "cudaStreamWaitEvent");
  }
}

void MadeLauncher::launch(const MadeWork* work, std::size_t count, const GraphView& graph, Counters* counters,
                          const unsigned* stop, Strand& strand) {
  const MadeKernel& kernel = *work->kernel;
  MadeLaunch made{};
  made.store = graph.stores[0];
  made.directed = graph.directed;
  made.counters = counters;
  made.stop = stop;
  made.state = strand.state.get();
  made.pool = strand.pool.get();
  made.pool_words = static_cast<std::uint32_t>(pool_words_ / most_strands);
  made.scratch = strand.scratch.get();
  made.scratch_words = scratch_words;
  made.sets = kernel.shape.sets;
  made.query_relations = graph.query_relations;
  made.staged = staged_.table();
  made.staged_mask = staged_.mask();
  made.merged = staged_.merged();
  for (std::size_t w = 0; w < kernel.shape.ways.size(); ++w) {
    made.ways[w] = {kernel.shape.ways[w].query_relation, kernel.shape.ways[w].inclusive ? 1U : 0U};
  }
  for (std::uint32_t depth = 1; depth < kernel.shape.depths; ++depth) {
    for (std::uint32_t phase = 0; phase < made_phases; ++phase) {
      made.queues[phase][depth] = {strand.tasks.get() + (phase * (kernel.shape.depths - 1) + depth - 1) * queue_words_,
                                   queue_tasks, most_anchors * kernel.shape.tasks};
    }
  }
  std::uint32_t left[2] = {0, 0};
  for (std::size_t i = 0; i < count; ++i) {
    made.passes[i] = work[i].pass;
    left[i] = std::exchange(made.passes[i].count, 0);
  }
  while (left[0] + left[1] > 0) {
    std::uint32_t room = most_anchors;
    for (int i = 0; i < 2; ++i) {
      MadePass& pass = made.passes[i];
      pass.first += pass.count * pass.stride;
      pass.count = std::min(left[i], room);
      left[i] -= pass.count;
      room -= pass.count;
    }
    launch(kernel, made, strand.stream.get());
  }
}

void MadeLauncher::launch(const MadeKernel& kernel, MadeLaunch made, cudaStream_t stream) {
  const Loaded& loaded = loaded_.at(kernel.cubin);
  check(cudaMemsetAsync(made.state, 0, sizeof(MadeState), stream), "cudaMemsetAsync");
  const unsigned for_anchors = (made.passes[0].count + made.passes[1].count) * 32 / made_threads + 1;
  for (std::uint32_t phase = 0; phase < made_phases; ++phase) {
    made.phase = phase;
    made.most_clocks = phase + 1 < made_phases ? most_clocks : std::numeric_limits<long long>::max();
    for (std::uint32_t depth = phase == 0 ? 0 : 1; depth < kernel.shape.depths; ++depth) {
      const unsigned blocks = depth == 0 ? std::min(for_anchors, loaded.blocks[0]) : loaded.blocks[depth];
      gpu::launch(loaded.kernels[depth], blocks, made_threads, &made, stream);
    }
  }
}

}  // namespace deltamatch::gpu

// A batch on the GPU: programs are flattened, the estimator says which lists are worth caching, the mirrors are brought up to
// date, every device gets its share of the anchors, and what the kernels list is drained while they run. Nothing is handed on
// before all of it has succeeded.
#include "gpu/matcher.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "estimate/estimator.hpp"
#include "estimate/selection.hpp"
#include "gpu/device_graph.hpp"
#include "gpu/flat_programs.hpp"
#include "gpu/kernel.hpp"
#include "gpu/memory.hpp"
#include "gpu/nvtx.hpp"
#include "gpu/slabs.hpp"

namespace deltamatch::gpu {

namespace {

using Clock = std::chrono::steady_clock;
using match::PassWork;
using match::QueryResult;
using match::QueryTask;

// Looking oftener for idle warps, thousands of warps would queue up at the counters.
constexpr std::uint32_t share_interval = 30000;
// Partial matches that wait for an idle warp.
constexpr std::uint32_t queue_items = 1U << 14;
// Device memory that is left to matching itself when the budget is not given.
constexpr std::size_t reserve_bytes = std::size_t{1} << 30;
// Pages beyond one for each warp: what the host drains while warps go on.
constexpr std::uint32_t spare_pages = 1024;
constexpr auto drain_pause = std::chrono::microseconds(20);
constexpr auto patience = std::chrono::milliseconds(2);

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Memory that grows to what is asked for and keeps it.
template <class T>
class DeviceBuffer {
 public:
  T* reserve(std::size_t count) {
    if (count > count_) {
      memory_.reset();
      count_ = 0;
      memory_ = make_device_memory<T>(count + count / 4);
      count_ = count + count / 4;
    }
    return memory_.get();
  }
  [[nodiscard]] T* get() const noexcept { return memory_.get(); }

 private:
  DeviceMemory<T> memory_;
  std::size_t count_ = 0;
};

// Several arrays in one block, so that one copy brings them all to the device.
class Bundle {
 public:
  void clear() noexcept { bytes_ = 0; }
  template <class T>
  std::size_t add(std::span<const T> values) {
    const std::size_t at = (bytes_ + 15) / 16 * 16;
    const std::size_t end = at + values.size_bytes();
    if (end > capacity_) grow(end);
    if (!values.empty()) std::memcpy(host_.get() + at, values.data(), values.size_bytes());
    bytes_ = end;
    return at;
  }
  void send(cudaStream_t stream) {
    device_.reserve(bytes_ + 16);
    if (bytes_ > 0) {
      check(cudaMemcpyAsync(device_.get(), host_.get(), bytes_, cudaMemcpyHostToDevice, stream), "copy of the programs");
    }
  }
  template <class T>
  [[nodiscard]] const T* at(std::size_t offset) const noexcept {
    return reinterpret_cast<const T*>(device_.get() + offset);
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  void grow(std::size_t bytes) {
    const std::size_t capacity = std::max<std::size_t>(2 * bytes, 1 << 16);
    PinnedMemory<std::byte> larger = make_pinned_memory<std::byte>(capacity);
    if (bytes_ > 0) std::memcpy(larger.get(), host_.get(), bytes_);
    host_ = std::move(larger);
    capacity_ = capacity;
  }

  PinnedMemory<std::byte> host_;
  std::size_t capacity_ = 0;
  std::size_t bytes_ = 0;
  DeviceBuffer<std::byte> device_;
};

// What a kernel writes besides matches.
struct Outcome {
  Queue queue[2];
  Counters counters;
};

// One GPU with its mirror of the graph.
class Device {
 public:
  Device(int ordinal, const DeviceGraphOptions& options, Workers& workers) : ordinal_(ordinal) {
    use();
    stream_ = make_stream();
    done_ = make_event();
    mirror_ = std::make_unique<DeviceGraph>(make_cuda_ops(ordinal, stream_.get()), options, workers);
    outcome_ = make_device_memory<Outcome>(1);
    read_outcome_ = make_pinned_memory<Outcome>(1);
    items_ = make_device_memory<Item>(queue_items);
    sequence_ = make_device_memory<std::uint32_t>(2 * queue_items);
    control_ = make_stream();
    stop_ = make_pinned_memory<unsigned>(1);
    *stop_.get() = 1;
    tickets_ = make_device_memory<unsigned long long>(2);
  }
  ~Device() {
    static_cast<void>(cudaSetDevice(ordinal_));
    if (stream_) static_cast<void>(cudaStreamSynchronize(stream_.get()));
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  void use() const { check(cudaSetDevice(ordinal_), "cudaSetDevice"); }
  [[nodiscard]] DeviceGraph& mirror() noexcept { return *mirror_; }

  // Queues the share of the work; nothing is waited for.
  void start(const FlatPrograms& flat, std::uint32_t share, std::uint32_t shares, const GpuOptions& options,
             std::size_t base_vertices, std::size_t derived_vertices) {
    use();
    const cudaStream_t stream = stream_.get();
    stopping_ = false;
    bundle_.clear();
    const std::size_t nodes = bundle_.add(std::span(flat.nodes));
    const std::size_t steps = bundle_.add(std::span(flat.steps));
    const std::size_t probes = bundle_.add(std::span(flat.probes));
    const std::size_t edges = bundle_.add(std::span(flat.edges));
    const std::size_t positions = bundle_.add(std::span(flat.positions));
    struct Part {
      const FlatWork* work;
      WarpLayout layout;
      Grid grid;
      std::uint32_t chunks;
      std::size_t at_programs;
      std::size_t at_anchors;
      std::size_t at_chunks;
    };
    std::vector<Part> parts;
    lists_ = false;
    for (const FlatWork* work : {&flat.sums, &flat.walks}) {
      if (work->empty()) continue;
      Part part{work, make_layout(work->needs, work == &flat.sums, work->weighted), {}, 0, 0, 0, 0};
      part.grid = fit_grid(part.layout, work == &flat.sums);
      const std::vector<Chunk> chunks = make_chunks(*work, part.grid.warps(), share, shares);
      if (chunks.empty()) continue;
      part.grid = limit_grid(part.grid, chunks.size());
      part.chunks = static_cast<std::uint32_t>(chunks.size());
      part.at_programs = bundle_.add(std::span(work->programs));
      part.at_anchors = bundle_.add(std::span(work->anchors));
      part.at_chunks = bundle_.add(std::span(std::as_const(chunks)));
      parts.push_back(part);
      lists_ =
          lists_ || std::any_of(work->origins.begin(), work->origins.end(), [](const auto& origin) { return origin.list; });
    }
    bundle_.send(stream);
    const std::size_t programs = flat.sums.programs.size() + flat.walks.programs.size();
    totals_.reserve(programs);
    check(cudaMemsetAsync(totals_.get(), 0, programs * sizeof(Total), stream), "cudaMemsetAsync");
    Outcome& fresh = *read_outcome_.get();
    fresh = {};
    check(cudaMemcpyAsync(outcome_.get(), &fresh, sizeof fresh, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
    check(cudaMemsetAsync(sequence_.get(), 0, 2 * queue_items * sizeof(std::uint32_t), stream), "cudaMemsetAsync");
    if (lists_) {
      unsigned warps = 0;
      for (const Part& part : parts) warps = std::max(warps, part.grid.warps());
      open_pages(warps + spare_pages);
      check(cudaMemsetAsync(tickets_.get(), 0, 2 * sizeof(unsigned long long), stream), "cudaMemsetAsync");
    }
    const bool measure = options.measure;
    if (measure) {
      accesses_[0].reserve(base_vertices);
      accesses_[1].reserve(derived_vertices);
      counted_[0] = base_vertices;
      counted_[1] = derived_vertices;
      for (int s = 0; s < 2; ++s) {
        if (counted_[s] == 0) continue;
        check(cudaMemsetAsync(accesses_[s].get(), 0, counted_[s] * sizeof(std::uint32_t), stream), "cudaMemsetAsync");
      }
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Part& part = parts[i];
      const bool sums = part.work == &flat.sums;
      Launch work{};
      work.graph = mirror_->view();
      work.programs = bundle_.at<Program>(part.at_programs);
      work.nodes = bundle_.at<Node>(nodes);
      work.steps = bundle_.at<Step>(steps);
      work.probes = bundle_.at<Probe>(probes);
      work.edges = bundle_.at<QueryEdge>(edges);
      work.positions = bundle_.at<std::uint8_t>(positions);
      work.anchors = bundle_.at<Anchor>(part.at_anchors);
      work.chunks = bundle_.at<Chunk>(part.at_chunks);
      work.chunk_count = part.chunks;
      work.totals = totals_.get() + (sums ? 0 : flat.sums.programs.size());
      work.queue = &outcome_.get()->queue[i];
      work.warps = part.grid.warps();
      work.share_interval = options.share_interval > 0 ? options.share_interval : share_interval;
      work.items = items_.get();
      work.item_sequence = sequence_.get() + i * queue_items;
      work.item_capacity = queue_items;
      work.pages = pages_;
      work.counters = &outcome_.get()->counters;
      for (int s = 0; s < 2; ++s) work.accesses[s] = measure && counted_[s] > 0 ? accesses_[s].get() : nullptr;
      if (part.grid.frame_words > 0) work.frames = frames_.reserve(part.grid.frame_words);
      launch(work, part.layout, part.grid, sums, stream);
    }
    check(cudaEventRecord(done_.get(), stream), "cudaEventRecord");
  }

  // Takes what is there; returns whether the kernels have ended (and everything was taken).
  template <class Take>
  bool poll(bool stop, Take&& take) {
    use();
    if (stop) ask_to_stop();
    const cudaError_t status = cudaEventQuery(done_.get());
    if (status != cudaErrorNotReady) check(status, "matching kernel");
    if (lists_) drain(take);
    return status == cudaSuccess;
  }

  // After the kernels have ended.
  void finish(const FlatPrograms& flat, std::vector<Total>& totals, Outcome& outcome) {
    use();
    const std::size_t count = flat.sums.programs.size() + flat.walks.programs.size();
    if (count > read_totals_count_) {
      read_totals_ = make_pinned_memory<Total>(2 * count);
      read_totals_count_ = 2 * count;
    }
    check(cudaMemcpyAsync(read_totals_.get(), totals_.get(), count * sizeof(Total), cudaMemcpyDeviceToHost, stream_.get()),
          "cudaMemcpyAsync");
    check(cudaMemcpyAsync(read_outcome_.get(), outcome_.get(), sizeof(Outcome), cudaMemcpyDeviceToHost, stream_.get()),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
    outcome = *read_outcome_.get();
    totals.assign(read_totals_.get(), read_totals_.get() + count);
  }

  // How often each vertex was looked up (measuring).
  std::vector<estimate::Access> accesses() {
    use();
    std::vector<estimate::Access> found;
    for (int s = 0; s < 2; ++s) {
      std::vector<std::uint32_t> counts(counted_[s]);
      if (counts.empty()) continue;
      check(cudaMemcpy(counts.data(), accesses_[s].get(), counts.size() * sizeof(std::uint32_t), cudaMemcpyDeviceToHost),
            "cudaMemcpy");
      for (std::uint32_t v = 0; v < counts.size(); ++v) {
        if (counts[v] > 0) found.push_back({{v, s == 1}, static_cast<double>(counts[v])});
      }
    }
    return found;
  }

  // Waits for whatever runs, on the way out of a failure.
  void settle() noexcept {
    if (cudaSetDevice(ordinal_) != cudaSuccess) return;
    try {
      ask_to_stop();
    } catch (const Error&) {  // the device is beyond asking
    }
    // Warps may wait for free pages: give them back until the kernels are gone.
    while (cudaEventQuery(done_.get()) == cudaErrorNotReady) {
      if (lists_) drain([](const std::uint32_t*) {});
      std::this_thread::sleep_for(drain_pause);
    }
    static_cast<void>(cudaGetLastError());
  }

 private:
  // On a stream of its own, beside the kernels that are to see it.
  void ask_to_stop() {
    if (std::exchange(stopping_, true)) return;
    for (Queue& queue : outcome_.get()->queue) {
      check(cudaMemcpyAsync(&queue.stop, stop_.get(), sizeof(unsigned), cudaMemcpyHostToDevice, control_.get()),
            "cudaMemcpyAsync");
    }
  }

  static Grid limit_grid(Grid grid, std::size_t chunks) {
    // A warp for every chunk and as many to take over parts of them.
    const std::size_t wanted = std::max<std::size_t>(4 * chunks, 1) * 32 / grid.threads + 1;
    grid.blocks = static_cast<unsigned>(std::min<std::size_t>(grid.blocks, std::max<std::size_t>(wanted, 64)));
    return grid;
  }

  void open_pages(std::uint32_t count) {
    if (pages_.pages < count) {
      pages_.pages = 0;
      page_memory_ = make_pinned_memory<std::uint32_t>(std::size_t{count} * page_words);
      page_flags_ = make_pinned_memory<std::uint32_t>(2 * std::size_t{count});
      pages_.memory = page_memory_.get();
      pages_.full = page_flags_.get();
      pages_.free = page_flags_.get() + count;
      pages_.full_tickets = tickets_.get();
      pages_.free_tickets = tickets_.get() + 1;
      pages_.pages = count;
    }
    for (std::uint32_t i = 0; i < pages_.pages; ++i) {
      pages_.full[i] = 0;
      pages_.free[i] = i + 1;
    }
    next_full_ = 0;
    next_free_ = 0;
  }

  template <class Take>
  void drain(Take&& take) {
    while (true) {
      volatile std::uint32_t& entry = pages_.full[next_full_ % pages_.pages];
      const std::uint32_t page = entry;
      if (page == 0) return;
      std::atomic_thread_fence(std::memory_order_acquire);
      take(pages_.memory + std::size_t{page - 1} * page_words);
      entry = 0;
      std::atomic_thread_fence(std::memory_order_release);
      pages_.free[next_free_++ % pages_.pages] = page;
      ++next_full_;
    }
  }

  int ordinal_;
  Stream stream_;
  Event done_;
  std::unique_ptr<DeviceGraph> mirror_;
  Bundle bundle_;
  DeviceBuffer<Total> totals_;
  PinnedMemory<Total> read_totals_;
  std::size_t read_totals_count_ = 0;
  DeviceMemory<Outcome> outcome_;
  PinnedMemory<Outcome> read_outcome_;
  DeviceMemory<Item> items_;
  DeviceMemory<std::uint32_t> sequence_;
  DeviceBuffer<std::uint32_t> frames_;
  Stream control_;
  PinnedMemory<unsigned> stop_;  // what is copied to say stop
  bool stopping_ = false;
  bool lists_ = false;
  Pages pages_{};
  PinnedMemory<std::uint32_t> page_memory_;
  PinnedMemory<std::uint32_t> page_flags_;
  DeviceMemory<unsigned long long> tickets_;
  std::uint64_t next_full_ = 0;
  std::uint64_t next_free_ = 0;
  DeviceBuffer<std::uint32_t> accesses_[2];
  std::size_t counted_[2] = {0, 0};
};

class GpuMatcher final : public match::Matcher {
 public:
  GpuMatcher(const GpuOptions& options, const PinnedSlabs* pinned, bool managed, Workers& workers)
      : options_(options),
        pinned_(pinned),
        managed_(managed),
        workers_(&workers),
        estimator_(workers, estimator_options(options)) {}

  void match(const graph::DataGraph& graph, std::span<const PassWork> passes, std::span<const QueryTask> tasks,
             std::span<QueryResult> results, const match::StopFlag* stop, match::MatchSteps& steps) override {
    const Range range("batch");
    passes_.assign(passes.begin(), passes.end());
    const std::vector<graph::Resolved> resolved = graph.resolved();
    const match::Programs programs = match::make_programs(tasks, resolved);
    std::vector<bool> skip(tasks.size());
    for (std::size_t t = 0; t < tasks.size(); ++t) skip[t] = !fits_kernel(tasks[t]);
    flatten(graph, resolved, passes, tasks, programs, skip, flat_);
    open(graph);
    if (!flat_.sums.empty() || !flat_.walks.empty()) {
      estimate::Selection selection;
      const auto started = Clock::now();
      if (storage_ == Storage::cached && policy_ == CachePolicy::random_walk) {
        const Range inner("estimate");
        estimated_ = &estimator_.run(graph, passes, tasks, programs);
      }
      steps.estimate += seconds_since(started);
      const auto caching = Clock::now();
      {
        const Range inner("cache");
        refresh(graph, resolved, passes, tasks, selection);
      }
      steps.cache += seconds_since(caching);
      const Range inner("match");
      run_kernels(graph, tasks, results, stop);
      if (options_.measure) measure(selection.hot);
    }
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (skip[t]) fall_back(graph, passes, tasks, t, ~0U, results, stop);
    }
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    std::size_t sum = estimator_.bytes();
    for (const auto& device : devices_) sum += device->mirror().host_bytes();
    return sum;
  }

  [[nodiscard]] CacheStatistics statistics() const override {
    CacheStatistics sum = statistics_;
    for (const auto& device : devices_) {
      const DeviceGraphStatistics own = device->mirror().statistics();
      sum.copied_bytes += own.copied_bytes;
      sum.cached_lists += own.cached_lists;
      sum.cached_bytes += own.cached_bytes;
    }
    return sum;
  }

 private:
  static estimate::Options estimator_options(const GpuOptions& options) {
    estimate::Options made;
    if (options.walks > 0) made.walks = options.walks;
    return made;
  }

  // The policy that the graph's size calls for; devices are opened when the first batch comes.
  void open(const graph::DataGraph& graph) {
    if (!devices_.empty()) return;
    policy_ = options_.policy;
    check(cudaSetDevice(options_.devices.front()), "cudaSetDevice");
    const std::size_t free = free_device_bytes();
    const bool readable = managed_ || (pinned_ != nullptr && pinned_->registered());
    if (policy_ == CachePolicy::automatic) {
      policy_ = !readable || fits(graph, free, options_.memory) ? CachePolicy::resident : CachePolicy::random_walk;
    }
    if (!readable && policy_ != CachePolicy::resident) {
      throw Error(ErrorKind::configuration, "cache policy",
                  pinned_ != nullptr ? pinned_->notice() : std::string("kernels cannot read the graph's memory"),
                  "raise the limit on locked memory (ulimit -l), or use the policy resident");
    }
    DeviceGraphOptions wanted;
    switch (policy_) {
      case CachePolicy::none:
      case CachePolicy::managed:
        wanted.storage = Storage::host;
        break;
      case CachePolicy::resident:
        wanted.storage = Storage::resident;
        break;
      default:
        wanted.storage = Storage::cached;
    }
    storage_ = wanted.storage;
    wanted.cache_bytes = options_.memory;
    if (storage_ == Storage::cached && options_.memory == 0) {
      wanted.cache_bytes = free > 2 * reserve_bytes ? free - reserve_bytes : free / 2;
    }
    std::vector<std::unique_ptr<Device>> devices;
    for (const int ordinal : options_.devices) devices.push_back(std::make_unique<Device>(ordinal, wanted, *workers_));
    devices_ = std::move(devices);
  }

  void refresh(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved, std::span<const PassWork> passes,
               std::span<const QueryTask> tasks, estimate::Selection& selection) {
    for (const auto& device : devices_) {
      device->use();
      device->mirror().begin(graph, resolved);
    }
    if (storage_ != Storage::cached) return;
    DeviceGraph& first = devices_.front()->mirror();
    const auto bytes_of = [&](const estimate::StoredVertex& at) {
      return first.packed_bytes({at.vertex, at.derived ? 1U : 0U});
    };
    std::size_t budget = first.cache_bytes();
    for (const auto& device : devices_) budget = std::min(budget, device->mirror().cache_bytes());
    switch (policy_) {
      case CachePolicy::degree:
        selection = estimate::select_by_degree(graph, bytes_of, budget);
        break;
      case CachePolicy::k_hop:
        selection = estimate::select_within(graph, passes, estimate::hops_of(tasks), bytes_of, budget);
        break;
      default:
        selection = estimate::select(estimated_->lists, bytes_of, budget);
    }
    hot_.clear();
    for (const estimate::StoredVertex& at : selection.hot) hot_.push_back({at.vertex, at.derived ? 1U : 0U});
    for (const auto& device : devices_) {
      device->use();
      device->mirror().select(hot_);
    }
  }

  void run_kernels(const graph::DataGraph& graph, std::span<const QueryTask> tasks, std::span<QueryResult> results,
                   const match::StopFlag* stop) {
    const auto shares = static_cast<std::uint32_t>(devices_.size());
    const std::size_t derived = graph.derived() == nullptr ? 0 : graph.derived()->vertices();
    try {
      for (std::uint32_t d = 0; d < shares; ++d) {
        devices_[d]->start(flat_, d, shares, options_, graph.base().vertices(), derived);
      }
      // Pages come with programs of walks only.
      const auto take = [&](const std::uint32_t* page) {
        const ProgramOrigin& origin = flat_.walks.origins[page[0]];
        const QueryTask& task = tasks[origin.task];
        const std::size_t words = task.query->vertices() + task.query->edges.size();
        match::Records& records = results[origin.pass * tasks.size() + origin.task].records;
        records.words.insert(records.words.end(), page + 2, page + page[1]);
        records.plans.insert(records.plans.end(), (page[1] - 2) / words, origin.plan);
        if (task.beyond_limit != nullptr && records.plans.size() > task.limit) {
          task.beyond_limit->store(true, std::memory_order_relaxed);
        }
      };
      std::vector<bool> done(shares);
      std::uint32_t running = shares;
      const auto started = Clock::now();
      while (running > 0) {
        const bool stopping = stop != nullptr && stop->load(std::memory_order_relaxed);
        for (std::uint32_t d = 0; d < shares; ++d) {
          if (done[d] || !devices_[d]->poll(stopping, take)) continue;
          done[d] = true;
          --running;
        }
        // Small batches are done before the system would wake a sleeper.
        if (running > 0 && Clock::now() - started < patience) {
          std::this_thread::yield();
        } else if (running > 0) {
          std::this_thread::sleep_for(drain_pause);
        }
      }
    } catch (...) {
      for (const auto& device : devices_) device->settle();
      throw;
    }
    for (const auto& device : devices_) {
      Outcome outcome;
      device->finish(flat_, totals_, outcome);
      statistics_.hits += outcome.counters.hits;
      statistics_.misses += outcome.counters.misses;
      for (const Queue& queue : outcome.queue) statistics_.shared_parts += queue.pushed;
      add(flat_.sums, 0, tasks, results);
      add(flat_.walks, flat_.sums.programs.size(), tasks, results);
    }
    count_anchors(flat_.sums, tasks, results);
    count_anchors(flat_.walks, tasks, results);
    recount(graph, tasks, results, stop);
  }

  void add(const FlatWork& work, std::size_t first, std::span<const QueryTask> tasks, std::span<QueryResult> results) {
    for (std::size_t i = 0; i < work.programs.size(); ++i) {
      const ProgramOrigin& origin = work.origins[i];
      const Total& total = totals_[first + i];
      if (total.overflow != 0) overflown_.push_back(origin);
      match::PlanResult& into = results[origin.pass * tasks.size() + origin.task].plans[origin.plan];
      __extension__ using Wide = __int128;
      const auto value = static_cast<Wide>(static_cast<Count>(total.high) << 64 | total.low);
      if (origin.sums) {
        if (__builtin_add_overflow(into.sum, value, &into.sum)) throw_count_overflow();
      } else {
        into.found = checked_add(into.found, static_cast<Count>(value));
      }
    }
  }

  static void count_anchors(const FlatWork& work, std::span<const QueryTask> tasks, std::span<QueryResult> results) {
    for (std::size_t i = 0; i < work.programs.size(); ++i) {
      const ProgramOrigin& origin = work.origins[i];
      results[origin.pass * tasks.size() + origin.task].plans[origin.plan].anchors +=
          work.first_anchor[i + 1] - work.first_anchor[i];
    }
  }

  // Sums that exceeded 64 bits on the way are counted again with 128, on the CPU.
  void recount(const graph::DataGraph& graph, std::span<const QueryTask> tasks, std::span<QueryResult> results,
               const match::StopFlag* stop) {
    std::vector<ProgramOrigin> again = std::move(overflown_);
    overflown_.clear();
    std::sort(again.begin(), again.end(),
              [](const auto& a, const auto& b) { return std::pair(a.pass, a.task) < std::pair(b.pass, b.task); });
    again.erase(std::unique(again.begin(), again.end(),
                            [](const auto& a, const auto& b) { return a.pass == b.pass && a.task == b.task; }),
                again.end());
    for (const ProgramOrigin& origin : again) {
      QueryResult& result = results[origin.pass * tasks.size() + origin.task];
      for (match::PlanResult& plan : result.plans) plan = {};
      result.records = {};
      fall_back(graph, passes_of(origin.pass), tasks, origin.task, origin.pass, results, stop);
    }
  }

  [[nodiscard]] std::span<const PassWork> passes_of(std::uint32_t pass) const { return {passes_.data() + pass, 1}; }

  void fall_back(const graph::DataGraph& graph, std::span<const PassWork> passes, std::span<const QueryTask> tasks,
                 std::size_t task, std::uint32_t only, std::span<QueryResult> results, const match::StopFlag* stop) {
    if (!cpu_) cpu_ = match::make_cpu_matcher(*workers_);
    match::MatchSteps steps;
    for (std::size_t p = 0; p < passes.size(); ++p) {
      const std::size_t pass = only == ~0U ? p : only;
      cpu_->match(graph, passes.subspan(p, 1), tasks.subspan(task, 1), results.subspan(pass * tasks.size() + task, 1), stop,
                  steps);
    }
  }

  void measure(std::span<const estimate::StoredVertex> hot) {
    std::vector<estimate::Access> truth;
    for (const auto& device : devices_) {
      for (const estimate::Access& access : device->accesses()) truth.push_back(access);
    }
    std::sort(truth.begin(), truth.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    std::size_t kept = 0;
    for (const estimate::Access& access : truth) {
      if (kept > 0 && truth[kept - 1].at == access.at) {
        truth[kept - 1].times += access.times;
      } else {
        truth[kept++] = access;
      }
    }
    truth.resize(kept);
    const double covered = storage_ == Storage::resident ? 1 : estimate::coverage(truth, hot);
    ++measured_;
    statistics_.coverage += (covered - statistics_.coverage) / static_cast<double>(measured_);
  }

  GpuOptions options_;
  const PinnedSlabs* pinned_;
  bool managed_;
  Workers* workers_;
  estimate::Estimator estimator_;
  const estimate::Accesses* estimated_ = nullptr;
  CachePolicy policy_ = CachePolicy::automatic;
  Storage storage_ = Storage::resident;
  std::vector<std::unique_ptr<Device>> devices_;
  FlatPrograms flat_;
  std::vector<HotVertex> hot_;
  std::vector<Total> totals_;
  std::vector<ProgramOrigin> overflown_;
  std::vector<PassWork> passes_;
  std::unique_ptr<match::Matcher> cpu_;
  CacheStatistics statistics_;
  std::uint64_t measured_ = 0;
};

}  // namespace

std::unique_ptr<match::Matcher> make_matcher(const GpuOptions& options, const PinnedSlabs* pinned, bool managed,
                                             Workers& workers) {
  return std::make_unique<GpuMatcher>(options, pinned, managed, workers);
}

}  // namespace deltamatch::gpu

#include "gpu/device.hpp"

#include <iterator>
#include <thread>
#include <utility>

#include "gpu/cuda/check.hpp"
#include "gpu/mirror/cuda_ops.hpp"

namespace deltamatch::gpu {

namespace {

// If busy warps looked for idle ones more often, thousands of warps would queue up at the counters.
constexpr std::uint32_t default_share_interval = 30000;
// Capacity of the queue of partial matches that wait for an idle warp.
constexpr std::uint32_t queue_items = 1U << 14;
// Pages beyond one for each warp. The host drains them while warps go on.
constexpr std::uint32_t default_spare_pages = 1024;
// Ids that the kept sets of one depth may hold in a warp: a few sets of hundreds, or a batch's sets of tens.
constexpr std::uint32_t default_set_capacity = 1024;
constexpr auto drain_pause = std::chrono::microseconds(20);
// Tables of weights get one part in this many of the memory that is free at first.
constexpr std::size_t table_share = 8;
constexpr std::size_t least_table_bytes = std::size_t{64} << 20;
constexpr std::size_t most_table_bytes = std::size_t{16} << 30;

std::uint32_t set_capacity(const GpuSettings& options) {
  return options.testing.set_capacity > 0 ? options.testing.set_capacity : default_set_capacity;
}

Grid limit_grid(Grid grid, std::size_t chunks) {
  // Four warps for each chunk: one takes it, the others may take over parts of it.
  const std::size_t wanted = std::max<std::size_t>(4 * chunks, 1) * 32 / grid.threads + 1;
  grid.blocks = static_cast<unsigned>(std::min<std::size_t>(grid.blocks, std::max<std::size_t>(wanted, 64)));
  return grid;
}

}  // namespace

Device::Device(int ordinal, const DeviceGraphOptions& options, Workers& workers) : ordinal_(ordinal) {
  use();
  stream_ = make_stream();
  mirror_ = std::make_unique<DeviceGraph>(make_cuda_ops(ordinal, stream_.get()), options, workers);
  outcome_ = make_device_memory<Outcome>(1);
  read_outcome_ = make_pinned_memory<Outcome>(1);
  items_ = make_device_memory<Item>(queue_items);
  sequence_ = make_device_memory<std::uint32_t>(2 * queue_items);
  control_ = make_stream();
  fresh_ = make_event();
  begun_ = make_timer();
  ended_ = make_timer();
  stop_ = make_pinned_memory<unsigned>(1);
  *stop_.get() = 1;
  tickets_ = make_device_memory<unsigned long long>(2);
}

Device::~Device() {
  static_cast<void>(cudaSetDevice(ordinal_));
  if (stream_) static_cast<void>(cudaStreamSynchronize(stream_.get()));
}

std::pair<int, int> Device::capability() const {
  int major = 0;
  int minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal_), "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal_), "cudaDeviceGetAttribute");
  return {major, minor};
}

void Device::prepare(const FlatPrograms& flat, std::uint32_t share, std::uint32_t shares, const GpuSettings& options,
                     const graph::DataGraph& graph) {
  use();
  share_ = share;
  shares_ = shares;
  stopping_ = false;
  lists_ = false;
  parts_.clear();
  bundle_.clear();
  tables_ = {bundle_.add(std::span(flat.nodes)),  bundle_.add(std::span(flat.steps)), bundle_.add(std::span(flat.probes)),
             bundle_.add(std::span(flat.joined)), bundle_.add(std::span(flat.edges)), bundle_.add(std::span(flat.positions))};
  add_part(flat.sums, true, share, shares);
  add_part(flat.walks, false, share, shares);
  std::vector<const MadeKernel*> kernels;
  for (const FlatWork* work : {&flat.sums, &flat.walks}) {
    std::ranges::copy_if(work->made, std::back_inserter(kernels), [](const MadeKernel* kernel) { return kernel != nullptr; });
  }
  made_.prepare(kernels, mirror_->view());
  if (table_bytes_ == 0) table_bytes_ = std::clamp(free_device_bytes() / table_share, least_table_bytes, most_table_bytes);
  sums_.prepare(flat.tables, share, shares, graph.base().vertices(),
                options.testing.table_memory > 0 ? options.testing.table_memory : table_bytes_, bundle_);
  bundle_.reserve();
  std::size_t frame_words = 0;
  std::size_t set_words = 0;
  unsigned warps = 0;
  bool lists = false;
  for (const Part& part : parts_) {
    frame_words = std::max(frame_words, part.grid.frame_words);
    set_words = std::max(set_words, part.grid.warps() * part.layout.set_words(set_capacity(options)));
    warps = std::max(warps, part.grid.warps());
    lists = lists || std::any_of(part.work->origins.begin(), part.work->origins.end(), [](const auto& of) { return of.list; });
  }
  if (frame_words > 0) frames_.reserve(frame_words);
  if (set_words > 0) set_memory_.reserve(set_words);
  programs_ = flat.programs();
  first_tabled_ = flat.sums.programs.size() + flat.walks.programs.size();
  totals_.reserve(programs_);
  if (programs_ > read_totals_count_) {
    read_totals_count_ = 0;
    read_totals_ = make_pinned_memory<Total>(2 * programs_);
    read_totals_count_ = 2 * programs_;
  }
  if (lists) {
    reserve_pages(warps + (options.testing.spare_pages > 0 ? options.testing.spare_pages : default_spare_pages));
    open_pages();
    lists_ = true;
  }
  if (options.measure) {
    const auto of_graph = graph.stores();
    for (unsigned s = 0; s < stores; ++s) {
      counted_[s] = of_graph[s] == nullptr ? 0 : of_graph[s]->vertices();
      accesses_[s].reserve(counted_[s]);
    }
  }
}

void Device::add_part(const FlatWork& work, bool sums, std::uint32_t share, std::uint32_t shares) {
  if (work.empty()) return;
  const KernelKind kind{sums, mirror_->view().ring.words != nullptr};
  Part part{&work, kind, make_layout(work.needs, sums, work.weighted).value(), {}, 0, 0, 0, 0};
  part.grid = fit_grid(part.layout, part.kind);
  if (part.grid.warps() > DemandRing::most_warps) {
    part.kind.fills = false;
    part.grid = fit_grid(part.layout, part.kind);
  }
  const std::vector<Chunk> chunks = make_chunks(work, part.grid.warps(), share, shares);
  const bool made = std::ranges::any_of(work.made, [](const MadeKernel* kernel) { return kernel != nullptr; });
  if (chunks.empty() && !made) return;
  part.grid = limit_grid(part.grid, chunks.size());
  part.chunks = static_cast<std::uint32_t>(chunks.size());
  part.programs = bundle_.add(std::span(work.programs));
  part.anchors = bundle_.add(std::span(work.anchors));
  part.chunk_list = bundle_.add(std::span(std::as_const(chunks)));
  parts_.push_back(part);
}

void Device::launch(const FlatPrograms& flat, const GpuSettings& options) {
  use();
  reset(options);
  kernel_seconds_ = 0;
  check(cudaEventRecord(begun_.get(), stream_.get()), "cudaEventRecord");
  // Sums are launched before the kernels that list. Listing kernels wait for the host, and a launch behind them could block the
  // host.
  if (!sums_.empty()) launch_sums(options);
  launch_made(flat, options);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    if (part.chunks == 0) continue;
    Launch work = launch_of(part, i, flat, options);
    ++launches_;
    if (launches_ == options.testing.refused_launch) throw Error("matching kernel", "a test refuses the launch");
    if (launches_ == options.testing.crashed_launch) work.programs = nullptr;
    gpu::launch(work, part.layout, part.grid, part.kind, stream_.get());
  }
  check(cudaEventRecord(ended_.get(), stream_.get()), "cudaEventRecord");
}

void Device::launch_sums(const GpuSettings& options) {
  SumLaunch work{};
  fill_common(first_tabled_, 2, options, work);
  ++launches_;
  if (launches_ == options.testing.refused_launch) throw Error("kernel of sums", "a test refuses the launch");
  if (launches_ == options.testing.crashed_launch) work.probes = nullptr;
  sums_.launch(work, bundle_, stream_.get());
}

void Device::launch_made(const FlatPrograms& flat, const GpuSettings& options) {
  made_work_.clear();
  for (const Part& part : parts_) {
    const std::size_t first = part.kind.sums ? 0 : flat.sums.programs.size();
    for (std::uint32_t p = 0; p < part.work->programs.size(); ++p) {
      const MadeKernel* kernel = part.work->made_of(p);
      if (kernel == nullptr) continue;
      const std::uint32_t begin = part.work->first_anchor[p];
      const std::uint32_t all = part.work->first_anchor[p + 1] - begin;
      const std::uint32_t own = all > share_ ? (all - share_ - 1) / shares_ + 1 : 0;
      if (own == 0) continue;
      made_work_.push_back({kernel,
                            {bundle_.at<Anchor>(part.anchors) + begin, own, share_, shares_, part.work->programs[p].pass,
                             totals_.get() + first + p}});
    }
  }
  if (made_work_.empty()) return;
  // The passes of a plan share their launches.
  std::ranges::stable_sort(made_work_, {}, &MadeWork::kernel);
  ++launches_;
  if (launches_ == options.testing.refused_launch) throw Error("kernel made for a plan", "a test refuses the launch");
  made_.launch(made_work_, mirror_->view(), &outcome_.get()->counters, &outcome_.get()->queue[0].stop, stream_.get());
}

bool Device::launch_again() {
  use();
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begun_.get(), ended_.get()), "cudaEventElapsedTime");
  kernel_seconds_ += static_cast<double>(milliseconds) / 1000;
  check(cudaEventRecord(begun_.get(), stream_.get()), "cudaEventRecord");
  const bool again = !stopping_ && sums_.launch_again(stream_.get());
  check(cudaEventRecord(ended_.get(), stream_.get()), "cudaEventRecord");
  return again;
}

// Queues the copies and the clearing of all memory that the kernels read.
void Device::reset(const GpuSettings& options) {
  const cudaStream_t stream = stream_.get();
  const auto clear = [&](void* memory, std::size_t bytes) {
    if (bytes > 0) check(cudaMemsetAsync(memory, 0, bytes, stream), "cudaMemsetAsync");
  };
  bundle_.send(stream);
  clear(totals_.get(), programs_ * sizeof(Total));
  clear(outcome_.get(), sizeof(Outcome));
  clear(sequence_.get(), 2 * queue_items * sizeof(std::uint32_t));
  clear(tickets_.get(), 2 * sizeof(unsigned long long));
  for (unsigned s = 0; options.measure && s < stores; ++s) clear(accesses_[s].get(), counted_[s] * sizeof(std::uint32_t));
  check(cudaEventRecord(fresh_.get(), stream), "cudaEventRecord");
}

void Device::fill_common(std::size_t first_program, std::size_t queue, const GpuSettings& options, CommonLaunch& work) const {
  work.graph = mirror_->view();
  work.probes = bundle_.at<Probe>(tables_.probes);
  work.positions = bundle_.at<std::uint8_t>(tables_.positions);
  work.totals = totals_.get() + first_program;
  work.queue = &outcome_.get()->queue[queue];
  work.counters = &outcome_.get()->counters;
  for (unsigned s = 0; s < stores; ++s) work.accesses[s] = options.measure && counted_[s] > 0 ? accesses_[s].get() : nullptr;
}

Launch Device::launch_of(const Part& part, std::size_t number, const FlatPrograms& flat, const GpuSettings& options) const {
  Launch work{};
  fill_common(part.kind.sums ? 0 : flat.sums.programs.size(), number, options, work);
  work.programs = bundle_.at<Program>(part.programs);
  work.nodes = bundle_.at<Node>(tables_.nodes);
  work.steps = bundle_.at<Step>(tables_.steps);
  work.joined = bundle_.at<Joined>(tables_.joined);
  work.edges = bundle_.at<QueryEdge>(tables_.edges);
  work.anchors = bundle_.at<Anchor>(part.anchors);
  work.chunks = bundle_.at<Chunk>(part.chunk_list);
  work.chunk_count = part.chunks;
  work.warps = part.grid.warps();
  work.share_interval = options.testing.share_interval > 0 ? options.testing.share_interval : default_share_interval;
  work.idle_least = static_cast<std::uint32_t>(options.testing.idle_share * work.warps);
  work.items = items_.get();
  work.item_sequence = sequence_.get() + number * queue_items;
  work.item_capacity = queue_items;
  work.pages = pages_;
  if (part.grid.frame_words > 0) work.frames = frames_.get();
  work.sets = set_memory_.get();
  work.set_capacity = set_capacity(options);
  return work;
}

void Device::finish(std::vector<Total>& totals, Outcome& outcome) {
  use();
  // A late stop signal must not reach the next batch.
  if (stopping_) check(cudaStreamSynchronize(control_.get()), "cudaStreamSynchronize");
  check(cudaMemcpyAsync(read_totals_.get(), totals_.get(), programs_ * sizeof(Total), cudaMemcpyDeviceToHost, stream_.get()),
        "cudaMemcpyAsync");
  check(cudaMemcpyAsync(read_outcome_.get(), outcome_.get(), sizeof(Outcome), cudaMemcpyDeviceToHost, stream_.get()),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
  outcome = *read_outcome_.get();
  totals.assign(read_totals_.get(), read_totals_.get() + programs_);
  // Programs whose tables had no memory are marked as overflowed, so that they are counted again elsewhere.
  for (const std::uint32_t program : sums_.given_up()) totals[first_tabled_ + program].overflow = 1;
}

std::vector<estimate::Access> Device::accesses() {
  use();
  std::vector<estimate::Access> found;
  for (unsigned s = 0; s < stores; ++s) {
    std::vector<std::uint32_t> counts(counted_[s]);
    if (counts.empty()) continue;
    check(cudaMemcpy(counts.data(), accesses_[s].get(), counts.size() * sizeof(std::uint32_t), cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    for (std::uint32_t v = 0; v < counts.size(); ++v) {
      if (counts[v] > 0) found.push_back({{v, static_cast<graph::StoreKind>(s)}, static_cast<double>(counts[v])});
    }
  }
  return found;
}

void Device::settle() noexcept {
  if (cudaSetDevice(ordinal_) != cudaSuccess) return;
  try {
    ask_to_stop();
  } catch (const Error&) {  // the device no longer answers
  }
  // Warps may be waiting for free pages. Give pages back until the kernels have ended.
  while (cudaStreamQuery(stream_.get()) == cudaErrorNotReady) {
    if (lists_) drain([](const std::uint32_t*) {});
    std::this_thread::sleep_for(drain_pause);
  }
  static_cast<void>(cudaStreamSynchronize(control_.get()));
  static_cast<void>(cudaGetLastError());
}

// The signal goes through a stream of its own, so that running kernels see it.
void Device::ask_to_stop() {
  if (std::exchange(stopping_, true)) return;
  check(cudaStreamWaitEvent(control_.get(), fresh_.get(), 0), "cudaStreamWaitEvent");
  for (Queue& queue : outcome_.get()->queue) {
    check(cudaMemcpyAsync(&queue.stop, stop_.get(), sizeof(unsigned), cudaMemcpyHostToDevice, control_.get()),
          "cudaMemcpyAsync");
  }
}

void Device::reserve_pages(std::uint32_t count) {
  if (page_capacity_ < count) {
    page_capacity_ = 0;
    page_memory_ = make_pinned_memory<std::uint32_t>(std::size_t{count} * page_words);
    page_flags_ = make_pinned_memory<std::uint32_t>(2 * std::size_t{count});
    page_capacity_ = count;
  }
  pages_ = {page_memory_.get(), page_flags_.get(), page_flags_.get() + count, tickets_.get(), tickets_.get() + 1, count};
}

// Marks all pages as free.
void Device::open_pages() {
  for (std::uint32_t i = 0; i < pages_.pages; ++i) {
    pages_.full[i] = 0;
    pages_.free[i] = free_page(i, 0);
  }
  next_page_ = 0;
}

}  // namespace deltamatch::gpu

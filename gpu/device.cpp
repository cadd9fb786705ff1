#include "gpu/device.hpp"

#include <thread>
#include <utility>

#include "gpu/check.hpp"

namespace deltamatch::gpu {

namespace {

// Looking oftener for idle warps, thousands of warps would queue up at the counters.
constexpr std::uint32_t default_share_interval = 30000;
// Partial matches that wait for an idle warp.
constexpr std::uint32_t queue_items = 1U << 14;
// Pages beyond one for each warp: what the host drains while warps go on.
constexpr std::uint32_t spare_pages = 1024;
constexpr auto drain_pause = std::chrono::microseconds(20);

Grid limit_grid(Grid grid, std::size_t chunks) {
  // A warp for every chunk and as many to take over parts of them.
  const std::size_t wanted = std::max<std::size_t>(4 * chunks, 1) * 32 / grid.threads + 1;
  grid.blocks = static_cast<unsigned>(std::min<std::size_t>(grid.blocks, std::max<std::size_t>(wanted, 64)));
  return grid;
}

}  // namespace

Device::Device(int ordinal, const DeviceGraphOptions& options, Workers& workers) : ordinal_(ordinal) {
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

Device::~Device() {
  static_cast<void>(cudaSetDevice(ordinal_));
  if (stream_) static_cast<void>(cudaStreamSynchronize(stream_.get()));
}

void Device::start(const FlatPrograms& flat, std::uint32_t share, std::uint32_t shares, const GpuOptions& options,
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
    lists_ = lists_ || std::any_of(work->origins.begin(), work->origins.end(), [](const auto& origin) { return origin.list; });
  }
  // All memory first: a kernel that runs must not find that there is none for the next.
  std::size_t frame_words = 0;
  for (const Part& part : parts) frame_words = std::max(frame_words, part.grid.frame_words);
  if (frame_words > 0) frames_.reserve(frame_words);
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
    work.share_interval = options.share_interval > 0 ? options.share_interval : default_share_interval;
    work.items = items_.get();
    work.item_sequence = sequence_.get() + i * queue_items;
    work.item_capacity = queue_items;
    work.pages = pages_;
    work.counters = &outcome_.get()->counters;
    for (int s = 0; s < 2; ++s) work.accesses[s] = measure && counted_[s] > 0 ? accesses_[s].get() : nullptr;
    if (part.grid.frame_words > 0) work.frames = frames_.get();
    launch(work, part.layout, part.grid, sums, stream);
  }
  check(cudaEventRecord(done_.get(), stream), "cudaEventRecord");
}

void Device::finish(const FlatPrograms& flat, std::vector<Total>& totals, Outcome& outcome) {
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

std::vector<estimate::Access> Device::accesses() {
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

void Device::settle() noexcept {
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

// On a stream of its own, beside the kernels that are to see it.
void Device::ask_to_stop() {
  if (std::exchange(stopping_, true)) return;
  for (Queue& queue : outcome_.get()->queue) {
    check(cudaMemcpyAsync(&queue.stop, stop_.get(), sizeof(unsigned), cudaMemcpyHostToDevice, control_.get()),
          "cudaMemcpyAsync");
  }
}

void Device::open_pages(std::uint32_t count) {
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

}  // namespace deltamatch::gpu

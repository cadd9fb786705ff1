// One GPU with its mirror of the graph: queues the kernels of a batch, drains what they list, and reads what they add up.
// Internal to gpu.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "deltamatch/gpu.hpp"
#include "estimate/accesses.hpp"
#include "gpu/cuda/buffers.hpp"
#include "gpu/cuda/memory.hpp"
#include "gpu/device_sums.hpp"
#include "gpu/loops/kernel.hpp"
#include "gpu/mirror/device_graph.hpp"
#include "gpu/program/flat_programs.hpp"

namespace deltamatch::gpu {

/// What a kernel writes besides matches.
struct Outcome {
  Queue queue[3];  ///< by kernel: sums, walks, and last what counts with tables
  Counters counters;
};

/// One GPU with its mirror of the graph. Not thread-safe; calls switch the current device.
///
/// A batch: mirror() is brought up to date, prepare, launch, poll until it says that all has ended, launch_again and poll until
/// there is nothing more, finish. To take or to give back memory may wait for whatever runs on any device, and a kernel that
/// lists waits for the host: so every device is prepared before any is launched, and what is launched again lists nothing.
class Device {
 public:
  Device(int ordinal, const DeviceGraphOptions& options, Workers& workers);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  void use() const { check(cudaSetDevice(ordinal_), "cudaSetDevice"); }
  [[nodiscard]] DeviceGraph& mirror() noexcept { return *mirror_; }

  /// Takes the memory that share number `share` of the work needs, and lays it out. Throws DeviceOutOfMemory.
  void prepare(const FlatPrograms& flat, std::uint32_t share, std::uint32_t shares, const GpuOptions& options,
               const graph::DataGraph& graph);

  /// Queues what was prepared; nothing is waited for and no memory is taken.
  void launch(const FlatPrograms& flat, const GpuOptions& options);

  /// Takes what is there; returns whether the kernels have ended (and everything was taken).
  template <class Take>
  bool poll(bool stop, Take&& take) {
    use();
    if (stop) ask_to_stop();
    const cudaError_t status = cudaStreamQuery(stream_.get());
    if (status != cudaErrorNotReady) check(status, "matching kernel");
    if (lists_) drain(take);
    return status == cudaSuccess;
  }

  /// After the kernels have ended on all devices: whether sums are tried again, with more memory. Where there is none, they are
  /// told as overflown.
  bool launch_again();

  /// That kernels ran since launch.
  [[nodiscard]] double kernel_seconds() const noexcept { return kernel_seconds_; }

  /// After that.
  void finish(std::vector<Total>& totals, Outcome& outcome);
  /// Whether the kernels of the last launch were asked to stop.
  [[nodiscard]] bool stopped() const noexcept { return stopping_; }

  /// How often each vertex was looked up (measuring).
  std::vector<estimate::Access> accesses();

  /// Until all that was queued has been done.
  void wait() const { check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize"); }
  /// Waits for whatever runs, on the way out of a failure.
  void settle() noexcept;

 private:
  // The work of one kernel: where its parts lie in the bundle.
  struct Part {
    const FlatWork* work;
    bool sums;
    WarpLayout layout;
    Grid grid;
    std::uint32_t chunks;
    std::size_t programs;
    std::size_t anchors;
    std::size_t chunk_list;
  };
  struct Tables {
    std::size_t nodes;
    std::size_t steps;
    std::size_t probes;
    std::size_t joined;
    std::size_t edges;
    std::size_t positions;
  };

  void add_part(const FlatWork& work, bool sums, std::uint32_t share, std::uint32_t shares);
  void reset(const GpuOptions& options);
  void launch_sums(const GpuOptions& options);
  [[nodiscard]] Launch launch_of(const Part& part, std::size_t number, const FlatPrograms& flat,
                                 const GpuOptions& options) const;
  // On a stream of its own, beside the kernels that are to see it.
  void ask_to_stop();
  void reserve_pages(std::uint32_t count);
  void open_pages();

  // The n-th page that comes full goes back into the n-th free slot, modulo their number. Whoever holds the ticket of that
  // slot's lap before may not have looked yet, although pages that were taken later are back: its page must not be overwritten.
  // Each page once at most, since kernels may fill them faster than they are taken: there is more to do than that, such as to
  // tell the kernels to stop. When these have ended that is all.
  template <class Take>
  void drain(Take&& take) {
    for (std::uint32_t taken = 0; taken < pages_.pages; ++taken) {
      volatile std::uint32_t& full = pages_.full[next_page_ % pages_.pages];
      volatile std::uint32_t& free = pages_.free[next_page_ % pages_.pages];
      const std::uint32_t page = full;
      if (page == 0 || free != 0) return;
      std::atomic_thread_fence(std::memory_order_acquire);
      take(pages_.memory + std::size_t{page - 1} * page_words);
      full = 0;
      std::atomic_thread_fence(std::memory_order_release);
      free = free_page(page - 1, next_page_ / pages_.pages + 1);
      ++next_page_;
    }
  }

  int ordinal_;
  Stream stream_;
  std::unique_ptr<DeviceGraph> mirror_;
  Bundle bundle_;
  std::vector<Part> parts_;
  Tables tables_{};
  DeviceSums sums_;
  std::size_t table_bytes_ = 0;
  Event begun_;
  Event ended_;
  double kernel_seconds_ = 0;
  std::size_t programs_ = 0;
  std::size_t first_tabled_ = 0;  // of the programs, those of flat.tables
  std::uint32_t launches_ = 0;
  DeviceBuffer<Total> totals_;
  PinnedMemory<Total> read_totals_;
  std::size_t read_totals_count_ = 0;
  DeviceMemory<Outcome> outcome_;
  PinnedMemory<Outcome> read_outcome_;
  DeviceMemory<Item> items_;
  DeviceMemory<std::uint32_t> sequence_;
  DeviceBuffer<std::uint32_t> frames_;
  DeviceBuffer<std::uint32_t> set_memory_;
  Stream control_;
  Event fresh_;                  // the queues are reset: what says stop must not come before
  PinnedMemory<unsigned> stop_;  // what is copied to say stop
  bool stopping_ = false;
  bool lists_ = false;
  Pages pages_{};
  std::uint32_t page_capacity_ = 0;
  PinnedMemory<std::uint32_t> page_memory_;
  PinnedMemory<std::uint32_t> page_flags_;
  DeviceMemory<unsigned long long> tickets_;
  std::uint64_t next_page_ = 0;
  DeviceBuffer<std::uint32_t> accesses_[stores];  // by vertex
  std::size_t counted_[stores] = {};
};

}  // namespace deltamatch::gpu

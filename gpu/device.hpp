// One GPU with its mirror of the graph. It launches the kernels of a batch, drains listed matches and reads sums.
// Internal to gpu.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "estimate/accesses.hpp"
#include "gpu/cuda/buffers.hpp"
#include "gpu/cuda/memory.hpp"
#include "gpu/device_sums.hpp"
#include "gpu/loops/kernel.hpp"
#include "gpu/made/made_launcher.hpp"
#include "gpu/mirror/device_graph.hpp"
#include "gpu/program/flat_programs.hpp"
#include "gpu/testing.hpp"

namespace deltamatch::gpu {

/// What a kernel writes besides matches.
struct Outcome {
  Queue queue[3];  ///< by kernel: sums, walks, tables
  Counters counters;
};

/// One GPU with its mirror of the graph. Not thread-safe; calls switch the current device.
///
/// The order of calls for a batch:
/// 1. bring mirror() up to date
/// 2. prepare
/// 3. launch
/// 4. poll until it returns true
/// 5. launch_again; as long as it returns true, poll again
/// 6. finish
///
/// Taking or freeing memory may wait for all work on any device, and a kernel that lists waits for the host. So prepare every
/// device before launching any. What is launched again lists nothing.
class Device {
 public:
  Device(int ordinal, const DeviceGraphOptions& options, Workers& workers);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  void use() const { check(cudaSetDevice(ordinal_), "cudaSetDevice"); }
  [[nodiscard]] DeviceGraph& mirror() noexcept { return *mirror_; }
  /// Its compute capability: major and minor number.
  [[nodiscard]] std::pair<int, int> capability() const;

  /// Takes and lays out the memory for share number `share` of the work.
  /// Throws DeviceOutOfMemory.
  void prepare(const FlatPrograms& flat, std::uint32_t share, std::uint32_t shares, const GpuSettings& options,
               const graph::DataGraph& graph);

  /// Queues the prepared work. Does not wait and takes no memory.
  void launch(const FlatPrograms& flat, const GpuSettings& options);

  /// Takes the listed pages that are ready. Returns true once the kernels have ended and every page was taken.
  template <class Take>
  bool poll(bool stop, Take&& take) {
    use();
    if (stop) ask_to_stop();
    const cudaError_t status = cudaStreamQuery(stream_.get());
    if (status != cudaErrorNotReady) check(status, "matching kernel");
    if (lists_) drain(take);
    return status == cudaSuccess;
  }

  /// Call this after the kernels have ended on all devices. Returns whether sums that lacked memory are tried again with more.
  /// If no memory is left, they are reported as overflowed.
  bool launch_again();

  /// Seconds that kernels have run since launch.
  [[nodiscard]] double kernel_seconds() const noexcept { return kernel_seconds_; }

  /// Reads the totals and the outcome, after launch_again has returned false.
  void finish(std::vector<Total>& totals, Outcome& outcome);
  /// Whether the kernels of the last launch were asked to stop.
  [[nodiscard]] bool stopped() const noexcept { return stopping_; }

  /// How often the kernels looked up each vertex. Needs GpuOptions::measure.
  std::vector<estimate::Access> accesses();

  /// Waits until all queued work is done.
  void wait() const { check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize"); }
  /// Stops the kernels and waits for them, after a failure.
  void settle() noexcept;

 private:
  // The work of one kernel, and the offsets of its parts in the bundle.
  struct Part {
    const FlatWork* work;
    KernelKind kind;
    WarpLayout layout;
    Grid grid;
    std::uint32_t chunks;  ///< 0: all programs have kernels of their own
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
  void reset(const GpuSettings& options);
  void launch_sums(const GpuSettings& options);
  void launch_made(const FlatPrograms& flat, const GpuSettings& options);
  // `first_program`: number of the launch's first program. `queue`: number of its queue.
  void fill_common(std::size_t first_program, std::size_t queue, const GpuSettings& options, CommonLaunch& work) const;
  [[nodiscard]] Launch launch_of(const Part& part, std::size_t number, const FlatPrograms& flat,
                                 const GpuSettings& options) const;
  // The signal goes through a stream of its own, so that running kernels see it.
  void ask_to_stop();
  void reserve_pages(std::uint32_t count);
  void open_pages();

  // Takes full pages and gives them back. The n-th full page goes into the n-th free slot, modulo the number of slots.
  // The holder of the slot's ticket from the lap before may not have looked yet, even if later pages are back. Its page must
  // not be overwritten.
  // One call takes each page at most once. Kernels may fill pages faster than they are taken, and the host has other work, such
  // as telling the kernels to stop. Once the kernels have ended, one call takes all that is left.
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
  std::uint32_t share_ = 0;  // of the anchors, in this batch
  std::uint32_t shares_ = 1;
  Bundle bundle_;
  std::vector<Part> parts_;
  MadeLauncher made_;
  std::vector<MadeWork> made_work_;
  Tables tables_{};
  DeviceSums sums_;
  std::size_t table_bytes_ = 0;
  Event begun_;
  Event ended_;
  double kernel_seconds_ = 0;
  std::size_t programs_ = 0;
  std::size_t first_tabled_ = 0;  // index of the first program of flat.tables
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
  Event fresh_;                  // the queues are reset; a stop signal must not come earlier
  PinnedMemory<unsigned> stop_;  // source of the copy that signals stop
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

// The devices that share a batch, and which of the graph's lists lie on them. Internal to gpu.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/parallel.hpp"
#include "estimate/access_prior.hpp"
#include "estimate/choice_schedule.hpp"
#include "estimate/estimator.hpp"
#include "estimate/selector.hpp"
#include "gpu/cuda/slabs.hpp"
#include "gpu/device.hpp"
#include "gpu/mirror/cache_meter.hpp"
#include "gpu/mirror/cache_statistics.hpp"
#include "gpu/mirror/ring_trial.hpp"
#include "gpu/testing.hpp"
#include "match/programs.hpp"

namespace deltamatch::gpu {

/// Identifies the lists lent to the graph, which stand in for its own; 0: none. Each lent store has a number of its own.
[[nodiscard]] inline std::uint64_t lent_store(const graph::DataGraph& graph) noexcept {
  return graph.lent() == nullptr ? 0 : graph.lent()->mark().store;
}

/// The mirrors of all devices, and the choice of what they hold.
///
/// The order for a batch: open, estimate, refresh, run the kernels, then matched and measure. If one of these throws
/// DeviceOutOfMemory, make_room says whether to try again.
class Mirrors {
 public:
  /// `pinned` holds the graph's lists, or is null; `managed` says that they lie in unified memory. `pinned` and `workers`
  /// outlive this object.
  Mirrors(const GpuSettings& options, const PinnedSlabs* pinned, bool managed, Workers& workers);

  /// Opens the devices, if they are closed, under the policy that the graph's size calls for. Copies the graph to them if it
  /// fits as a whole. Throws Error if kernels could not read what the policy leaves in host memory.
  void open(const graph::DataGraph& graph);
  /// Opens the devices for a batch, before the other calls. If a whole graph does not fit, the lists that are read decide. They
  /// decide again whenever they change.
  void open(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved, std::span<const match::PassWork> passes,
            std::span<const match::QueryTask> tasks);
  /// Frees what the devices hold. The next use opens them again.
  void close() noexcept { close_devices(); }
  /// Brings every device's view of the graph up to date, except its cache. If a resident graph does not fit as a whole, the
  /// view holds only the lists that are read.
  void follow(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved);
  /// Estimates what the batch will look up, if the policy needs that and a new choice is due.
  void estimate(const graph::DataGraph& graph, std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks,
                const match::Programs& programs);
  /// Does the same as follow. If a new choice is due, it also refreshes the caches.
  void refresh(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved,
               std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks);
  /// Reports how long the loops from so many anchors took. The next batch's walks may take a share of that.
  void matched(double seconds, std::uint64_t anchors);
  /// Counts the kernels' look-ups for statistics. Needs GpuOptions::measure.
  void measure();
  /// Frees device memory after it has run out. It shrinks the cache. A graph that has outgrown the device is replaced by the
  /// lists that a whole-graph match reads, or by a cache, which needs an estimate. False if nothing is left to give up.
  bool make_room(const graph::DataGraph& graph);

  /// Makes the first device current and returns its view of the graph after follow, once all copies have arrived. Null if some
  /// of the graph does not lie there.
  [[nodiscard]] const GraphView* resident();
  /// Whether kernels can read everything that the devices do not hold. Memory allocated since they were opened may not have
  /// been registered. After open this holds for all but lent lists.
  [[nodiscard]] bool can_read() const;
  [[nodiscard]] std::span<const std::unique_ptr<Device>> devices() const noexcept { return devices_; }
  [[nodiscard]] std::size_t bytes() const noexcept;
  /// Adds what the caches did.
  void write(CacheStatistics& into) const;

 private:
  [[nodiscard]] bool readable() const;
  [[nodiscard]] std::size_t free_on_each() const;
  [[nodiscard]] std::size_t spare_on_each() const;
  void choose_policy(const graph::DataGraph& graph);
  void choose_part(const graph::DataGraph& graph);
  void open_devices();
  void close_devices() noexcept;
  [[nodiscard]] std::uint64_t held() const noexcept;
  [[nodiscard]] bool tries_shares() const noexcept;
  [[nodiscard]] bool divide() noexcept;
  [[nodiscard]] bool chosen_for(const match::QueryTask& task) const noexcept;
  [[nodiscard]] bool always_chooses() const noexcept;
  [[nodiscard]] bool must_choose(const graph::DataGraph& graph, std::span<const match::QueryTask> tasks) const;
  void choose(const graph::DataGraph& graph, std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks);

  GpuSettings options_;
  const PinnedSlabs* pinned_;
  bool managed_;
  Workers* workers_;
  estimate::Estimator estimator_;
  estimate::AccessPrior prior_;
  estimate::Selector selector_;
  const estimate::Accesses* estimated_ = nullptr;
  estimate::ChoiceSchedule schedule_;
  RingTrial ring_trial_;
  bool divided_ = false;                       // this batch divides the cache between walks and kernels anew
  bool chooses_ = false;                       // this batch makes a new choice; otherwise the last one holds
  std::vector<std::uint64_t> chosen_queries_;  // ids of the queries of the last choice, ascending
  std::uint64_t chosen_vertices_ = 0;          // vertices in the caches after the last choice
  std::uint64_t chosen_lent_ = 0;              // the store that was lent at the last choice; 0: none
  CachePolicy policy_ = CachePolicy::automatic;
  bool all_fits_ = false;  // the graph fits, since the policy was chosen; true if unchecked
  bool whole_ = false;     // reads_ belong to a match of a whole graph
  Reads reads_;            // of the present batch
  Reads chosen_for_;       // reads at the time of the policy, if it depends on them
  Reads hot_for_;          // reads that prior_ and selector_ know
  Storage storage_ = Storage::resident;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<HotVertex> hot_;
  CacheMeter meter_;
  std::uint64_t choices_ = 0;
  std::uint64_t copied_bytes_ = 0;  // by devices that were closed
  std::string notice_;
};

}  // namespace deltamatch::gpu

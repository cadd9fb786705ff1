// The devices that share a batch, and which of the graph's lists lie on them. Internal to gpu.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/parallel.hpp"
#include "deltamatch/gpu.hpp"
#include "estimate/access_prior.hpp"
#include "estimate/choice_schedule.hpp"
#include "estimate/estimator.hpp"
#include "estimate/selector.hpp"
#include "gpu/cuda/slabs.hpp"
#include "gpu/device.hpp"
#include "gpu/mirror/cache_meter.hpp"
#include "match/programs.hpp"

namespace deltamatch::gpu {

/// Which lists stand in for the graph's; 0: none do. No two that were lent have the same number.
[[nodiscard]] inline std::uint64_t lent_to(const graph::DataGraph& graph) noexcept {
  return graph.lent() == nullptr ? 0 : graph.lent()->mark().store;
}

/// A batch: open, estimate, refresh, then kernels run on the devices; matched and measure tell how that went. Where one of them
/// throws DeviceOutOfMemory, make_room says whether it is worth another try.
class Mirrors {
 public:
  /// `pinned`: where the graph's lists live, or null; `managed`: they live in unified memory. Both and `workers` outlive it.
  Mirrors(const GpuOptions& options, const PinnedSlabs* pinned, bool managed, Workers& workers);

  /// Opens the devices, where they are not, under the policy that the graph's size calls for, and brings them the graph where
  /// it fits as a whole. Throws Error where kernels could not read what the policy leaves in host memory.
  void open(const graph::DataGraph& graph);
  /// The same for a batch, before the other calls. Of a whole graph that does not fit, what is read decides, whenever that
  /// changes.
  void open(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved, std::span<const match::PassWork> passes,
            std::span<const match::QueryTask> tasks);
  /// Gives up what the devices hold; they are opened again when they are next asked for.
  void close() noexcept { close_devices(); }
  /// Brings every device's view of the graph up to date, but for its cache: of a resident graph that does not fit as a whole,
  /// for what is read.
  void follow(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved);
  /// What the batch will look up, where the policy asks for it and another choice is due.
  void estimate(const graph::DataGraph& graph, std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks,
                const match::Programs& programs);
  /// The same and its cache, unless what was chosen for an earlier batch is to hold.
  void refresh(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved,
               std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks);
  /// How long matching took: the walks of the next batch are to take a share of that.
  void matched(double seconds);
  /// Notes what the kernels looked up (GpuOptions::measure).
  void measure();
  /// Where device memory has run out: a smaller cache or, in place of a graph that has outgrown it, what a match of the whole
  /// graph reads of it, or a cache at all, which needs an estimate. False where nothing is left to give up.
  bool make_room(const graph::DataGraph& graph);

  /// What the first device, made current, sees of the graph after follow, once it has all arrived; null where not all of it
  /// lies there.
  [[nodiscard]] const GraphView* resident();
  /// Whether kernels can read all that the devices do not hold: memory that came since they were opened may not have been
  /// registered. After open this holds but for lists that stand in for the graph's.
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
  [[nodiscard]] bool chosen_for(const match::QueryTask& task) const noexcept;
  [[nodiscard]] bool must_choose(const graph::DataGraph& graph, std::span<const match::QueryTask> tasks) const;
  void choose(const graph::DataGraph& graph, std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks);

  GpuOptions options_;
  const PinnedSlabs* pinned_;
  bool managed_;
  Workers* workers_;
  estimate::Estimator estimator_;
  estimate::AccessPrior prior_;
  estimate::Selector selector_;
  const estimate::Accesses* estimated_ = nullptr;
  estimate::ChoiceSchedule schedule_;
  bool chooses_ = false;                       // otherwise what was chosen before holds
  std::vector<std::uint64_t> chosen_queries_;  // ids of those that the last choice was made for, ascending
  std::uint64_t chosen_vertices_ = 0;          // that the caches held then
  std::uint64_t chosen_lent_ = 0;              // the store that was lent then; 0: none
  CachePolicy policy_ = CachePolicy::automatic;
  bool all_fits_ = false;  // when the policy was chosen, and since; or nobody asked
  bool whole_ = false;     // reads_ are those of a whole graph's match
  Reads reads_;            // of the present batch
  Reads chosen_for_;       // likewise, where the policy depends on it
  Reads hot_for_;          // what prior_ and selector_ know of
  Storage storage_ = Storage::resident;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<HotVertex> hot_;
  CacheMeter meter_;
  std::uint64_t choices_ = 0;
  std::uint64_t copied_bytes_ = 0;  // by devices that were given up
  std::string notice_;
};

}  // namespace deltamatch::gpu

// The matcher that runs a batch on GPUs. It takes these steps:
// 1. flatten the programs
// 2. let the estimator say which lists are worth caching
// 3. bring the mirrors up to date
// 4. give each device its share of the anchors
// 5. drain listed matches while the kernels run
// Nothing is handed on before all of it has succeeded.
#include "gpu/gpu_matcher.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ranges>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "gpu/cuda/nvtx.hpp"
#include "gpu/filter/device_candidate_steps.hpp"
#include "gpu/loops/kernel.hpp"
#include "gpu/made/made_kernels.hpp"
#include "gpu/mirror/cache_statistics.hpp"
#include "gpu/mirrors.hpp"
#include "gpu/program/eligibility.hpp"
#include "gpu/program/flat_programs.hpp"
#include "gpu/record_collector.hpp"

namespace deltamatch::gpu {

namespace {

using Clock = std::chrono::steady_clock;
using match::PassWork;
using match::QueryResult;
using match::QueryTask;

constexpr auto drain_pause = std::chrono::microseconds(20);
// Small batches end before the system could wake a sleeping thread.
constexpr auto patience = std::chrono::milliseconds(2);

constexpr std::size_t every_pass = ~std::size_t{0};
// After devices had no room, the CPU matches this many batches before they are tried again.
constexpr unsigned rest_batches = 64;

constexpr std::string_view not_taken = "the CPU matches a query that kernels cannot take";
constexpr std::string_view no_room_for_candidates =
    "the CPU matches the remaining candidates, because they do not fit the device";
constexpr std::string_view sums_not_taken = "the CPU counts sums that exceed 64 bits or whose tables do not fit the device";

double seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

class GpuMatcher final : public match::Matcher {
 public:
  GpuMatcher(const GpuSettings& options, const PinnedSlabs* pinned, bool managed, Workers& workers)
      : options_(options),
        workers_(&workers),
        mirrors_(options, pinned, managed, workers),
        set_choice_(options.testing.reuse) {}

  void open(const graph::DataGraph& graph) override {
    if (resting_ > 0 || !reads_graph(graph)) return;
    try {
      mirrors_.open(graph);
    } catch (const DeviceOutOfMemory& error) {
      rest(error);
    }
  }

  [[nodiscard]] filter::CandidateSteps* candidate_steps() override {
    const GraphView* graph = mirrors_.resident();
    if (graph == nullptr) return nullptr;
    if (!candidates_) candidates_ = std::make_unique<DeviceCandidates>(make_cuda_candidate_ops(), *workers_);
    candidates_->look_at(*graph);
    return &*candidates_;
  }

  void match(const graph::DataGraph& graph, std::span<const PassWork> passes, std::span<const QueryTask> tasks,
             std::span<QueryResult> results, const match::StopFlag* stop, match::MatchSteps& steps) override {
    const Range range("batch");
    // Only the CPU leaves anchors for later. If some are left, it has begun this work in place of the devices.
    const bool left = std::ranges::any_of(passes, [](const PassWork& work) { return !work.left.empty(); });
    const bool read = reads_graph(graph);
    if (left || resting_ > 0 || !read) {
      if (!read) {
        why_ = not_taken;
      } else if (!left) {
        --resting_;
      }
      statistics_.on_cpu += tasks.size();
      for (std::size_t t = 0; t < tasks.size(); ++t) fall_back(graph, passes, tasks, t, every_pass, results, stop);
      return;
    }
    passes_.assign(passes.begin(), passes.end());
    const std::vector<graph::Resolved> resolved = graph.resolved();
    match::Programs programs = match::make_programs(tasks, resolved);
    choose_tables(tasks, resolved, options_.testing.tables, programs);
    flatten(graph, resolved, passes, tasks, programs, set_choice_, flat_, left_out_, workers_);
    if (std::ranges::find(left_out_, true) != left_out_.end()) why_ = not_taken;
    try {
      mirrors_.open(graph, resolved, passes, tasks);
      if (!flat_.empty() && !match_on_devices(graph, resolved, passes, tasks, programs, results, stop, steps)) {
        left_out_.assign(tasks.size(), true);
        why_ = no_room_for_candidates;
      }
      no_room_.clear();
    } catch (const DeviceOutOfMemory& error) {  // nothing was launched yet
      rest(error);
      left_out_.assign(tasks.size(), true);
    }
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (!left_out_[t]) continue;
      ++statistics_.on_cpu;
      fall_back(graph, passes, tasks, t, every_pass, results, stop);
    }
  }

  [[nodiscard]] bool takes_whole(MatchMode mode, bool induced) const noexcept override { return runs_whole(mode, induced); }
  [[nodiscard]] bool takes_root(const plan::RootedPlan& plan,
                                std::span<const graph::Resolved> resolved) const noexcept override {
    return fits_tables(plan, resolved);
  }
  [[nodiscard]] std::size_t preferred_anchors() const noexcept override { return std::size_t{1} << 18; }
  [[nodiscard]] std::size_t bytes() const noexcept override { return mirrors_.bytes(); }

  [[nodiscard]] BackendStatistics statistics() const override {
    CacheStatistics sum = statistics_;
    mirrors_.write(sum);
    for (const std::string_view notice : {std::string_view(no_room_), why_}) {
      if (notice.empty()) continue;
      if (!sum.notice.empty()) sum.notice += "; ";
      sum.notice += notice;
    }
    if (candidates_) sum.kernel_seconds += candidates_->kernel_seconds();
    return to_metrics(sum);
  }

 private:
  // Called while the exception is handled. Under the policy auto, devices without room are no failure: the CPU matches. Under
  // other policies the exception is rethrown.
  void rest(const DeviceOutOfMemory& error) {
    if (options_.policy != CachePolicy::automatic) throw;
    if (candidates_) statistics_.kernel_seconds += candidates_->kernel_seconds();
    candidates_.reset();
    mirrors_.close();
    resting_ = rest_batches;
    no_room_ = std::string("the CPU matches, because the device has no room: ") + error.what();
  }

  // Returns false, with nothing added, in two cases. Either the graph has room on the devices but the lent lists do not, or
  // kernels cannot read the lent lists.
  bool match_on_devices(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved,
                        std::span<const PassWork> passes, std::span<const QueryTask> tasks, const match::Programs& programs,
                        std::span<QueryResult> results, const match::StopFlag* stop, match::MatchSteps& steps) {
    const std::uint64_t lent = lent_store(graph);
    if (lent != 0 && (lent == refused_ || !mirrors_.can_read())) return false;
    for (;;) {
      try {
        const auto estimating = Clock::now();
        mirrors_.estimate(graph, passes, tasks, programs);
        const auto caching = Clock::now();
        mirrors_.refresh(graph, resolved, passes, tasks);
        const auto matching = Clock::now();
        choose_kernels();
        steps.estimate += seconds(caching - estimating);
        steps.cache += seconds(matching - caching);
        run_kernels(graph, tasks, results, stop);  // only this is timed for matched(), which limits the time for choices
        mirrors_.matched(seconds(Clock::now() - matching), flat_.sums.anchors.size() + flat_.walks.anchors.size());
        count_again(graph, tasks, results, stop);
        break;
      } catch (const DeviceOutOfMemory&) {  // nothing was launched yet
        if (mirrors_.make_room(graph)) continue;
        if (lent == 0) throw;
        refused_ = lent;
        return false;
      }
    }
    if (options_.measure) mirrors_.measure();
    return true;
  }

  // Looks up which programs have kernels of their own. Those neither fill a ring nor count accesses.
  void choose_kernels() {
    if (options_.testing.made == GpuMade::never || options_.measure) return;
    Device& first = *mirrors_.devices().front();
    if (first.mirror().view().ring.words != nullptr) return;
    if (!made_) {
      const auto [major, minor] = first.capability();
      made_ = std::make_unique<MadeKernels>(major, minor);
    }
    made_->choose(flat_, *workers_);
  }

  void run_kernels(const graph::DataGraph& graph, std::span<const QueryTask> tasks, std::span<QueryResult> results,
                   const match::StopFlag* stop) {
    const Range range("match");
    const auto devices = mirrors_.devices();
    const auto shares = static_cast<std::uint32_t>(devices.size());
    bool launched = false;
    try {
      for (std::uint32_t d = 0; d < shares; ++d) {
        devices[d]->prepare(flat_, d, shares, options_, graph);
      }
      for (const auto& device : devices) device->launch(flat_, options_);
      launched = true;
      drain(tasks, results, stop);
      while (launch_again()) drain(tasks, results, stop);
    } catch (const DeviceOutOfMemory& error) {
      for (const auto& device : devices) device->settle();
      if (launched) throw Error(error);  // a second try could take the same matches again
      throw;
    } catch (...) {
      for (const auto& device : devices) device->settle();
      throw;
    }
    // After a stop, sums can have any value. Walks end in the middle of an anchor, and an anchor's terms may be spread over
    // blocks and devices. Listed matches are all there.
    const bool stopped = std::ranges::any_of(devices, [](const auto& device) { return device->stopped(); });
    double longest = 0;
    device_totals_.clear();
    for (const auto& device : devices) {
      Outcome outcome;
      longest = std::max(longest, device->kernel_seconds());
      device->finish(device_totals_.emplace_back(), outcome);
      statistics_.hits += outcome.counters.hits;
      statistics_.misses += outcome.counters.misses;
      statistics_.filled += outcome.counters.filled;
      for (const Queue& queue : outcome.queue) statistics_.shared_parts += queue.pushed;
    }
    statistics_.kernel_seconds += longest;
    share_out(longest, tasks.size(), results);
    // Sums that exceeded 64 bits or had no memory are left to the CPU, which has 128 bits. It redoes the whole task of a pass.
    const std::size_t walks = flat_.sums.programs.size();
    const std::size_t tables = walks + flat_.walks.programs.size();
    again_.assign(results.size(), false);
    if (!stopped) {
      note_overflow(flat_.sums, 0, tasks.size());
      note_overflow(flat_.tables, tables, tasks.size());
      add(flat_.sums, 0, tasks, results);
      add(flat_.tables, tables, tasks, results);
    }
    add(flat_.walks, walks, tasks, results);
    count_anchors(flat_.sums, tasks, results);
    count_anchors(flat_.walks, tasks, results);
    count_anchors(flat_.tables, tasks, results);
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      const auto in_pass = [&](std::size_t pass) { return again_[pass * tasks.size() + t]; };
      statistics_.on_cpu +=
          std::ranges::any_of(std::views::iota(std::size_t{0}, again_.size() / tasks.size()), in_pass) ? 1 : 0;
    }
  }

  // Shares the time of the kernels out among the tasks, by the clock cycles that warps worked for their programs.
  void share_out(double seconds, std::size_t tasks, std::span<QueryResult> results) const {
    const std::size_t walks = flat_.sums.programs.size();
    std::vector<double> clocks(results.size());
    double sum = 0;
    const auto add_clocks = [&](const auto& work, std::size_t first) {
      for (const std::vector<Total>& totals : device_totals_) {
        for (std::size_t i = 0; i < work.programs.size(); ++i) {
          const auto own = static_cast<double>(totals[first + i].clocks);
          clocks[place_of(work.origins[i], tasks)] += own;
          sum += own;
        }
      }
    };
    add_clocks(flat_.sums, 0);
    add_clocks(flat_.walks, walks);
    add_clocks(flat_.tables, walks + flat_.walks.programs.size());
    for (std::size_t i = 0; i < results.size() && sum > 0; ++i) results[i].seconds += seconds * clocks[i] / sum;
  }

  void count_again(const graph::DataGraph& graph, std::span<const QueryTask> tasks, std::span<QueryResult> results,
                   const match::StopFlag* stop) {
    for (std::size_t i = 0; i < again_.size(); ++i) {
      if (!again_[i]) continue;
      why_ = sums_not_taken;
      fall_back(graph, passes_of(i / tasks.size()), tasks, i % tasks.size(), i / tasks.size(), results, stop);
    }
  }

  bool launch_again() {
    bool some = false;
    for (const auto& device : mirrors_.devices()) some = device->launch_again() || some;
    return some;
  }

  // Takes listed matches until all kernels have ended.
  void drain(std::span<const QueryTask> tasks, std::span<QueryResult> results, const match::StopFlag* stop) {
    // Only programs of walks fill pages.
    RecordCollector record_collector(*workers_, passes_, tasks, results);
    const auto take = [&](const std::uint32_t* page) {
      record_collector.add(flat_.walks.origins[page[0]], {page + 2, page + page[1]});
    };
    const auto devices = mirrors_.devices();
    std::vector<bool> done(devices.size());
    std::size_t running = devices.size();
    const auto started = Clock::now();
    while (running > 0) {
      const bool stopping = stop != nullptr && stop->load(std::memory_order_relaxed);
      for (std::size_t d = 0; d < devices.size(); ++d) {
        if (done[d] || !devices[d]->poll(stopping, take)) continue;
        done[d] = true;
        --running;
      }
      record_collector.run();
      if (running > 0 && Clock::now() - started < patience) {
        std::this_thread::yield();
      } else if (running > 0) {
        std::this_thread::sleep_for(drain_pause);
      }
    }
  }

  [[nodiscard]] static std::size_t place_of(const ProgramOrigin& origin, std::size_t tasks) {
    return origin.pass * tasks + origin.task;
  }

  template <class Work>
  void note_overflow(const Work& work, std::size_t first, std::size_t tasks) {
    for (const std::vector<Total>& totals : device_totals_) {
      for (std::size_t i = 0; i < work.programs.size(); ++i) {
        if (totals[first + i].overflow != 0) again_[place_of(work.origins[i], tasks)] = true;
      }
    }
  }

  template <class Work>
  void add(const Work& work, std::size_t first, std::span<const QueryTask> tasks, std::span<QueryResult> results) {
    for (const std::vector<Total>& totals : device_totals_) {
      for (std::size_t i = 0; i < work.programs.size(); ++i) {
        const ProgramOrigin& origin = work.origins[i];
        if (again_[place_of(origin, tasks.size())]) continue;
        const Total& total = totals[first + i];
        match::PlanResult& into = results[place_of(origin, tasks.size())].plans[origin.plan];
        __extension__ using Wide = __int128;
        const auto value = static_cast<Wide>(static_cast<Count>(total.high) << 64 | total.low);
        if (origin.sums) {
          if (__builtin_add_overflow(into.sum, value, &into.sum)) throw_count_overflow();
        } else {
          into.found = checked_add(into.found, static_cast<Count>(value));
        }
      }
    }
  }

  void count_anchors(const FlatWork& work, std::span<const QueryTask> tasks, std::span<QueryResult> results) const {
    for (std::size_t i = 0; i < work.programs.size(); ++i) {
      const ProgramOrigin& origin = work.origins[i];
      if (again_[place_of(origin, tasks.size())]) continue;
      results[place_of(origin, tasks.size())].plans[origin.plan].anchors += work.first_anchor[i + 1] - work.first_anchor[i];
    }
  }

  // Shares of one anchor count once, as do an anchor's two programs.
  void count_anchors(const FlatSums& work, std::span<const QueryTask> tasks, std::span<QueryResult> results) const {
    for (std::size_t i = 0; i < work.anchor_counts.size(); ++i) {
      const ProgramOrigin& origin = work.origins[i];
      if (again_[place_of(origin, tasks.size())]) continue;
      results[place_of(origin, tasks.size())].plans[origin.plan].anchors += work.anchor_counts[i];
    }
  }

  [[nodiscard]] std::span<const PassWork> passes_of(std::size_t pass) const { return {passes_.data() + pass, 1}; }

  void fall_back(const graph::DataGraph& graph, std::span<const PassWork> passes, std::span<const QueryTask> tasks,
                 std::size_t task, std::size_t only, std::span<QueryResult> results, const match::StopFlag* stop) {
    if (!cpu_) cpu_ = match::make_cpu_matcher(*workers_);
    match::MatchSteps steps;
    for (std::size_t p = 0; p < passes.size(); ++p) {
      const std::size_t pass = only == every_pass ? p : only;
      cpu_->match(graph, passes.subspan(p, 1), tasks.subspan(task, 1), results.subspan(pass * tasks.size() + task, 1), stop,
                  steps);
    }
  }

  GpuSettings options_;
  Workers* workers_;
  Mirrors mirrors_;
  std::unique_ptr<DeviceCandidates> candidates_;  // on the first device, made when something is first filtered there
  SetChoice set_choice_;
  std::unique_ptr<MadeKernels> made_;  // from the first batch on that may use them
  FlatPrograms flat_;
  std::vector<bool> left_out_;  // by task: matched on the CPU
  std::uint64_t refused_ = 0;   // the lent lists that found no room on some device; 0: none
  std::vector<std::vector<Total>> device_totals_;
  std::vector<bool> again_;  // by pass and task: to be counted on the CPU
  std::vector<PassWork> passes_;
  std::unique_ptr<match::Matcher> cpu_;
  CacheStatistics statistics_;
  std::string_view why_;  // why the CPU last matched a query in place of the devices
  std::string no_room_;   // why the CPU last matched all queries
  unsigned resting_ = 0;  // batches until the devices are tried again
};

}  // namespace

std::unique_ptr<match::Matcher> make_matcher(const GpuSettings& options, const PinnedSlabs* pinned, bool managed,
                                             Workers& workers) {
  return std::make_unique<GpuMatcher>(options, pinned, managed, workers);
}

}  // namespace deltamatch::gpu

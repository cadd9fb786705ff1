// A batch on the GPU: programs are flattened, the estimator says which lists are worth caching, the mirrors are brought up to
// date, every device gets its share of the anchors, and what the kernels list is drained while they run. Nothing is handed on
// before all of it has succeeded.
#include "gpu/matcher.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "estimate/estimator.hpp"
#include "estimate/selection.hpp"
#include "gpu/device.hpp"
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

// Device memory that is left to matching itself when the budget is not given.
constexpr std::size_t reserve_bytes = std::size_t{1} << 30;
constexpr auto drain_pause = std::chrono::microseconds(20);
// Small batches are done before the system would wake a sleeper.
constexpr auto patience = std::chrono::milliseconds(2);

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class GpuMatcher final : public match::Matcher {
 public:
  GpuMatcher(const GpuOptions& options, const PinnedSlabs* pinned, bool managed, Workers& workers)
      : options_(options),
        pinned_(pinned),
        managed_(managed),
        workers_(&workers),
        estimator_(workers, estimator_options(options)),
        prior_(workers),
        selector_(workers) {}

  void match(const graph::DataGraph& graph, std::span<const PassWork> passes, std::span<const QueryTask> tasks,
             std::span<QueryResult> results, const match::StopFlag* stop, match::MatchSteps& steps) override {
    const Range range("batch");
    passes_.assign(passes.begin(), passes.end());
    const std::vector<graph::Resolved> resolved = graph.resolved();
    const match::Programs programs = match::make_programs(tasks, resolved);
    flatten(graph, resolved, passes, tasks, programs, flat_, left_out_);
    open(graph);
    if (!flat_.sums.empty() || !flat_.walks.empty()) {
      const auto started = Clock::now();
      if (policy_ == CachePolicy::random_walk) {
        const Range inner("estimate");
        estimated_ = &estimator_.run(graph, passes, tasks, programs);
      }
      steps.estimate += seconds_since(started);
      for (;;) {
        try {
          cache_and_match(graph, resolved, tasks, results, stop, steps);
          break;
        } catch (const DeviceOutOfMemory&) {  // before results were taken
          if (!make_room()) throw;
          if (policy_ == CachePolicy::random_walk && estimated_ == nullptr)
            estimated_ = &estimator_.run(graph, passes, tasks, programs);
        }
      }
    }
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (left_out_[t]) fall_back(graph, passes, tasks, t, ~0U, results, stop);
    }
  }

  [[nodiscard]] std::size_t bytes() const noexcept override {
    std::size_t sum = estimator_.bytes() + prior_.memory() + selector_.memory();
    for (const auto& device : devices_) sum += device->mirror().host_bytes();
    return sum;
  }

  [[nodiscard]] CacheStatistics statistics() const override {
    CacheStatistics sum = statistics_;
    sum.notice = notice_;
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

  void cache_and_match(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved,
                       std::span<const QueryTask> tasks, std::span<QueryResult> results, const match::StopFlag* stop,
                       match::MatchSteps& steps) {
    estimate::Selection selection;
    const auto caching = Clock::now();
    {
      const Range inner("cache");
      refresh(graph, resolved, passes_, tasks, selection);
    }
    steps.cache += seconds_since(caching);
    const Range inner("match");
    const auto matching = Clock::now();
    run_kernels(graph, tasks, results, stop);
    if (options_.walks == 0) estimator_.matched(seconds_since(matching));
    if (options_.measure) measure(selection.hot);
  }

  // Where device memory has run out: a smaller cache or, in place of a graph that has outgrown it, a cache at all. False where
  // nothing is left to give up.
  bool make_room() {
    bool shrunk = false;
    for (const auto& device : devices_) {
      device->use();
      shrunk = device->mirror().shrink() || shrunk;
    }
    if (shrunk) {
      notice_ = "device memory ran out; the cache was cut to half";
      return true;
    }
    if (options_.policy != CachePolicy::automatic || policy_ != CachePolicy::resident || !readable()) return false;
    for (const auto& device : devices_) statistics_.copied_bytes += device->mirror().statistics().copied_bytes;
    devices_.clear();
    notice_ = "the graph has outgrown device memory; what is hot of it is cached";
    policy_ = CachePolicy::random_walk;
    open_devices();
    return true;
  }

  // Whether kernels can read the graph where it lies.
  [[nodiscard]] bool readable() const { return managed_ || (pinned_ != nullptr && pinned_->registered()); }

  // The policy that the graph's size calls for; devices are opened when the first batch comes.
  void open(const graph::DataGraph& graph) {
    if (!devices_.empty()) return;
    policy_ = options_.policy;
    check(cudaSetDevice(options_.devices.front()), "cudaSetDevice");
    if (policy_ == CachePolicy::automatic) {
      policy_ =
          !readable() || fits(graph, free_device_bytes(), options_.memory) ? CachePolicy::resident : CachePolicy::random_walk;
      if (!readable() && pinned_ != nullptr) notice_ = pinned_->notice() + "; the whole graph is kept on the device";
    }
    open_devices();
  }

  void open_devices() {
    if (!readable() && policy_ != CachePolicy::resident) {
      throw Error(ErrorKind::configuration, "cache policy",
                  pinned_ != nullptr ? pinned_->notice() : std::string("kernels cannot read the graph's memory"),
                  "raise the limit on locked memory (ulimit -l), or use the policy resident");
    }
    check(cudaSetDevice(options_.devices.front()), "cudaSetDevice");
    const std::size_t free = free_device_bytes();
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
        selection = estimate::select_by_degree(graph, bytes_of, budget, workers_);
        break;
      case CachePolicy::k_hop:
        selection = estimate::select_within(graph, passes, estimate::hops_of(tasks), bytes_of, budget, workers_);
        break;
      default:
        selection = selector_.select(prior_.temper(graph, estimated_->lists, bytes_of, budget), bytes_of, budget);
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
        devices_[d]->prepare(flat_, d, shares, options_, graph.base().vertices(), derived);
      }
      for (const auto& device : devices_) device->launch(flat_, options_);
      drain(tasks, results, stop);
    } catch (...) {
      for (const auto& device : devices_) device->settle();
      throw;
    }
    for (const auto& device : devices_) {
      Outcome outcome;
      device->finish(totals_, outcome);
      statistics_.hits += outcome.counters.hits;
      statistics_.misses += outcome.counters.misses;
      for (const Queue& queue : outcome.queue) statistics_.shared_parts += queue.pushed;
      if (!device->stopped()) add(flat_.sums, 0, tasks, results);
      add(flat_.walks, flat_.sums.programs.size(), tasks, results);
    }
    count_anchors(flat_.sums, tasks, results);
    count_anchors(flat_.walks, tasks, results);
    recount(graph, tasks, results, stop);
  }

  // Takes what the kernels list until all have ended.
  void drain(std::span<const QueryTask> tasks, std::span<QueryResult> results, const match::StopFlag* stop) {
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
    std::vector<bool> done(devices_.size());
    std::size_t running = devices_.size();
    const auto started = Clock::now();
    while (running > 0) {
      const bool stopping = stop != nullptr && stop->load(std::memory_order_relaxed);
      for (std::size_t d = 0; d < devices_.size(); ++d) {
        if (done[d] || !devices_[d]->poll(stopping, take)) continue;
        done[d] = true;
        --running;
      }
      if (running > 0 && Clock::now() - started < patience) {
        std::this_thread::yield();
      } else if (running > 0) {
        std::this_thread::sleep_for(drain_pause);
      }
    }
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
  estimate::Prior prior_;
  estimate::Selector selector_;
  const estimate::Accesses* estimated_ = nullptr;
  CachePolicy policy_ = CachePolicy::automatic;
  Storage storage_ = Storage::resident;
  std::vector<std::unique_ptr<Device>> devices_;
  FlatPrograms flat_;
  std::vector<bool> left_out_;  // by task: matched on the CPU
  std::vector<HotVertex> hot_;
  std::vector<Total> totals_;
  std::vector<ProgramOrigin> overflown_;
  std::vector<PassWork> passes_;
  std::unique_ptr<match::Matcher> cpu_;
  CacheStatistics statistics_;
  std::string notice_;
  std::uint64_t measured_ = 0;
};

}  // namespace

std::unique_ptr<match::Matcher> make_matcher(const GpuOptions& options, const PinnedSlabs* pinned, bool managed,
                                             Workers& workers) {
  return std::make_unique<GpuMatcher>(options, pinned, managed, workers);
}

}  // namespace deltamatch::gpu

#include "gpu/mirrors.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "base/seconds.hpp"
#include "gpu/cuda/check.hpp"
#include "gpu/cuda/nvtx.hpp"

namespace deltamatch::gpu {

namespace {

// Device memory that is left free for matching.
constexpr std::size_t reserve_bytes = std::size_t{1} << 30;

// Walks of the first portion for a whole graph. It is a small portion.
constexpr double first_walks = 0x1p12;

// Choosing what to cache may take this share of the matching time.
constexpr double choice_share = 0.05;

// Whether the number of walks may follow the matching time. With paper and formula, time can only end the walks early.
bool follows_time(const GpuOptions& options) {
  return options.walks == 0 && (options.walk_count == WalkCount::even || options.walk_count == WalkCount::fixed);
}

estimate::Options estimator_options(const GpuOptions& options) {
  estimate::Options made;
  made.least = GpuOptions::least_walks;
  made.most = GpuOptions::most_walks;
  if (options.walks > 0) {
    made.walks = options.walks;
  } else if (follows_time(options)) {
    made.first = first_walks;
  } else {
    made.share = std::numeric_limits<double>::infinity();
  }
  made.method = options.walk_count == WalkCount::even ? estimate::Method::even : estimate::Method::walks;
  if (options.walk_count == WalkCount::paper) made.count = estimate::WalkCount::paper;
  if (options.walk_count == WalkCount::formula) made.count = estimate::WalkCount::formula;
  return made;
}

Storage storage_of(CachePolicy policy) {
  switch (policy) {
    case CachePolicy::none:
    case CachePolicy::managed:
      return Storage::host;
    case CachePolicy::resident:
      return Storage::resident;
    default:
      return Storage::cached;
  }
}

std::string mebibytes(std::size_t bytes) { return std::to_string(((bytes - 1) >> 20) + 1) + " MiB"; }

using Clock = std::chrono::steady_clock;

HotVertex stored(const estimate::StoredVertex& at) { return {at.vertex, static_cast<std::uint32_t>(at.store)}; }

}  // namespace

Mirrors::Mirrors(const GpuSettings& options, const PinnedSlabs* pinned, bool managed, Workers& workers)
    : options_(options),
      pinned_(pinned),
      managed_(managed),
      workers_(&workers),
      estimator_(workers, estimator_options(options)),
      prior_(workers),
      selector_(workers),
      schedule_(choice_share) {}

void Mirrors::open(const graph::DataGraph& graph) {
  if (devices_.empty()) {
    whole_ = false;
    choose_policy(graph);
    open_devices();
  }
  if (!all_fits_) return;
  try {
    follow(graph, graph.resolved());
  } catch (const DeviceOutOfMemory&) {  // decided later, by what the batch reads
    close_devices();
  }
}

void Mirrors::open(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved,
                   std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks) {
  whole_ = std::ranges::any_of(passes, [](const match::PassWork& pass) { return pass.pass == match::Pass::whole; });
  reads_ = whole_ ? reads_of(tasks, resolved) : all_reads(resolved);
  if (!devices_.empty()) {
    const auto changed = [&](graph::StoreKind kind) {
      const auto store = static_cast<std::size_t>(kind);
      for (graph::RelationId relation = 0; relation < reads_[store].bound(); ++relation) {
        if (!chosen_for_[store].covers(reads_[store], relation)) return true;
      }
      return false;
    };
    // Lent lists are read in place of the graph's own. If they fit beside what another query read, that may stay for the next
    // query.
    const bool depends = options_.policy == CachePolicy::automatic || options_.policy == CachePolicy::resident;
    const bool again = depends && whole_ && !all_fits_ &&
                       (changed(graph::StoreKind::base) || changed(graph::StoreKind::derived) ||
                        (policy_ != CachePolicy::resident && changed(graph::StoreKind::lent)));
    const bool outgrown = graph.lent() == nullptr && !can_read();
    if (!again && !outgrown) return;
    close_devices();
  }
  choose_policy(graph);
  open_devices();
}

void Mirrors::choose_policy(const graph::DataGraph& graph) {
  policy_ = options_.policy;
  notice_.clear();
  chosen_for_ = {};
  all_fits_ = true;
  if (policy_ != CachePolicy::automatic && policy_ != CachePolicy::resident) return;
  if (!readable() && pinned_ != nullptr) notice_ = pinned_->notice() + "; the device keeps the graph";
  all_fits_ = fits(graph, spare_on_each(), options_.memory);
  policy_ = CachePolicy::resident;
  if (!all_fits_) choose_part(graph);
}

// Chooses what to keep if the graph does not fit as a whole.
void Mirrors::choose_part(const graph::DataGraph& graph) {
  bool resident = options_.policy == CachePolicy::resident || !readable();
  if (whole_) {
    chosen_for_ = reads_;
    const std::size_t needed = resident_bytes(graph, reads_, *workers_);
    const std::size_t spare = spare_on_each();
    if (needed <= (options_.memory == 0 ? spare : std::min(spare, options_.memory))) {
      resident = true;
      if (!notice_.empty()) notice_ += "; ";
      notice_ += "the device holds " + mebibytes(needed) + " of lists that the query reads, of at most " +
                 mebibytes(resident_bytes(graph)) + " in the graph";
    }
  }
  policy_ = resident ? CachePolicy::resident : CachePolicy::random_walk;
}

bool Mirrors::can_read() const { return storage_ == Storage::resident || readable(); }

// Whether kernels can read the graph in host memory.
bool Mirrors::readable() const { return managed_ || (pinned_ != nullptr && pinned_->registered()); }

// Free bytes for each mirror on the device that has the least.
std::size_t Mirrors::free_on_each() const {
  std::size_t least = SIZE_MAX;
  for (const int device : options_.devices) {
    check(cudaSetDevice(device), "cudaSetDevice");
    const auto mirrors = std::count(options_.devices.begin(), options_.devices.end(), device);
    least = std::min(least, free_device_bytes() / static_cast<std::size_t>(mirrors));
  }
  return least;
}

std::size_t Mirrors::spare_on_each() const {
  const std::size_t free = free_on_each();
  return free - std::min(free, reserve_bytes);
}

void Mirrors::open_devices() {
  if (!readable() && policy_ != CachePolicy::resident) {
    throw Error(ErrorKind::configuration, "cache policy",
                pinned_ != nullptr ? pinned_->notice() : std::string("kernels cannot read the graph's memory"),
                "raise the limit on locked memory (ulimit -l), or use the policy resident");
  }
  storage_ = storage_of(policy_);
  DeviceGraphOptions wanted;
  wanted.storage = storage_;
  wanted.reserve_bytes = reserve_bytes;
  wanted.cache_bytes = options_.memory;
  if (policy_ == CachePolicy::random_walk) {
    // Kernels fill this part with lists that they miss. The rest holds what walks choose.
    wanted.ring_share = tries_shares() ? ring_trial_.share() : std::max(0.0, options_.testing.ring_share);
  }
  // If mirrors share a device, the first must not take all of its memory.
  const std::set<int> distinct(options_.devices.begin(), options_.devices.end());
  if (distinct.size() < options_.devices.size() && options_.memory == 0) wanted.cache_bytes = free_on_each() / 2;
  std::vector<std::unique_ptr<Device>> devices;
  for (const int ordinal : options_.devices) devices.push_back(std::make_unique<Device>(ordinal, wanted, *workers_));
  devices_ = std::move(devices);
}

void Mirrors::close_devices() noexcept {
  for (const auto& device : devices_) copied_bytes_ += device->mirror().statistics().copied_bytes;
  devices_.clear();
  schedule_.restart();
}

bool Mirrors::chosen_for(const match::QueryTask& task) const noexcept {
  return std::ranges::binary_search(chosen_queries_, task.query->id);
}

// Whether every batch needs its own choice. So it is if walks do not follow time, if hops are counted from the batch, or if a
// test makes the devices forget.
bool Mirrors::always_chooses() const noexcept {
  return policy_ == CachePolicy::k_hop || !follows_time(options_) || options_.testing.forgets;
}

// Whether a choice cannot wait until matching has made up for the last one. Either every batch needs its own, or the last one
// was made for other lists or other queries.
bool Mirrors::must_choose(const graph::DataGraph& graph, std::span<const match::QueryTask> tasks) const {
  if (always_chooses()) return true;
  if (reads_ != hot_for_ || lent_store(graph) != chosen_lent_) return true;
  return !std::ranges::all_of(tasks, [&](const match::QueryTask& task) { return chosen_for(task); });
}

// A test or a measurement may state the ring's share.
bool Mirrors::tries_shares() const noexcept { return policy_ == CachePolicy::random_walk && options_.testing.ring_share == 0; }

// Gives all rings the share that is being tried. Returns false if they have it.
bool Mirrors::divide() noexcept {
  bool some = false;
  for (const auto& device : devices_) some = device->mirror().divide(ring_trial_.share()) || some;
  return some;
}

std::uint64_t Mirrors::held() const noexcept {
  std::uint64_t vertices = 0;
  for (const auto& device : devices_) vertices += device->mirror().statistics().cached_vertices;
  return vertices;
}

void Mirrors::estimate(const graph::DataGraph& graph, std::span<const match::PassWork> passes,
                       std::span<const match::QueryTask> tasks, const match::Programs& programs) {
  chooses_ = false;
  if (storage_ != Storage::cached) return;
  divided_ = tries_shares() && divide();
  const bool lost = divided_ || held() < chosen_vertices_ / 2;
  if (lost) selector_ = estimate::Selector(*workers_);  // what it knows of is no longer cached
  if (lost || must_choose(graph, tasks)) schedule_.restart();
  chooses_ = schedule_.due();
  if (!chooses_ || policy_ != CachePolicy::random_walk) return;
  const Range range("estimate");
  const auto start = Clock::now();
  estimated_ = &estimator_.run(graph, passes, tasks, programs);
  schedule_.chose(seconds_since(start));
}

void Mirrors::follow(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved) {
  for (const auto& device : devices_) {
    device->use();
    if (options_.testing.forgets) device->mirror().forget();
    // If the whole graph fits, lists that one query does not read may serve the next.
    const bool all = storage_ == Storage::resident && all_fits_;
    workers_->stand_by(
        [&] { all ? device->mirror().begin(graph, resolved) : device->mirror().begin(graph, resolved, reads_); });
  }
}

void Mirrors::refresh(const graph::DataGraph& graph, std::span<const graph::Resolved> resolved,
                      std::span<const match::PassWork> passes, std::span<const match::QueryTask> tasks) {
  const Range range("cache");
  follow(graph, resolved);
  if (!chooses_) return;
  const auto start = Clock::now();
  choose(graph, passes, tasks);
  const double seconds = seconds_since(start);
  schedule_.chose(seconds);
  if (divided_) ring_trial_.divided(seconds);
}

void Mirrors::choose(const graph::DataGraph& graph, std::span<const match::PassWork> passes,
                     std::span<const match::QueryTask> tasks) {
  DeviceGraph& first = devices_.front()->mirror();
  const auto bytes_of = [&](const estimate::StoredVertex& at) { return first.packed_bytes(stored(at)); };
  std::size_t budget = first.cache_bytes();
  for (const auto& device : devices_) budget = std::min(budget, device->mirror().cache_bytes());
  if (reads_ != hot_for_) {
    hot_for_ = reads_;
    prior_ = estimate::AccessPrior(*workers_);
    selector_ = estimate::Selector(*workers_);
  } else if (std::ranges::none_of(tasks, [&](const match::QueryTask& task) { return chosen_for(task); })) {
    selector_ = estimate::Selector(*workers_);  // it knows the usual accesses of other queries
  }
  estimate::Selection selection;
  switch (policy_) {
    case CachePolicy::degree:
      selection = estimate::select_by_degree(graph, bytes_of, budget, workers_);
      break;
    case CachePolicy::k_hop:
      selection = estimate::select_within(graph, passes, estimate::hops_of(tasks), bytes_of, budget, workers_);
      break;
    default:
      selection =
          selector_.select(prior_.posterior_of(graph, *estimated_, bytes_of, budget), bytes_of, budget,
                           {.miss = options_.testing.miss_bytes > 0 ? options_.testing.miss_bytes : estimate::miss_bytes,
                            .batches = always_chooses() ? 1 : schedule_.held()});
  }
  hot_.clear();
  for (const estimate::StoredVertex& at : selection.hot) hot_.push_back(stored(at));
  for (const auto& device : devices_) {
    device->use();
    device->mirror().select(hot_);
  }
  ++choices_;
  chosen_vertices_ = held();
  chosen_lent_ = lent_store(graph);
  const std::vector<std::uint64_t> before = std::exchange(chosen_queries_, {});
  for (const match::QueryTask& task : tasks) chosen_queries_.push_back(task.query->id);
  std::ranges::sort(chosen_queries_);
  if (chosen_queries_ != before) ring_trial_.restart();
}

const GraphView* Mirrors::resident() {
  if (devices_.empty() || storage_ != Storage::resident || !all_fits_) return nullptr;
  Device& first = *devices_.front();
  first.use();
  first.wait();
  return &first.mirror().view();
}

void Mirrors::matched(double seconds, std::uint64_t anchors) {
  ring_trial_.matched(seconds, anchors);
  if (options_.walks == 0) estimator_.matched(seconds);
  schedule_.matched(seconds);
}

void Mirrors::measure() {
  for (const auto& device : devices_) {
    std::vector<estimate::Accessed> truth;
    for (const estimate::Access& access : device->accesses()) {
      truth.push_back(
          {access.times, device->mirror().holds(stored(access.at)), device->mirror().packed_bytes(stored(access.at))});
    }
    meter_.add(std::move(truth));
  }
}

bool Mirrors::make_room(const graph::DataGraph& graph) {
  bool shrunk = false;
  for (const auto& device : devices_) {
    device->use();
    shrunk = device->mirror().shrink() || shrunk;
  }
  if (shrunk) return true;
  if (policy_ != CachePolicy::resident) return false;
  // The device may still hold what another query reads.
  const bool part = whole_ && (all_fits_ || chosen_for_ != reads_);
  const bool cache = options_.policy == CachePolicy::automatic && readable();
  if (!part && !cache) return false;
  close_devices();
  const std::string_view before = all_fits_ ? "the graph exceeds device memory" : "";
  all_fits_ = false;
  notice_ = before;
  policy_ = CachePolicy::random_walk;
  if (part) choose_part(graph);
  if (policy_ == CachePolicy::random_walk && !before.empty()) notice_ += "; the lists that are read most are cached";
  open_devices();
  return true;
}

std::size_t Mirrors::bytes() const noexcept {
  std::size_t sum = estimator_.bytes() + prior_.memory() + selector_.memory();
  for (const auto& device : devices_) sum += device->mirror().host_bytes();
  return sum;
}

void Mirrors::write(CacheStatistics& into) const {
  meter_.write(into);
  into.notice = notice_;
  into.copied_bytes += copied_bytes_;
  into.choices += choices_;
  for (const auto& device : devices_) {
    const DeviceGraphStatistics own = device->mirror().statistics();
    into.copied_bytes += own.copied_bytes;
    into.cached_lists += own.cached_lists;
    into.cached_bytes += own.cached_bytes;
    if (!own.reduced) continue;
    if (!into.notice.empty()) into.notice += "; ";
    into.notice += "device memory is short, so the cache takes " + (own.cache_bytes >= std::size_t{1} << 20
                                                                        ? std::to_string(own.cache_bytes >> 20) + " MiB"
                                                                        : std::to_string(own.cache_bytes >> 10) + " KiB");
  }
}

}  // namespace deltamatch::gpu

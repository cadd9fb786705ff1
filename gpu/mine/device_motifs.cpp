#include "gpu/mine/device_motifs.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "base/checked.hpp"
#include "gpu/cuda/check.hpp"
#include "gpu/mine/motif_pool.hpp"

namespace deltamatch::gpu {
namespace {

using match::MotifTables;
using match::NeighbourLists;

/// What a launch with this many warps needs.
struct Sizes {
  std::uint64_t warps = 0;  ///< 0: there is too little memory
  std::uint64_t stack = 0;  ///< of a warp, entries
  std::uint64_t tasks = 0;  ///< of a launch
};

/// The most vertices that a traversal can discover: the neighbours of `depth` vertices.
std::uint64_t stack_of(const NeighbourLists& graph, unsigned depth) {
  std::vector<std::uint64_t> largest(depth, 0);  // ascending
  for (VertexId v = 0; v < graph.vertices(); ++v) {
    const std::uint64_t degree = graph.begin[v + 1] - graph.begin[v];
    if (degree <= largest.front()) continue;
    largest.front() = degree;
    std::sort(largest.begin(), largest.end());
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t degree : largest) sum += degree;
  return std::min<std::uint64_t>(sum, graph.vertices());
}

/// The most warps whose counts in a launch stay below 2^63. A step reads at most `lanes` entries of lists. A visit is never
/// interrupted and reads at most each entry of the graph. Each candidate makes fewer pairs than there are vertices.
std::uint64_t warps_that_fit_64_bits(const NeighbourLists& graph, unsigned budget) {
  constexpr Count lanes = 32;
  const Count entries = lanes * budget + graph.neighbours.size() + graph.vertices();
  const Count most = (Count{1} << 63) / (entries * (Count{graph.vertices()} + 1));
  return most < (Count{1} << 32) ? static_cast<std::uint64_t>(most) : std::uint64_t{1} << 32;
}

/// The graph and the tables on a device.
struct DeviceInput {
  DeviceInput(MotifOps& ops, const NeighbourLists& graph, const MotifTables& tables)
      : begin(ops, graph.begin),
        neighbours(ops, graph.neighbours),
        steps(ops, tables.steps),
        admitted(ops, tables.admitted),
        pairs(ops, tables.pairs),
        bytes(graph.begin.size_bytes() + graph.neighbours.size_bytes() + tables.steps.size() * sizeof(match::PatternStep) +
              tables.admitted.size() + tables.pairs.size() * sizeof(std::uint16_t)) {}
  DeviceArray<std::uint64_t> begin;
  DeviceArray<std::uint32_t> neighbours;
  DeviceArray<match::PatternStep> steps;
  DeviceArray<std::uint8_t> admitted;
  DeviceArray<std::uint16_t> pairs;
  std::size_t bytes;
};

struct WalkMemory {
  WalkMemory(MotifOps& ops, const Sizes& sizes, std::uint64_t vertices, const MotifTables& tables)
      : marks(ops, sizes.warps * vertices),
        stacks(ops, sizes.warps * sizes.stack),
        tasks(ops, sizes.tasks),
        saved(ops, sizes.warps * tables.depth),
        progress(ops, 1),
        counts(ops, tables.patterns) {
    ops.clear(marks.get(), sizes.warps * vertices);
  }
  DeviceArray<std::uint8_t> marks;
  DeviceArray<std::uint32_t> stacks;
  DeviceArray<MotifTask> tasks;
  DeviceArray<MotifTask> saved;
  DeviceArray<MotifProgress> progress;
  DeviceArray<unsigned long long> counts;
};

/// One device's part of a run.
class MotifSearch {
 public:
  /// Throws DeviceOutOfMemory.
  MotifSearch(MotifOps& ops, const NeighbourLists& graph, const MotifTables& tables, const MotifSettings& settings)
      : counts(tables.patterns, 0),
        ops_(ops),
        graph_(graph),
        tables_(tables),
        settings_(settings),
        input_(ops, graph, tables),
        stack_(stack_of(graph, tables.depth)) {
    for (std::size_t bytes = usable_bytes(ops, settings.memory, input_.bytes);; bytes /= 2) {
      sizes_ = sizes_within(bytes);
      if (sizes_.warps < std::max(settings.least_warps, 1U)) throw DeviceOutOfMemory("counting patterns");
      try {
        memory_.emplace(ops, sizes_, graph.vertices(), tables);
        return;
      } catch (const DeviceOutOfMemory&) {
      }
    }
  }

  /// Runs until all work is taken and done, or `go_on` returns false.
  void run(MotifPool& pool, const match::GoOn& go_on) {
    while (!pool.idle()) {
      if (!go_on(pool.share())) return;
      MotifPool::Portion portion = pool.take(sizes_.warps * settings_.pieces_for_warp);
      if (!portion.empty()) launch(pool, portion);
    }
  }

  std::vector<Count> counts;

 private:
  [[nodiscard]] Sizes sizes_within(std::size_t bytes) const {
    const std::uint64_t of_warp = graph_.vertices() + stack_ * sizeof(std::uint32_t) +
                                  (tables_.depth + 2 * settings_.pieces_for_warp) * sizeof(MotifTask);
    Sizes sizes;
    sizes.warps = std::min(
        {std::uint64_t{ops_.warps(tables_.patterns)}, bytes / of_warp, warps_that_fit_64_bits(graph_, settings_.budget)});
    sizes.stack = stack_;
    sizes.tasks = 2 * settings_.pieces_for_warp * sizes.warps;  // split() at most doubles
    return sizes;
  }

  void launch(MotifPool& pool, MotifPool::Portion& portion) {
    const std::uint64_t pieces = sizes_.warps * settings_.pieces_for_warp;
    const std::uint32_t roots = portion.roots.last - portion.roots.first;
    if (portion.tasks.size() + roots < pieces) portion.tasks = split(portion.tasks, pieces);
    const std::uint64_t count = portion.tasks.size();
    memory_->tasks.write(portion.tasks);
    ops_.clear(memory_->progress.get(), sizeof(MotifProgress));
    ops_.clear(memory_->counts.get(), counts.size() * sizeof(unsigned long long));
    ops_.walk(work_of(portion));

    MotifProgress made{};
    ops_.read(&made, memory_->progress.get(), sizeof made);
    std::vector<unsigned long long> sums(counts.size());
    ops_.read(sums.data(), memory_->counts.get(), sums.size() * sizeof(unsigned long long));
    for (std::size_t i = 0; i < sums.size(); ++i) counts[i] = checked_add(counts[i], sums[i]);

    std::vector<MotifTask> left(made.saved);
    ops_.read(left.data(), memory_->saved.get(), left.size() * sizeof(MotifTask));
    const std::uint64_t taken = std::min<std::uint64_t>(made.taken, count + roots);
    left.insert(left.end(), portion.tasks.begin() + static_cast<std::ptrdiff_t>(std::min(taken, count)), portion.tasks.end());
    const auto begun = static_cast<std::uint32_t>(taken - std::min(taken, count));
    pool.done(left, {portion.roots.first + begun, portion.roots.last});
  }

  [[nodiscard]] MotifWork work_of(const MotifPool::Portion& portion) const {
    MotifWork work{};
    work.begin = input_.begin.get();
    work.neighbours = input_.neighbours.get();
    work.tables.depth = tables_.depth;
    work.tables.patterns = tables_.patterns;
    work.tables.steps = input_.steps.get();
    std::copy(tables_.first_step.begin(), tables_.first_step.end(), work.tables.first_step);
    work.tables.admitted = input_.admitted.get();
    std::copy(tables_.first_pattern.begin(), tables_.first_pattern.end(), work.tables.first_pattern);
    work.tables.pairs = tables_.pairs.empty() ? nullptr : input_.pairs.get();
    work.tasks = memory_->tasks.get();
    work.task_count = portion.tasks.size();
    work.first_root = portion.roots.first;
    work.last_root = portion.roots.last;
    work.warps = static_cast<unsigned>(sizes_.warps);
    work.marks = memory_->marks.get();
    work.vertices = graph_.vertices();
    work.stacks = memory_->stacks.get();
    work.stack_size = sizes_.stack;
    work.budget = settings_.budget;
    work.patience = settings_.patience;
    work.idle_warps = std::max(1U, static_cast<unsigned>(sizes_.warps * settings_.idle_percent / 100));
    work.saved = memory_->saved.get();
    work.progress = memory_->progress.get();
    work.counts = memory_->counts.get();
    return work;
  }

  MotifOps& ops_;
  const NeighbourLists& graph_;
  const MotifTables& tables_;
  const MotifSettings& settings_;
  DeviceInput input_;
  std::uint64_t stack_;
  Sizes sizes_;
  std::optional<WalkMemory> memory_;
};

class MotifCounter final : public match::MotifCounter {
 public:
  MotifCounter(std::vector<MakeMotifOps> devices, const MotifSettings& settings)
      : devices_(std::move(devices)), settings_(settings) {}

  std::optional<std::vector<Count>> count(const NeighbourLists& graph, const MotifTables& tables,
                                          const match::GoOn& go_on) override {
    MotifPool pool(graph.vertices(), devices_.size());
    std::vector<Count> counts(tables.patterns, 0);
    bool worked = false;
    std::mutex mutex;
    const auto search = [&](MotifOps& ops, const match::GoOn& go) {
      std::unique_ptr<MotifSearch> part;
      try {
        part = std::make_unique<MotifSearch>(ops, graph, tables, settings_);
      } catch (const DeviceOutOfMemory&) {  // left to the other devices or the caller
        return;
      }
      part->run(pool, go);
      const std::lock_guard lock(mutex);
      worked = true;
      for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = checked_add(counts[i], part->counts[i]);
    };
    const DeviceRun run = run_on_devices(devices_, go_on, [&] { return pool.share(); }, search);
    kernel_seconds_ += run.kernel_seconds;
    return worked || run.stopped ? std::optional(std::move(counts)) : std::nullopt;
  }

  [[nodiscard]] double kernel_seconds() const noexcept override { return kernel_seconds_; }

 private:
  std::vector<MakeMotifOps> devices_;
  MotifSettings settings_;
  double kernel_seconds_ = 0;
};

}  // namespace

std::unique_ptr<match::MotifCounter> make_motif_counter(std::vector<MakeMotifOps> devices, const MotifSettings& settings) {
  return std::make_unique<MotifCounter>(std::move(devices), settings);
}

}  // namespace deltamatch::gpu

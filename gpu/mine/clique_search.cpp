#include "gpu/mine/clique_search.hpp"

#include <algorithm>
#include <memory>

#include "gpu/cuda/check.hpp"
#include "gpu/mine/dense_memory.hpp"
#include "gpu/mine/node_stack.hpp"

namespace deltamatch::gpu {
namespace {

/// What a device needs for the roots of one class. All sizes are of nodes or rows.
struct Sizes {
  std::uint64_t rows = 0;      ///< at a time; 0: there is too little memory
  std::uint64_t capacity = 0;  ///< of nodes, including seeds
  std::uint64_t portion = 0;
  unsigned levels = 0;
  unsigned leaf_slots = 0;
};

Sizes plan_sizes(const RootClass& of, std::optional<unsigned> k, std::size_t bytes, const DenseSettings& settings) {
  Sizes sizes;
  const std::uint64_t row_bytes = of.width.row_words() * sizeof(Word) + sizeof(std::uint32_t) + sizeof(Space);
  const std::uint64_t node_bytes = sizeof(NodeHead) + of.width.row_words() * sizeof(Word);
  sizes.levels = k ? (*k > 5 ? *k - 4 : 1) : of.largest;
  sizes.leaf_slots = of.largest + 1;
  const std::uint64_t leaf_bytes = std::uint64_t{sizes.levels} * sizes.leaf_slots * sizeof(std::uint64_t);
  if (leaf_bytes > bytes / 8) return sizes;
  // A quarter of the memory is for rows and their seeds, the rest for children. `least` is what one warp may make at once.
  const std::uint64_t rows = std::min({of.rows, bytes / 4 / (row_bytes + node_bytes), std::uint64_t{1} << 31});
  if (rows < of.largest) return sizes;
  const std::uint64_t nodes = bytes / 2 / node_bytes;
  sizes.portion = std::max<std::uint64_t>(std::min({settings.portion, nodes / 8, rows + settings.children}), 1);
  const std::uint64_t least = std::uint64_t{32 / of.width.lanes} * of.width.members() * sizes.levels;
  const std::uint64_t children = std::min(nodes - sizes.portion, std::max(std::min(settings.children, rows * 64), least));
  if (children < least) return sizes;
  sizes.capacity = rows + children;
  sizes.rows = rows;
  return sizes;
}

class CliqueSearch {
 public:
  CliqueSearch(DenseOps& ops, const CliqueJob& job, const match::GoOn& go_on)
      : ops_(ops),
        k_(job.k),
        settings_(job.settings),
        queue_(job.queue),
        devices_(job.devices),
        go_on_(go_on),
        lists_(ops, job.graph) {}

  /// Returns false if the run was stopped.
  bool run() {
    for (std::size_t c = 0; c < clique_widths.size(); ++c) {
      const RootClass& of = queue_.of(c);
      if (of.roots.empty()) continue;
      Sizes sizes;
      const std::optional<Memory> memory = make_memory(of, sizes);
      if (memory && !run_class(c, of, sizes, *memory)) return false;
    }
    return true;
  }

  match::CliqueTally tally;

 private:
  struct Memory {
    Memory(DenseOps& ops, const Sizes& sizes, Width width)
        : rows(ops, sizes.rows * width.row_words()),
          owner(ops, sizes.rows),
          spaces(ops, sizes.rows),
          nodes(ops, sizes.capacity, width.row_words()),
          deferred(ops, sizes.portion, width.row_words()),
          progress(ops, 1),
          leaves(ops, std::uint64_t{sizes.levels} * sizes.leaf_slots) {}
    DeviceArray<Word> rows;
    DeviceArray<std::uint32_t> owner;
    DeviceArray<Space> spaces;
    NodeBuffer nodes;
    NodeBuffer deferred;
    DeviceArray<Progress> progress;
    DeviceArray<unsigned long long> leaves;
  };

  /// Takes the free memory, or half of it, and so on. Returns nothing if that is too little; the class is then left to the
  /// caller.
  std::optional<Memory> make_memory(const RootClass& of, Sizes& sizes) {
    for (std::size_t bytes = usable_bytes(ops_, settings_.memory, lists_.bytes);; bytes /= 2) {
      sizes = plan_sizes(of, k_, bytes, settings_);
      if (sizes.rows == 0) return std::nullopt;
      try {
        return std::optional<Memory>(std::in_place, ops_, sizes, of.width);
      } catch (const DeviceOutOfMemory&) {
      }
    }
  }

  bool run_class(std::size_t index, const RootClass& of, const Sizes& sizes, const Memory& memory) {
    const std::size_t leaf_count = std::size_t{sizes.levels} * sizes.leaf_slots;
    ops_.clear(memory.leaves.get(), leaf_count * sizeof(unsigned long long));
    bool go = true;
    while (go) {
      const std::vector<VertexId> roots = queue_.take(index, sizes.rows, devices_);
      if (roots.empty()) break;
      go = count(memory, of.width, sizes, roots);
    }
    std::vector<unsigned long long> leaves(leaf_count);
    ops_.read(leaves.data(), memory.leaves.get(), leaf_count * sizeof(unsigned long long));
    for (std::size_t i = 0; i < leaf_count; ++i) {
      if (leaves[i] != 0) tally.add_leaves(2 + i / sizes.leaf_slots, i % sizes.leaf_slots, leaves[i]);
    }
    return go;
  }

  /// Makes the rows of the roots' spaces on the device.
  RowWork make_rows(const Memory& memory, Width width, std::span<const VertexId> roots) {
    std::vector<Space> spaces;
    std::vector<std::uint32_t> owner;
    for (const VertexId root : roots) {
      const std::uint64_t first = lists_.host_begin[root];
      const auto size = static_cast<std::uint32_t>(lists_.host_begin[root + 1] - first);
      owner.insert(owner.end(), size, static_cast<std::uint32_t>(spaces.size()));
      spaces.push_back({first, static_cast<std::uint32_t>(owner.size() - size), size});
    }
    memory.spaces.write(spaces);
    memory.owner.write(owner);
    const RowWork work{lists_.begin.get(), lists_.later.get(), lists_.later.get(), memory.spaces.get(),
                       memory.owner.get(), owner.size(),       memory.rows.get(),  width.row_words()};
    ops_.clear(work.rows, work.count * work.row_words * sizeof(Word));
    ops_.fill_rows(work);
    return work;
  }

  bool count(const Memory& memory, Width width, const Sizes& sizes, std::span<const VertexId> roots) {
    const RowWork rows = make_rows(memory, width, roots);
    Output output{memory.nodes.nodes(), sizes.capacity, memory.deferred.nodes(), memory.progress.get()};
    ops_.clear(output.progress, sizeof(Progress));
    ops_.seed({rows, k_ ? *k_ - 2 : 0, output});
    NodeStack stack(sizes.capacity, sizes.levels, sizes.portion);
    stack.start(progress(memory).written());
    while (!stack.empty()) {
      if (!go_on_(queue_.done(0))) return false;
      launch(memory, width, sizes, stack);
    }
    return go_on_(queue_.done(rows.count));
  }

  void launch(const Memory& memory, Width width, const Sizes& sizes, NodeStack& stack) {
    const unsigned held = 2 + stack.level();
    const bool last = k_ && *k_ <= held + 2;
    const NodeStack::Portion portion = stack.next(last);
    const unsigned words = width.row_words();
    const Nodes nodes = memory.nodes.nodes();
    CliqueWork work{nodes.behind(portion.first, words),
                    portion.count,
                    memory.rows.get(),
                    k_ ? *k_ - held : 0,
                    {nodes.behind(portion.output, words), portion.capacity, memory.deferred.nodes(), memory.progress.get()},
                    nullptr,
                    0};
    ops_.clear(work.output.progress, sizeof(Progress));
    if (last) {
      ops_.evaluate(work, width);
    } else {
      work.leaves = memory.leaves.get() + std::size_t{stack.level()} * sizes.leaf_slots;
      work.leaf_slots = sizes.leaf_slots;
      ops_.expand(work, width);
    }
    const Progress made = progress(memory);
    if (made.deferred == portion.count && made.written() == 0)
      throw Error("clique counter", "a node does not fit the stack", "report this as a bug");
    tally.direct = checked_add(tally.direct, made.sums[0]);
    ops_.copy(work.nodes.heads, work.output.deferred.heads, made.deferred * sizeof(NodeHead));
    ops_.copy(work.nodes.words, work.output.deferred.words, made.deferred * words * sizeof(Word));
    stack.done(portion, made.deferred, made.written());
  }

  Progress progress(const Memory& memory) {
    Progress made{};
    ops_.read(&made, memory.progress.get(), sizeof made);
    return made;
  }

  DenseOps& ops_;
  std::optional<unsigned> k_;
  const DenseSettings& settings_;
  RootQueue& queue_;
  std::size_t devices_;
  const match::GoOn& go_on_;
  DeviceLists lists_;
};

}  // namespace

match::CliqueTally search_cliques(DenseOps& ops, const CliqueJob& job, const match::GoOn& go_on) {
  std::unique_ptr<CliqueSearch> search;
  try {
    search = std::make_unique<CliqueSearch>(ops, job, go_on);
  } catch (const DeviceOutOfMemory&) {
    return {};
  }
  search->run();
  return std::move(search->tally);
}

}  // namespace deltamatch::gpu

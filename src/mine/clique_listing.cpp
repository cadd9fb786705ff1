// Lists cliques of k vertices (Danisch, Balalau and Sozio, "Listing k-cliques in sparse real-world graphs", 2018). Each clique
// is found from its first vertex in a degeneracy order. Intersecting rows of bits finds the others among its later neighbours.
#include <algorithm>
#include <string>

#include "base/parallel.hpp"
#include "deltamatch/error.hpp"
#include "mine/clique_space.hpp"
#include "mine/set_store.hpp"

namespace deltamatch {
namespace {

using namespace mine;

/// The cliques of one vertex whose second vertex is in a range.
struct ListTask {
  VertexId vertex;
  unsigned first;
  unsigned last;
};

constexpr unsigned seconds_of_task = 64;

class CliqueLister {
 public:
  CliqueLister(const OrderedGraph& graph, unsigned k, RunControl& control, unsigned worker, SetStore& store)
      : graph_(&graph), k_(k), space_(graph), check_(control, worker), store_(&store), clique_(k) {}

  void run(const ListTask& task) {
    space_.centre(task.vertex);
    clique_[0] = graph_->original(task.vertex);
    if (k_ == 1) {
      store_->add(found_, clique_, 0);
      return;
    }
    stack_.resize(std::size_t{k_} * space_.words());
    std::fill_n(stack_.begin(), space_.words(), 0);
    for (unsigned i = task.first; i < std::min(task.last, space_.size()); ++i) stack_[i / 64] |= Word{1} << i % 64;
    grow(1, true);
  }

  void finish() { store_->flush(found_); }

 private:
  /// Extends the clique by each candidate. The candidates are in the stack at `held` - 1. For the second vertex they are
  /// only the task's part of all.
  bool grow(unsigned held, bool second) {
    const std::size_t words = space_.words();
    const Word* const set = stack_.data() + (held - 1) * words;
    if (!second && held + popcount({set, words}) < k_) return true;
    if (!check_.go_on(words)) return false;
    for (std::size_t i = 0; i < words; ++i) {
      for (Word rest = set[i]; rest != 0; rest &= rest - 1) {
        const unsigned v = static_cast<unsigned>(i * 64) + static_cast<unsigned>(std::countr_zero(rest));
        clique_[held] = graph_->original(space_.member(v));
        if (held + 1 == k_) {
          store_->add(found_, clique_, 0);
          if (!check_.go_on(0)) return false;
          continue;
        }
        Word* const next = stack_.data() + held * words;
        const Word* const row = space_.row(v);
        for (std::size_t j = 0; j < i; ++j) next[j] = 0;
        for (std::size_t j = i; j < words; ++j) next[j] = second ? row[j] : row[j] & set[j];
        next[i] &= ~((Word{2} << v % 64) - 1);  // keep only candidates after v
        if (!grow(held + 1, false)) return false;
      }
    }
    return true;
  }

  const OrderedGraph* graph_;
  unsigned k_;
  CliqueSpace space_;
  PeriodicCheck check_;
  SetStore* store_;
  std::vector<VertexId> clique_;
  std::vector<Word> stack_;
  Found found_;
};

std::vector<ListTask> list_tasks(const OrderedGraph& graph) {
  std::vector<ListTask> tasks;
  for (VertexId v = 0; v < graph.vertices(); ++v) {
    unsigned first = 0;
    do {
      tasks.push_back({v, first, first + seconds_of_task});
      first += seconds_of_task;
    } while (first < graph.later(v).size());
  }
  return tasks;
}

}  // namespace

ListResult list_cliques(const SimpleGraph& graph, unsigned k, std::optional<std::uint64_t> limit, const MineOptions& options,
                        const std::function<void(std::span<const SimpleGraph::Vertex>)>& store) {
  if (k == 0) throw Error(ErrorKind::usage, "k", "a clique has at least 1 vertex", "choose a larger k");
  RunControl control(options);
  if (k > graph.vertices()) return {};
  Workers workers(options.threads);
  const OrderedGraph ordered(graph, degeneracy_order(graph, k - 1));
  SetStore kept(k, [&](std::span<const VertexId> clique, std::uint32_t) { store(clique); }, limit, control);
  std::vector<CliqueLister> listers;
  listers.reserve(workers.size());
  for (unsigned worker = 0; worker < workers.size(); ++worker) listers.emplace_back(ordered, k, control, worker, kept);
  const std::vector<ListTask> tasks = list_tasks(ordered);
  workers.for_each(tasks.size(), 16, [&](unsigned worker, std::size_t begin, std::size_t end) {
    control.set_share(static_cast<double>(begin) / static_cast<double>(tasks.size()));
    for (std::size_t i = begin; i < end && !control.stopped(); ++i) listers[worker].run(tasks[i]);
  });
  for (CliqueLister& lister : listers) lister.finish();
  return kept.result();
}

}  // namespace deltamatch

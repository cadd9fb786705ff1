// Quasi-cliques: connected induced subgraphs that lack at most a number of their edges, the budget.
//
// Every vertex of a quasi-clique has at least k - 1 - budget neighbours in it. So only that core of the graph is searched. With
// a budget of at most k - 2, quasi-cliques are the sets of dense_sets.hpp. With a larger budget they are enumerated as in
// traversal.hpp, from the first vertex in a degeneracy order. The budget prunes this:
// - Pairs that are not joined stay so. A candidate that would exceed the budget is dropped for good.
// - A vertex that is discovered late is joined to one vertex only. So beyond some size, no new vertices are discovered.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "match/backend.hpp"
#include "mine/cliques.hpp"
#include "mine/dense_sets.hpp"
#include "mine/dense_spaces.hpp"
#include "mine/motif_formulas.hpp"
#include "mine/ordered_graph.hpp"
#include "mine/pattern_table.hpp"
#include "mine/set_store.hpp"

namespace deltamatch {
namespace {

using namespace mine;

constexpr std::uint32_t candidates_of_task = 4;

struct Candidate {
  VertexId vertex;
  std::uint32_t missing;  // number of taken vertices that it is not joined to
};

class QuasiWalk {
 public:
  struct Task {
    VertexId root;
    std::uint32_t first;  // of the root's candidates
    std::uint32_t last;
  };
  static std::vector<Task> tasks(const OrderedGraph& graph, std::span<const VertexId> roots);

  QuasiWalk(const OrderedGraph& graph, unsigned k, unsigned budget, RunControl& control, unsigned worker, SetStore* store)
      : by_missing(budget + 1, 0),
        graph_(&graph),
        k_(k),
        budget_(budget),
        check_(control, worker),
        store_(store),
        joined_(graph.vertices(), 0),
        discovered_(graph.vertices(), 0),
        candidates_(k),
        taken_(k),
        part_(k) {}

  void run(const Task& task) {
    taken_[0] = task.root;
    std::vector<Candidate>& all = candidates_[1];
    all.clear();
    for (const VertexId u : graph_->later(task.root)) {
      all.push_back({u, 0});
      discovered_[u] = 1;
    }
    if (k_ == 2) {
      for (std::uint32_t i = task.first; i < task.last; ++i) complete(1, 0, all[i]);
    } else {
      grow(1, 0, task.first, task.last);
    }
    for (const Candidate& u : all) discovered_[u.vertex] = 0;
  }

  void finish() {
    if (store_ != nullptr) store_->flush(found_);
  }

  std::vector<Count> by_missing;

 private:
  bool grow(unsigned size, unsigned missing, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const Candidate v = candidates_[size][i];
      taken_[size] = v.vertex;
      const unsigned now = missing + v.missing;
      const std::size_t bottom = undo_.size();
      extend(size, budget_ - now, i);
      const std::vector<Candidate>& next = candidates_[size + 1];
      bool go = check_.go_on(next.size());
      if (size + 2 == k_) {
        for (const Candidate& u : next) complete(size + 1, now, u);
      } else if (go && (size + 1 <= budget_ - now || size + 1 + next.size() >= k_)) {
        go = grow(size + 1, now, 0, next.size());
      }
      for (; undo_.size() > bottom; undo_.pop_back()) discovered_[undo_.back()] = 0;
      if (!go) return false;
    }
    return true;
  }

  /// Computes the candidates after the one at `position` is taken. `left` is the remaining budget.
  void extend(unsigned size, unsigned left, std::size_t position) {
    const std::vector<Candidate>& old = candidates_[size];
    std::vector<Candidate>& next = candidates_[size + 1];
    next.clear();
    const VertexId v = old[position].vertex;
    const bool discover = size <= left;
    const auto list = graph_->neighbours(v);
    const bool read = discover || list.size() < (old.size() - position) * std::bit_width(list.size());
    if (read) {
      ++reading_;
      for (const VertexId* u = list.data() + list.size(); u != list.data() && u[-1] > taken_[0];) joined_[*--u] = reading_;
    }
    for (std::size_t i = position + 1; i < old.size(); ++i) {
      const VertexId u = old[i].vertex;
      const bool joined = read ? joined_[u] == reading_ : std::binary_search(list.begin(), list.end(), u);
      const std::uint32_t lacks = old[i].missing + (joined ? 0U : 1U);
      if (lacks <= left) next.push_back({u, lacks});
    }
    if (!discover) return;
    for (const VertexId* at = list.data() + list.size(); at != list.data() && at[-1] > taken_[0];) {
      const VertexId u = *--at;
      if (discovered_[u] != 0) continue;
      discovered_[u] = 1;
      undo_.push_back(u);
      next.push_back({u, size});
    }
  }

  void complete(unsigned size, unsigned missing, const Candidate& last) {
    ++by_missing[missing + last.missing];
    if (store_ == nullptr) return;
    for (unsigned i = 0; i < size; ++i) part_[i] = graph_->original(taken_[i]);
    part_[size] = graph_->original(last.vertex);
    store_->add(found_, part_, missing + last.missing);
  }

  const OrderedGraph* graph_;
  unsigned k_;
  unsigned budget_;
  PeriodicCheck check_;
  SetStore* store_;
  std::vector<std::uint64_t> joined_;  // by vertex: the last reading that contained it
  std::uint64_t reading_ = 0;
  std::vector<std::uint8_t> discovered_;
  std::vector<VertexId> undo_;
  std::vector<std::vector<Candidate>> candidates_;  // by size
  std::vector<VertexId> taken_;
  std::vector<VertexId> part_;
  Found found_;
};

void check_size(unsigned k) {
  if (k >= 2 && k <= max_quasi_clique) return;
  throw Error(ErrorKind::usage, "k", std::to_string(k) + " is not a possible number of vertices of quasi-cliques",
              "choose 2 to " + std::to_string(max_quasi_clique));
}

/// The number of edges that may be missing. Nullopt if a subgraph of k vertices cannot have so many edges.
std::optional<unsigned> budget_of(unsigned k, unsigned edges) {
  const unsigned pairs = k * (k - 1) / 2;
  if (edges > pairs) return std::nullopt;
  return pairs - std::max(edges, k - 1);
}

std::vector<QuasiWalk::Task> QuasiWalk::tasks(const OrderedGraph& graph, std::span<const VertexId> roots) {
  std::vector<Task> all;
  for (const VertexId v : roots) {
    const auto size = static_cast<std::uint32_t>(graph.later(v).size());
    for (std::uint32_t first = 0; first < size; first += candidates_of_task) {
      all.push_back({v, first, std::min(first + candidates_of_task, size)});
    }
  }
  return all;
}

/// Runs all tasks of one kind of walk from these roots, and sums what its threads found.
template <class Kind>
std::vector<Count> walk_with(const OrderedGraph& graph, std::span<const VertexId> roots, unsigned k, unsigned budget,
                             Workers& workers, RunControl& control, SetStore* store) {
  const auto tasks = Kind::tasks(graph, roots);
  std::vector<Kind> walks;
  walks.reserve(workers.size());
  for (unsigned worker = 0; worker < workers.size(); ++worker) walks.emplace_back(graph, k, budget, control, worker, store);
  workers.for_each(tasks.size(), 4, [&](unsigned worker, std::size_t begin, std::size_t end) {
    control.set_share(static_cast<double>(begin) / static_cast<double>(tasks.size()));
    for (std::size_t i = begin; i < end && !control.stopped(); ++i) walks[worker].run(tasks[i]);
  });
  std::vector<Count> counts(budget + 1, 0);
  for (Kind& each : walks) {
    each.finish();
    for (unsigned missing = 0; missing <= budget; ++missing) {
      counts[missing] = checked_add(counts[missing], each.by_missing[missing]);
    }
  }
  return counts;
}

/// The vertices from `first` on.
std::vector<VertexId> roots_from(const OrderedGraph& graph, VertexId first) {
  std::vector<VertexId> roots(graph.vertices() - first);
  std::iota(roots.begin(), roots.end(), first);
  return roots;
}

std::vector<Count> walk(const SimpleGraph& graph, unsigned k, unsigned budget, Workers& workers, RunControl& control,
                        SetStore* store) {
  const OrderedGraph ordered(graph, degeneracy_order(graph, k - 1 > budget ? k - 1 - budget : 1));
  const std::vector<VertexId> roots = roots_from(ordered, 0);
  return budget + 2 <= k ? walk_with<DenseSets>(ordered, roots, k, budget, workers, control, store)
                         : walk_with<QuasiWalk>(ordered, roots, k, budget, workers, control, store);
}

/// Requires a budget of 1 to k - 2.
std::vector<Count> count_on_devices(const SimpleGraph& graph, unsigned k, unsigned budget, Workers& workers,
                                    RunControl& control, match::DenseSetCounter& devices) {
  const OrderedGraph ordered(graph, degeneracy_order(graph, k - 1 - budget));
  DenseSpaceMaker maker(ordered, k, budget, workers);
  auto [counts, left] = devices.count_sets(
      ordered.later_lists(), k, budget, [&](std::uint64_t words) { return maker.next(words, control); },
      [&](double share) {
        control.set_share(share);
        return !control.check(0);
      });
  if (control.stopped()) return counts;
  const std::vector<VertexId> never_made = roots_from(ordered, maker.position());
  left.insert(left.end(), never_made.begin(), never_made.end());
  const std::vector<Count> others = walk_with<DenseSets>(ordered, left, k, budget, workers, control, nullptr);
  for (unsigned missing = 0; missing <= budget; ++missing) counts[missing] = checked_add(counts[missing], others[missing]);
  return counts;
}

/// Counts the patterns of k vertices by the edges that they lack, using formulas. All 0 if the run was stopped.
std::vector<Count> count_by_formulas(const SimpleGraph& graph, unsigned k, unsigned budget, Workers& workers,
                                     RunControl& control) {
  const PatternTable table(k);
  const std::vector<Count> found = formula_counts(graph, table, workers, control, nullptr);
  std::vector<Count> counts(budget + 1, 0);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const unsigned missing = pairs_of(k) - static_cast<unsigned>(std::popcount(table.patterns(k)[i]));
    if (missing <= budget) counts[missing] = checked_add(counts[missing], found[i]);
  }
  return counts;
}

/// Counts quasi-cliques. Sets that lack no edge are cliques, for which the tree of pivots is fastest.
std::vector<Count> count(const SimpleGraph& graph, unsigned k, unsigned budget, Workers& workers, RunControl& control,
                         match::DenseSetCounter* devices) {
  if (budget == 0) {
    const std::vector<Count> cliques = clique_counts(graph, k, workers, control, devices);
    return {cliques.size() > k ? cliques[k] : 0};
  }
  if (devices != nullptr && budget + 2 <= k) return count_on_devices(graph, k, budget, workers, control, *devices);
  if (formulas_count_sets(k, budget)) return count_by_formulas(graph, k, budget, workers, control);
  return walk(graph, k, budget, workers, control, nullptr);
}

}  // namespace

unsigned edges_of_density(unsigned k, double density) noexcept {
  const double pairs = k * (k - 1.0) / 2;
  return static_cast<unsigned>(std::ceil(density * pairs - 1e-9));  // 0.7 of 10 pairs is 7, despite rounding in binary
}

QuasiCliqueResult count_quasi_cliques(const SimpleGraph& graph, unsigned k, unsigned edges, const MineOptions& options) {
  check_size(k);
  RunControl control(options);
  QuasiCliqueResult result;
  if (const std::optional<unsigned> budget = budget_of(k, edges)) {
    Workers workers(options.threads);
    const auto devices = options.backend && *budget + 2 <= k ? options.backend->make_dense_set_counter() : nullptr;
    result.by_missing = count(graph, k, *budget, workers, control, devices.get());
    if (devices) result.kernel_seconds = devices->kernel_seconds();
  }
  result.complete = !control.stopped();
  result.seconds = control.seconds();
  return result;
}

ListResult list_quasi_cliques(const SimpleGraph& graph, unsigned k, unsigned edges, std::optional<std::uint64_t> limit,
                              const MineOptions& options,
                              const std::function<void(std::span<const SimpleGraph::Vertex>, unsigned missing)>& store) {
  check_size(k);
  RunControl control(options);
  SetStore kept(k, store, limit, control);
  if (const std::optional<unsigned> budget = budget_of(k, edges)) {
    Workers workers(options.threads);
    (void)walk(graph, k, *budget, workers, control, &kept);
  }
  return kept.result();
}

}  // namespace deltamatch

// Counts cliques along a tree that contains each clique once, without visiting each clique. The source is Jain and Seshadhri,
// "The power of pivoting for exact clique counting", 2020.
//
// A node has held vertices H, pivots Q and candidates P. Its cliques contain all of H and any subset of Q. Each candidate is
// joined to all of H and Q. The pivot p is a vertex of P with the most neighbours in P. It splits the cliques:
// - Cliques within p and its neighbours continue with p in Q.
// - The others contain a first candidate that is not joined to p. They continue with this candidate in H.
//
// If P is empty, there are C(|Q|, i) cliques of |H| + i vertices.
//
// For a single size k, a node ends as soon as at most two vertices are missing. Then H, Q, P and the number of edges within P
// give the count.
#include "mine/cliques.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "deltamatch/error.hpp"
#include "match/backend.hpp"
#include "mine/clique_space.hpp"

namespace deltamatch::mine {
namespace {

/// Some branches of a vertex's root node. A heavy root has several tasks.
struct CliqueTask {
  VertexId vertex;
  unsigned first;
  unsigned last;
};

constexpr unsigned heavy_root = 64;  // number of candidates
constexpr unsigned branches_of_task = 4;

std::vector<CliqueTask> clique_tasks(const OrderedGraph& graph, std::span<const VertexId> roots) {
  std::vector<CliqueTask> tasks;
  for (const VertexId v : roots) {
    const auto size = static_cast<unsigned>(graph.later(v).size());
    if (size < heavy_root) {
      tasks.push_back({v, 0, std::numeric_limits<unsigned>::max()});
      continue;
    }
    for (unsigned first = 0; first <= size; first += branches_of_task) tasks.push_back({v, first, first + branches_of_task});
  }
  return tasks;
}

class CliqueCounter {
 public:
  CliqueCounter(const OrderedGraph& graph, std::optional<unsigned> k, RunControl& control, unsigned worker)
      : space_(graph), k_(k), check_(control, worker) {}

  void run(const CliqueTask& task) {
    space_.centre(task.vertex);
    first_ = task.first;
    last_ = task.last;
    stack_.resize((std::size_t{space_.size()} + 2) * space_.words());
    Word* const all = stack_.data();
    std::fill_n(all, space_.words(), ~Word{0});
    if (space_.size() % 64 != 0) all[space_.words() - 1] = (Word{1} << space_.size() % 64) - 1;
    count(0, space_.size(), 1, 0);
  }

  match::CliqueTally tally;

 private:
  /// Whether the node ends here. The tasks of a root share its branches, so a root that ends counts in its first task only.
  bool ends(const Word* set, unsigned size, unsigned held, unsigned pivots, bool mine) {
    if (k_) {
      const unsigned k = *k_;
      if (held > k || held + pivots + size < k) return true;
      if (k - held <= 2) {
        if (mine) tally.direct += completions(set, size, pivots, k - held);
        return true;
      }
    }
    if (size > 0) return false;
    if (mine) tally.add_leaves(held, pivots, 1);
    return true;
  }

  [[nodiscard]] Count completions(const Word* set, unsigned size, unsigned pivots, unsigned missing) const {
    if (missing == 0) return 1;
    if (missing == 1) return Count{pivots} + size;
    std::uint64_t twice = 0;
    for_each_bit(set, space_.words(), [&](unsigned i) { twice += popcount_and(set, space_.row(i), space_.words()); });
    return checked_binomial(pivots, 2) + Count{pivots} * size + twice / 2;
  }

  [[nodiscard]] unsigned pivot(const Word* set, unsigned size) const {
    unsigned best = 0;
    int most = -1;
    for (std::size_t i = 0; i < space_.words() && most + 1 < static_cast<int>(size); ++i) {
      for (Word rest = set[i]; rest != 0; rest &= rest - 1) {
        const unsigned v = static_cast<unsigned>(i * 64) + static_cast<unsigned>(std::countr_zero(rest));
        const auto joined = static_cast<int>(popcount_and(set, space_.row(v), space_.words()));
        if (joined > most) {
          most = joined;
          best = v;
        }
      }
    }
    return best;
  }

  /// Counts the cliques of a node. Its candidates are in the stack at `depth`. Returns false if the run was stopped.
  bool count(std::size_t depth, unsigned size, unsigned held, unsigned pivots) {
    const std::size_t words = space_.words();
    Word* const set = stack_.data() + depth * words;
    const bool root = depth == 0;
    if (ends(set, size, held, pivots, !root || first_ == 0)) return true;
    if (!check_.go_on(size * words)) return false;
    Word* const next = set + words;
    const unsigned p = pivot(set, size);
    const Word* const joined = space_.row(p);
    unsigned branch = 0;
    const auto mine = [&] { return !root || (branch >= first_ && branch < last_); };
    if (mine()) {
      for (std::size_t i = 0; i < words; ++i) next[i] = set[i] & joined[i];
      if (!count(depth + 1, popcount({next, words}), held, pivots + 1)) return false;
    }
    for (std::size_t i = 0; i < words; ++i) {
      for (;;) {  // the loop removes candidates from the set
        const Word others = set[i] & ~joined[i] & (i == p / 64 ? ~(Word{1} << p % 64) : ~Word{0});
        if (others == 0) break;
        const unsigned v = static_cast<unsigned>(i * 64) + static_cast<unsigned>(std::countr_zero(others));
        set[i] &= ~(Word{1} << v % 64);
        ++branch;
        if (!mine()) continue;
        const Word* const row = space_.row(v);
        for (std::size_t j = 0; j < words; ++j) next[j] = set[j] & row[j];
        if (!count(depth + 1, popcount({next, words}), held + 1, pivots)) return false;
      }
    }
    return true;
  }

  CliqueSpace space_;
  std::optional<unsigned> k_;
  PeriodicCheck check_;
  unsigned first_ = 0;
  unsigned last_ = 0;
  std::vector<Word> stack_;
};

void add(std::vector<Count>& counts, std::size_t size, Count count) {
  if (count == 0) return;
  if (counts.size() <= size) counts.resize(size + 1, 0);
  counts[size] = checked_add(counts[size], count);
}

void add(std::vector<Count>& counts, const match::CliqueTally& tally, std::optional<unsigned> k) {
  if (k) add(counts, *k, tally.direct);
  for (unsigned held = 0; held < tally.leaves.size(); ++held) {
    for (unsigned pivots = 0; pivots < tally.leaves[held].size(); ++pivots) {
      const Count leaves = tally.leaves[held][pivots];
      if (leaves == 0) continue;
      const unsigned least = k ? *k - held : 0;
      const unsigned most = k ? *k - held : pivots;
      for (unsigned chosen = least; chosen <= most; ++chosen) {
        add(counts, held + chosen, checked_mul(leaves, checked_binomial(pivots, chosen)));
      }
    }
  }
}

/// Counts the cliques whose first vertex is one of `roots`.
void count_on_cores(const OrderedGraph& graph, std::span<const VertexId> roots, std::optional<unsigned> k, Workers& workers,
                    RunControl& control, std::vector<Count>& counts) {
  const std::vector<CliqueTask> tasks = clique_tasks(graph, roots);
  std::vector<CliqueCounter> counters;
  counters.reserve(workers.size());
  for (unsigned worker = 0; worker < workers.size(); ++worker) counters.emplace_back(graph, k, control, worker);
  workers.for_each(tasks.size(), 8, [&](unsigned worker, std::size_t begin, std::size_t end) {
    control.set_share(static_cast<double>(begin) / static_cast<double>(tasks.size()));
    for (std::size_t i = begin; i < end && !control.stopped(); ++i) counters[worker].run(tasks[i]);
  });
  for (const CliqueCounter& counter : counters) add(counts, counter.tally, k);
}

}  // namespace

std::vector<Count> clique_counts(const SimpleGraph& graph, std::optional<unsigned> k, Workers& workers, RunControl& control,
                                 match::DenseSetCounter* devices) {
  std::vector<Count> counts;
  if (k && *k > graph.vertices()) return counts;
  if (k && *k == 1) return {0, graph.vertices()};
  std::vector<VertexId> order = degeneracy_order(graph, k ? *k - 1 : 0);
  if (control.check(0)) return counts;
  const OrderedGraph ordered(graph, std::move(order));
  if (control.check(0)) return counts;
  std::vector<VertexId> roots;
  if (devices != nullptr) {
    auto [tally, left] = devices->count_cliques(ordered.later_lists(), k, [&](double share) {
      control.set_share(share);
      return !control.check(0);
    });
    add(counts, tally, k);
    if (!k) add(counts, 1, ordered.vertices() - left.size());
    roots = std::move(left);
  } else {
    roots.resize(ordered.vertices());
    std::iota(roots.begin(), roots.end(), VertexId{0});
  }
  count_on_cores(ordered, roots, k, workers, control, counts);
  return counts;
}

std::uint64_t later_pairs(const SimpleGraph& graph) noexcept {
  std::uint64_t pairs = 0;
  for (VertexId v = 0; v < graph.vertices(); ++v) {
    const auto list = graph.neighbours(v);
    const auto later = static_cast<std::uint64_t>(std::count_if(
        list.begin(), list.end(), [&](VertexId u) { return std::pair(graph.degree(u), u) > std::pair(graph.degree(v), v); }));
    pairs += later * (later - 1) / 2;
  }
  return pairs;
}

}  // namespace deltamatch::mine

namespace deltamatch {

CliqueResult count_cliques(const SimpleGraph& graph, std::optional<unsigned> k, const MineOptions& options) {
  if (k && *k == 0) throw Error(ErrorKind::usage, "k", "a clique has at least 1 vertex", "choose a larger k");
  mine::RunControl control(options);
  Workers workers(options.threads);
  const auto devices = options.backend ? options.backend->make_dense_set_counter() : nullptr;
  CliqueResult result;
  result.counts = mine::clique_counts(graph, k, workers, control, devices.get());
  result.complete = !control.stopped();
  result.seconds = control.seconds();
  if (devices) result.kernel_seconds = devices->kernel_seconds();
  return result;
}

}  // namespace deltamatch

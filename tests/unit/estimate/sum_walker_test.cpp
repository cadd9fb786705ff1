// Sums with tables, followed on all roots. Their look-ups are those of a plain evaluation of the plans, share by share. That
// evaluation counts what the CPU matcher counts.
#include "estimate/sum_walker.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "unit/estimate/support.hpp"

namespace deltamatch::estimate {
namespace {

using plan::Candidates;
using plan::Factor;

/// Evaluates the rooted plan of a world's only task, with weights in maps (docs/decisions/010-counting-by-sums.md).
class PlainSums {
 public:
  explicit PlainSums(World& world)
      : world_(world), resolved_(world.graph.resolved()), plan_(*world.tasks[0].plans->rooted), at_(max_query_vertices) {}

  /// Returns the sum over all roots.
  __extension__ __int128 run() {
    __extension__ __int128 sum = 0;
    for (const VertexId root : world_.passes[0].roots) {
      if (!match::may_be_root(world_.tasks[0], root, resolved_)) continue;
      at_[0] = root;
      const std::uint32_t shares = match::table_shares(world_.graph.degree(root));
      for (std::uint32_t s = 0; s < shares; ++s) sum += item(true, s, shares);
      sum += item(false, 0, 1);
    }
    return sum;
  }
  std::map<StoredVertex, double> accesses;

 private:
  using Weights = std::map<VertexId, double>;
  struct Node {
    Weights weights;
    std::size_t size = 0;
    bool bare = true;
    unsigned open_edges = 0;
  };

  std::span<const std::uint32_t> look_up(graph::QueryRelationId query_relation, VertexId vertex) {
    const graph::Resolved& where = resolved_[query_relation];
    if (where.store == nullptr) return {};
    accesses[{vertex, where.kind()}] += 1;
    return where.store->ids(vertex, where.relation);
  }
  [[nodiscard]] bool allows(const Candidates& wanted, VertexId vertex, bool distinct) const {
    for (const plan::Position p : wanted.above) {
      if (vertex <= at_[p]) return false;
    }
    for (const plan::Position p : wanted.below) {
      if (vertex >= at_[p]) return false;
    }
    return !distinct || std::ranges::none_of(wanted.distinct, [&](plan::Position p) { return at_[p] == vertex; });
  }

  double item(bool splits, std::uint32_t share, std::uint32_t shares) {
    tables_.clear();
    double sum = 0;
    for (const plan::Term& term : plan_.count.terms) {
      std::vector<const Factor*> factors;
      for (const Factor& factor : term.factors) factors.push_back(&factor);
      const auto binds = [](const Factor* factor) { return factor->kind == Factor::Kind::bind; };
      std::ranges::stable_partition(factors, binds);
      if ((!factors.empty() && binds(factors[0])) == splits) {
        sum += static_cast<double>(term.coefficient) * product(factors, share, shares);
      }
    }
    return sum;
  }

  double product(const std::vector<const Factor*>& factors, std::uint32_t share, std::uint32_t shares) {
    double value = 1;
    for (const Factor* factor : factors) {
      if (factor->kind == Factor::Kind::bind) {
        const Factor& best = choose(*factor);
        const auto set = candidates(best.vertices[0], share, shares);
        if (set.empty()) return 0;
        std::vector<const Factor*> inner;
        for (const Factor& one : best.inner) inner.push_back(&one);
        double sum = 0;
        for (const VertexId vertex : set) {
          at_[best.position] = vertex;
          sum += product(inner, 0, 1);
        }
        value *= sum;
      } else {
        const double own = tree(*factor);
        value *= own;
        if (own == 0) return 0;
      }
      share = 0;
      shares = 1;
    }
    return value;
  }

  const Factor& choose(const Factor& planned) {
    if (planned.others.empty()) return planned;
    const auto work = [&](const Factor& factor) {
      double shortest = INFINITY;
      for (const plan::Probe& probe : factor.vertices[0].probes) {
        shortest = std::min<double>(shortest, static_cast<double>(look_up(probe.query_relation, at_[probe.position]).size()));
      }
      return shortest * factor.per_candidate;
    };
    const Factor* best = &planned;
    double least = work(planned);
    for (const Factor& other : planned.others) {
      const double own = work(other);
      if (own < least) best = &other;
      least = std::min(least, own);
    }
    return *best;
  }

  std::vector<VertexId> candidates(const Candidates& wanted, std::uint32_t share = 0, std::uint32_t shares = 1) {
    std::vector<std::span<const std::uint32_t>> lists;
    for (const plan::Probe& probe : wanted.probes) lists.push_back(look_up(probe.query_relation, at_[probe.position]));
    std::vector<VertexId> found;
    std::uint32_t number = 0;
    for (const VertexId vertex : *std::ranges::min_element(lists, {}, [](const auto& list) { return list.size(); })) {
      if (!allows(wanted, vertex, false) || number++ % shares != share) continue;
      if (allows(wanted, vertex, true) &&
          std::ranges::all_of(lists, [&](const auto& list) { return std::ranges::binary_search(list, vertex); })) {
        found.push_back(vertex);
      }
    }
    return found;
  }

  double tree(const Factor& tree) {
    if (tree.vertices.size() == 1) {
      double value = 1;
      const auto size = static_cast<double>(candidates(tree.vertices[0]).size());
      for (std::uint32_t i = 0; i < tree.choose; ++i) value *= std::max(0.0, size - i) / (i + 1);
      return value;
    }
    std::vector<Node> nodes(tree.vertices.size());
    std::uint32_t hanging = 0;
    for (const plan::TreeEdge& edge : tree.edges) {
      if (edge.table != plan::no_table) hanging |= 1U << (edge.leaf_is_a ? edge.a : edge.b);
    }
    for (std::size_t v = 0; v < nodes.size(); ++v) {
      if (tree.vertices[v].probes.empty() || (hanging >> v & 1U) != 0) continue;
      for (const VertexId vertex : candidates(tree.vertices[v])) nodes[v].weights[vertex] = 1;
      nodes[v].size = nodes[v].weights.size();
      nodes[v].bare = false;
      if (nodes[v].size == 0) return 0;
    }
    std::uint32_t open = 0;
    std::size_t rest = 0;
    for (std::size_t e = 0; e < tree.edges.size(); ++e) {
      const plan::TreeEdge& edge = tree.edges[e];
      if (edge.table == plan::no_table) {
        open |= 1U << e;
        ++nodes[edge.a].open_edges;
        ++nodes[edge.b].open_edges;
        continue;
      }
      rest = edge.leaf_is_a ? edge.b : edge.a;
      const std::size_t leaf = edge.leaf_is_a ? edge.a : edge.b;
      if (!tables_.contains(edge.table)) {
        Node made;
        for (const VertexId vertex : candidates(tree.vertices[leaf])) made.weights[vertex] = 1;
        tables_[edge.table] = push(made, edge.leaf_is_a ? edge.a_to_b : edge.b_to_a, tree.vertices[rest], false);
      }
      multiply(nodes[rest], tables_[edge.table]);
    }
    for (; open != 0;) {
      const match::Elimination next = match::next_elimination(tree, open, nodes.data());
      const plan::TreeEdge& edge = tree.edges[next.edge];
      rest = next.into_a ? edge.a : edge.b;
      Node& into = nodes[rest];
      Node& leaf = nodes[next.into_a ? edge.b : edge.a];
      const Candidates& leaf_wanted = tree.vertices[next.into_a ? edge.b : edge.a];
      if (next.way != match::Elimination::Way::reach) {
        open &= ~(1U << next.edge);
        --into.open_edges;
        --leaf.open_edges;
      }
      if (next.way == match::Elimination::Way::pull) {
        for (auto& [vertex, weight] : into.weights) {
          if (weight == 0) continue;
          double below = 0;
          for (const VertexId other : look_up(next.into_a ? edge.a_to_b : edge.b_to_a, vertex)) {
            if (!allows(leaf_wanted, other, leaf.bare)) continue;
            below += leaf.bare ? 1 : leaf.weights.contains(other) ? leaf.weights[other] : 0;
          }
          weight *= below;
        }
      } else {
        const graph::QueryRelationId query_relation = next.into_a ? edge.b_to_a : edge.a_to_b;
        Weights pushed = push(leaf, query_relation, tree.vertices[rest], into.bare);
        if (!into.bare) {
          multiply(into, pushed);
        } else {
          if (next.way == match::Elimination::Way::reach) {
            for (auto& [vertex, weight] : pushed) weight = 1;
          }
          into.weights = std::move(pushed);
          into.size = into.weights.size();
          into.bare = false;
        }
      }
      if (into.size == 0) return 0;
    }
    double sum = 0;
    for (const auto& [vertex, weight] : nodes[rest].weights) sum += weight;
    return sum;
  }

  Weights push(const Node& leaf, graph::QueryRelationId query_relation, const Candidates& into, bool distinct) {
    Weights found;
    for (const auto& [vertex, weight] : leaf.weights) {
      if (weight == 0) continue;
      for (const VertexId other : look_up(query_relation, vertex)) {
        if (allows(into, other, distinct)) found[other] += weight;
      }
    }
    return found;
  }
  static void multiply(Node& into, const Weights& by) {
    for (auto& [vertex, weight] : into.weights) weight *= by.contains(vertex) ? by.at(vertex) : 0;
  }

  World& world_;
  std::vector<graph::Resolved> resolved_;
  const plan::RootedPlan& plan_;
  std::vector<VertexId> at_;  // by position
  std::map<std::uint8_t, Weights> tables_;
};

/// The share of accesses that differ.
double difference(World& world) {
  Workers workers(2);
  match::MatchSteps steps;
  std::vector<match::QueryResult> counted(1);
  counted[0].plans.resize(world.tasks[0].plans->plans.size());
  match::make_cpu_matcher(workers)->match(world.graph, world.passes, world.tasks, counted, nullptr, steps);
  PlainSums plain(world);
  EXPECT_EQ(plain.run(), counted[0].plans[0].sum);
  EXPECT_GT(counted[0].plans[0].sum, 0);
  Estimator estimator(workers);
  double all = 0;
  double apart = 0;
  for (const Access& access : estimator.count(world.graph, world.passes, world.tasks, world.programs).lists) {
    apart += std::fabs(access.times - std::exchange(plain.accesses[access.at], 0));
    all += access.times;
  }
  for (const auto& [at, times] : plain.accesses) apart += times;
  EXPECT_GT(all, 200);
  return apart / all;
}

TEST(SumWalker, LooksUpWhatAnEvaluationDoes) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    for (const char* pattern : {"(a)--(b)--(c)--(d)--(a)", "(a)--(b)--(c)--(d)--(e)--(a)", "(a)--(b)--(c)--(d)--(e)--(f)--(a)",
                                "(a)--(b)--(c)--(d)--(a)--(e)--(b)", "(a)--(b)--(c)--(d)--(a)--(c)",
                                "(a)--(b)--(c)--(a), (c)--(d)--(e)", "(a)--(b)--(c)--(a)--(d)--(e)--(f)--(d)"}) {
      SCOPED_TRACE(std::string(pattern) + " in " + std::to_string(seed));
      World world({.vertices = 30, .edges = 130, .skew = 1.0 + seed % 2}, seed);
      world.add(parse_pattern(pattern, "test"));
      world.take_whole(CountFrom::vertices);
      ASSERT_TRUE(world.tasks[0].plans->rooted);
      // If a product ends before it comes to a table of the root, the table still counts as made.
      EXPECT_LT(difference(world), 0.02);
    }
  }
}

TEST(SumWalker, LooksUpAnewForEveryShareOfAHub) {
  World world({.vertices = 160, .edges = 500, .inserted = 0, .removed = 0}, 7);
  world.make_star(159, 150);
  world.add(parse_pattern("(a)--(b)--(c)--(d)--(a)--(e)--(b)", "test"));
  world.take_whole(CountFrom::vertices);
  ASSERT_TRUE(world.tasks[0].plans->rooted);
  ASSERT_GT(match::table_shares(world.graph.degree(159)), 3);
  EXPECT_LT(difference(world), 0.02);
}

}  // namespace
}  // namespace deltamatch::estimate

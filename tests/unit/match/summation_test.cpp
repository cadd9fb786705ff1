// Compares counting by sums with enumeration, anchor by anchor, over random graphs, batches and queries. Compares the sum of a
// single tree with nested loops over all vertices.
#include "match/summation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "match/enumerator.hpp"
#include "match/matcher.hpp"
#include "plan/plan.hpp"

namespace deltamatch::match {
namespace {

using graph::DataGraph;
using graph::Edge;
using graph::NetBatch;
using plan::Factor;

struct World {
  bool directed;
  VertexId vertices;
  unsigned edges;
  unsigned vertex_labels;
  unsigned edge_labels;
  unsigned changes;
};

std::uint32_t below(std::mt19937& random, std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); }

std::set<Edge> draw_edges(const DataGraph& graph, const World& world, unsigned count, std::mt19937& random) {
  std::set<Edge> edges;
  for (unsigned i = 0; i < count; ++i) {
    const VertexId a = below(random, world.vertices);
    const VertexId b = below(random, world.vertices);
    if (a != b) edges.insert(graph.ranked(a, b, below(random, world.edge_labels)));
  }
  return edges;
}

/// A settled graph with a staged batch.
class Scene {
 public:
  Scene(const World& world, unsigned seed) : graph(world.directed, false) {
    std::mt19937 random(seed);
    for (unsigned label = 1; label < 4; ++label) {
      graph.vertex_labels.intern(std::to_string(label));
      graph.edge_labels.intern(std::to_string(label));
    }
    for (VertexId v = 0; v < world.vertices; ++v) {
      graph.dictionary.create(std::int64_t{v}, below(random, world.vertex_labels));
    }
    const std::set<Edge> start = draw_edges(graph, world, world.edges, random);
    NetBatch settled;
    settled.inserted.assign(start.begin(), start.end());
    graph.stage(settled);
    graph.settle(workers_);
    for (const Edge& edge : draw_edges(graph, world, world.changes, random)) {
      (start.contains(edge) ? batch.removed : batch.inserted).push_back(edge);
    }
  }

  DataGraph graph;
  NetBatch batch;

 private:
  Workers workers_{1};
};

class StagedBatch {
 public:
  StagedBatch(DataGraph& graph, const NetBatch& batch) : graph_(graph) { graph_.stage(batch); }
  ~StagedBatch() { graph_.unstage(); }
  StagedBatch(const StagedBatch&) = delete;
  StagedBatch& operator=(const StagedBatch&) = delete;

 private:
  DataGraph& graph_;
};

/// A tree with some more edges. Its labels are from few or none.
Query draw_query(const World& world, std::uint32_t size, unsigned more, std::mt19937& random) {
  Query query;
  query.name = "q";
  const auto labels = [&](unsigned many) {
    return many < 2 || random() % 2 == 0 ? LabelSet{} : LabelSet{[&] {
      const unsigned label = below(random, many);
      return label == 0 ? std::string() : std::to_string(label);
    }()};
  };
  for (std::uint32_t v = 0; v < size; ++v) query.vertices.push_back({"v" + std::to_string(v), labels(world.vertex_labels)});
  std::set<std::pair<std::uint32_t, std::uint32_t>> taken;
  const auto add = [&](std::uint32_t a, std::uint32_t b) {
    if (a == b || !taken.insert(std::minmax(a, b)).second) return;
    query.edges.push_back({a, b, labels(world.edge_labels), world.directed && random() % 4 != 0});
  };
  for (std::uint32_t v = 1; v < size; ++v) add(below(random, v), v);
  for (unsigned i = 0; i < more; ++i) add(below(random, size), below(random, size));
  return query;
}

bool power_meets_parallel(const Factor& factor, const Lists& lists) {
  const auto bad = [&](std::uint8_t power, graph::QueryRelationId query_relation) {
    return power > 1 && lists.parallel(query_relation);
  };
  for (const plan::Candidates& wanted : factor.vertices) {
    for (const plan::Probe& probe : wanted.probes) {
      if (bad(probe.power, probe.query_relation)) return true;
    }
  }
  for (const plan::TreeEdge& edge : factor.edges) {
    if (bad(edge.power, edge.a_to_b)) return true;
  }
  const auto inner = [&](const Factor& other) { return power_meets_parallel(other, lists); };
  return std::any_of(factor.inner.begin(), factor.inner.end(), inner) ||
         std::any_of(factor.others.begin(), factor.others.end(), inner);
}

/// Whether the matcher would sum this plan.
bool summable(const plan::Plan& plan, const Lists& lists) {
  return !plan.count.terms.empty() &&
         std::none_of(plan.count.terms.begin(), plan.count.terms.end(), [&](const plan::Term& term) {
           return std::any_of(term.factors.begin(), term.factors.end(),
                              [&](const Factor& factor) { return power_meets_parallel(factor, lists); });
         });
}

/// The sum of a tree, by trying all vertices of the graph for each vertex of the tree.
class NestedLoops {
 public:
  NestedLoops(Partial& partial, const Factor& tree, VertexId vertices)
      : partial_(partial), tree_(tree), vertices_(vertices), chosen_(tree.vertices.size()) {}

  std::uint64_t sum(std::size_t next = 0) {
    if (next == chosen_.size()) return 1;
    std::uint64_t total = 0;
    for (chosen_[next] = 0; chosen_[next] < vertices_; ++chosen_[next]) {
      const std::uint64_t ways = admitted(next);
      if (ways > 0) total += ways * sum(next + 1);
    }
    return total;
  }

 private:
  // The number of ways in which the vertex chosen last is joined to the matched vertices and those chosen before.
  std::uint64_t admitted(std::size_t v) {
    const plan::Candidates& wanted = tree_.vertices[v];
    const VertexId vertex = chosen_[v];
    if (!partial_.differs(vertex, wanted.distinct)) return 0;
    for (const plan::Position position : wanted.above) {
      if (vertex <= partial_.at(position)) return 0;
    }
    for (const plan::Position position : wanted.below) {
      if (vertex >= partial_.at(position)) return 0;
    }
    std::uint64_t ways = 1;
    for (const plan::Probe& probe : wanted.probes) {
      const ScratchScope scope(partial_.scratch());
      ways *= multiplicity(partial_.view(probe), vertex);
    }
    for (const plan::TreeEdge& edge : tree_.edges) {
      if (std::max<std::size_t>(edge.a, edge.b) != v) continue;
      const ScratchScope scope(partial_.scratch());
      const auto joins = [&](graph::QueryRelationId query_relation, std::uint8_t from, std::uint8_t to) {
        return multiplicity(partial_.lists().view(query_relation, chosen_[from], edge.inclusive, partial_.scratch()),
                            chosen_[to]);
      };
      // Each query relation knows the label of the end to which it leads.
      ways *= joins(edge.b_to_a, edge.b, edge.a) == 0 ? 0 : joins(edge.a_to_b, edge.a, edge.b);
    }
    return ways;
  }

  Partial& partial_;
  const Factor& tree_;
  VertexId vertices_;
  std::vector<VertexId> chosen_;
};

struct Checked {
  std::uint64_t sums = 0;   ///< sums that were not zero
  std::uint64_t trees = 0;  ///< trees of two vertices or more
};

template <class Weight>
std::uint64_t sum_of_tree(Partial& partial, TablePool<Weight>& tables, const Factor& tree, std::uint32_t shares) {
  Weight total = 0;
  for (std::uint32_t s = 0; s < shares; ++s) {
    bool overflow = false;
    RootTables<Weight> of_root(tables);
    total += TreeSum<Weight>(partial, tables, of_root).count(tree, {s, shares}, overflow);
    EXPECT_FALSE(overflow);
  }
  return static_cast<std::uint64_t>(total);
}

/// The pools are kept for all checks. Anything that one check leaves in a table would spoil the next.
struct Tools {
  Scratch scratch;
  TablePool<std::uint64_t> narrow;
  TablePool<Count> wide;
  KeptSets usual;
  KeptSets eager{KeepRule{.patience = 0, .least_marked = 0, .most_bits = 64}};
};

void check_trees(const plan::Plan& plan, Partial& partial, Tools& tools, const World& world, Checked& checked) {
  if (plan.count.prefix > 0) return;  // their positions are not matched here
  for (const plan::Term& term : plan.count.terms) {
    for (const Factor& factor : term.factors) {
      if (factor.kind != Factor::Kind::tree || factor.choose > 1 || factor.vertices.size() > 5) continue;
      const std::uint64_t expected = NestedLoops(partial, factor, world.vertices).sum();
      ASSERT_EQ(sum_of_tree(partial, tools.narrow, factor, 1), expected);
      ASSERT_EQ(sum_of_tree(partial, tools.narrow, factor, 3), expected) << "in shares";
      ASSERT_EQ(sum_of_tree(partial, tools.wide, factor, 1), expected) << "in 128 bits";
      checked.trees += factor.vertices.size() > 1 && expected > 0 ? 1 : 0;
    }
  }
}

void check(Scene& scene, const World& world, const Query& query, MatchMode mode, CountMode count, bool trees, Tools& tools,
           Checked& checked) {
  DataGraph& graph = scene.graph;
  const plan::BoundQuery bound(query, mode, count, graph);
  graph.resolve_all();
  const plan::QueryPlans plans = plan::make_delta_plans(bound);
  const StagedBatch staged(graph, scene.batch);
  const auto resolved = graph.resolved();
  tools.narrow.resize(graph.base().vertices());
  tools.wide.resize(graph.base().vertices());
  tools.usual.resize(graph.base().vertices());
  tools.eager.resize(graph.base().vertices());
  for (const auto& [pass, kept] :
       {std::pair{Pass::removed, static_cast<KeptSets*>(nullptr)}, std::pair{Pass::removed, &tools.eager},
        std::pair{Pass::added, &tools.usual}, std::pair{Pass::added, &tools.eager}}) {
    Partial plain(Lists(graph.base(), resolved, graph.directed(), pass), tools.scratch);
    Partial partial(Lists(graph.base(), resolved, graph.directed(), pass), tools.scratch, kept);
    Summation summation(partial, tools.narrow, tools.wide);
    for (const Edge& anchor : pass == Pass::added ? scene.batch.inserted : scene.batch.removed) {
      for (const plan::Plan& plan : plans.plans) {
        if (!plan::admits(bound.edges[plan.anchor.edge].labels, anchor.which) ||
            !plan::admits(bound.labels[plan.tail], graph.dictionary.label(anchor.tail)) ||
            !plan::admits(bound.labels[plan.head], graph.dictionary.label(anchor.head)) || !summable(plan, partial.lists())) {
          continue;
        }
        partial.begin(plan, anchor);
        if (trees) {
          ASSERT_NO_FATAL_FAILURE(check_trees(plan, partial, tools, world, checked));
        }
        plain.begin(plan, anchor);
        const bool ordered = mode == MatchMode::isomorphism;
        const std::uint64_t found = Enumerator(plain, bound, ordered, nullptr).run({}, nullptr);
        ASSERT_EQ(Enumerator(partial, bound, ordered, nullptr).run({}, nullptr), found);
        const auto expected = static_cast<std::int64_t>(found * static_cast<std::uint64_t>(plan.count.divisor));
        ASSERT_EQ(static_cast<std::int64_t>(summation.run({}, nullptr)), expected)
            << "anchor " << anchor.tail << " " << anchor.head << " of plan " << &plan - plans.plans.data() + 1 << "\n"
            << plan::to_text(bound, plans, {});
        Summation::Signed in_shares = 0;
        for (std::uint32_t s = 0; s < 3; ++s) in_shares += summation.run({s, 3}, nullptr);
        ASSERT_EQ(static_cast<std::int64_t>(in_shares), expected) << "in shares\n" << plan::to_text(bound, plans, {});
        checked.sums += found > 0 ? 1 : 0;
      }
    }
  }
}

constexpr World unlabelled{false, 12, 30, 1, 1, 8};
constexpr World labelled{false, 14, 60, 3, 2, 12};
constexpr World directed{true, 10, 50, 2, 2, 10};
constexpr World sparse{false, 24, 34, 1, 1, 6};

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr unsigned slowness = 10;
#else
constexpr unsigned slowness = 1;
#endif

class SummationTest : public testing::TestWithParam<World> {};

TEST_P(SummationTest, SumsAreWhatEnumerationFinds) {
  const World& world = GetParam();
  Tools tools;
  Checked checked;
  for (unsigned seed = 0; seed < 60 / slowness; ++seed) {
    std::mt19937 random(seed);
    Scene scene(world, seed);
    const Query query = draw_query(world, 3 + below(random, 5), below(random, 3), random);
    for (const auto& [mode, count] :
         {std::pair{MatchMode::isomorphism, CountMode::subgraphs}, std::pair{MatchMode::isomorphism, CountMode::embeddings},
          std::pair{MatchMode::homomorphism, CountMode::embeddings}}) {
      const bool trees = query.vertices.size() <= 5 && mode == MatchMode::isomorphism && count == CountMode::subgraphs;
      ASSERT_NO_FATAL_FAILURE(check(scene, world, query, mode, count, trees, tools, checked))
          << "seed " << seed << ": " << to_pattern(query);
    }
  }
  EXPECT_GT(checked.sums, slowness > 1 ? 0U : 1000U);
  if (slowness == 1) {  // few graphs may have no small tree
    EXPECT_GT(checked.trees, 100U);
  }
}

// A vertex from which several long branches hang. None of its edges leads to a leaf, and only its candidates are known.
TEST_P(SummationTest, BranchesThatHangFromTheMiddle) {
  const World& world = GetParam();
  Tools tools;
  Checked checked;
  const std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> trees = {
      {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {2, 5}, {5, 6}},
      {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {2, 5}, {5, 6}, {2, 7}},
      {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {3, 5}, {2, 6}, {6, 7}},
      {{0, 1}, {0, 2}, {2, 3}, {2, 4}, {3, 5}, {4, 6}}};
  for (unsigned seed = 0; seed < (slowness > 1 ? 1 : 2); ++seed) {
    std::mt19937 random(seed);
    Scene scene(world, 100 + seed);
    for (const auto& edges : trees) {
      Query query = draw_query(world, static_cast<std::uint32_t>(edges.size() + 1), 0, random);
      for (QueryVertex& vertex : query.vertices) vertex.labels.clear();
      for (std::size_t e = 0; e < edges.size(); ++e) {
        query.edges[e].source = edges[e].first;
        query.edges[e].target = edges[e].second;
      }
      ASSERT_NO_FATAL_FAILURE(check(scene, world, query, MatchMode::homomorphism, CountMode::embeddings, true, tools, checked))
          << "seed " << seed << ": " << to_pattern(query);
      ASSERT_NO_FATAL_FAILURE(check(scene, world, query, MatchMode::isomorphism, CountMode::subgraphs, false, tools, checked))
          << "seed " << seed << ": " << to_pattern(query);
    }
  }
  EXPECT_GT(checked.sums, slowness > 1 ? 0U : 100U);
  if (slowness == 1) {
    EXPECT_GT(checked.trees, 20U);
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, SummationTest, testing::Values(unlabelled, labelled, directed, sparse),
                         [](const auto& tested) {
                           if (tested.param.directed) return "directed";
                           if (tested.param.vertices == sparse.vertices) return "sparse";
                           return tested.param.vertex_labels > 1 ? "labelled" : "unlabelled";
                         });

}  // namespace
}  // namespace deltamatch::match

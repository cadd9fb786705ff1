// Candidate spaces. Walks and sums that keep to them find the same matches as those that do not. They take few steps if there
// are dead ends.
#include "match/candidate_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "deltamatch/query.hpp"
#include "match/enumerator.hpp"
#include "match/matcher.hpp"
#include "match/summation.hpp"

namespace deltamatch::match {
namespace {

using Edges = std::vector<std::pair<VertexId, VertexId>>;

std::string path_of(int vertices, bool directed, bool closed) {
  std::string text = "(v0)";
  for (int v = 1; v < vertices; ++v) text += (directed ? "-->(v" : "--(v") + std::to_string(v) + ")";
  return text + (closed ? directed ? "-->(v0)" : "--(v0)" : "");
}

class Keeper final : public FoundSink {
 public:
  void found(const Found& match) override { matches.emplace(match.vertices.begin(), match.vertices.end()); }
  std::multiset<std::vector<VertexId>> matches;
};

// A graph with some staged edges, and a query with its plans for batches.
class World {
 public:
  World(bool directed, std::uint32_t vertices, const Edges& settled, const Edges& inserted, std::size_t removed,
        const std::string& pattern, MatchMode mode = MatchMode::isomorphism)
      : graph_(directed, false) {
    for (std::uint32_t v = 0; v < vertices; ++v) (void)graph_.dictionary.create(v, empty_label);
    query_.emplace(parse_pattern(pattern, "q"), mode,
                   mode == MatchMode::isomorphism ? CountMode::subgraphs : CountMode::embeddings, graph_);
    graph::NetBatch batch;
    batch.inserted = ranked(settled);
    Workers workers(1);
    graph_.stage(batch);
    graph_.settle(workers);
    plans_ = plan::make_delta_plans(*query_);
    batch.removed = {batch.inserted.begin(), batch.inserted.begin() + static_cast<std::ptrdiff_t>(removed)};
    batch.inserted = ranked(inserted);
    std::erase_if(batch.inserted, [&](const graph::Edge& edge) { return graph_.contains(edge); });
    graph_.stage(batch);
    net_ = batch;
  }

  [[nodiscard]] const std::vector<graph::Edge>& anchors(Pass pass) const {
    return pass == Pass::added ? net_.inserted : net_.removed;
  }

  struct Told {
    std::multiset<std::vector<VertexId>> listed;
    std::uint64_t counted = 0;
    Summation::Signed sum = 0;
    std::uint64_t steps = 0;
    std::uint64_t entries = 0;
  };

  // The results of a pass's anchors. Without limits, no space is built.
  Told tell(Pass pass, std::optional<SpaceLimits> limits) {
    Told told;
    Scratch scratch;
    TablePool<std::uint64_t> narrow;
    TablePool<Count> wide;
    const std::size_t vertices = graph_.base().vertices();
    narrow.resize(vertices);
    wide.resize(vertices);
    const auto resolved = graph_.resolved();
    Partial partial(Lists(graph_.base(), resolved, graph_.directed(), pass), scratch);
    CandidateSpace space(limits.value_or(SpaceLimits{}));
    const bool ordered = query_->mode == MatchMode::isomorphism;
    for (const graph::Edge& anchor : anchors(pass)) {
      for (const plan::Plan& plan : plans_.plans) {
        partial.begin(plan, anchor);
        for (const bool lists : {false, true}) {
          StepBudget step_budget(nullptr);
          if (limits) space.open(*query_, plan, vertices);
          Enumerator walk(partial, *query_, ordered, &step_budget);
          if (limits) walk.keep_to(space);
          Keeper keeper;
          const std::uint64_t found = walk.run({}, lists ? &keeper : nullptr);
          told.listed.merge(keeper.matches);
          if (!lists) told.counted += found;
          told.steps += step_budget.spent();
        }
        if (plan.count.terms.empty()) continue;
        StepBudget step_budget(nullptr);
        if (limits) space.open(*query_, plan, vertices);
        Summation sum(partial, narrow, wide);
        sum.keep_to(limits ? &space : nullptr);
        told.sum += sum.run({}, &step_budget);
        told.steps += step_budget.spent();
      }
    }
    told.entries = space.entries();
    return told;
  }

 private:
  [[nodiscard]] std::vector<graph::Edge> ranked(const Edges& edges) const {
    std::vector<graph::Edge> all;
    for (const auto& [u, v] : edges) all.push_back(graph_.ranked(u, v, empty_label));
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    return all;
  }

  graph::DataGraph graph_;
  std::optional<plan::BoundQuery> query_;
  plan::QueryPlans plans_;
  graph::NetBatch net_;
};

Edges random_edges(std::mt19937& random, std::uint32_t vertices, std::size_t edges) {
  Edges drawn;
  while (drawn.size() < edges) {
    const VertexId u = random() % vertices;
    const VertexId v = random() % vertices;
    if (u != v) drawn.emplace_back(u, v);
  }
  return drawn;
}

// A ring of that many vertices. Each of them also leads to a chain of diamonds, which has 2^diamonds ways through it and none
// back.
Edges ring_beside_diamonds(std::uint32_t ring, std::uint32_t diamonds) {
  Edges edges;
  for (std::uint32_t v = 0; v < ring; ++v) {
    edges.emplace_back(v, (v + 1) % ring);
    edges.emplace_back(v, ring);
  }
  for (std::uint32_t d = 0; d < diamonds; ++d) {
    const std::uint32_t first = ring + 3 * d;
    for (const std::uint32_t middle : {first + 1, first + 2}) {
      edges.emplace_back(first, middle);
      edges.emplace_back(middle, first + 3);
    }
  }
  return edges;
}

struct Case {
  const char* name;
  bool directed;
  std::string pattern;
  MatchMode mode = MatchMode::isomorphism;
};

class SpaceTest : public testing::TestWithParam<Case> {};

TEST_P(SpaceTest, ChangesNothingOfWhatIsFound) {
  std::mt19937 random(7);
  std::uint64_t matches = 0;
  std::uint64_t entries = 0;
  std::uint64_t saved = 0;
  for (int round = 0; round < 30; ++round) {
    const std::uint32_t vertices = 9 + random() % 12;
    const Edges settled = random_edges(random, vertices, vertices + random() % vertices);
    World world(GetParam().directed, vertices, settled, random_edges(random, vertices, 4 + random() % 8), 4 + random() % 4,
                GetParam().pattern, GetParam().mode);
    for (const Pass pass : {Pass::removed, Pass::added}) {
      const World::Told plain = world.tell(pass, std::nullopt);
      for (const std::uint64_t effort : {1, 16, 1'000'000}) {
        const World::Told told = world.tell(pass, SpaceLimits{1, random() % 4, effort, 1'000'000'000});
        ASSERT_EQ(told.listed, plain.listed) << "round " << round << ", effort " << effort;
        ASSERT_EQ(told.counted, plain.counted);
        ASSERT_TRUE(told.sum == plain.sum);
        entries += told.entries;
        saved += plain.steps - std::min(plain.steps, told.steps);
      }
      matches += plain.counted;
    }
  }
  EXPECT_GT(matches, 20);
  EXPECT_GT(entries, 10'000);
  EXPECT_GT(saved, 100);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SpaceTest,
    testing::Values(Case{"DirectedRing", true, path_of(5, true, true)}, Case{"LongDirectedRing", true, path_of(7, true, true)},
                    Case{"Ring", false, path_of(7, false, true)},
                    Case{"UndirectedRingOverDirectedData", true, path_of(6, false, true)},
                    Case{"DirectedPath", true, path_of(6, true, false)}, Case{"Path", false, path_of(7, false, false)},
                    Case{"RingWithTails", false, path_of(5, false, true) + ", (v1)--(w)--(x), (v3)--(y)"},
                    Case{"TwoRings", false, path_of(4, false, true) + ", (v2)--(w)--(x)--(y)--(v2)"},
                    Case{"RingWithChord", true, path_of(6, true, true) + ", (v0)-->(v3)"},
                    Case{"ClosedTrail", false, path_of(6, false, true), MatchMode::edge_distinct},
                    Case{"ClosedTrailOverDirectedData", true, path_of(4, false, true), MatchMode::edge_distinct},
                    Case{"ClosedWalk", true, path_of(5, true, true), MatchMode::homomorphism},
                    Case{"UndirectedClosedWalk", false, path_of(4, false, true), MatchMode::homomorphism}),
    [](const auto& shape) { return shape.param.name; });

// Without a space, walks from the chain's first edges alone would take some 2^15 steps each, and those from the ring's as many.
TEST(CandidateSpace, SparesWaysThatLeadNowhere) {
  constexpr std::uint32_t ring = 32;
  World world(true, 256, {}, ring_beside_diamonds(ring, 40), 0, path_of(ring, true, true));
  const World::Told told = world.tell(Pass::added, SpaceLimits{});
  EXPECT_EQ(told.counted, 1);
  EXPECT_EQ(told.listed.size(), 1);
  EXPECT_LT(told.steps, 1'000'000);
  EXPECT_LT(told.entries, 10'000'000);
}

// In a clique nearly every candidate is in a match. What spaces read is limited by the steps, and by how many steps they save.
TEST(CandidateSpace, CostsLittleWhereItSavesNothing) {
  Edges clique;
  for (VertexId v = 0; v < 12; ++v) {
    for (VertexId u = 0; u < v; ++u) clique.emplace_back(u, v);
  }
  World world(false, 12, {}, clique, 0, path_of(8, false, true));
  const SpaceLimits limits{.credit = 1000};
  const World::Told plain = world.tell(Pass::added, std::nullopt);
  const World::Told told = world.tell(Pass::added, limits);
  EXPECT_EQ(told.counted, plain.counted);
  ASSERT_LE(told.steps, plain.steps);
  const std::uint64_t saved = plain.steps - told.steps;
  EXPECT_LT(saved, plain.steps / 5);
  EXPECT_LE(told.entries, 2 * (1000 + limits.entries * (plain.steps / 32 + saved)));
}

}  // namespace
}  // namespace deltamatch::match

// Which loops read again what a loop above them has found, and when that pays. Also how sets of two runs are merged.
#include "gpu/program/set_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <source_dir.hpp>
#include <string>
#include <utility>
#include <vector>

#include "gpu/mirror/merged_place.hpp"
#include "gpu/program/flat_programs.hpp"
#include "unit/estimate/support.hpp"

namespace deltamatch::gpu {
namespace {

// Query relations 0 to 3: two of base relations, one with parallel edges, one whose entries have tags.
std::vector<graph::Resolved> query_relations() {
  std::vector<graph::Resolved> all(4);
  all[2].parallel = true;
  all[3].derived = true;
  return all;
}

plan::Probe probe(plan::Position position, graph::QueryRelationId query_relation = 0) {
  plan::Probe made{};
  made.position = position;
  made.query_relation = query_relation;
  return made;
}

plan::Candidates with(std::vector<plan::Probe> probes, std::vector<plan::Position> above = {}) {
  return {std::move(probes), {}, std::move(above), {}};
}

// Nested loops; the last is a count.
plan::Program nest(std::vector<plan::Candidates> levels) {
  plan::Program program;
  program.root_steps = 1;
  for (std::uint32_t i = 0; i < levels.size(); ++i) {
    const bool last = i + 1 == levels.size();
    program.steps.push_back({last ? plan::Step::Kind::count : plan::Step::Kind::loop, !last, i, 1});
    plan::Node node;
    node.candidates = levels[i];
    node.first_step = last ? 0 : i + 1;
    node.steps = last ? 0 : 1;
    program.nodes.push_back(node);
  }
  return program;
}

TEST(SetPlan, AListOfASetIsReadNoMore) {
  const auto uses = plan_sets(
      nest({with({probe(0), probe(1)}), with({probe(1), probe(2), probe(0)}), with({probe(0), probe(1), probe(2), probe(3)})}),
      query_relations());
  EXPECT_EQ(uses[0].base, 0);
  EXPECT_EQ(uses[0].sets_read, 0b110U);
  EXPECT_EQ(uses[1].base, 1);
  EXPECT_EQ(uses[1].rest, 1);
  EXPECT_EQ(uses[1].probes[0], probe(2));
  EXPECT_EQ(uses[1].sets_read, 0b110U);
  EXPECT_EQ(uses[1].parent, 0U);
  EXPECT_EQ(uses[2].base, 2) << "the larger part";
  EXPECT_EQ(uses[2].rest, 1);
  EXPECT_EQ(uses[2].probes[0], probe(3));
  EXPECT_EQ(uses[2].probes.size(), 4U);
  EXPECT_EQ(uses[2].sets_read, 0b100U);
  EXPECT_EQ(uses[2].parent, 1U);
}

TEST(SetPlan, OnlySetsOfIdsAreKept) {
  const auto base_of = [](const plan::Candidates& first, const plan::Candidates& second) {
    return plan_sets(nest({first, second}), query_relations())[1].base;
  };
  EXPECT_EQ(base_of(with({probe(0), probe(1)}), with({probe(0), probe(1)})), 1);
  EXPECT_EQ(base_of(with({probe(0), probe(1)}), with({probe(0), probe(1), probe(2, 2)})), 1) << "may be left";
  EXPECT_EQ(base_of(with({probe(0)}), with({probe(0), probe(2)})), 0) << "a list is there anyway";
  EXPECT_EQ(base_of(with({probe(0), probe(1)}), with({probe(0), probe(2)})), 0) << "a part is not enough";
  EXPECT_EQ(base_of(with({probe(0), probe(1)}), with({probe(0), probe(1, 1)})), 0) << "another list";
  EXPECT_EQ(base_of(with({probe(0), probe(1, 2)}), with({probe(0), probe(1, 2)})), 0) << "parallel edges";
  EXPECT_EQ(base_of(with({probe(0), probe(1, 3)}), with({probe(0), probe(1, 3)})), 0) << "tags";
  plan::Probe inclusive = probe(1);
  inclusive.inclusive = true;
  EXPECT_EQ(base_of(with({probe(0), probe(1)}), with({probe(0), inclusive})), 0) << "other changes count";
  plan::Program induced = nest({with({probe(0), probe(1)}), with({probe(0), probe(1)})});
  induced.nodes[1].joined.push_back({2, 0, 0});
  EXPECT_EQ(plan_sets(induced, query_relations())[1].base, 1) << "may ask for more";
  induced.nodes[0].joined.push_back({0, 0, 0});
  EXPECT_EQ(plan_sets(induced, query_relations())[1].base, 0) << "has left some out";
}

// The third loop reads the second's set, which was found in the first's. Both must hold what the third may find.
TEST(SetPlan, CutsHoldForAllThatReadASet) {
  const auto uses_of = [](const std::vector<plan::Position>& first, const std::vector<plan::Position>& second,
                          const std::vector<plan::Position>& third) {
    return plan_sets(nest({with({probe(0), probe(1)}, first), with({probe(0), probe(1), probe(2)}, second),
                           with({probe(0), probe(1), probe(2), probe(3)}, third)}),
                     query_relations());
  };
  auto uses = uses_of({0}, {0, 2}, {0, 2, 3});
  EXPECT_FALSE(uses[0].uncut || uses[1].uncut);
  uses = uses_of({0}, {0, 2}, {0});
  EXPECT_FALSE(uses[0].uncut);
  EXPECT_TRUE(uses[1].uncut);
  uses = uses_of({0}, {0}, {});
  EXPECT_TRUE(uses[0].uncut && uses[1].uncut);
  uses = uses_of({1}, {0, 1}, {0});
  EXPECT_TRUE(uses[0].uncut && uses[1].uncut);
}

// Sibling loops do not see what the others have found.
TEST(SetPlan, OnlyLoopsAboveAreRead) {
  plan::Program program = nest({with({probe(0), probe(1)}), with({probe(2)})});
  plan::Node beside;
  beside.candidates = with({probe(0), probe(1)});
  program.nodes.push_back(beside);
  program.steps.insert(program.steps.begin() + 1, {plan::Step::Kind::count, false, 2, 1});
  program.root_steps = 2;
  program.nodes[0].first_step = 2;
  const auto uses = plan_sets(program, query_relations());
  EXPECT_EQ(uses[2].base, 0);
  EXPECT_EQ(uses[0].sets_read, 0U);
}

const SetChoice always(GpuReuse::always);

constexpr const char* near_clique5 = "(a)--(b)--(c)--(a), (a)--(d)--(b), (c)--(d), (a)--(e)--(b), (c)--(e)";
constexpr const char* two_cliques = "(a)--(b)--(c)--(a), (a)--(d)--(b), (c)--(d), (d)--(e)--(f)--(d), (d)--(g)--(e), (f)--(g)";
constexpr const char* strip = "(a)--(b)--(c)--(a), (b)--(d)--(c), (c)--(e)--(d)";
constexpr const char* clique6 =
    "(a)--(b)--(c)--(d)--(e)--(f)--(a), (a)--(c)--(e)--(a), (b)--(d)--(f)--(b), (a)--(d), (b)--(e), (c)--(f)";

FlatPrograms flatten_one(const std::string& pattern, SetChoice choice, const estimate::WorldOptions& options = {}) {
  estimate::World world(options, 5);
  world.add(parse_pattern(pattern, "q"));
  world.stage();
  FlatPrograms flat;
  std::vector<bool> left_out;
  flatten(world.graph, world.graph.resolved(), world.passes, world.tasks, world.programs, choice, flat, left_out);
  return flat;
}

std::size_t kept(const FlatPrograms& flat) {
  return static_cast<std::size_t>(std::ranges::count_if(flat.sums.needs, &DepthNeeds::sets) +
                                  std::ranges::count_if(flat.walks.needs, &DepthNeeds::sets));
}

std::size_t query_relation(const FlatPrograms& flat) {
  return static_cast<std::size_t>(std::ranges::count_if(flat.nodes, [](const Node& node) { return node.base != 0; }));
}

TEST(SetPlan, NearCliquesReuseAndHousesDoNot) {
  EXPECT_GT(kept(flatten_one(near_clique5, always)), 0U);
  EXPECT_EQ(kept(flatten_one(near_clique5, SetChoice(GpuReuse::never))), 0U);
  EXPECT_EQ(kept(flatten_one("(a)--(b)--(c)--(d)--(a), (a)--(e)--(b)", always)), 0U);
}

TEST(SetWork, CountsWhatLoopsReadAndLookFor) {
  // The outer loop reads 100 entries of two lists and keeps ten. For each, the inner loop reads three lists, or the set and
  // one more list.
  const plan::Program program = nest({with({probe(0), probe(1)}), with({probe(0), probe(1), probe(2)})});
  const std::vector<double> shortest{100, 80};
  SetWork work = expected_work(program, plan_sets(program, query_relations()), shortest, 0.1);
  EXPECT_DOUBLE_EQ(work.anew, 100 * 2 + 10 * 80 * 3);
  EXPECT_DOUBLE_EQ(work.reusing, 100 * 2 + 10 * 10 * 2);
  EXPECT_TRUE(work.pays());
  // Sets that are read only once in ten times, if at all.
  work = expected_work(program, plan_sets(program, query_relations()), shortest, 0.001);
  EXPECT_FALSE(work.pays());
  work = expected_work(program, plan_no_sets(program), shortest, 0.1);
  EXPECT_DOUBLE_EQ(work.anew, work.reusing);
  EXPECT_FALSE(work.pays());
  EXPECT_FALSE(expected_work(program, plan_sets(program, query_relations()), std::vector<double>{0, 0}, 0).pays())
      << "no graph yet";
}

TEST(SetWork, WhatIsOnlyLookedUpIsNone) {
  const plan::Program program = nest({with({probe(0)}), with({probe(1)})});
  EXPECT_DOUBLE_EQ(expected_work(program, plan_no_sets(program), std::vector<double>{100, 80}, 0.1).anew, 100);
}

// Queries of the GPU benchmark, with the mean list length and the closure of triangles of its graph of 31 M edges.
TEST(SetWork, PaysWhereTheInnermostLoopsReadSets) {
  const std::string folder = std::string(DELTAMATCH_SOURCE_DIR) + "/bench/queries/gpu/plain/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "runs where it was built: there is no " << folder;
  const auto shares = [&](const std::string& name) {
    const std::string path = folder + name + ".graph";
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    estimate::World world({.vertices = 4000, .edges = 40000}, 5);
    world.add(parse_query_graph(text, name, false, path));
    world.stage();
    std::vector<double> all;
    for (const match::AnchorProgram& made : world.programs[0]) {
      const auto uses = plan_sets(made.program, world.graph.resolved());
      const SetWork work = expected_work(made.program, uses, std::vector<double>(made.program.nodes.size(), 208), 0.0087);
      all.push_back(work.reusing / work.anew);
    }
    std::ranges::sort(all);
    return all;
  };
  EXPECT_LT(shares("q6-two-cliques").back(), 0.35);
  EXPECT_LT(shares("q5-near-clique5").front(), 0.35);
  for (const char* name : {"q3-strip", "q4-prism", "q7-octahedron"}) EXPECT_GT(shares(name).front(), 0.65) << name;
  EXPECT_GT(shares("q8-near-clique7").front(), 0.55);
}

TEST(SetChoice, TakesSetsThatTheGraphFills) {
  const estimate::WorldOptions dense{.vertices = 100, .edges = 1000};
  const estimate::WorldOptions sparse{.vertices = 4000, .edges = 8000};
  for (const char* pattern : {near_clique5, two_cliques, clique6}) {
    EXPECT_GT(kept(flatten_one(pattern, SetChoice(), dense)), 0U) << pattern;
    EXPECT_EQ(kept(flatten_one(pattern, SetChoice(), sparse)), 0U) << pattern;
    EXPECT_GT(kept(flatten_one(pattern, always, sparse)), 0U) << pattern << ": it could";
  }
  EXPECT_EQ(query_relation(flatten_one(two_cliques, SetChoice(), dense)),
            query_relation(flatten_one(two_cliques, always, dense)));
  EXPECT_EQ(kept(flatten_one(strip, SetChoice(), dense)), 0U);
  EXPECT_GT(kept(flatten_one(strip, always, dense)), 0U) << "it could";
}

TEST(SetChoice, LooksAgainWhenTheGraphHasDoubled) {
  const plan::Program program = nest({with({probe(0), probe(1)}), with({probe(0), probe(1), probe(2)})});
  const auto reads = [&](SetChoice& choice, const estimate::WorldOptions& options) {
    estimate::World world(options, 5);
    world.add(parse_pattern("(a)--(b)", "q"));
    world.stage();
    return choice.choose(program, world.graph, world.graph.resolved())[1].base != 0;
  };
  SetChoice choice;
  EXPECT_FALSE(reads(choice, {.vertices = 1000, .edges = 2000}));
  EXPECT_FALSE(reads(choice, {.vertices = 200, .edges = 3900})) << "the sample is of the graph before";
  EXPECT_TRUE(reads(choice, {.vertices = 200, .edges = 4100}));
  EXPECT_FALSE(reads(choice, {.vertices = 1000, .edges = 2000}));
}

// The last lists of a node that reads a set are those of a loop above it.
TEST(SetPlan, FlatNodesHaveTheListsOfTheirBaseLast) {
  const FlatPrograms flat = flatten_one(
      "(a)--(b)--(c)--(a), (a)--(d)--(b), (c)--(d), (a)--(e)--(b), (c)--(e), (d)--(f)--(e), (f)--(a), (f)--(b)", always);
  const auto lists = [&](std::uint32_t from, std::uint32_t to) {
    std::vector<std::pair<unsigned, unsigned>> all;
    for (std::uint32_t p = from; p < to; ++p) all.emplace_back(flat.probes[p].position, flat.probes[p].query_relation);
    std::sort(all.begin(), all.end());
    return all;
  };
  std::size_t readers = 0;
  for (const Node& node : flat.nodes) {
    if (node.base == 0) continue;
    ++readers;
    const auto last = lists(node.first_probe + node.rest, node.first_probe + node.probes);
    bool found = false;
    for (std::uint32_t above = node.parent, steps = 0; !found && steps < 8; above = flat.nodes[above].parent, ++steps) {
      found = lists(flat.nodes[above].first_probe, flat.nodes[above].first_probe + flat.nodes[above].probes) == last;
    }
    EXPECT_TRUE(found);
    EXPECT_TRUE(node.keeps_set(node.base)) << "what a node reads counts among the sets of its branch";
  }
  EXPECT_GT(readers, 0U);
}

TEST(MergedPlace, IsTheOrderOfAllEntries) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::uint32_t> sorted(random() % 70);
    std::uint32_t id = 0;
    for (std::uint32_t& entry : sorted) entry = id += 1 + random() % 3;
    std::vector<std::uint32_t> runs[2];
    const unsigned share = 1 + random() % 9;
    for (const std::uint32_t entry : sorted) runs[random() % 10 < share ? 0 : 1].push_back(entry);
    std::vector<std::uint32_t> ids = runs[0];
    ids.insert(ids.end(), runs[1].begin(), runs[1].end());
    std::vector<std::uint32_t> merged(ids.size());
    for (std::uint32_t i = 0; i < ids.size(); ++i) {
      merged[merged_place(ids.data(), static_cast<std::uint32_t>(runs[0].size()), static_cast<std::uint32_t>(ids.size()), i)] =
          ids[i];
    }
    ASSERT_EQ(merged, sorted);
  }
}

}  // namespace
}  // namespace deltamatch::gpu

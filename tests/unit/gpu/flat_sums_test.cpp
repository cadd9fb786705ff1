// Which count plans are counted with tables, and how their work is split.
#include "gpu/program/flat_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpu/program/flat_programs.hpp"
#include "unit/estimate/support.hpp"

namespace deltamatch::gpu {
namespace {

using estimate::World;

bool any_meets(const std::string& pattern) {
  World world({.vertices = 60, .edges = 300}, 3);
  world.add(parse_pattern(pattern, "q"));
  world.stage();
  for (const plan::Plan& plan : world.tasks[0].plans->plans) {
    if (meets_in_the_middle(bind_prefix(plan))) return true;
  }
  return false;
}

TEST(FlatSums, RingsMeetInTheMiddle) {
  EXPECT_TRUE(any_meets("(a)--(b)--(c)--(d)--(e)--(f)--(a)"));
  EXPECT_FALSE(any_meets("(a)--(b)--(c)--(d)--(e)")) << "beyond a path's vertex there is one way only";
  EXPECT_FALSE(any_meets("(a)--(b)--(c)--(a)"));
}

TEST(FlatSums, EveryAnchorIsWorkedByEachProgramOnce) {
  for (const char* pattern : {"(a)--(b)--(c)--(d)--(e)--(f)--(a)", "(a)--(b)--(c)--(d)--(e)--(f)--(a), (b)--(e)"}) {
    World world({.vertices = 80, .edges = 500, .inserted = 40, .removed = 40, .skew = 3}, 4);
    world.add(parse_pattern(pattern, "q"));
    world.stage();
    FlatPrograms flat;
    std::vector<bool> left_out;
    const auto resolved = world.graph.resolved();
    match::Programs programs = world.programs;
    choose_tables(world.tasks, resolved, GpuTables::always, programs);
    SetChoice sets;
    flatten(world.graph, resolved, world.passes, world.tasks, programs, sets, flat, left_out);
    ASSERT_FALSE(flat.tables.empty());
    // By program and anchor: the shares that exist, and how many there should be.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::set<std::uint32_t>, std::uint32_t>> shares;
    for (const auto* items : {&flat.tables.heavy, &flat.tables.light}) {
      std::uint32_t last = ~0U;
      for (const SumItem& item : *items) {
        auto& [there, wanted] = shares[{item.program, item.anchor}];
        EXPECT_TRUE(there.insert(item.share).second);
        EXPECT_TRUE(wanted == 0 || wanted == item.shares);
        wanted = item.shares;
        const Anchor& anchor = flat.tables.anchors[item.anchor];
        const std::uint32_t degree = (world.graph.degree(anchor.tail) + world.graph.degree(anchor.head)) / item.shares;
        EXPECT_LE(std::uint64_t{16} * degree, std::uint64_t{17} * last) << "what takes long comes first, to a sixteenth";
        last = degree;
      }
    }
    for (const auto& [key, found] : shares) EXPECT_EQ(found.first.size(), found.second);
    // Every anchor that concerns a plan is counted by one of its programs.
    std::uint64_t counted = 0;
    for (const std::uint64_t anchors : flat.tables.anchor_counts) counted += anchors;
    EXPECT_EQ(counted, flat.tables.anchors.size());
    for (std::size_t p = 0; p < flat.tables.programs.size(); ++p) {
      const SumProgram& program = flat.tables.programs[p];
      ASSERT_LT(program.first_term, program.end_term);
      for (std::uint32_t t = program.first_term; t < program.end_term; ++t) {
        const SumTerm& term = flat.tables.terms[t];
        const bool first = flat.tables.factors[term.first_factor].bind != 0;
        EXPECT_EQ(first, flat.tables.factors[flat.tables.terms[program.first_term].first_factor].bind != 0)
            << "terms that enumerate lie apart";
      }
    }
  }
}

TEST(FlatSums, ItemsAreOrderedByWhatTheyTake) {
  std::mt19937_64 random(3);
  FlatSums sums;
  for (std::uint32_t a = 0; a < 5000; ++a) {
    sums.degrees.push_back(static_cast<std::uint32_t>(random() >> (32 + random() % 32)));
    const auto shares = static_cast<std::uint16_t>(1 + random() % 3);
    sums.light.push_back({0, a, 0, shares});
    if (a % 5 == 0) sums.heavy.push_back({1, a, 0, shares});
  }
  sums.degrees[17] = ~0U;
  sums.degrees[18] = 0;
  const FlatSums unordered = sums;
  order_items(sums);
  for (std::vector<SumItem> FlatSums::* items : {&FlatSums::light, &FlatSums::heavy}) {
    const std::vector<SumItem>& before = unordered.*items;
    const auto size_of = [&](const SumItem& item) { return std::uint64_t{sums.degrees[item.anchor]} / item.shares; };
    const std::vector<SumItem>& after = sums.*items;
    for (std::size_t i = 1; i < after.size(); ++i) {
      const std::uint64_t earlier = size_of(after[i - 1]);
      const std::uint64_t later = size_of(after[i]);
      EXPECT_TRUE(later < 32 ? later <= earlier : 16 * later <= 17 * earlier) << later << " behind " << earlier;
    }
    std::vector<std::uint32_t> anchors;
    for (const SumItem& item : after) anchors.push_back(item.anchor);
    std::ranges::sort(anchors);
    ASSERT_EQ(anchors.size(), before.size());
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(anchors[i], before[i].anchor);
  }
}

TEST(FlatSums, ListsWithParallelEdgesAreLeftToLoops) {
  World world({.directed = true, .vertices = 20, .edges = 80, .edge_labels = 3}, 5);
  world.add(parse_pattern("(a)-->(b)-->(c)-->(d)-->(e)-->(f)-->(a)", "wild"));
  world.add(parse_pattern("(a)-[:E0]->(b)-[:E0]->(c)-[:E0]->(d)-[:E0]->(e)-[:E0]->(f)-[:E0]->(a)", "labelled"));
  world.stage();
  FlatPrograms flat;
  std::vector<bool> left_out;
  const auto resolved = world.graph.resolved();
  match::Programs programs = world.programs;
  choose_tables(world.tasks, resolved, GpuTables::always, programs);
  SetChoice sets;
  flatten(world.graph, resolved, world.passes, world.tasks, programs, sets, flat, left_out);
  ASSERT_FALSE(flat.tables.empty());
  for (const ProgramOrigin& origin : flat.tables.origins) EXPECT_EQ(origin.task, 1);
}

TEST(FlatSums, APrefixIsBound) {
  plan::Plan plan;
  plan.levels.resize(2);
  plan.levels[0].vertex = 2;
  plan.levels[1].vertex = 3;
  plan.levels[0].candidates.above = {0};
  plan.count.prefix = 2;
  plan.count.terms.resize(2);
  plan.count.terms[0].factors.resize(2);
  const plan::CountPlan bound = bind_prefix(plan);
  EXPECT_EQ(bound.prefix, 0);
  for (const plan::Term& term : bound.terms) {
    ASSERT_EQ(term.factors.size(), 1);
    const plan::Factor& outer = term.factors[0];
    EXPECT_EQ(outer.kind, plan::Factor::Kind::bind);
    EXPECT_EQ(outer.position, 2);
    EXPECT_TRUE(outer.vertices[0].above.empty()) << "sums count every assignment";
    ASSERT_EQ(outer.inner.size(), 1);
    EXPECT_EQ(outer.inner[0].position, 3);
  }
  EXPECT_EQ(bound.terms[0].factors[0].inner[0].inner.size(), 2);
}

}  // namespace
}  // namespace deltamatch::gpu

// Conditions: what they mean, what they refuse, and that pruning by them loses nothing. Also tests the hooks on parts.
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <set>
#include <string>

#include "brute_force.hpp"
#include "deltamatch/engine.hpp"

namespace deltamatch {
namespace {

using brute::Graph;
using brute::Vertices;

constexpr std::uint32_t triangle = 0b111;
constexpr std::uint32_t wedge = 0b011;

TEST(Condition, SaysWhatArithmeticSays) {
  const auto holds = [](std::string_view text, std::uint32_t key = triangle) { return Condition::parse(text).holds(3, key); };
  EXPECT_TRUE(holds("edges = 3"));
  EXPECT_FALSE(holds("edges = 3", wedge));
  EXPECT_TRUE(holds("edges + missing == vertices * (vertices - 1) - 3"));
  EXPECT_TRUE(holds("triangles = 1 and min_degree = 2 and max_degree = 2 and leaves = 0"));
  EXPECT_TRUE(holds("triangles < 1 and min_degree != 2 and max_degree >= 2 and leaves > 1", wedge));
  EXPECT_TRUE(holds("edges = 1 or edges = 2 and leaves = 2", wedge));  // and binds closer than or
  EXPECT_FALSE(holds("(edges = 1 or edges = 2) and leaves = 3", wedge));
  EXPECT_TRUE(holds("not edges > 3 and not not edges = 3"));
  EXPECT_TRUE(holds("2 - 1 - 1 = 0"));  // from the left
  EXPECT_TRUE(holds("1 + 2 * 3 = 7"));
  EXPECT_TRUE(holds("edges<=3 and(missing<1)"));
}

TEST(Condition, PointsAtTheColumnOfAMistake) {
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"", "column 1: the condition ends"},
      {"edges", "column 1: a comparison is needed"},
      {"edges > ", "column 9: the condition ends"},
      {"edges >> 5", "column 8: a feature or a number"},
      {"edges > 5 and hubs < 2", "column 15: 'hubs' is not known; the features are vertices, edges"},
      {"(edges > 5", "column 11: a closing parenthesis"},
      {"edges > 5)", "column 10: ')' is not expected"},
      {"edges > 5 max_degree", "column 11: 'm' is not expected"},
      {"edges > 3x", "column 9: '3x' is not a whole number"},
      {"edges > 99999999999", "column 9: '99999999999'"},
      {"(edges > 3) + 1 = 2", "column 1: a number is needed here"},
      {"edges and leaves = 1", "column 1: a comparison is needed here"},
      {"not edges", "column 5: a comparison is needed here"},
      {"edges / 0 > 1", "column 7: '/' is not expected"},
      {"leaves = 1 and not edges / 2 > 1", "column 26: '/' is not expected"},
      {"(edges % 2) = 1", "column 8: '%' is not expected"},
      {"edges leaves", "column 7: 'l' is not expected"},
      {"edges = 1 = 1", "column 11: '=' is not expected"},
  };
  for (const auto& [text, says] : mistakes) {
    try {
      (void)Condition::parse(text, "--where");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(std::string(error.what()).find("--where, " + says), 0U) << error.what();
    }
  }
  EXPECT_THROW((void)Condition::parse(std::string(5000, '(') + "1"), Error);
  std::string chain = "edges = 1";
  for (int i = 0; i < 40; ++i) chain += " or edges = 1";
  EXPECT_THROW((void)Condition::parse(chain), Error);
  std::string negations;
  for (int i = 0; i < 5000; ++i) negations += "not ";
  EXPECT_THROW((void)Condition::parse(negations + "edges = 1"), Error);
}

const std::vector<std::string> conditions = {"edges >= 6",
                                             "max_degree <= 2",
                                             "missing <= 2 and leaves = 0",
                                             "triangles = 0",
                                             "triangles >= 2 or max_degree <= 2",
                                             "min_degree >= 2",
                                             "not (edges > vertices)",
                                             "edges * 2 > max_degree * vertices - 3",
                                             "leaves - 1 = min_degree",
                                             "edges = 100"};

TEST(Condition, NeverGivesUpAPartThatCanStillSatisfyIt) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Graph graph = brute::random_graph(6, 0.2 + 0.1 * static_cast<double>(seed % 8), seed);
    Vertices all(6);
    std::iota(all.begin(), all.end(), 0U);
    if (!brute::connected(graph, all)) continue;
    for (const std::string& text : conditions) {
      const Condition condition = Condition::parse(text);
      if (!condition.holds(6, brute::key_of(graph, all))) continue;
      for (unsigned part = 1; part <= 6; ++part) {
        brute::for_each_subset(
            6, part, [&](const Vertices& set) { EXPECT_TRUE(condition.may_hold(part, brute::key_of(graph, set), 6)) << text; });
      }
    }
  }
  constexpr std::uint32_t path = 0b100101;                              // 0-1, 1-2, 2-3
  EXPECT_FALSE(Condition::parse("missing <= 2").may_hold(4, path, 6));  // it lacks 3 edges for good
  EXPECT_TRUE(Condition::parse("missing <= 3").may_hold(4, path, 6));
  EXPECT_FALSE(Condition::parse("triangles = 0").may_hold(3, triangle, 6));
  EXPECT_FALSE(Condition::parse("max_degree < 2").may_hold(3, wedge, 6));
}

TEST(Condition, CountsAreThoseOfAllMotifsThatSatisfyIt) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const SimpleGraph graph = brute::random_graph(30, 0.2, seed).simple();
    for (unsigned k = 3; k <= 6; ++k) {
      const auto all = count_motifs(graph, k).motifs;
      for (const std::string& text : conditions) {
        MotifOptions options;
        options.where = Condition::parse(text);
        std::vector<std::pair<std::string, Count>> expected;
        for (const Motif& motif : all) {
          if (options.where->holds(k, motif.pattern.key)) expected.emplace_back(motif.pattern.graph6(), motif.count);
        }
        for (const MotifMethod method : {MotifMethod::automatic, MotifMethod::pairs, MotifMethod::extend}) {
          options.method = method;
          std::vector<std::pair<std::string, Count>> found;
          for (const Motif& motif : count_motifs(graph, k, options).motifs)
            found.emplace_back(motif.pattern.graph6(), motif.count);
          EXPECT_EQ(found, expected) << text << ", k " << k;
        }
        SubgraphOptions list;
        list.where = options.where;
        Count total = 0;
        for (const auto& [name, count] : expected) total += count;
        EXPECT_EQ(list_subgraphs(graph, k, list, [](const Subgraph&) {}).listed, total) << text;
      }
    }
  }
}

TEST(Subgraphs, AreListedOnceAndAsTheyAre) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Graph graph = brute::random_graph(10, 0.15 + 0.01 * static_cast<double>(seed), seed);
    for (unsigned k = 2; k <= 6; ++k) {
      std::set<Vertices> expected;
      brute::for_each_subset(graph.n, k, [&](const Vertices& set) {
        if (brute::connected(graph, set)) expected.insert(set);
      });
      SubgraphOptions options;
      options.run.threads = seed % 2 == 0 ? 3 : 1;
      std::set<Vertices> found;
      const ListResult list = list_subgraphs(graph.simple(), k, options, [&](const Subgraph& subgraph) {
        Vertices set(subgraph.vertices.begin(), subgraph.vertices.end());
        EXPECT_EQ(subgraph.key, brute::key_of(graph, set));
        std::sort(set.begin(), set.end());
        EXPECT_TRUE(found.insert(set).second) << "listed twice";
      });
      EXPECT_EQ(found, expected) << "seed " << seed << ", k " << k;
      EXPECT_EQ(list.listed, expected.size());
    }
  }
}

TEST(Subgraphs, HooksSeePartsAndDecide) {
  const Graph graph = brute::random_graph(14, 0.4, 3);
  const auto even = [](const Subgraph& part) {
    return std::all_of(part.vertices.begin(), part.vertices.end(), [](std::uint32_t v) { return v % 2 == 0; });
  };
  std::set<Vertices> expected;
  brute::for_each_subset(graph.n, 4, [&](const Vertices& set) {
    const bool kept = std::all_of(set.begin(), set.end(), [](std::uint32_t v) { return v % 2 == 0; });
    if (kept && brute::connected(graph, set)) expected.insert(set);
  });
  ASSERT_FALSE(expected.empty());
  for (const bool by_parts : {true, false}) {
    SubgraphOptions options;
    options.run.threads = 2;
    std::mutex mutex;
    std::set<std::size_t> sizes;
    options.extend = [&](const Subgraph& part) {
      const std::lock_guard lock(mutex);
      sizes.insert(part.vertices.size());
      return !by_parts || even(part);
    };
    options.keep = even;
    std::set<Vertices> found;
    (void)list_subgraphs(graph.simple(), 4, options, [&](const Subgraph& subgraph) {
      Vertices set(subgraph.vertices.begin(), subgraph.vertices.end());
      std::sort(set.begin(), set.end());
      found.insert(set);
    });
    EXPECT_EQ(found, expected);
    EXPECT_EQ(sizes, (std::set<std::size_t>{2, 3}));
  }
}

TEST(Subgraphs, GrowingConditionsThatPartsInheritAreWhere) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const SimpleGraph graph = brute::random_graph(20, 0.3, seed).simple();
    for (const std::string text : {"max_degree <= 3", "triangles = 0", "missing <= 3"}) {
      for (unsigned k = 3; k <= 6; ++k) {
        MotifOptions growing;
        growing.growing = Condition::parse(text);
        MotifOptions where;
        where.where = growing.growing;
        EXPECT_EQ(brute::by_least_key(count_motifs(graph, k, growing)), brute::by_least_key(count_motifs(graph, k, where)))
            << text;
      }
    }
  }
}

TEST(Subgraphs, LimitIsKept) {
  const SimpleGraph graph = brute::random_graph(30, 0.5, 1).simple();
  for (const unsigned threads : {1U, 3U}) {
    SubgraphOptions options;
    options.run.threads = threads;
    options.limit = 10;
    std::uint64_t calls = 0;
    const ListResult list = list_subgraphs(graph, 4, options, [&](const Subgraph&) { ++calls; });
    EXPECT_EQ(calls, 10U);
    EXPECT_FALSE(list.complete);
  }
}

TEST(SimpleView, OfDirectedLabelledAndParallelEdges) {
  Engine engine(EngineOptions{.directed = true, .threads = 1});
  UpdateBatch batch;
  const auto add = [&](const Id& source, const Id& target, std::string_view label) {
    Update update;
    update.source = source;
    update.target = target;
    update.label = label;
    batch.add(update);
  };
  add(std::string_view("b"), std::string_view("a"), "x");
  add(std::string_view("a"), std::string_view("b"), "x");
  add(std::string_view("a"), std::string_view("b"), "y");
  add(std::string_view("b"), 7, "y");
  add(7, std::string_view("a"), "");
  Update lonely;
  lonely.kind = UpdateKind::insert_vertex;
  lonely.source = -3;
  batch.add(lonely);
  (void)engine.load(batch);
  const SimpleGraph graph = SimpleGraph::of(engine);
  ASSERT_EQ(graph.vertices(), 4U);
  EXPECT_EQ(graph.edges(), 3U);
  EXPECT_EQ(graph.id(0), Id(-3));
  EXPECT_EQ(graph.id(1), Id(7));
  EXPECT_EQ(graph.id(2), Id(std::string_view("a")));
  EXPECT_EQ(graph.id(3), Id(std::string_view("b")));
  EXPECT_EQ(graph.degree(0), 0U);
  EXPECT_EQ(count_cliques(graph, 3).counts[3], 1U);
  EXPECT_GT(graph.bytes(), 0U);
}

}  // namespace
}  // namespace deltamatch

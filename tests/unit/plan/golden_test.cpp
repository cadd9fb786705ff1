// Plans of a catalogue of queries as text, compared with the files in golden/. After an intended change of the planner or the
// text, write the files again and read their difference:
//   DELTAMATCH_UPDATE_GOLDEN=1 build/.../test_plan --gtest_filter='Golden*'; git diff tests/unit/plan/golden
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <source_dir.hpp>
#include <string>
#include <vector>

#include "deltamatch/planner.hpp"
#include "unit/plan/catalogue.hpp"

namespace deltamatch::plan {
namespace {

void compare(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(DELTAMATCH_SOURCE_DIR) / "tests/unit/plan/golden" / (name + ".txt");
  if (std::getenv("DELTAMATCH_UPDATE_GOLDEN") != nullptr) {
    std::ofstream out(path);
    out << text;
    ASSERT_TRUE(out.flush()) << path;
    return;
  }
  std::ifstream in(path);
  ASSERT_TRUE(in) << path << " is missing: write it with DELTAMATCH_UPDATE_GOLDEN=1";
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), text) << path;
}

std::string delta(const Query& query, MatchMode mode, CountMode count, Data& data) {
  const BoundQuery bound(query, mode, count, data.graph);
  data.graph.resolve_all();
  return to_text(bound, make_delta_plans(bound), {}) + "\n";
}

std::string fixed(const Query& query, MatchMode mode, CountMode count, Data& data) {
  const BoundQuery bound(query, mode, count, data.graph);
  data.graph.resolve_all();
  return "static\n" + to_text(bound, make_static_plans(bound), {}) + "\n";
}

TEST(Golden, Shapes) {
  Data same(false, false);
  Data different(false, true);
  for (const Shape& shape : shapes()) {
    std::string text;
    for (const bool all_different : {false, true}) {
      Data& data = all_different ? different : same;
      const Query query = query_of(shape, all_different);
      text += delta(query, MatchMode::isomorphism, CountMode::subgraphs, data);
      text += fixed(query, MatchMode::isomorphism, CountMode::subgraphs, data);
    }
    compare(shape.name, text);
  }
}

TEST(Golden, FixedOrders) {
  Data data(false, false);
  std::string text;
  for (const Shape& shape : shapes()) {
    const Query query = query_of(shape, false);
    if (query.vertices.size() < 4 || query.vertices.size() > 6) continue;
    std::vector<std::string> names{query.vertices.back().name};  // from the last vertex on, each time the last that is joined
    for (std::size_t v = query.vertices.size(); v-- > 0 && names.size() < query.vertices.size();) {
      const std::string& name = query.vertices[v].name;
      if (std::ranges::find(names, name) != names.end()) continue;
      const bool joined = std::ranges::any_of(query.edges, [&](const QueryEdge& edge) {
        const auto named = [&](std::uint32_t end) { return std::ranges::find(names, query.vertices[end].name) != names.end(); };
        return (edge.source == v && named(edge.target)) || (edge.target == v && named(edge.source));
      });
      if (!joined) continue;
      names.push_back(name);
      v = query.vertices.size();
    }
    const auto planner = make_fixed_order(query, names);
    BoundQuery bound(query, MatchMode::isomorphism, CountMode::subgraphs, data.graph);
    bound.planner = planner.get();
    data.graph.resolve_all();
    for (const std::string& name : names) text += name + (name == names.back() ? "\n" : ",");
    text += to_text(bound, make_delta_plans(bound), {}) + "\nstatic\n" + to_text(bound, make_static_plans(bound), {}) + "\n";
  }
  compare("fixed_orders", text);
}

TEST(Golden, Roots) {
  Data data(false, false);
  for (const char* name : {"cycle4", "cycle6", "house", "star4", "clique4"}) {
    for (const Shape& shape : shapes()) {
      if (std::string_view(shape.name) != name) continue;
      const Query query = query_of(shape, false);
      const BoundQuery bound(query, MatchMode::isomorphism, CountMode::subgraphs, data.graph);
      data.graph.resolve_all();
      const QueryPlans plans = make_static_plans(bound, {{}, true, false, CountFrom::vertices});
      ASSERT_TRUE(plans.rooted) << name;
      compare(shape.name + std::string("_root"), to_text(bound, plans, {}));
    }
  }
}

TEST(Golden, EveryMode) {
  Data data(false, false);
  for (const char* name : {"triangle", "cycle4", "star4"}) {
    for (const Shape& shape : shapes()) {
      if (std::string_view(shape.name) != name) continue;
      std::string text;
      const Query query = query_of(shape, false);
      for (const MatchMode mode : {MatchMode::isomorphism, MatchMode::edge_distinct, MatchMode::homomorphism}) {
        text += delta(query, mode, CountMode::embeddings, data) + fixed(query, mode, CountMode::embeddings, data);
      }
      compare(shape.name + std::string("_modes"), text);
    }
  }
}

TEST(Golden, DirectedData) {
  Data data(true, false);
  const std::pair<const char*, const char*> patterns[] = {
      {"ring2", "(a:P)-[:X]->(b:P)-[:X]->(a)"},
      {"ring3", "(a:P)-[:X]->(b:P)-[:Y]->(c:P)-[:X|Y]->(a)"},
      {"ring4", "(a)-[:X]->(b)-[:X]->(c)-[:X]->(d)-[:X]->(a)"},
      {"ring6", "(a)-->(b)-->(c)-->(d)-->(e)-->(f)-->(a)"},
      {"wildcards", "(a)-->(b:P|Q)-->(c), (a)-->(c)"},
      {"undirected_edges", "(a:P)--(b)-[:X]-(c)-->(a)"},
      {"parallel_edges", "(a)-[:X]->(b), (a)-->(b)-->(c)"},
      {"odd_names", "(`first one`:P)-[:`has\t space`]->(b)-[:``]->(c)"},
  };
  for (const auto& [name, pattern] : patterns) {
    const Query query = parse_pattern(pattern, name);
    std::string text = delta(query, MatchMode::isomorphism, CountMode::subgraphs, data);
    text += fixed(query, MatchMode::isomorphism, CountMode::subgraphs, data);
    text += delta(query, MatchMode::edge_distinct, CountMode::embeddings, data);
    text += delta(query, MatchMode::homomorphism, CountMode::embeddings, data);
    compare(name, text);
  }
}

TEST(Golden, Actuals) {
  Data data(false, false);
  const BoundQuery bound(query_of(shapes().at(1), false), MatchMode::isomorphism, CountMode::subgraphs, data.graph);
  data.graph.resolve_all();
  compare("actuals", to_text(bound, make_delta_plans(bound), {{12, 345, {31}}}));
}

}  // namespace
}  // namespace deltamatch::plan

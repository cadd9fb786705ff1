// Matching orders of all kinds give the same matches: those of the oracle.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "deltamatch/planner.hpp"
#include "property/draw.hpp"
#include "property/follow.hpp"

namespace deltamatch::property {
namespace {

std::uint32_t neighbours(const Query& query, std::uint32_t vertex) {
  std::uint32_t mask = 0;
  for (const QueryEdge& edge : query.edges) {
    if (edge.source == vertex) mask |= 1U << edge.target;
    if (edge.target == vertex) mask |= 1U << edge.source;
  }
  return mask;
}

/// Appends vertices in a random order, each joined to one before it.
void extend_at_random(const Query& query, std::mt19937& random, std::vector<std::uint32_t>& order) {
  while (order.size() < query.vertices.size()) {
    std::uint32_t held = 0;
    for (const std::uint32_t vertex : order) held |= 1U << vertex;
    std::vector<std::uint32_t> next;
    for (std::uint32_t v = 0; v < query.vertices.size(); ++v) {
      if ((held >> v & 1U) == 0 && (neighbours(query, v) & held) != 0) next.push_back(v);
    }
    order.push_back(next.at(random() % next.size()));
  }
}

/// Every plan gets an order of its own. The same plan gets the same one whenever it is asked for.
class RandomOrders final : public Planner {
 public:
  explicit RandomOrders(std::uint32_t seed) : seed_(seed) {}

  [[nodiscard]] std::vector<std::uint32_t> order(const PlanRequest& request) const override {
    ++asked_;
    std::seed_seq seeds{seed_, request.anchor(), request.tail(), std::uint32_t{request.whole_graph()}};
    std::mt19937 random(seeds);
    std::vector<std::uint32_t> order{request.tail(), request.head()};
    extend_at_random(request.query(), random, order);
    return {order.begin() + 2, order.end()};
  }
  [[nodiscard]] std::optional<std::uint32_t> first_edge(const Query& query) const override {
    if (seed_ % 3 == 0) return std::nullopt;
    return seed_ % static_cast<std::uint32_t>(query.edges.size());
  }
  [[nodiscard]] std::size_t asked() const noexcept { return asked_; }

 private:
  std::uint32_t seed_;
  mutable std::size_t asked_ = 0;
};

std::unique_ptr<Planner> random_fixed_order(const Query& query, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> order{static_cast<std::uint32_t>(random() % query.vertices.size())};
  extend_at_random(query, random, order);
  std::vector<std::string> names;
  for (const std::uint32_t vertex : order) names.push_back(query.vertices[vertex].name);
  return make_fixed_order(query, names);
}

void hold_in_any_order(const Traits& traits, int cases, unsigned threads) {
  std::size_t asked = 0;
  hold(cases, [&] {
    Scenario scenario = *scenarios(traits);
    std::vector<std::unique_ptr<RandomOrders>> drawn;
    std::vector<std::unique_ptr<Planner>> fixed;
    for (Standing& standing : scenario.queries) {
      if (traits.counts) standing.query.within.reset();  // the oracle does not follow what ages in counts
      const auto seed = static_cast<std::uint32_t>(*below(1 << 20));
      if (*below(2) == 0) {
        standing.options.planner = drawn.emplace_back(std::make_unique<RandomOrders>(seed)).get();
      } else {
        standing.options.planner = fixed.emplace_back(random_fixed_order(standing.query, seed)).get();
      }
    }
    auto subject = consistent_subject(scenario, threads);
    if (!subject || !judged_run(scenario, *subject, scenario.batches())) return;
    Judge judge(scenario);
    if (!judge.take(scenario.start)) return;
    for (const auto batch : scenario.batches()) {
      if (!judge.take(batch)) return;
    }
    judge.check_static(subject->engine());
    for (const auto& planner : drawn) asked += planner->asked();
  });
  EXPECT_GT(asked, 0U) << "no planner was asked";
}

TEST(MatchingOrder, BatchesAndGraphsHaveTheMatchesOfTheOracle) { hold_in_any_order({}, 400, 1); }
TEST(MatchingOrder, SoHaveLargeQueries) {
  hold_in_any_order({.vertex_records = false, .windows = false, .untidy = false, .counting = true}, 300, 3);
}
/// One end of the edge v1-v3 is followed by an order whose sum has a power, which parallel edges do not allow.
class OrderByTail final : public Planner {
 public:
  [[nodiscard]] std::vector<std::uint32_t> order(const PlanRequest& request) const override {
    return request.tail() == 1 ? std::vector<std::uint32_t>{0, 2, 4} : std::vector<std::uint32_t>{2, 4, 0};
  }
  [[nodiscard]] std::optional<std::uint32_t> first_edge(const Query& /*query*/) const override { return 2; }
};

TEST(MatchingOrder, ACountDoesNotMixSumsAndWalksFromOneEdge) {
  Engine engine({.directed = false});
  const Query query = parse_pattern("(v0)--(v1)--(v2), (v1)--(v3), (v2)--(v4)", "q");
  engine.add_query(query);
  const auto insert = [&](std::int64_t source, std::int64_t target, const char* label) {
    UpdateBatch batch;
    batch.add({.source = source, .target = target, .label = label});
    engine.process(batch);
  };
  insert(1, 2, "y");
  insert(3, 6, "x");
  insert(1, 3, "x");
  insert(1, 2, "x");
  insert(4, 5, "x");
  insert(5, 3, "x");
  const OrderByTail planner;
  StaticOptions options;
  EXPECT_EQ(engine.match(query, options).matches, Count{3});
  options.query.planner = &planner;
  EXPECT_EQ(engine.match(query, options).matches, Count{3});
}

TEST(MatchingOrder, SoHavePathsAndConditions) {
  hold_in_any_order({.edges = EdgeModel::keyed, .attributes = true, .paths = true}, 300, 1);
  hold_in_any_order({.windows = false, .edges = EdgeModel::events, .attributes = true, .within = true, .paths = true}, 200, 1);
}
TEST(MatchingOrder, SoHaveSelfLoopsAndConditionsThatCount) {
  hold_in_any_order({.edges = EdgeModel::events, .attributes = true, .loops = true}, 200, 1);
  hold_in_any_order({.windows = false, .edges = EdgeModel::keyed, .attributes = true, .counts = true}, 200, 1);
}

}  // namespace
}  // namespace deltamatch::property

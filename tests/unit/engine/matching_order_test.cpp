// Planners of programs: what they are asked, and that no order is followed that cannot be.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/error.hpp"
#include "deltamatch/planner.hpp"

namespace deltamatch {
namespace {

const std::string house = "(a)-->(b)-->(c)-->(d)-->(a), (a)-->(r), (b)-->(r)";

Update edge(std::int64_t source, std::int64_t target) {
  Update update;
  update.source = source;
  update.target = target;
  return update;
}

UpdateBatch batch_of(const std::vector<Update>& updates) {
  UpdateBatch batch;
  for (const Update& update : updates) batch.add(update);
  return batch;
}

UpdateBatch a_house() { return batch_of({edge(1, 2), edge(2, 3), edge(3, 4), edge(4, 1), edge(1, 5), edge(2, 5)}); }

/// Answers what it is told to.
class Told final : public Planner {
 public:
  explicit Told(std::vector<std::uint32_t> order, std::optional<std::uint32_t> first = std::nullopt)
      : order_(std::move(order)), first_(first) {}
  [[nodiscard]] std::vector<std::uint32_t> order(const PlanRequest& /*request*/) const override { return order_; }
  [[nodiscard]] std::optional<std::uint32_t> first_edge(const Query& /*query*/) const override { return first_; }

 private:
  std::vector<std::uint32_t> order_;
  std::optional<std::uint32_t> first_;
};

/// Keeps what it was asked, and asks the default planner.
class Curious final : public Planner {
 public:
  struct Asked {
    std::uint32_t anchor;
    bool whole_graph;
    EdgeFigures figures;
    CandidateFigures expected;  // of the first vertex that the default planner chooses
  };
  [[nodiscard]] std::vector<std::uint32_t> order(const PlanRequest& request) const override {
    std::vector<std::uint32_t> order = default_planner().order(request);
    const std::vector<std::uint32_t> matched{request.tail(), request.head()};
    asked.push_back({request.anchor(), request.whole_graph(), request.figures(request.anchor()),
                     order.empty() ? CandidateFigures{} : request.expected(order[0], matched)});
    return order;
  }
  mutable std::vector<Asked> asked;
};

std::string what(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(MatchingOrder, TheDefaultPlannerStandsBehindTheSameInterface) {
  const Curious planner;
  Engine engine({.directed = true, .threads = 1});
  const Query query = parse_pattern(house, "house");
  std::vector<Update> updates;
  for (std::int64_t i = 0; i < 3000; ++i) updates.push_back(edge(i % 97, (i * 31 + i / 97) % 101 + 200));
  engine.load(batch_of(updates), OnReject::skip);
  EXPECT_EQ(engine.explain(query, QueryOptions{.planner = &planner}), engine.explain(query, QueryOptions{}));
  ASSERT_FALSE(planner.asked.empty());
  for (const Curious::Asked& asked : planner.asked) {
    EXPECT_FALSE(asked.whole_graph);
    EXPECT_EQ(asked.figures.images, static_cast<double>(engine.graph().edges));
    EXPECT_GT(asked.figures.from_source, 1.0);
    EXPECT_GT(asked.expected.candidates, 0.0);
    EXPECT_GE(asked.expected.lists, 1U);
  }
  planner.asked.clear();
  StaticOptions whole;
  whole.query.planner = &planner;
  static_cast<void>(engine.match(query, whole));
  ASSERT_FALSE(planner.asked.empty());
  EXPECT_TRUE(planner.asked[0].whole_graph);
}

TEST(MatchingOrder, AnOrderThatCannotBeFollowedIsAnError) {
  const Query path = parse_pattern("(a)-->(b)-->(c)-->(d)", "path");  // its plans begin with a-b, b-c and c-d
  const std::vector<std::pair<std::vector<std::uint32_t>, std::string>> bad{
      {{}, "lacks (c)"},
      {{2}, "lacks (d)"},
      {{2, 2}, "has (c) twice"},
      {{0, 2}, "has (a) twice"},
      {{3, 2}, "has (d) before all its neighbours"},
      {{2, 3, 2}, "has (c) twice"},
      {{2, 9}, "has the vertex 9 of 4"},
      {{2, 0xffffffffU}, "has the vertex 4294967295 of 4"},
  };
  for (const auto& [order, why] : bad) {
    const Told planner(order);
    Engine engine({.directed = true, .threads = 1});
    engine.add_query(path, {.planner = &planner});
    const std::string text = what([&] { engine.process(a_house()); });
    EXPECT_NE(text.find("planner of query path"), std::string::npos) << text;
    EXPECT_NE(text.find(why), std::string::npos) << text;
    EXPECT_NE(text.find("return every other vertex once"), std::string::npos) << text;
    EXPECT_EQ(engine.graph().edges, 0U) << "the batch was applied in spite of the error";
    EXPECT_EQ(engine.batch(), 0U);
    StaticOptions whole;
    whole.query.planner = &planner;
    EXPECT_NE(what([&] { static_cast<void>(engine.match(path, whole)); }), "no error");
  }
}

TEST(MatchingOrder, AFirstEdgeThatIsNotThereIsAnError) {
  const Told planner({2}, 7);
  Engine engine({.directed = true, .threads = 1});
  engine.load(a_house());
  StaticOptions whole;
  whole.query.planner = &planner;
  const std::string text = what([&] { static_cast<void>(engine.match(parse_pattern("(a)-->(b)-->(c)", "path"), whole)); });
  EXPECT_NE(text.find("the first edge is number 7 of 2"), std::string::npos) << text;
}

TEST(MatchingOrder, AnExceptionOfThePlannerEndsTheCallOnly) {
  struct Failing final : Planner {
    [[nodiscard]] std::vector<std::uint32_t> order(const PlanRequest& request) const override {
      if (fails) throw std::runtime_error("the model is not loaded");
      return default_planner().order(request);
    }
    bool fails = true;
  } planner;
  Engine engine({.directed = true, .threads = 1});
  engine.add_query(parse_pattern(house, "house"), {.planner = &planner});
  EXPECT_THROW(engine.process(a_house()), std::runtime_error);
  EXPECT_EQ(engine.graph().edges, 0U);
  planner.fails = false;
  EXPECT_EQ(static_cast<int>(engine.process(a_house()).queries.at(0).added), 1);
}

/// The orders of the plans in explain's text, as "a b: r d c": the anchor's ends, then the levels.
std::vector<std::string> orders(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (const std::size_t anchor = line.find("anchor ("); anchor != std::string::npos) {
      const std::size_t second = line.find('(', anchor + 8);
      found.push_back(line.substr(anchor + 8, 1) + ' ' + line.substr(second + 1, 1) + ':');
    } else if (line.starts_with("  level ")) {
      found.back() += line.substr(line.find(':') + 1, 2);
    }
  }
  return found;
}

TEST(MatchingOrder, AFixedOrderIsFollowedAfterTheAnchor) {
  const Query query = parse_pattern(house, "house");
  const std::vector<std::string> names{"r", "b", "a", "d", "c"};
  const auto planner = make_fixed_order(query, names);
  Engine engine({.directed = true, .threads = 1});
  EXPECT_EQ(orders(engine.explain(query, QueryOptions{.planner = planner.get()})),
            (std::vector<std::string>{"a b: r d c", "b c: r a d", "c d: b r a", "d a: r b c", "a r: b d c", "b r: a d c"}));
  engine.load(a_house());
  StaticOptions whole;
  whole.query.planner = planner.get();
  EXPECT_EQ(orders(engine.explain(query, whole)), (std::vector<std::string>{"b r: a d c"}));
}

TEST(MatchingOrder, VerticesInsidePathsComeWhenNoneOfTheOrderCan) {
  const Query query = parse_pattern("(a:A)-[t]->{3}(b:B)-->(c:C), (c)-->(a)", "path");
  const std::vector<std::string> names{"b", "a", "c"};
  const auto planner = make_fixed_order(query, names);
  Engine engine({.directed = true, .threads = 1, .schema = {.model = EdgeModel::events, .edges = {}, .vertices = {}}});
  std::vector<std::string> kinds;
  for (std::string order : orders(engine.explain(query, QueryOptions{.planner = planner.get()}))) {
    for (char& c : order) c = std::string_view("abc: ").find(c) == std::string_view::npos ? '.' : c;
    kinds.push_back(order);
  }
  // The steps of the path come first: a to the first vertex inside, on to the second, and to b.
  EXPECT_EQ(kinds, (std::vector<std::string>{"a .: c b .", ". .: b a c", ". b: c a .", "b c: a . .", "c a: b . ."}));
}

TEST(MatchingOrder, AFixedOrderNamesEachVertexOnceAndIsConnected) {
  const Query query = parse_pattern("(a)-->(b)-->(c)-->(d)", "path");
  const auto text = [&](const std::vector<std::string>& names) {
    return what([&] { static_cast<void>(make_fixed_order(query, names, "--matching-order")); });
  };
  const std::string remedy = "; name each of a, b, c, d once, each joined by an edge to one before it";
  EXPECT_EQ(text({"a", "b", "c", "e"}), "--matching-order: query path has no vertex 'e'" + remedy);
  EXPECT_EQ(text({"a", "b", "c"}), "--matching-order: 'd' is missing" + remedy);
  EXPECT_EQ(text({}), "--matching-order: 'a' is missing" + remedy);
  EXPECT_EQ(text({"a", "b", "b", "c"}), "--matching-order: 'b' is named twice" + remedy);
  EXPECT_EQ(
      text({"a", "c", "b", "d"}),
      "--matching-order: no edge joins 'c' to a vertex named before it, so every pair of candidates would be tried" + remedy);
  EXPECT_EQ(text({"c", "d", "b", "a"}), "no error");
}

TEST(MatchingOrder, APlannerDoesNotChangeTheFingerprint) {
  const Query query = parse_pattern(house, "house");
  const Told planner({});
  EXPECT_EQ(query_fingerprint(query, {}), query_fingerprint(query, {.planner = &planner}));
}

}  // namespace
}  // namespace deltamatch

// Which plans an anchor's ends refuse. Whatever is refused must have no match, by the enumerator.
#include "match/screen.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "deltamatch/query.hpp"
#include "match/enumerator.hpp"
#include "match/plan_index.hpp"

namespace deltamatch::match {
namespace {

using graph::Edge;

/// A graph with a batch, and queries over it.
class Scene {
 public:
  explicit Scene(bool directed, std::size_t vertices, unsigned vertex_labels = 1) : graph_(directed, false) {
    for (std::size_t v = 0; v < vertices; ++v) {
      const std::string label = vertex_labels == 1 ? "" : "L" + std::to_string(v % vertex_labels);
      graph_.dictionary.create(static_cast<std::int64_t>(v), graph_.vertex_labels.intern(label));
    }
    label_ = graph_.edge_labels.intern("T");
  }
  ~Scene() { graph_.unstage(); }  // before the queries release what they read
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  [[nodiscard]] Edge edge(VertexId tail, VertexId head) const { return graph_.ranked(tail, head, label_); }
  void add(const std::string& pattern, MatchMode mode = MatchMode::isomorphism) {
    queries_.push_back(std::make_unique<plan::BoundQuery>(parse_pattern(pattern, "q"), mode, CountMode::embeddings, graph_));
  }
  void stage(const std::set<Edge>& before, const std::set<Edge>& removed, const std::set<Edge>& inserted) {
    graph::NetBatch start;
    start.inserted.assign(before.begin(), before.end());
    Workers workers(1);
    graph_.stage(start);
    graph_.settle(workers);
    graph_.resolve_all();
    batch_.inserted.assign(inserted.begin(), inserted.end());
    batch_.removed.assign(removed.begin(), removed.end());
    graph_.stage(batch_);
    plans_.reserve(queries_.size());
    for (const auto& query : queries_) {
      plans_.push_back(plan::make_delta_plans(*query));
      tasks_.push_back({query.get(), &plans_.back(), false});
    }
    resolved_ = graph_.resolved();
    index_.emplace(graph_, tasks_, resolved_);
  }

  struct Look {
    Edge anchor;
    PlanRef plan;
    bool left;
  };
  /// What becomes of each plan at each anchor of a pass.
  std::vector<Look> look(Pass pass) { return look(pass, pass == Pass::removed ? batch_.removed : batch_.inserted); }
  std::vector<Look> look(Pass pass, const std::vector<Edge>& anchors) {
    std::vector<Look> looks;
    screen_.begin(pass);
    for (std::uint32_t i = 0; i < anchors.size(); ++i) {
      const auto plans = index_->of(anchors[i]);
      ScreenTests& tests = index_->tests();
      screen_.look_at(i, anchors[i], &tests);
      for (std::size_t p = 0; p < plans.size(); ++p) {
        if (!screen_.take(plans[p], tests.empty() ? 0 : tests.of(p))) looks.push_back({anchors[i], plans[p], false});
      }
    }
    screen_.finish([&](const Screen::Candidate& candidate, bool left) {
      looks.push_back({anchors[candidate.anchor], candidate.plan, left});
    });
    return looks;
  }
  [[nodiscard]] std::uint64_t matches(const Look& look, Pass pass) {
    Partial partial(Lists(graph_.base(), resolved_, graph_.directed(), pass), scratch_);
    partial.begin(plans_[look.plan.task].plans[look.plan.plan], look.anchor);
    return Enumerator(partial, *queries_[look.plan.task], false, nullptr).run({}, nullptr);
  }
  /// Whether some plan is left at some inserted edge.
  [[nodiscard]] bool leaves_any() { return std::ranges::any_of(look(Pass::added), &Look::left); }

 private:
  graph::DataGraph graph_;
  LabelId label_ = empty_label;
  std::vector<std::unique_ptr<plan::BoundQuery>> queries_;
  std::vector<plan::QueryPlans> plans_;
  std::vector<QueryTask> tasks_;
  std::vector<graph::Resolved> resolved_;
  graph::NetBatch batch_;
  std::optional<PlanIndex> index_;
  Screen screen_;
  Scratch scratch_;
};

const std::vector<std::string> directed_patterns = {
    "(a)-[:T]->(b)-[:T]->(a)",
    "(a)-[:T]->(b)-[:T]->(c)-[:T]->(a)",
    "(a)-[:T]->(b)-[:T]->(c), (a)-[:T]->(c)",
    "(a)-[:T]->(b)-[:T]->(c)-[:T]->(d)-[:T]->(a)",
    "(a)-[:T]->(b)-[:T]->(d), (a)-[:T]->(c)-[:T]->(d)",
    "(a)-[:T]->(b)-[:T]->(c)-[:T]->(d)-[:T]->(a), (a)-[:T]->(c)",
    "(a:L0)-[:T]->(b)-[:T]->(c:L1)-[:T]->(a)",
    "(a)-[:T]-(b)-[:T]->(c)-[:T]-(d)-[:T]->(a)",
};
const std::vector<std::string> undirected_patterns = {
    "(a)-[:T]-(b)-[:T]-(c)-[:T]-(a)",
    "(a)-[:T]-(b)-[:T]-(c)-[:T]-(d)-[:T]-(a)",
    "(a:L0)-[:T]-(b:L1)-[:T]-(c)-[:T]-(d)-[:T]-(a)",
    "(a)-[:T]-(b)-[:T]-(c)-[:T]-(d)-[:T]-(a), (a)-[:T]-(c), (b)-[:T]-(d)",
};

TEST(ScreenTest, NothingThatIsRefusedHasAMatch) {
  std::mt19937 random(7);
  std::size_t refused = 0;
  std::size_t matched = 0;
  for (int round = 0; round < 300; ++round) {
    const bool directed = round % 2 == 0;
    const auto vertices = static_cast<VertexId>(6 + random() % 20);
    Scene scene(directed, vertices, 1 + round / 2 % 2);
    constexpr MatchMode modes[] = {MatchMode::isomorphism, MatchMode::edge_distinct, MatchMode::homomorphism};
    for (const std::string& pattern : directed ? directed_patterns : undirected_patterns) scene.add(pattern, modes[round % 3]);
    std::set<Edge> before;
    std::set<Edge> removed;
    std::set<Edge> inserted;
    const std::size_t edges = vertices * (1 + random() % 3);
    for (std::size_t i = 0; i < edges; ++i) {
      const VertexId tail = random() % vertices;
      const VertexId head = random() % vertices;
      const Edge edge = scene.edge(tail, head);
      if (tail == head || before.contains(edge) || inserted.contains(edge)) continue;
      (i % 3 == 0 ? inserted : before).insert(edge);
      if (i % 3 == 1) removed.insert(edge);
    }
    scene.stage(before, removed, inserted);
    for (const Pass pass : {Pass::removed, Pass::added, Pass::transient}) {
      for (const Scene::Look& look : scene.look(pass)) {
        const std::uint64_t matches = scene.matches(look, pass);
        ASSERT_TRUE(look.left || matches == 0)
            << "round " << round << " refuses plan " << look.plan.plan << " of query " << look.plan.task;
        refused += look.left ? 0 : 1;
        matched += matches > 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(refused, 20'000U);
  EXPECT_GT(matched, 5'000U);
}

TEST(ScreenTest, EdgesAtBothEndsDecide) {
  struct Case {
    const char* pattern;
    std::vector<std::pair<VertexId, VertexId>> before;
    bool left;
  };
  // The batch inserts 0 -> 1.
  for (const Case& each :
       std::vector<Case>{{"(a)-[:T]->(b)-[:T]->(a)", {{1, 2}}, false},
                         {"(a)-[:T]->(b)-[:T]->(a)", {{1, 0}}, true},
                         {"(a)-[:T]->(b)-[:T]->(c)-[:T]->(a)", {{1, 2}, {3, 0}}, false},
                         {"(a)-[:T]->(b)-[:T]->(c)-[:T]->(a)", {{1, 2}, {2, 0}}, true},
                         {"(a)-[:T]->(b)-[:T]->(c)-[:T]->(d)-[:T]->(a)", {{1, 2}, {3, 0}, {2, 4}}, false},
                         {"(a)-[:T]->(b)-[:T]->(c)-[:T]->(d)-[:T]->(a)", {{1, 2}, {3, 0}, {2, 3}}, true},
                         {"(a)-[:T]->(b)-[:T]->(d), (a)-[:T]->(c)-[:T]->(d)", {{0, 2}, {1, 3}}, false},
                         {"(a)-[:T]->(b)-[:T]->(d), (a)-[:T]->(c)-[:T]->(d)", {{0, 2}, {1, 3}, {2, 3}}, true}}) {
    Scene scene(true, 5);
    scene.add(each.pattern);
    std::set<Edge> before;
    for (const auto& [tail, head] : each.before) before.insert(scene.edge(tail, head));
    scene.stage(before, {}, {scene.edge(0, 1)});
    EXPECT_EQ(scene.leaves_any(), each.left) << each.pattern;
  }
}

TEST(ScreenTest, LongListsPass) {
  for (const VertexId size : {1U, 63U, 64U, 65U, 200U}) {
    Scene scene(true, 2 + 2 * std::size_t{size});
    scene.add("(a)-[:T]->(b)-[:T]->(c)-[:T]->(a)");
    std::set<Edge> before;
    for (VertexId i = 0; i < size; ++i) {
      before.insert(scene.edge(1, 2 + 2 * i));
      before.insert(scene.edge(3 + 2 * i, 0));
    }
    scene.stage(before, {}, {scene.edge(0, 1)});
    EXPECT_EQ(scene.leaves_any(), size > 64) << size;
  }
}

TEST(ScreenTest, ATestThatSeldomRefusesIsSeldomMade) {
  Scene scene(true, 4);
  scene.add("(a)-[:T]->(b)-[:T]->(a)");
  scene.stage({scene.edge(0, 1), scene.edge(1, 0), scene.edge(2, 3)}, {}, {});
  const auto refused = [&](std::size_t times, const Edge& anchor) {
    return std::ranges::count(scene.look(Pass::added, std::vector<Edge>(times, anchor)), false, &Scene::Look::left);
  };
  EXPECT_EQ(refused(1, scene.edge(2, 3)), 1);
  EXPECT_EQ(refused(100, scene.edge(0, 1)), 0);
  EXPECT_LT(refused(10, scene.edge(2, 3)), 2);
  EXPECT_GT(refused(1000, scene.edge(2, 3)), 100) << "it pays again";
}

}  // namespace
}  // namespace deltamatch::match

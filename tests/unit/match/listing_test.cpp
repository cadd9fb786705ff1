// Listings of anchors, some of which lead into dead ends and some of which have sums that take long. Tests the steps they take,
// the anchors that are left and tried again, and the work that a walk gives to idle threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "deltamatch/query.hpp"
#include "match/matcher.hpp"
#include "match/summation.hpp"

namespace deltamatch::match {
namespace {

using Edges = std::vector<std::pair<VertexId, VertexId>>;

// A graph, a query, and its plans over all edges as anchors.
class World {
 public:
  World(bool directed, std::uint32_t vertices, const Edges& edges, const char* pattern, bool sums = true)
      : graph_(directed, false) {
    for (std::uint32_t v = 0; v < vertices; ++v) (void)graph_.dictionary.create(v, empty_label);
    graph::NetBatch batch;
    for (const auto& [u, v] : edges) batch.inserted.push_back(graph_.ranked(u, v, empty_label));
    std::ranges::sort(batch.inserted);
    batch.inserted.erase(std::ranges::unique(batch.inserted).begin(), batch.inserted.end());
    Workers workers(1);
    graph_.stage(batch);
    graph_.settle(workers);
    anchors_ = batch.inserted;
    query_.emplace(parse_pattern(pattern, "q"), MatchMode::isomorphism, CountMode::subgraphs, graph_);
    graph_.resolve_all();
    plans_ = plan::make_static_plans(*query_, {std::nullopt, sums, true, CountFrom::automatic});
  }

  struct Listed {
    std::multiset<std::vector<std::uint32_t>> matches;
    std::vector<UnfinishedAnchor> left;
  };

  Listed list(unsigned threads, std::uint64_t steps, std::span<const UnfinishedAnchor> again = {},
              RecordTaker* taker = nullptr) {
    Workers workers(threads);
    const auto matcher = make_cpu_matcher_with(workers, limits_);
    QueryTask task{&*query_, &plans_, true};
    task.steps = steps;
    task.taker = taker;
    PassWork work{Pass::whole, {}};
    if (again.empty()) {
      work.anchors = anchors_;
    } else {
      work.left = again;
    }
    std::vector<QueryResult> results(1);
    results[0].plans.resize(plans_.plans.size());
    MatchSteps times;
    matcher->match(graph_, {&work, 1}, {&task, 1}, results, nullptr, times);
    Listed listed;
    listed.left = results[0].left;
    const std::size_t length = query_->vertices() + query_->edges.size();
    for (std::size_t at = 0; at < results[0].records.words.size(); at += length) {
      const auto begin = results[0].records.words.begin() + static_cast<std::ptrdiff_t>(at);
      listed.matches.emplace(begin, begin + static_cast<std::ptrdiff_t>(length));
    }
    return listed;
  }

  // Whether the anchor's sum and its walk end within that many steps.
  std::pair<bool, bool> tell(const graph::Edge& anchor, std::uint64_t steps) {
    Scratch scratch;
    TablePool<std::uint64_t> narrow;
    TablePool<Count> wide;
    narrow.resize(graph_.base().vertices());
    wide.resize(graph_.base().vertices());
    const auto resolved = graph_.resolved();
    Partial partial(Lists(graph_.base(), resolved, graph_.directed(), Pass::whole), scratch);
    partial.begin(plans_.plans[0], anchor);
    StepBudget summing(nullptr, steps);
    (void)Summation(partial, narrow, wide).run({}, &summing);
    StepBudget walking(nullptr, steps);
    (void)Enumerator(partial, *query_, true, &walking).run({}, nullptr);
    return {!summing.over(), !walking.over()};
  }

  graph::DataGraph graph_;
  std::optional<plan::BoundQuery> query_;
  plan::QueryPlans plans_;
  std::vector<graph::Edge> anchors_;
  SpaceLimits limits_;
};

constexpr const char* cycle_of_8 = "(a)-->(b)-->(c)-->(d)-->(e)-->(f)-->(g)-->(h)-->(a)";
constexpr std::uint32_t width = 16;

// Layers, in which each vertex is joined to all of the next layer. No way leads back.
Edges layers(std::uint32_t count) {
  Edges edges;
  for (VertexId v = 0; v < (count - 1) * width; ++v) {
    for (VertexId u = (v / width + 1) * width; u < (v / width + 2) * width; ++u) edges.emplace_back(v, u);
  }
  return edges;
}

Edges clique(std::uint32_t vertices) {
  Edges edges;
  for (VertexId v = 0; v < vertices; ++v) {
    for (VertexId u = 0; u < v; ++u) edges.emplace_back(u, v);
  }
  return edges;
}

Edges random_edges(std::uint32_t vertices, std::uint32_t edges) {
  std::mt19937 random(11);
  Edges drawn;
  while (drawn.size() < edges) {
    const VertexId u = random() % vertices;
    const VertexId v = random() % (1 + random() % vertices);
    if (u != v) drawn.emplace_back(u, v);
  }
  return drawn;
}

TEST(Listing, SumsTellDeadEnds) {
  constexpr std::uint64_t steps = 1 << 14;
  World world(true, 9 * width, layers(9), cycle_of_8);
  EXPECT_EQ(world.tell(world.anchors_[0], steps), (std::pair{true, false}));
  const World::Listed listed = world.list(1, steps);
  EXPECT_TRUE(listed.left.empty());
  EXPECT_TRUE(listed.matches.empty());
}

TEST(Listing, CandidateSpacesTellDeadEnds) {
  World world(true, 9 * width, layers(9), cycle_of_8, false);
  const World::Listed listed = world.list(1, 1 << 12);
  EXPECT_TRUE(listed.left.empty());
  EXPECT_TRUE(listed.matches.empty());
}

TEST(Listing, LeavesDeadEndsWithoutSumsAndCandidateSpaces) {
  World world(true, 9 * width, layers(9), cycle_of_8, false);
  world.limits_.levels = SIZE_MAX;
  const World::Listed listed = world.list(1, 1 << 12);
  EXPECT_FALSE(listed.left.empty());
  EXPECT_TRUE(listed.matches.empty());
  for (const UnfinishedAnchor& left : listed.left) EXPECT_TRUE(std::ranges::binary_search(world.anchors_, left.anchor));
}

TEST(Listing, WalksFindWhatTakesLongToSum) {
  constexpr std::uint64_t steps = 1 << 14;
  World world(false, 40, clique(40), "(a)--(b)--(c)--(d)--(e)--(f)--(g)--(h)--(i)--(a)");
  EXPECT_EQ(world.tell(world.anchors_[0], steps), (std::pair{false, false}));
  Workers workers(1);
  const auto matcher = make_cpu_matcher(workers);
  StopFlag enough = false;
  QueryTask task{&*world.query_, &world.plans_, true};
  task.steps = steps;
  task.limit = 10;
  task.beyond_limit = &enough;
  const PassWork work{Pass::whole, world.anchors_};
  std::vector<QueryResult> results(1);
  results[0].plans.resize(world.plans_.plans.size());
  MatchSteps times;
  matcher->match(world.graph_, {&work, 1}, {&task, 1}, results, &enough, times);
  EXPECT_EQ(results[0].records.plans.size(), 11);
}

TEST(Listing, WhatIsLeftIsListedOnceWhereItIsTriedAgain) {
  const char* pattern = "(a)--(b)--(c)--(d)--(e)--(f)--(a)";
  for (const bool sums : {true, false}) {
    World world(false, 300, random_edges(300, 900), pattern, sums);
    const World::Listed all = world.list(1, StepBudget::unbounded);
    ASSERT_GT(all.matches.size(), 1000);
    EXPECT_TRUE(all.left.empty());
    for (const unsigned threads : {1U, 3U}) {
      World::Listed listed = world.list(threads, 8);
      EXPECT_FALSE(listed.left.empty());
      EXPECT_LT(listed.matches.size(), all.matches.size());
      for (std::uint64_t steps = 32; !listed.left.empty(); steps *= 4) {
        World::Listed more = world.list(threads, steps, listed.left);
        EXPECT_TRUE(more.left.size() <= listed.left.size());
        listed.matches.merge(more.matches);
        listed.left = more.left;
      }
      EXPECT_EQ(listed.matches, all.matches);
    }
  }
}

class Keeper final : public FoundSink {
 public:
  void found(const Found& match) override { matches.insert({match.vertices.begin(), match.vertices.end()}); }
  std::multiset<std::vector<VertexId>> matches;
};

TEST(Listing, WhatWalksPartWithIsDisjointAndAll) {
  for (const char* pattern : {"(a)--(b)--(c)--(d)--(e)", "(a)--(b)--(c)--(a), (c)--(d)--(e)"}) {
    World world(false, 60, random_edges(60, 1200), pattern);
    Scratch scratch;
    const auto resolved = world.graph_.resolved();
    Partial partial(Lists(world.graph_.base(), resolved, false, Pass::whole), scratch);
    BusyThreads others_idle(2);
    std::size_t parted = 0;
    for (const plan::Plan& plan : world.plans_.plans) {
      for (const graph::Edge& anchor : std::span(world.anchors_).subspan(100, 1)) {
        partial.begin(plan, anchor);
        Keeper all;
        (void)Enumerator(partial, *world.query_, false, nullptr).run({}, &all);
        Keeper found;
        std::uint64_t count = 0;
        std::vector<Enumerator::Rest> rests{{{}, {}, 1}};
        while (!rests.empty()) {
          const Enumerator::Rest rest = std::move(rests.back());
          rests.pop_back();
          // In shares, as threads get it.
          for (std::uint32_t s = 0; s < 2; ++s) {
            const Share share{rest.share.index + s * rest.share.of, 2 * rest.share.of};
            Enumerator enumerator(partial, *world.query_, false, nullptr);
            enumerator.share_with(others_idle);
            count += enumerator.run(share, &found, rest.first);
            for (Enumerator::Rest& more : enumerator.rests()) rests.push_back(std::move(more));
          }
          parted += rests.size();
        }
        ASSERT_EQ(found.matches, all.matches);
        ASSERT_EQ(count, all.matches.size());
      }
    }
    EXPECT_GT(parted, 0) << pattern;
  }
}

// Notes which threads bring matches. After a walk must have given some work away, it keeps the first thread until another one
// comes.
class ThreadNoter final : public RecordTaker {
 public:
  void take(const Records& records, Pass /*pass*/) override {
    std::unique_lock lock(mutex_);
    threads.insert(std::this_thread::get_id());
    taken += records.plans.size();
    came_.notify_all();
    if (taken > 8 * taker_portion && patient_) {
      patient_ = came_.wait_for(lock, std::chrono::seconds(10), [&] { return threads.size() > 1; });
    }
  }
  std::set<std::thread::id> threads;
  std::size_t taken = 0;

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  bool patient_ = true;
};

TEST(Listing, ThreadsShareAnAnchor) {
  // In this path only the middle edge has an edge before it and one after it. So all matches come from one anchor, whichever
  // that is.
  Edges edges{{0, 1}};
  constexpr VertexId leaves = 700;
  for (VertexId v = 2; v < 2 + leaves; ++v) {
    edges.emplace_back(v, 0);
    edges.emplace_back(1, v + leaves);
  }
  World world(true, 2 + 2 * leaves, edges, "(a)-->(b)-->(c)-->(d)");
  std::erase_if(world.anchors_, [](const graph::Edge& edge) { return edge.tail != 0; });
  ThreadNoter noter;
  plan::StaticPlanning middle{1, true, true, CountFrom::automatic};
  world.plans_ = plan::make_static_plans(*world.query_, middle);
  const World::Listed rest = world.list(3, 1 << 12, {}, &noter);
  EXPECT_EQ(noter.taken + rest.matches.size(), std::size_t{leaves} * leaves);
  EXPECT_GT(noter.threads.size(), 1);
}

}  // namespace
}  // namespace deltamatch::match

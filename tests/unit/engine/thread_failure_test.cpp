// A batch that fails in one of several threads is undone as a whole, although other threads have continued meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include <new>
#include <random>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "failing_allocations.hpp"

namespace deltamatch {
namespace {

constexpr unsigned threads = 4;
constexpr int tries = 100;  // the system decides whether a helper gets a share in time

UpdateBatch draw_batch(unsigned seed, unsigned updates, double deletions) {
  std::mt19937 random(seed);
  UpdateBatch batch;
  for (unsigned i = 0; i < updates; ++i) {
    Update update;
    update.kind = std::bernoulli_distribution(deletions)(random) ? UpdateKind::delete_edge : UpdateKind::insert_edge;
    update.source = static_cast<std::int64_t>(random() % 150);
    update.target = static_cast<std::int64_t>(random() % 150);
    batch.add(update);
  }
  return batch;
}

/// The whole contents of the engine, and its size.
std::vector<std::string> state_of(const Engine& engine) {
  std::vector<std::string> state = {std::to_string(engine.graph().vertices), std::to_string(engine.graph().edges)};
  engine.for_each([&](const Update& update) {
    state.push_back(std::to_string(update.source.number()) + " " +
                    (update.kind == UpdateKind::insert_edge ? std::to_string(update.target.number()) : ""));
  });
  return state;
}

std::vector<std::string> process(Engine& engine, const UpdateBatch& batch) {
  const BatchResult result = engine.process(batch, OnReject::skip);
  std::vector<std::string> told = {std::to_string(result.batch)};
  for (const QueryDelta& query : result.queries) {
    told.push_back("+" + to_string(query.added) + " -" + to_string(query.removed) + " " +
                   to_string(MatchId{query.added_digest.high, query.added_digest.low}) + " " +
                   to_string(MatchId{query.removed_digest.high, query.removed_digest.low}));
  }
  return told;
}

Engine make_engine(const UpdateBatch& start) {
  EngineOptions options;
  options.directed = false;
  options.threads = threads;
  Engine engine(options);
  engine.add_query(parse_pattern("(a)--(b)--(c)--(a)", "triangle"), {MatchMode::isomorphism, CountMode::subgraphs, true});
  engine.add_query(parse_pattern("(a)--(b)--(c)--(d)--(a)", "square"));
  engine.load(start, OnReject::skip);
  return engine;
}

TEST(ThreadFailure, AHelperOutOfMemoryUndoesTheBatch) {
  // Enough work for helpers to take part even on a busy machine.
  const UpdateBatch start = draw_batch(1, 8000, 0);
  const UpdateBatch batch = draw_batch(2, 3000, 0.5);
  const UpdateBatch next = draw_batch(3, 300, 0.5);
  Engine never_failed = make_engine(start);
  const auto before = state_of(never_failed);
  const auto expected = process(never_failed, batch);
  const auto after = state_of(never_failed);
  const auto expected_next = process(never_failed, next);
  ASSERT_NE(before, after);
  for (const std::int64_t at : {0, 1, 2, 3, 5, 8, 13}) {
    bool failed = false;
    for (int i = 0; i < tries && !failed; ++i) {
      Engine engine = make_engine(start);
      bool thrown = false;
      {
        const test::FailAllocationElsewhere failing(at);
        try {
          EXPECT_EQ(process(engine, batch), expected);
        } catch (const std::bad_alloc&) {
          thrown = true;
        }
        failed = failing.failed();
      }
      ASSERT_EQ(thrown, failed) << "allocation " << at << " of the helpers";
      ASSERT_EQ(state_of(engine), thrown ? before : after);
      if (thrown) {
        ASSERT_EQ(process(engine, batch), expected);
      }
      ASSERT_EQ(process(engine, next), expected_next);
      if (at > 0 && i >= 4) break;  // helpers may be done with fewer
    }
    EXPECT_TRUE(failed || at > 0) << "no helper has ever asked for memory";
  }
}

/// Two hubs that are not yet joined, with `leaves` common neighbours. Every third one is joined to the one before it.
UpdateBatch two_hubs(std::int64_t leaves) {
  UpdateBatch batch;
  const auto add = [&](std::int64_t source, std::int64_t target) {
    Update update;
    update.source = source;
    update.target = target;
    batch.add(update);
  };
  for (std::int64_t leaf = 2; leaf < leaves; ++leaf) {
    add(0, leaf);
    add(1, leaf);
    if (leaf % 3 == 0) add(leaf, leaf - 1);
  }
  return batch;
}

// A batch of one edge at a hub is shared out; otherwise the hub would serialise it. On a busy machine a helper gets a core
// late. So the hubs grow until the batch lasts that long.
TEST(ThreadFailure, HelpersTakePartInASingleHeavyAnchor) {
  UpdateBatch batch;
  Update joined;
  joined.source = 0;
  joined.target = 1;
  batch.add(joined);
  bool shared = false;
  for (std::int64_t leaves = 12'000; !shared && leaves < 1'500'000; leaves = leaves * 3 / 2) {
    Engine engine({.directed = false, .threads = threads});
    engine.add_query(parse_pattern("(a)--(b)--(c)--(a), (c)--(d), (d)--(a), (d)--(b)", "clique4"));
    engine.load(two_hubs(leaves), OnReject::skip);
    const test::FailAllocationElsewhere failing(0);
    try {
      engine.process(batch, OnReject::skip);
    } catch (const std::bad_alloc&) {
    }
    shared = failing.failed();
  }
  EXPECT_TRUE(shared) << "one thread did it all";
}

}  // namespace
}  // namespace deltamatch

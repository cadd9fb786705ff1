// Follows a store by the changes that it logs.
#include "graph/change_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "graph/adjacency.hpp"

namespace deltamatch::graph {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

VertexId count(std::size_t i) { return static_cast<VertexId>(i); }

TEST(ChangeLog, TellsWhatCameSince) {
  ChangeLog log;
  log.track();
  log.prepare(2, 10);
  log.append(2, [](std::size_t i) { return i == 0 ? 5 : 7; });
  const std::uint64_t here = log.end();
  EXPECT_THAT(*log.since(0), ElementsAre(5, 7));
  EXPECT_THAT(*log.since(here), IsEmpty());
  log.prepare(1, 10);
  log.append(1, [](std::size_t) { return 5; });
  EXPECT_THAT(*log.since(here), ElementsAre(5));
}

TEST(ChangeLog, ForgetsWhatIsTooMuch) {
  ChangeLog log;
  log.track();
  log.prepare(8, 10);
  log.append(8, count);
  const std::uint64_t here = log.end();
  log.prepare(3, 10);
  log.append(3, count);
  EXPECT_FALSE(log.since(0).has_value());
  EXPECT_THAT(*log.since(here), ElementsAre(0, 1, 2));
  log.prepare(11, 10);
  log.append(11, count);
  EXPECT_FALSE(log.since(here).has_value());
  EXPECT_THAT(*log.since(log.end()), IsEmpty());
}

// A batch of changes is appended after room was made for it. It is read once room was made for the next.
TEST(ChangeLog, RemembersTheBatchBefore) {
  ChangeLog log;
  log.track();
  for (std::size_t batch = 0; batch < 50; ++batch) {
    const std::uint64_t here = log.end();
    log.prepare(4, 10);
    log.append(4, count);
    log.prepare(4, 10);
    ASSERT_TRUE(log.since(here).has_value()) << batch;
    EXPECT_THAT(*log.since(here), ElementsAre(0, 1, 2, 3));
  }
  const std::uint64_t here = log.end();
  log.prepare(6, 10);
  log.append(6, count);
  log.prepare(1, 10);
  EXPECT_FALSE(log.since(here).has_value()) << "more than half of what is remembered";
}

TEST(ChangeLog, RemembersNothingUnlessItTracks) {
  ChangeLog log;
  log.prepare(1, 10);
  log.append(1, count);
  EXPECT_FALSE(log.since(0).has_value());
  EXPECT_THAT(*log.since(1), IsEmpty());
  EXPECT_EQ(log.bytes(), 0U);
}

// A copy of a store's lists that reads only what the log says has changed.
class Follower {
 public:
  explicit Follower(const Adjacency& store) : store_(&store) {}
  bool follow() {
    const auto changes = store_->changes_since(mark_);
    if (changes) {
      for (const VertexId vertex : *changes) read(vertex);
    } else {
      lists_.clear();
      for (VertexId vertex = 0; vertex < store_->vertices(); ++vertex) read(vertex);
    }
    mark_ = store_->mark();
    return changes.has_value();
  }
  void expect_equal() const {
    for (VertexId vertex = 0; vertex < store_->vertices(); ++vertex) {
      const auto known = lists_.find(vertex);
      ASSERT_EQ(known == lists_.end() ? Lists{} : known->second, lists_of(vertex)) << vertex;
    }
  }

 private:
  using Lists = std::map<RelationId, std::vector<std::uint32_t>>;
  [[nodiscard]] Lists lists_of(VertexId vertex) const {
    Lists lists;
    store_->for_each_list(vertex, [&](RelationId relation, std::span<const std::uint32_t> ids, const std::uint32_t*) {
      lists[relation].assign(ids.begin(), ids.end());
    });
    return lists;
  }
  void read(VertexId vertex) { lists_[vertex] = lists_of(vertex); }

  const Adjacency* store_;
  Adjacency::Mark mark_;
  std::map<VertexId, Lists> lists_;
};

TEST(ChangeLog, AFollowerOfAStoreKeepsUp) {
  std::mt19937_64 random(9);
  Workers workers(2);
  Adjacency store(Column::none, heap_slabs());
  store.track_changes();
  constexpr std::uint32_t vertices = 5000;
  store.reserve_vertices(vertices);
  Follower always(store);
  Follower seldom(store);
  std::set<HalfEdge> live;
  int told = 0;
  int missed = 0;
  for (int round = 0; round < 200; ++round) {
    std::set<HalfEdge> added;
    std::set<HalfEdge> removed;
    const std::size_t changes = random() % 40 == 0 ? 20000 : random() % 200;
    for (std::size_t i = 0; i < changes; ++i) {
      const HalfEdge half{static_cast<VertexId>(random() % vertices), static_cast<RelationId>(random() % 3),
                          static_cast<VertexId>(random() % 50), 0, 0};
      (live.contains(half) ? removed : added).insert(half);
    }
    store.stage(std::vector(added.begin(), added.end()), std::vector(removed.begin(), removed.end()));
    EXPECT_EQ(store.stages(), static_cast<std::uint64_t>(round + 1));
    if (random() % 5 == 0) {
      store.unstage();
      EXPECT_NE(store.mark().settled, store.stages());
    } else {
      store.settle(workers);
      live.insert(added.begin(), added.end());
      for (const HalfEdge& half : removed) live.erase(half);
      if (!added.empty() || !removed.empty()) {
        EXPECT_EQ(store.mark().settled, store.stages());
      }
    }
    always.follow() ? ++told : ++missed;
    ASSERT_NO_FATAL_FAILURE(always.expect_equal());
    if (random() % 10 == 0) {
      seldom.follow();
      ASSERT_NO_FATAL_FAILURE(seldom.expect_equal());
    }
  }
  EXPECT_GT(told, 100);
  EXPECT_GT(missed, 0);
}

TEST(ChangeLog, AnotherStoreIsNotTakenForTheOneThatWasFollowed) {
  Adjacency first(Column::none, heap_slabs());
  Adjacency second(Column::none, heap_slabs());
  first.track_changes();
  second.track_changes();
  EXPECT_TRUE(first.changes_since(first.mark()).has_value());
  EXPECT_FALSE(second.changes_since(first.mark()).has_value());
  EXPECT_FALSE(first.changes_since({}).has_value());
}

}  // namespace
}  // namespace deltamatch::graph

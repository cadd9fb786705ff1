// Compaction. When a third of the store is free blocks, the lists move to a fresh arena before the next batch is staged. Only
// places and versions change, and memory shrinks. Without memory for the move, the waste stays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "graph/adjacency.hpp"

namespace deltamatch::graph {
namespace {

constexpr VertexId vertices = 1000;
constexpr std::uint32_t entries = 1800;  // of a vertex

/// Counts the slabs in use, and refuses on demand.
class Slabs final : public SlabAllocator {
 public:
  void* allocate(std::size_t bytes) override {
    ++asked;
    if (refuses && tells) throw SlabShortage("slabs", "are few");
    if (refuses) throw std::bad_alloc();
    live += bytes;
    return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  }
  void release(void* slab, std::size_t bytes) noexcept override {
    live -= bytes;
    std::free(slab);
  }

  bool refuses = false;
  bool tells = false;
  std::size_t live = 0;
  int asked = 0;
};

/// Most entries belong to one relation, some to two others.
HalfEdge entry(Column column, VertexId vertex, std::uint32_t i) {
  const RelationId relation = i + 10 >= entries ? 2 : i + 30 >= entries ? 1 : 0;
  const std::uint32_t tag = column == Column::tag ? vertex % 5 : 0;
  return {vertex, relation, 3 * i + vertex, tag, column == Column::time ? std::uint64_t{i} << 40 | vertex : tag};
}

bool stays(VertexId vertex) { return vertex % 3 == 0; }

class CompactionTest : public testing::TestWithParam<Column> {
 protected:
  CompactionTest() : store_(GetParam(), slabs_) {
    store_.reserve_vertices(vertices + 1);  // the last one has no block
    std::vector<HalfEdge> all;
    for (VertexId v = 0; v < vertices; ++v) {
      for (std::uint32_t i = 0; i < entries; ++i) all.push_back(entry(GetParam(), v, i));
    }
    store_.stage(all, {});
    store_.settle(workers_);
  }

  void stage_removal() {
    std::vector<HalfEdge> gone;
    for (VertexId v = 0; v < vertices; ++v) {
      for (std::uint32_t i = 0; i < entries && !stays(v); ++i) gone.push_back(entry(GetParam(), v, i));
    }
    store_.stage({}, gone);
  }

  /// Checks that everything is as the first batch and the removal left it. `extra` is the number of later entries of vertex 0.
  void check(std::uint32_t extra = 0) const {
    std::uint64_t total = 0;
    for (VertexId v = 0; v < vertices; ++v) {
      std::vector<HalfEdge> read;
      store_.for_each_list(v, [&](RelationId relation, std::span<const std::uint32_t> ids, const std::uint32_t* payload) {
        for (std::size_t i = 0; i < ids.size(); ++i) {
          HalfEdge half{v, relation, ids[i], 0, 0};
          if (GetParam() == Column::tag) half.payload = half.tag = payload[i];
          if (GetParam() == Column::time) std::memcpy(&half.payload, payload + 2 * i, sizeof half.payload);
          read.push_back(half);
        }
      });
      std::vector<HalfEdge> wanted;
      for (std::uint32_t i = 0; stays(v) && i < entries + (v == 0 ? extra : 0); ++i) wanted.push_back(entry(GetParam(), v, i));
      ASSERT_EQ(read, wanted) << "vertex " << v;
      ASSERT_EQ(store_.degree(v), wanted.size());
      total += wanted.size();
    }
    std::uint64_t told = 0;
    for (const RelationFigures& figures : store_.figures()) told += figures.entries;
    ASSERT_EQ(told, total);
  }

  /// A third is free now, so this moves all lists.
  void stage_nothing() {
    store_.stage({}, {});
    store_.settle(workers_);
  }

  void expect_waste_stays();

  [[nodiscard]] const std::uint32_t* place(VertexId vertex) const { return store_.ids(vertex, 0).data(); }
  [[nodiscard]] std::vector<std::uint32_t> versions() const {
    std::vector<std::uint32_t> all;
    for (VertexId v = 0; v <= vertices; ++v) all.push_back(store_.version(v));
    return all;
  }

  Slabs slabs_;
  Adjacency store_;
  Workers workers_{1};
};

TEST_P(CompactionTest, MovesTheListsAndShrinks) {
  const auto before = versions();
  std::vector<const std::uint32_t*> places;
  for (VertexId v = 0; v < vertices; ++v) places.push_back(place(v));
  stage_removal();
  const std::size_t bytes = store_.bytes();
  const std::size_t live = slabs_.live;
  store_.settle(workers_);
  stage_nothing();
  ASSERT_NO_FATAL_FAILURE(check());
  EXPECT_LT(2 * slabs_.live, live) << "old slabs are not released";
  EXPECT_EQ(bytes - store_.bytes(), live - slabs_.live) << "what is told is not what is held";
  for (VertexId v = 0; v < vertices; ++v) {
    EXPECT_GT(store_.version(v), before[v]) << "vertex " << v << " moved or was emptied";
    if (stays(v)) {
      EXPECT_NE(place(v), places[v]) << "vertex " << v << " was not touched by the batch, and moves all the same";
    }
  }
  EXPECT_EQ(store_.version(vertices), before[vertices]) << "a vertex without a block";
}

TEST_P(CompactionTest, SettlingNeedsNoMemoryAndMovesNothingElse) {
  const std::uint32_t* const at = place(0);
  stage_removal();
  const int asked = slabs_.asked;
  store_.settle(workers_);
  ASSERT_NO_FATAL_FAILURE(check());
  EXPECT_EQ(slabs_.asked, asked);
  EXPECT_EQ(place(0), at);
}

TEST_P(CompactionTest, TheStoreGoesOnAfterwards) {
  stage_removal();
  store_.settle(workers_);
  stage_nothing();
  const auto before = versions();
  std::vector<HalfEdge> more;
  constexpr std::uint32_t extra = 900;  // beyond the block's room, so it moves within the new arena
  for (std::uint32_t i = entries; i < entries + extra; ++i) more.push_back(entry(GetParam(), 0, i));
  store_.stage(more, {});
  EXPECT_EQ(store_.degree_after(0), entries + extra);
  store_.unstage();
  ASSERT_NO_FATAL_FAILURE(check());
  store_.stage(more, {});
  store_.settle(workers_);
  ASSERT_NO_FATAL_FAILURE(check(extra));
  EXPECT_GT(store_.version(0), before[0]);
  EXPECT_EQ(store_.version(3), before[3]) << "little is free now: nothing else moves";
}

TEST_P(CompactionTest, UnstagingDoesNotCompact) {
  const auto before = versions();
  const std::uint32_t* const at = place(0);
  stage_removal();
  store_.unstage();
  EXPECT_EQ(versions(), before);
  EXPECT_EQ(place(0), at);
}

void CompactionTest::expect_waste_stays() {
  const std::size_t live = slabs_.live;
  const std::uint32_t* const at = place(0);
  const auto before = versions();
  stage_removal();
  store_.settle(workers_);
  slabs_.refuses = true;
  stage_nothing();
  ASSERT_NO_FATAL_FAILURE(check());
  EXPECT_EQ(place(0), at);
  EXPECT_EQ(store_.version(0), before[0]);
  EXPECT_EQ(slabs_.live, live);
  // The next batch makes up for it.
  slabs_.refuses = false;
  const std::vector<HalfEdge> more = {entry(GetParam(), 0, entries)};
  store_.stage(more, {});
  store_.settle(workers_);
  ASSERT_NO_FATAL_FAILURE(check(1));
  EXPECT_GT(store_.version(3), before[3]);
  EXPECT_LT(2 * slabs_.live, live);
}

TEST_P(CompactionTest, WithoutMemoryToMoveToTheWasteStays) { expect_waste_stays(); }

TEST_P(CompactionTest, TheWasteStaysWhereTheAllocatorTellsWhy) {
  slabs_.tells = true;
  expect_waste_stays();
}

INSTANTIATE_TEST_SUITE_P(Columns, CompactionTest, testing::Values(Column::none, Column::tag, Column::time),
                         [](const auto& tested) {
                           return tested.param == Column::none ? "none" : tested.param == Column::tag ? "tag" : "time";
                         });

}  // namespace
}  // namespace deltamatch::graph

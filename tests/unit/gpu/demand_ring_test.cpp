// The ring that kernels fill, on a device whose memory is the host's. The test copies blocks as a kernel does. The mirror must
// take back the places of those that a batch changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "gpu/mirror/device_graph.hpp"
#include "host_ops.hpp"
#include "random_graph.hpp"

namespace deltamatch::gpu {
namespace {

constexpr std::size_t cache_bytes = std::size_t{1} << 20;

class DemandRingTest : public testing::Test {
 protected:
  void make_mirror(double share) {
    auto ops = std::make_unique<HostOps>(figures_);
    ops_ = ops.get();
    mirror_ = std::make_unique<DeviceGraph>(
        std::move(ops),
        DeviceGraphOptions{
            .storage = Storage::cached, .cache_bytes = cache_bytes, .chunk_bytes = cache_bytes, .ring_share = share},
        workers_);
  }
  void begin() {
    mirror_->begin(graph_.graph(), graph_.graph().resolved());
    ops_->drain();
  }
  std::uint64_t bytes_to_begin() {
    const std::uint64_t before = mirror_->statistics().copied_bytes;
    begin();
    return mirror_->statistics().copied_bytes - before;
  }
  [[nodiscard]] const DemandRing& ring() const { return mirror_->view().ring; }
  [[nodiscard]] const Row& row(std::uint32_t vertex) const { return mirror_->view().stores[0].rows[vertex]; }
  [[nodiscard]] std::uint32_t vertices() const { return mirror_->view().stores[0].vertices; }
  [[nodiscard]] static std::size_t words_of(const Row& row) { return (std::size_t{2} << (row.shape >> 2 & 31)) + row.capacity; }

  // Copies the blocks of vertices in host memory into the first segment, as far as they fit.
  void fill() {
    DemandState& state = *ring().state;
    for (std::uint32_t vertex = 0; vertex < vertices(); ++vertex) {
      if ((row(vertex).shape & Row::cached_bit) != 0 || row(vertex).block == nullptr) continue;
      if (ring().places[vertex] != DemandRing::absent) continue;
      const std::size_t words = words_of(row(vertex));
      const auto granules = static_cast<std::uint32_t>((words + DemandRing::granule_words - 1) / DemandRing::granule_words);
      const auto taken = static_cast<std::uint32_t>(state.cursor);
      if (granules > ring().most_granules || taken + granules > ring().segment_granules) continue;
      state.cursor += granules;
      std::memcpy(ring().words + std::size_t{taken} * DemandRing::granule_words, row(vertex).block,
                  words * sizeof(std::uint32_t));
      ring().places[vertex] = DemandRing::first_place + taken;
    }
  }
  [[nodiscard]] std::size_t filled() const {
    return vertices() - static_cast<std::size_t>(std::count(ring().places, ring().places + vertices(), DemandRing::absent));
  }
  // Every place leads to the lists that the graph has.
  void expect_fresh(int round) {
    for (std::uint32_t vertex = 0; vertex < vertices(); ++vertex) {
      const std::uint32_t place = ring().places[vertex];
      if (place == DemandRing::absent || (row(vertex).shape & Row::cached_bit) != 0) continue;
      ASSERT_NE(row(vertex).block, nullptr) << "round " << round << ", vertex " << vertex;
      const std::uint32_t* copy = ring().words + std::size_t{place - DemandRing::first_place} * DemandRing::granule_words;
      const std::uint32_t slices = row(vertex).shape >> 7;
      const std::size_t directory = std::size_t{2} << (row(vertex).shape >> 2 & 31);
      ASSERT_TRUE(std::equal(copy, copy + 2 * slices, row(vertex).block)) << "round " << round << ", vertex " << vertex;
      const std::uint32_t entries = copy[2 * slices - 1];
      ASSERT_TRUE(std::equal(copy + directory, copy + directory + entries, row(vertex).block + directory))
          << "round " << round << ", vertex " << vertex;
    }
  }

  RandomGraph graph_{false, false, 12};
  Workers workers_{2};
  HostOps::Figures figures_;
  HostOps* ops_ = nullptr;
  std::unique_ptr<DeviceGraph> mirror_;
};

TEST_F(DemandRingTest, HoldsNoListThatHasChanged) {
  make_mirror(0.5);
  graph_.grow(500);
  graph_.stage(3000, 100);
  graph_.settle();
  std::size_t lasting = 0;
  for (int round = 0; round < 120; ++round) {
    const std::uint32_t kind = graph_.below(12);
    if (kind == 0) graph_.grow(1 + graph_.below(30));
    if (kind == 1) graph_.toggle_query_relation();
    if (kind == 2) {  // a batch that is not matched
      graph_.stage(graph_.below(50), 50);
      graph_.settle();
    }
    graph_.stage(1 + graph_.below(20), 50);
    if (kind == 3) mirror_->forget();
    begin();
    ASSERT_NE(ring().words, nullptr);
    ASSERT_NO_FATAL_FAILURE(expect_fresh(round));
    ASSERT_TRUE(kind != 3 || filled() == 0) << "round " << round;
    lasting += filled();
    if (graph_.below(2) == 0) mirror_->select(graph_.hot(10));
    ops_->drain();
    ASSERT_NO_FATAL_FAILURE(expect_fresh(round));
    fill();
    graph_.below(5) == 0 ? graph_.unstage() : graph_.settle();
  }
  EXPECT_GT(lasting, 120U * 100) << "most lists stay from batch to batch";
}

TEST_F(DemandRingTest, TakesItsShareOfTheCache) {
  graph_.stage(100, 100);
  make_mirror(0.25);
  begin();
  EXPECT_EQ(ring().bytes, cache_bytes / 4);
  EXPECT_EQ(mirror_->statistics().cache_bytes, cache_bytes);
  EXPECT_LE(mirror_->cache_bytes(), cache_bytes * 3 / 4);
  ASSERT_GE(ring().segments, 2U);
  EXPECT_EQ(ring().state->cursor >> 32, ring().segments);
  EXPECT_TRUE(std::all_of(ring().announced, ring().announced + DemandRing::most_warps,
                          [](std::uint32_t epoch) { return epoch == DemandRing::idle; }));
  // A mirror that has to give memory up makes its ring smaller, too.
  ASSERT_TRUE(mirror_->shrink());
  begin();
  EXPECT_EQ(ring().bytes, cache_bytes / 8);
  make_mirror(0);
  begin();
  EXPECT_EQ(ring().words, nullptr);
  EXPECT_GT(mirror_->cache_bytes(), cache_bytes * 7 / 8);
}

// Kernels get another share of the cache. Nothing of what was there is found any more, and rows lead where lists are.
TEST_F(DemandRingTest, IsDividedAnew) {
  make_mirror(0.5);
  graph_.grow(500);
  graph_.stage(3000, 100);
  graph_.settle();
  graph_.stage(10, 50);
  for (const double share : {0.25, 0.0, 0.875, 0.5}) {
    begin();
    mirror_->select(graph_.hot(10));
    const std::uint64_t sent = bytes_to_begin();
    if (ring().words != nullptr) fill();
    ASSERT_GT(mirror_->statistics().cached_vertices, 0U);
    EXPECT_TRUE(mirror_->divide(share));
    EXPECT_FALSE(mirror_->divide(share)) << "it is that already";
    EXPECT_LT(bytes_to_begin(), sent + vertices() * sizeof(Row) / 2) << "few rows change";
    EXPECT_EQ(mirror_->statistics().cached_vertices, 0U);
    EXPECT_EQ(mirror_->statistics().cache_bytes, cache_bytes);
    for (std::uint32_t vertex = 0; vertex < vertices(); ++vertex) ASSERT_EQ(row(vertex).shape & Row::cached_bit, 0U) << vertex;
    if (share == 0) {
      EXPECT_EQ(ring().words, nullptr);
      continue;
    }
    EXPECT_NEAR(static_cast<double>(ring().bytes), share * cache_bytes, cache_bytes / 64.0);
    EXPECT_EQ(filled(), 0U);
    EXPECT_EQ(ring().state->cursor >> 32, ring().segments);
    EXPECT_TRUE(std::all_of(ring().announced, ring().announced + DemandRing::most_warps,
                            [](std::uint32_t epoch) { return epoch == DemandRing::idle; }));
  }
}

}  // namespace
}  // namespace deltamatch::gpu

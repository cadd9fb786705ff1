// The mirror on a device whose memory is the host's. After every batch its lists equal the graph's, under every policy.
#include "gpu/mirror/device_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <vector>

#include "deltamatch/query.hpp"
#include "dump.hpp"
#include "estimate/selection.hpp"
#include "estimate/selector.hpp"
#include "filter/filtering.hpp"
#include "gpu/cuda/check.hpp"
#include "host_ops.hpp"
#include "random_graph.hpp"
#include "unit/estimate/support.hpp"

namespace deltamatch::gpu {
namespace {

struct Setting {
  Storage storage;
  std::size_t cache_bytes;
  bool directed;
  bool timed;
};

class DeviceGraphTest : public testing::TestWithParam<Setting> {
 protected:
  DeviceGraphTest() : graph_(GetParam().directed, GetParam().timed, 11) {}
  void make_mirror(std::size_t chunk_bytes = std::size_t{1} << 20) {
    auto ops = std::make_unique<HostOps>(figures_);
    ops_ = ops.get();
    mirror_ = std::make_unique<DeviceGraph>(
        std::move(ops), DeviceGraphOptions{GetParam().storage, GetParam().cache_bytes, chunk_bytes}, workers_);
  }
  void begin() { mirror_->begin(graph_.graph(), graph_.graph().resolved()); }
  void expect_equal(const std::string& when) {
    ops_->drain();
    const auto expected = graph_.lists();
    const auto found = dump_on_host(mirror_->view(), graph_.graph().resolved().size());
    ASSERT_EQ(found.size(), expected.size()) << when;
    const std::size_t vertices = graph_.graph().base().vertices();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(found[i], expected[i]) << when << ": query relation " << i / vertices << ", vertex " << i % vertices;
    }
    if (GetParam().storage != Storage::resident) return;
    for (const Store& store : mirror_->view().stores) {
      for (std::uint32_t vertex = 0; vertex < store.vertices; ++vertex) {
        ASSERT_TRUE((store.rows[vertex].shape & Row::cached_bit) != 0) << when;
      }
    }
  }

  RandomGraph graph_;
  Workers workers_{2};
  HostOps::Figures figures_;
  HostOps* ops_ = nullptr;
  std::unique_ptr<DeviceGraph> mirror_;
};

TEST_P(DeviceGraphTest, EqualsTheGraphAfterEveryBatch) {
  make_mirror();
  graph_.stage(600, 100);
  graph_.settle();
  for (int round = 0; round < 250; ++round) {
    const std::string when = "round " + std::to_string(round);
    const std::uint32_t kind = graph_.below(20);
    if (kind == 0) graph_.toggle_query_relation();
    if (kind == 1) graph_.grow(1 + graph_.below(30));
    if (kind == 2) {  // a batch that is not matched
      graph_.stage(graph_.below(50), 50);
      graph_.settle();
    }
    graph_.stage(kind == 3 ? 0 : kind == 4 ? 2000 : 1 + graph_.below(60), kind == 4 ? 30 : 55);
    if (kind == 6) mirror_->forget();
    ASSERT_NO_FATAL_FAILURE((begin(), expect_equal(when)));
    const bool emptied = kind != 6 || GetParam().storage != Storage::cached || mirror_->statistics().cached_vertices == 0;
    ASSERT_TRUE(emptied) << when;
    if (graph_.below(4) != 0) {
      mirror_->select(graph_.hot(30));
      ASSERT_NO_FATAL_FAILURE(expect_equal(when + ", selected"));
    }
    if (graph_.below(5) == 0) {
      graph_.unstage();
    } else {
      graph_.settle();
    }
    if (kind == 5) {
      begin();
      ASSERT_NO_FATAL_FAILURE(expect_equal(when + ", settled"));
    }
  }
  const DeviceGraphStatistics figures = mirror_->statistics();
  EXPECT_GT(figures.copied_bytes, figures.packed_bytes);
  if (GetParam().storage == Storage::host) {
    EXPECT_EQ(figures.packed_bytes, 0U);
    EXPECT_EQ(figures_.merges, 0U);
  } else if (GetParam().cache_bytes != 1) {
    EXPECT_GT(figures_.merges, 50U);
    EXPECT_GT(figures.merged, 500U);
    EXPECT_GT(figures.moved, 100U);
    EXPECT_GT(figures.cached_lists, 0U);
    EXPECT_GE(figures.cached_lists, figures.cached_vertices / 2);
  }
}

// A lent store comes and goes. Its vertices are numbered as in the graph, or not.
TEST_P(DeviceGraphTest, ShowsListsThatAreLent) {
  make_mirror();
  graph_.stage(900, 100);
  graph_.settle();
  for (int round = 0; round < 8; ++round) {
    const std::string when = "round " + std::to_string(round);
    graph_.stage(20, 50);
    begin();
    graph_.settle();
    if (round % 4 == 3) graph_.grow(40);
    const char* pattern = round % 2 == 0 ? "(a:X)-[:A|B]-(b:Y)--(c)--(a)" : "(a)-[:A]-(b)-[:B]-(c:X)";
    {
      filter::Filtering filtering;
      plan::BoundQuery query(parse_pattern(pattern, "q"), MatchMode::isomorphism, CountMode::subgraphs, graph_.graph());
      graph_.graph().resolve_all();
      const std::atomic<bool> stop = false;
      filtering.run(query, graph_.graph(), Filter::refine,
                    round % 3 == 0 ? filter::Numbering::by_degree : filter::Numbering::of_graph, workers_, stop);
      ASSERT_GT(filtering.take_report().entries, 100) << when;
      ASSERT_NO_FATAL_FAILURE((begin(), expect_equal(when + ", lent")));
      std::vector<HotVertex> hot = graph_.hot(20);
      for (VertexId vertex = 0; vertex < graph_.graph().lent()->vertices(); vertex += 2) hot.push_back({vertex, 2});
      mirror_->select(hot);
      ASSERT_NO_FATAL_FAILURE(expect_equal(when + ", selected"));
      const std::uint64_t sent = mirror_->statistics().packed_bytes;
      begin();
      ASSERT_NO_FATAL_FAILURE(expect_equal(when + ", again"));
      ASSERT_EQ(mirror_->statistics().packed_bytes, sent) << when << ": nothing has changed";
    }
    ASSERT_NO_FATAL_FAILURE((begin(), expect_equal(when + ", taken back")));
  }
}

TEST_P(DeviceGraphTest, SmallChunksCarryTheSame) {
  make_mirror(1);  // the smallest chunk
  graph_.grow(100000);
  graph_.stage(150000, 100);
  graph_.settle();
  for (int round = 0; round < 2; ++round) {
    graph_.stage(30000, 50);
    begin();
    mirror_->select(graph_.hot(80));
    ASSERT_NO_FATAL_FAILURE(expect_equal("round " + std::to_string(round)));
    graph_.settle();
  }
}

TEST_P(DeviceGraphTest, StartsOverAfterAFailure) {
  make_mirror();
  graph_.stage(600, 100);
  graph_.settle();
  begin();
  mirror_->select(graph_.hot(50));
  ASSERT_NO_FATAL_FAILURE(expect_equal("before"));
  graph_.grow(5000);
  graph_.stage(3000, 100);
  graph_.settle();
  figures_.limit = figures_.used;
  const std::size_t before = mirror_->statistics().cache_bytes;
  EXPECT_FALSE(mirror_->statistics().reduced);
  if (GetParam().storage == Storage::cached && before > 0) {
    begin();  // the cache makes room
    EXPECT_LT(mirror_->statistics().cache_bytes, before);
    EXPECT_TRUE(mirror_->statistics().reduced);
    ASSERT_NO_FATAL_FAILURE(expect_equal("shrunk"));
  } else {
    EXPECT_THROW(begin(), DeviceOutOfMemory);
  }
  figures_.limit = std::size_t{1} << 30;
  begin();
  mirror_->select(graph_.hot(50));
  ASSERT_NO_FATAL_FAILURE(expect_equal("after"));
}

constexpr std::size_t mib = std::size_t{1} << 20;
INSTANTIATE_TEST_SUITE_P(Policies, DeviceGraphTest,
                         testing::Values(Setting{Storage::host, 0, true, false}, Setting{Storage::host, 0, false, true},
                                         Setting{Storage::cached, 1, true, false},  // too small for a cache
                                         Setting{Storage::cached, mib, true, true}, Setting{Storage::cached, mib, false, false},
                                         Setting{Storage::cached, 16 * mib, true, false},
                                         Setting{Storage::resident, 0, true, false}, Setting{Storage::resident, 0, false, true},
                                         Setting{Storage::resident, 64 * mib, true, true}));

TEST(DeviceGraph, SendsOnlyWhatIsNew) {
  RandomGraph graph(true, false, 3);
  graph.grow(20000);
  graph.stage(40000, 100);
  graph.settle();
  HostOps::Figures figures;
  Workers workers(1);
  DeviceGraph mirror(std::make_unique<HostOps>(figures), {Storage::cached, std::size_t{16} << 20, std::size_t{1} << 20},
                     workers);
  const auto begin = [&] { mirror.begin(graph.graph(), graph.graph().resolved()); };
  begin();
  const std::vector<HotVertex> hot = graph.hot(40);
  mirror.select(hot);
  const DeviceGraphStatistics first = mirror.statistics();
  EXPECT_EQ(first.moved, hot.size());
  EXPECT_EQ(first.kept, 0U);
  std::size_t bytes = 0;
  for (const HotVertex vertex : hot) bytes += mirror.packed_bytes(vertex);
  EXPECT_EQ(first.cached_bytes, bytes);

  graph.stage(100, 50);
  begin();
  mirror.select(hot);
  graph.settle();
  begin();
  mirror.select(hot);
  const DeviceGraphStatistics second = mirror.statistics();
  EXPECT_EQ(second.moved, first.moved) << "the batch on the device suffices";
  EXPECT_EQ(second.kept, 2 * hot.size());
  EXPECT_GT(second.merged, 0U);
  EXPECT_EQ(second.packed_bytes, first.packed_bytes);
  EXPECT_LT(second.copied_bytes - first.copied_bytes, std::size_t{100000});
}

TEST(DeviceGraph, HoldsWhatKernelsFindInDeviceMemory) {
  RandomGraph graph(true, false, 3);
  graph.grow(3000);
  graph.stage(20000, 100);
  graph.settle();
  Workers workers(1);
  for (const Storage storage : {Storage::host, Storage::cached, Storage::resident}) {
    HostOps::Figures figures;
    auto ops = std::make_unique<HostOps>(figures);
    HostOps& device = *ops;
    DeviceGraph mirror(std::move(ops), {storage, std::size_t{1} << 20, std::size_t{1} << 20}, workers);
    for (int batch = 0; batch < 5; ++batch) {
      graph.stage(500, 50);
      mirror.begin(graph.graph(), graph.graph().resolved());
      mirror.select(graph.hot(30));
      device.drain();
      const Store& store = mirror.view().stores[0];
      std::size_t held = 0;
      for (std::uint32_t vertex = 0; vertex < store.vertices; ++vertex) {
        if (store.rows[vertex].block == nullptr) continue;
        ASSERT_EQ(mirror.holds({vertex, 0}), (store.rows[vertex].shape & Row::cached_bit) != 0) << vertex;
        held += mirror.holds({vertex, 0}) ? 1 : 0;
      }
      EXPECT_EQ(held == 0, storage == Storage::host);
      graph.settle();
    }
  }
}

TEST(DeviceGraph, TheCacheTakesWhatThereIsLessTheReserve) {
  RandomGraph graph(true, false, 3);
  graph.stage(600, 100);
  graph.settle();
  Workers workers(1);
  constexpr std::size_t device = std::size_t{64} << 20;
  const auto cache = [&](std::size_t wanted, std::size_t reserve) {
    HostOps::Figures figures{.limit = device};
    DeviceGraph mirror(std::make_unique<HostOps>(figures), {Storage::cached, wanted, std::size_t{1} << 20, reserve}, workers);
    mirror.begin(graph.graph(), graph.graph().resolved());
    return mirror.statistics();
  };
  const DeviceGraphStatistics all = cache(0, std::size_t{8} << 20);
  EXPECT_FALSE(all.reduced) << "nobody asked for more";
  EXPECT_GT(all.cache_bytes, device - (std::size_t{12} << 20));
  EXPECT_LE(all.cache_bytes, device - (std::size_t{8} << 20));
  const DeviceGraphStatistics much = cache(std::size_t{60} << 20, std::size_t{8} << 20);
  EXPECT_TRUE(much.reduced);
  EXPECT_EQ(much.cache_bytes, all.cache_bytes);
  const DeviceGraphStatistics little = cache(std::size_t{16} << 20, std::size_t{8} << 20);
  EXPECT_FALSE(little.reduced);
  EXPECT_EQ(little.cache_bytes, std::size_t{16} << 20);
  EXPECT_GT(cache(0, device).cache_bytes, std::size_t{28} << 20) << "at least half of what is free";
}

// Lists of hundreds of entries grow by a few. Without spare room, nearly all would move.
TEST(DeviceGraph, ListsOfAResidentGraphKeepTheirPlaces) {
  RandomGraph graph(false, false, 3);
  graph.grow(60000);  // the graph remembers all of its changes
  graph.skew(3);
  graph.stage(400000, 100);
  graph.settle();
  HostOps::Figures figures;
  auto ops = std::make_unique<HostOps>(figures);
  HostOps& device = *ops;
  Workers workers(2);
  DeviceGraph mirror(std::move(ops), {Storage::resident, 0, std::size_t{1} << 20}, workers);
  const auto rows = [&] {
    mirror.begin(graph.graph(), graph.graph().resolved());
    device.drain();
    const Store& store = mirror.view().stores[0];
    return std::vector<Row>(store.rows, store.rows + store.vertices);
  };
  const std::vector<Row> before = rows();
  const std::uint64_t moved = mirror.statistics().moved;
  for (int batch = 0; batch < 20; ++batch) {
    graph.stage(400, 100);
    (void)rows();
    graph.settle();
  }
  const std::vector<Row> after = rows();
  EXPECT_TRUE(dump_on_host(mirror.view(), graph.graph().resolved().size()) == graph.lists());
  std::size_t grown = 0;
  std::size_t kept = 0;
  for (std::size_t vertex = 0; vertex < before.size(); ++vertex) {
    if (before[vertex].capacity < 150 || after[vertex].capacity < before[vertex].capacity + 4) continue;
    ++grown;
    kept += after[vertex].block == before[vertex].block ? 1 : 0;
  }
  EXPECT_GT(grown, 8U);
  EXPECT_GT(3 * kept, grown) << kept << " of " << grown;
  EXPECT_EQ(mirror.statistics().moved, moved) << "none is sent again";
}

// If there is no memory to merge in, changed lists are sent again, and nothing fails.
TEST(DeviceGraph, WithoutRoomToMergeListsAreSentAgain) {
  for (const Storage storage : {Storage::cached, Storage::resident}) {
    RandomGraph graph(false, false, 3);
    graph.grow(2000);
    graph.stage(30000, 100);
    graph.settle();
    HostOps::Figures figures;
    auto ops = std::make_unique<HostOps>(figures);
    HostOps& device = *ops;
    Workers workers(2);
    DeviceGraph mirror(std::move(ops), {storage, storage == Storage::cached ? std::size_t{4} << 20 : 0, std::size_t{1} << 20},
                       workers);
    const auto begin = [&] { mirror.begin(graph.graph(), graph.graph().resolved()); };
    begin();
    mirror.select(graph.hot(60));
    graph.stage(300, 50);
    begin();
    graph.settle();
    const DeviceGraphStatistics before = mirror.statistics();
    figures.limit = figures.used;
    for (int batch = 0; batch < 4; ++batch) {
      graph.stage(300, 50);
      ASSERT_NO_THROW(begin());
      device.drain();
      ASSERT_TRUE(dump_on_host(mirror.view(), graph.graph().resolved().size()) == graph.lists()) << batch;
      graph.settle();
    }
    EXPECT_EQ(figures.merges, 0U);
    EXPECT_LT(mirror.statistics().merged, before.merged + 10) << "those that are empty now";
    EXPECT_GT(mirror.statistics().moved, before.moved);
    EXPECT_EQ(mirror.statistics().cache_bytes, before.cache_bytes) << "no cache has given way";
    figures.limit = std::size_t{1} << 30;
    begin();
    device.drain();
    EXPECT_GT(figures.merges, 0U);
    EXPECT_TRUE(dump_on_host(mirror.view(), graph.graph().resolved().size()) == graph.lists());
  }
}

// A hub's list is longer than a chunk and grows with every batch. The memory to merge it in has room for that.
TEST(DeviceGraph, MemoryToMergeInIsTakenSeldom) {
  constexpr VertexId spokes = 300000;  // more than a MiB holds
  graph::DataGraph graph(false, false, graph::heap_slabs());
  graph.track_changes();
  const LabelId label = graph.edge_labels.intern("A");
  for (VertexId vertex = 0; vertex <= spokes + 1000; ++vertex) graph.dictionary.create(std::int64_t{vertex}, empty_label);
  graph.add_query_relation({graph::Direction::both, {label}, {}});
  HostOps::Figures figures;
  Workers workers(2);
  DeviceGraph mirror(std::make_unique<HostOps>(figures), {Storage::resident, 0, std::size_t{1} << 20}, workers);
  std::set<std::size_t> sizes;
  VertexId next = 1;
  const auto add = [&](VertexId count) {
    graph::NetBatch batch;
    for (VertexId i = 0; i < count; ++i) batch.inserted.push_back(graph.ranked(0, next++, label));
    std::ranges::sort(batch.inserted);
    graph.stage(batch);
    mirror.begin(graph, graph.resolved());
    graph.settle(workers);
  };
  add(spokes);
  for (int batch = 0; batch < 8; ++batch) {
    add(100);
    if (batch > 0) sizes.insert(figures.used);
  }
  EXPECT_GT(figures.merges, 6U);
  EXPECT_EQ(sizes.size(), 1U);
}

TEST(DeviceGraph, AResidentGraphTakesNoMoreAfterAFailure) {
  RandomGraph graph(false, false, 3);
  graph.skew(3);
  graph.grow(5000);
  graph.stage(30000, 100);
  graph.settle();
  HostOps::Figures figures;
  Workers workers(1);
  const DeviceGraphOptions options{Storage::resident, 0, std::size_t{1} << 20};
  DeviceGraph mirror(std::make_unique<HostOps>(figures), options, workers);
  mirror.begin(graph.graph(), graph.graph().resolved());
  graph.grow(200000);
  graph.stage(1000, 100);
  graph.settle();
  figures.limit = figures.used;
  EXPECT_THROW(mirror.begin(graph.graph(), graph.graph().resolved()), DeviceOutOfMemory);
  EXPECT_EQ(mirror.statistics().cached_vertices, 0U) << "nothing can be relied on";
  figures.limit = std::size_t{1} << 30;
  mirror.begin(graph.graph(), graph.graph().resolved());
  HostOps::Figures others;
  DeviceGraph other(std::make_unique<HostOps>(others), options, workers);
  other.begin(graph.graph(), graph.graph().resolved());
  EXPECT_GT(mirror.statistics().cached_vertices, 5000U);
  EXPECT_EQ(mirror.statistics().cached_bytes, other.statistics().cached_bytes);
}

TEST(DeviceGraph, AResidentGraphThatOutgrowsItsMemorySaysSo) {
  RandomGraph graph(true, false, 3);
  graph.grow(5000);
  graph.stage(20000, 100);
  graph.settle();
  EXPECT_TRUE(fits(graph.graph(), std::size_t{1} << 30, 0));
  EXPECT_FALSE(fits(graph.graph(), std::size_t{1} << 30, 1000));
  EXPECT_FALSE(fits(graph.graph(), 1000, 0));
  HostOps::Figures figures;
  Workers workers(1);
  DeviceGraph mirror(std::make_unique<HostOps>(figures), {Storage::resident, std::size_t{1} << 20, std::size_t{1} << 20},
                     workers);
  mirror.begin(graph.graph(), graph.graph().resolved());
  EXPECT_LE(mirror.statistics().cached_bytes, resident_bytes(graph.graph()));
  EXPECT_FALSE(mirror.statistics().reduced);
  graph.stage(300000, 100);
  graph.settle();
  EXPECT_THROW(mirror.begin(graph.graph(), graph.graph().resolved()), DeviceOutOfMemory);
}

// The lists that walks through static plans find hot lie on the device.
TEST(DeviceGraphOfAWholeGraph, HoldsTheListsThatTheEstimateSelects) {
  for (const CountFrom from : {CountFrom::vertices, CountFrom::edges}) {
    estimate::World world({.vertices = 3000, .edges = 9000, .inserted = 0, .removed = 0, .skew = 2.5}, 61);
    world.add(parse_pattern("(a)--(b)--(c)--(d)--(a)--(e)--(b)", "house"));
    world.take_whole(from);
    const std::vector<graph::Resolved> resolved = world.graph.resolved();
    Workers workers(2);
    HostOps::Figures figures;
    DeviceGraph mirror(std::make_unique<HostOps>(figures), {Storage::cached, std::size_t{1} << 20}, workers);
    estimate::Estimator estimator(workers);
    estimate::Selector selector(workers);
    mirror.begin(world.graph, resolved);
    const auto stored = [](const estimate::StoredVertex& at) {
      return HotVertex{at.vertex, static_cast<std::uint32_t>(at.store)};
    };
    const auto bytes_of = [&](const estimate::StoredVertex& at) { return mirror.packed_bytes(stored(at)); };
    const std::size_t budget = 20000;
    const auto& estimate = estimator.run(world.graph, world.passes, world.tasks, world.programs);
    const estimate::Selection selection = estimate::select(estimate.lists, bytes_of, budget);
    EXPECT_LE(selection.bytes, budget);
    EXPECT_GT(selection.bytes, budget * 9 / 10);
    std::vector<HotVertex> hot;
    for (const estimate::StoredVertex& at : selection.hot) hot.push_back(stored(at));
    mirror.select(hot);
    for (VertexId v = 0; v < world.graph.base().vertices(); ++v) {
      EXPECT_EQ(mirror.holds({v, 0}), std::binary_search(selection.hot.begin(), selection.hot.end(),
                                                         estimate::StoredVertex{v, graph::StoreKind::base}));
    }
  }
}

// There are four labels. A path touches three of them, each next to one or two of the others.
class DeviceGraphByLabels : public testing::TestWithParam<const char*> {
 protected:
  DeviceGraphByLabels() {
    world_.add(parse_pattern(GetParam(), "path"));
    world_.take_whole(CountFrom::edges);
    resolved_ = world_.graph.resolved();
    reads_ = reads_of(world_.tasks, resolved_);
  }
  // Whether matching may read the vertex's list.
  [[nodiscard]] bool may_read(graph::QueryRelationId query_relation, VertexId vertex) const {
    const plan::BoundQuery& query = *world_.tasks[0].query;
    const LabelId label = world_.graph.dictionary.label(vertex);
    return std::ranges::any_of(query.edges, [&](const plan::BoundEdge& edge) {
      return (edge.query_relation[0] == query_relation && plan::admits(query.labels[edge.source], label)) ||
             (edge.query_relation[1] == query_relation && plan::admits(query.labels[edge.target], label));
    });
  }
  void expect_lists(const GraphView& view) const {
    for (graph::QueryRelationId query_relation = 0; query_relation < resolved_.size(); ++query_relation) {
      const graph::Resolved& where = resolved_[query_relation];
      if (where.store == nullptr) continue;
      for (VertexId v = 0; v < where.store->vertices(); ++v) {
        if (!may_read(query_relation, v)) continue;
        Dumper count{nullptr};
        count.put_list(view, view.query_relations[query_relation], v);
        std::vector<std::uint32_t> words(count.words);
        Dumper write{words.data()};
        write.put_list(view, view.query_relations[query_relation], v);
        const auto ids = where.store->ids(v, where.relation);
        ASSERT_EQ(words[0], ids.size()) << "vertex " << v;
        ASSERT_TRUE(std::equal(ids.begin(), ids.end(), words.begin() + 1)) << "vertex " << v;
      }
    }
  }

  estimate::World world_{
      {.directed = true, .vertices = 4000, .edges = 60000, .inserted = 0, .removed = 0, .vertex_labels = 4, .edge_labels = 2},
      71};
  std::vector<graph::Resolved> resolved_;
  Reads reads_;
  Workers workers_{2};
};

TEST_P(DeviceGraphByLabels, IsResidentWhereOnlyWhatIsReadFits) {
  const std::size_t some = resident_bytes(world_.graph, reads_, workers_);
  const std::size_t all = resident_bytes(world_.graph, all_reads(resolved_), workers_);
  EXPECT_LT(some, all * 3 / 4);
  {
    HostOps::Figures figures;
    DeviceGraph mirror(std::make_unique<HostOps>(figures), {Storage::resident, some}, workers_);
    mirror.begin(world_.graph, resolved_, reads_);
    EXPECT_LE(mirror.statistics().cached_bytes, some);
    EXPECT_THROW(mirror.begin(world_.graph, resolved_), DeviceOutOfMemory);
  }
  HostOps::Figures plenty;
  auto ops = std::make_unique<HostOps>(plenty);
  HostOps& device = *ops;
  DeviceGraph mirror(std::move(ops), {Storage::resident}, workers_);
  mirror.begin(world_.graph, resolved_, reads_);
  device.drain();
  expect_lists(mirror.view());
  const std::size_t cached = mirror.statistics().cached_bytes;
  mirror.begin(world_.graph, resolved_);  // everything is read, so all is packed again
  device.drain();
  expect_lists(mirror.view());
  EXPECT_GT(mirror.statistics().cached_bytes, cached * 5 / 4);
}

TEST_P(DeviceGraphByLabels, CountsWhatIsRead) {
  HostOps::Figures figures;
  auto ops = std::make_unique<HostOps>(figures);
  HostOps& device = *ops;
  DeviceGraph mirror(std::move(ops), {Storage::cached, std::size_t{1} << 22}, workers_);
  const auto all_bytes = [&] {
    std::size_t sum = 0;
    for (VertexId v = 0; v < world_.graph.base().vertices(); ++v)
      sum += mirror.packed_bytes({v, 0}) + mirror.packed_bytes({v, 1});
    return sum;
  };
  mirror.begin(world_.graph, resolved_, reads_);
  const std::size_t some = all_bytes();
  std::vector<HotVertex> hot;
  for (VertexId v = 0; v < world_.graph.base().vertices(); v += 2) {
    hot.push_back({v, 0});
    hot.push_back({v, 1});
  }
  mirror.select(hot);
  device.drain();
  expect_lists(mirror.view());
  mirror.begin(world_.graph, resolved_);
  EXPECT_LT(some, all_bytes() * 3 / 4);
}

INSTANTIATE_TEST_SUITE_P(Queries, DeviceGraphByLabels,
                         testing::Values("(a:V0)-[:E0]->(b:V1)-[:E0]->(c:V2)", "(a:V0)-->(b:V1)--(c:V2)",
                                         "(a:V0)-[:E0]->(b:V1|V2)<-[:E1]-(c:V0), (a)-[:E0]->(d:V3)"));

TEST(Reads, AreOfEveryQueryRelationWhereOthersStandToo) {
  estimate::World world({.vertices = 100, .edges = 400, .vertex_labels = 3}, 72);
  world.add(parse_pattern("(a:V0)--(b:V1)", "one"));
  world.add(parse_pattern("(a:V1)--(b:V2)", "other"));
  world.take_whole(CountFrom::edges);
  const auto resolved = world.graph.resolved();
  EXPECT_TRUE(reads_of(world.tasks, resolved) != all_reads(resolved));
  EXPECT_TRUE(reads_of(std::span(world.tasks).first(1), resolved) == all_reads(resolved));
}

}  // namespace
}  // namespace deltamatch::gpu

// The adjacency store against a model of sets. Whatever is staged, settled and dropped, both contain the same.
#include "graph/adjacency.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

namespace deltamatch::graph {
namespace {

constexpr VertexId vertices = 24;

class Model {
 public:
  Model(Column column, unsigned seed) : column_(column), store_(column, heap_slabs()), random_(seed) {
    store_.reserve_vertices(vertices);
  }

  /// Stages a random batch: a `share` of the possible removals, and at most `inserts` insertions over `relations` relations.
  void stage(unsigned inserts, double share, RelationId relations, VertexId neighbours) {
    added_.clear();
    removed_.clear();
    for (const auto& [key, payload] : entries_) {
      if (std::bernoulli_distribution(share)(random_)) removed_.insert({half(key, payload)});
    }
    for (unsigned i = 0; i < inserts; ++i) {
      const auto tag = column_ == Column::tag ? draw(4) : 0;
      const Key key{draw(vertices), draw(relations), draw(neighbours), tag};
      if (entries_.contains(key)) continue;
      std::uint64_t payload = tag;
      if (column_ == Column::time) payload = std::uint64_t{random_()} << 32 | random_();
      const auto at = added_.lower_bound(half(key, 0));
      const bool present = at != added_.end() && Key{at->vertex, at->relation, at->neighbour, at->tag} == key;
      if (!present) added_.insert(half(key, payload));
    }
    const std::vector<HalfEdge> added(added_.begin(), added_.end());
    const std::vector<HalfEdge> removed(removed_.begin(), removed_.end());
    store_.stage(added, removed);
  }

  void settle() {
    std::vector<std::uint32_t> versions;
    for (VertexId v = 0; v < vertices; ++v) versions.push_back(store_.version(v));
    store_.settle(workers_);
    std::set<VertexId> touched;
    for (const HalfEdge& h : removed_) {
      entries_.erase({h.vertex, h.relation, h.neighbour, h.tag});
      touched.insert(h.vertex);
    }
    for (const HalfEdge& h : added_) {
      entries_[{h.vertex, h.relation, h.neighbour, h.tag}] = h.payload;
      touched.insert(h.vertex);
    }
    for (const VertexId v : touched) EXPECT_GT(store_.version(v), versions[v]);
    drop();
  }
  void unstage() {
    store_.unstage();
    drop();
  }

  /// Compares everything that can be read.
  void check(RelationId relations) const {
    std::map<RelationId, RelationFigures> figures;
    for (VertexId v = 0; v < vertices; ++v) {
      std::size_t degree = 0;
      std::vector<std::tuple<RelationId, std::uint32_t, std::uint64_t>> visited;
      store_.for_each_list(v, [&](RelationId relation, std::span<const std::uint32_t> ids, const std::uint32_t* words) {
        EXPECT_FALSE(ids.empty());
        for (std::size_t i = 0; i < ids.size(); ++i) visited.emplace_back(relation, ids[i], word(words, i));
      });
      std::vector<std::tuple<RelationId, std::uint32_t, std::uint64_t>> wanted;
      for (RelationId r = 0; r < relations; ++r) {
        const auto [ids, tags] = settled(v, r);
        ASSERT_EQ(std::vector(store_.ids(v, r).begin(), store_.ids(v, r).end()), ids);
        check_list(store_.list(v, r), v, r, ids, tags);
        degree += ids.size();
        if (ids.empty()) continue;
        figures[r].entries += ids.size();
        ++figures[r].lists;
        figures[r].squares += static_cast<double>(ids.size()) * static_cast<double>(ids.size());
      }
      for (auto at = entries_.lower_bound({v, 0, 0, 0}); at != entries_.end() && std::get<0>(at->first) == v; ++at) {
        wanted.emplace_back(std::get<1>(at->first), std::get<2>(at->first), at->second);
      }
      ASSERT_EQ(visited, wanted);
      ASSERT_EQ(store_.degree(v), degree);
      ASSERT_EQ(store_.degree_after(v), degree + count(added_, v) - count(removed_, v));
      ASSERT_EQ(store_.payload(v, relations, 0), nullptr);
    }
    for (RelationId r = 0; r < store_.figures().size(); ++r) {
      ASSERT_EQ(store_.figures()[r].entries, figures[r].entries);
      ASSERT_EQ(store_.figures()[r].lists, figures[r].lists);
      ASSERT_DOUBLE_EQ(store_.figures()[r].squares, figures[r].squares);
    }
    for (VertexId v = 0; v < store_.vertices(); ++v) {
      std::uint64_t signature = 0;
      for (RelationId r = 0; r < relations; ++r) {
        const List list = store_.list(v, r);
        if (list.size + list.added_size > 0) signature |= Adjacency::signature_bit(r);
      }
      ASSERT_EQ(store_.signature(v), signature);
    }
    if (column_ != Column::time) return;
    for (const auto& [key, payload] : entries_) {
      const std::uint32_t* words = store_.payload(std::get<0>(key), std::get<1>(key), std::get<2>(key));
      ASSERT_NE(words, nullptr);
      ASSERT_EQ(word(words, 0), payload);
    }
  }

  [[nodiscard]] const Adjacency& store() const { return store_; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  using Key = std::tuple<VertexId, RelationId, VertexId, std::uint32_t>;

  std::uint32_t draw(std::uint32_t below) { return std::uniform_int_distribution<std::uint32_t>(0, below - 1)(random_); }
  static HalfEdge half(const Key& key, std::uint64_t payload) {
    return {std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key), payload};
  }
  static std::size_t count(const std::set<HalfEdge>& halves, VertexId v) {
    return static_cast<std::size_t>(
        std::count_if(halves.begin(), halves.end(), [v](const HalfEdge& h) { return h.vertex == v; }));
  }
  [[nodiscard]] std::uint64_t word(const std::uint32_t* words, std::size_t i) const {
    if (column_ == Column::none) return 0;
    if (column_ == Column::tag) return words[i];
    std::uint64_t value = 0;
    std::memcpy(&value, words + 2 * i, sizeof value);
    return value;
  }
  using Columns = std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>;
  [[nodiscard]] Columns settled(VertexId v, RelationId r) const {
    Columns columns;
    for (auto at = entries_.lower_bound({v, r, 0, 0}); at != entries_.end(); ++at) {
      if (std::get<0>(at->first) != v || std::get<1>(at->first) != r) break;
      columns.first.push_back(std::get<2>(at->first));
      columns.second.push_back(std::get<3>(at->first));
    }
    return columns;
  }
  static Columns part(const std::set<HalfEdge>& halves, VertexId v, RelationId r) {
    Columns columns;
    for (const HalfEdge& h : halves) {
      if (h.vertex != v || h.relation != r) continue;
      columns.first.push_back(h.neighbour);
      columns.second.push_back(h.tag);
    }
    return columns;
  }
  void check_list(const List& list, VertexId v, RelationId r, const std::vector<std::uint32_t>& ids,
                  const std::vector<std::uint32_t>& tags) const {
    const auto equal = [&](const std::uint32_t* got, const std::uint32_t* got_tags, std::uint32_t size, const Columns& wanted) {
      ASSERT_EQ(std::vector(got, got + size), wanted.first);
      if (column_ == Column::tag) {
        ASSERT_EQ(std::vector(got_tags, got_tags + size), wanted.second);
      }
    };
    equal(list.ids, list.tags, list.size, {ids, tags});
    equal(list.added, list.added_tags, list.added_size, part(added_, v, r));
    equal(list.removed, list.removed_tags, list.removed_size, part(removed_, v, r));
  }
  void drop() {
    added_.clear();
    removed_.clear();
  }

  Column column_;
  Adjacency store_;
  Workers workers_{1};
  std::mt19937 random_;
  std::map<Key, std::uint64_t> entries_;
  std::set<HalfEdge> added_;
  std::set<HalfEdge> removed_;
};

class AdjacencyTest : public testing::TestWithParam<Column> {};

TEST_P(AdjacencyTest, RandomBatches) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    const RelationId relations = seed % 2 == 0 ? 3 : 40;  // more than are scanned
    Model model(GetParam(), seed);
    for (unsigned step = 0; step < 40; ++step) {
      const double share = step % 10 == 9 ? 1.0 : step % 5 == 4 ? 0.9 : 0.2;
      model.stage(step % 7 == 0 ? 600 : 60, share, relations, step % 2 == 0 ? 50 : 5000);
      ASSERT_NO_FATAL_FAILURE(model.check(relations));
      if (step % 3 == 1) {
        model.unstage();
      } else {
        model.settle();
      }
      ASSERT_NO_FATAL_FAILURE(model.check(relations));
    }
  }
}

TEST_P(AdjacencyTest, EmptiesAndShrinks) {
  Model model(GetParam(), 7);
  model.stage(20'000, 0, 2, 100'000);
  model.settle();
  ASSERT_GT(model.size(), 10'000U);
  model.stage(0, 0.95, 2, 1);
  model.settle();
  ASSERT_NO_FATAL_FAILURE(model.check(2));
  model.stage(0, 1, 2, 1);
  model.settle();
  ASSERT_EQ(model.size(), 0U);
  ASSERT_NO_FATAL_FAILURE(model.check(2));
  const std::size_t bytes = model.store().bytes();
  for (unsigned round = 0; round < 4; ++round) {
    model.stage(15'000, 0, 2, 100'000);
    model.settle();
    model.stage(0, 1, 2, 1);
    model.settle();
  }
  EXPECT_LE(model.store().bytes(), 2 * bytes);  // freed memory is used again
}

// Tags decide where a neighbour has many entries.
TEST(AdjacencyTags, ManyEntriesOfOneNeighbour) {
  constexpr std::uint32_t tags = 600;
  Adjacency store(Column::tag, heap_slabs());
  store.reserve_vertices(1);
  Workers workers(1);
  const auto half = [](VertexId neighbour, std::uint32_t tag) { return HalfEdge{0, 0, neighbour, tag, tag}; };
  std::vector<HalfEdge> even;
  std::vector<HalfEdge> odd;
  for (const VertexId neighbour : {6U, 7U, 8U}) {
    for (std::uint32_t tag = 0; tag < tags; tag += 2) {
      even.push_back(half(neighbour, tag));
      odd.push_back(half(neighbour, tag + 1));
    }
  }
  store.stage(even, {});
  store.settle(workers);
  std::vector<HalfEdge> removed;
  for (std::size_t i = 0; i < even.size(); i += 3) removed.push_back(even[i]);
  store.stage(odd, removed);
  store.settle(workers);
  std::set<HalfEdge> wanted(even.begin(), even.end());
  wanted.insert(odd.begin(), odd.end());
  for (const HalfEdge& gone : removed) wanted.erase(gone);
  const List list = store.list(0, 0);
  std::vector<HalfEdge> kept;
  for (std::uint32_t i = 0; i < list.size; ++i) kept.push_back(half(list.ids[i], list.tags[i]));
  EXPECT_EQ(kept, std::vector<HalfEdge>(wanted.begin(), wanted.end()));
}

// One thread may remove as many entries as there were before another adds the parallel ones.
TEST(AdjacencyTags, ParallelEntriesReplaceOthers) {
  constexpr VertexId count = 32;  // of each kind, as many as a thread plans at a time
  Workers workers(2);
  std::vector<HalfEdge> before;
  std::vector<HalfEdge> after;
  for (VertexId v = 0; v < count; ++v) {
    for (std::uint32_t tag = 0; tag < 2; ++tag) {
      before.push_back({v, 0, 1, tag, tag});
      after.push_back({count + v, 0, 1, tag, tag});
    }
  }
  for (unsigned round = 0; round < 5000; ++round) {
    Adjacency store(Column::tag, heap_slabs());
    store.reserve_vertices(2 * count);
    workers.stand_by([&] {
      store.stage(before, {}, workers);
      store.settle(workers);
      store.stage(after, before, workers);
    });
    ASSERT_TRUE(store.parallel(0));
    store.settle(workers);
    ASSERT_TRUE(store.parallel(0));
  }
}

INSTANTIATE_TEST_SUITE_P(Columns, AdjacencyTest, testing::Values(Column::none, Column::tag, Column::time),
                         [](const auto& tested) {
                           return tested.param == Column::none ? "none" : tested.param == Column::tag ? "tag" : "time";
                         });

}  // namespace
}  // namespace deltamatch::graph

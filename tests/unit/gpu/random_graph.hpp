// A data graph under random batches, with query relations that come and go. Also what a mirror of it must show.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>
#include <set>
#include <vector>

#include "gpu/mirror/cache_plan.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::gpu {

class RandomGraph {
 public:
  RandomGraph(bool directed, bool timed, std::uint64_t seed, graph::SlabAllocator& slabs = graph::heap_slabs())
      : graph_(directed, timed, slabs), random_(seed) {
    for (const char* label : {"A", "B", "C"}) labels_.push_back(graph_.edge_labels.intern(label));
    for (const char* label : {"X", "Y"}) vertex_labels_.push_back(graph_.vertex_labels.intern(label));
    graph_.track_changes();
    grow(60);
    const auto out = directed ? graph::Direction::out : graph::Direction::both;
    graph_.add_query_relation({out, {labels_[0]}, {vertex_labels_[0]}});
    graph_.add_query_relation({out, {}, {}});
    graph_.add_query_relation({directed ? graph::Direction::in : out, {labels_[1]}, {}});
    extra_ = {out, {labels_[1], labels_[2]}, {vertex_labels_[1]}};
  }

  [[nodiscard]] const graph::DataGraph& graph() const noexcept { return graph_; }
  [[nodiscard]] graph::DataGraph& graph() noexcept { return graph_; }
  [[nodiscard]] std::mt19937_64& random() noexcept { return random_; }
  [[nodiscard]] std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  void grow(std::size_t vertices) {
    for (std::size_t i = 0; i < vertices; ++i) graph_.dictionary.create(next_++, vertex_labels_[below(2)]);
  }
  /// From now on, ends are drawn by a power law. Before, a tenth of them are one hub, and all others are equally likely.
  void skew(double exponent) noexcept { skew_ = exponent; }
  /// Stages about `changes` edges. `insertions` is the share of insertions in percent.
  void stage(std::size_t changes, unsigned insertions) {
    std::set<graph::Edge> inserted;
    std::set<graph::Edge> removed;
    for (std::size_t i = 0; i < changes; ++i) {
      if (below(100) < insertions || live_.empty()) {
        const VertexId source = skew_ == 0 && below(10) == 0 ? 0 : end();
        const VertexId target = end();
        if (source == target) continue;
        const graph::Edge edge = graph_.ranked(source, target, labels_[below(3)]);
        if (!live_.contains(edge)) inserted.insert(edge);
      } else {
        auto at = live_.lower_bound({below(graph_.dictionary.capacity()), below(graph_.dictionary.capacity()), 0});
        if (at == live_.end()) at = live_.begin();
        removed.insert(*at);
      }
    }
    batch_.inserted.assign(inserted.begin(), inserted.end());
    batch_.removed.assign(removed.begin(), removed.end());
    batch_.inserted_times.assign(graph_.timed() ? inserted.size() : 0, 5);
    graph_.stage(batch_);
  }
  void unstage() { graph_.unstage(); }
  void settle() {
    graph_.settle(workers_);
    for (const graph::Edge& edge : batch_.removed) live_.erase(edge);
    live_.insert(batch_.inserted.begin(), batch_.inserted.end());
  }
  /// Registers a fourth query relation, or drops it.
  void toggle_query_relation() {
    if (has_extra_) {
      graph_.drop_query_relation(extra_id_);
    } else {
      extra_id_ = graph_.add_query_relation(extra_);
    }
    has_extra_ = !has_extra_;
    graph_.resolve_all();
  }

  [[nodiscard]] std::vector<HotVertex> hot(unsigned percent) {
    std::vector<HotVertex> found;
    for (VertexId vertex = 0; vertex < graph_.dictionary.capacity(); ++vertex) {
      for (const std::uint32_t store : {0U, 1U}) {
        if (below(100) < percent) found.push_back({vertex, store});
      }
    }
    std::shuffle(found.begin(), found.end(), random_);
    return found;
  }

  /// All lists as Dumper writes them, by query relation and vertex.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> lists() const {
    std::vector<std::vector<std::uint32_t>> all;
    const auto put = [](std::vector<std::uint32_t>& words, const std::uint32_t* ids, const std::uint32_t* tags,
                        std::uint32_t n) {
      words.push_back(n);
      words.insert(words.end(), ids, ids + n);
      if (tags != nullptr) words.insert(words.end(), tags, tags + n);
    };
    for (const graph::Resolved& where : graph_.resolved()) {
      for (VertexId vertex = 0; vertex < graph_.base().vertices(); ++vertex) {
        std::vector<std::uint32_t>& words = all.emplace_back();
        if (where.store == nullptr) continue;
        const graph::List list = where.store->list(vertex, where.relation);
        put(words, list.ids, where.derived ? list.tags : nullptr, list.size);
        if (list.added == nullptr) continue;
        put(words, list.added, list.added_tags, list.added_size);
        put(words, list.removed, list.removed_tags, list.removed_size);
      }
    }
    return all;
  }

 private:
  VertexId end() {
    const std::uint32_t vertices = graph_.dictionary.capacity();
    if (skew_ == 0) return below(vertices);
    return static_cast<VertexId>(std::pow(std::uniform_real_distribution<>(0, 1)(random_), skew_) * vertices);
  }

  graph::DataGraph graph_;
  std::mt19937_64 random_;
  double skew_ = 0;
  std::vector<LabelId> labels_;
  std::vector<LabelId> vertex_labels_;
  graph::QueryRelation extra_;
  graph::QueryRelationId extra_id_ = 0;
  bool has_extra_ = false;
  std::int64_t next_ = 0;
  std::set<graph::Edge> live_;
  graph::NetBatch batch_;
  Workers workers_{2};
};

}  // namespace deltamatch::gpu

// A small graph with a query bound to it.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "deltamatch/query.hpp"
#include "filter/candidates.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::filter {

inline const std::atomic<bool> never = false;  // for calls that take a flag to stop

struct DataEdge {
  VertexId source;
  VertexId target;
  std::string label;
};

class Fixture {
 public:
  Fixture(bool directed, const std::vector<std::string>& labels, const std::vector<DataEdge>& edges, const std::string& pattern,
          MatchMode mode = MatchMode::isomorphism, graph::SlabAllocator& slabs = graph::heap_slabs())
      : graph_(std::make_unique<graph::DataGraph>(directed, false, slabs)) {
    for (std::size_t v = 0; v < labels.size(); ++v) {
      graph_->dictionary.create(Id(static_cast<std::int64_t>(v)), graph_->vertex_labels.intern(labels[v]));
    }
    graph::NetBatch batch;
    for (const DataEdge& edge : edges) {
      batch.inserted.push_back(graph_->ranked(edge.source, edge.target, graph_->edge_labels.intern(edge.label)));
    }
    std::sort(batch.inserted.begin(), batch.inserted.end());
    graph_->stage(batch);
    Workers workers(1);
    graph_->settle(workers);
    query_ = std::make_unique<plan::BoundQuery>(parse_pattern(pattern, "q"), mode, CountMode::embeddings, *graph_);
    graph_->resolve_all();
  }

  [[nodiscard]] const plan::BoundQuery& query() const { return *query_; }
  [[nodiscard]] plan::BoundQuery& query() { return *query_; }
  [[nodiscard]] graph::DataGraph& graph() { return *graph_; }

  /// The candidates of each query vertex after that many steps: labels, degrees, rounds of refinement.
  [[nodiscard]] std::vector<std::vector<VertexId>> left(int steps, unsigned threads = 1) const {
    Workers workers(threads);
    Candidates candidates(*query_, workers, never);
    candidates.by_label();
    if (steps > 0) candidates.by_degree();
    for (int round = 1; round < steps; ++round) candidates.refine();
    std::vector<std::vector<VertexId>> left(query_->vertices());
    for (VertexId v = 0; v < candidates.masks().size(); ++v) {
      for (std::uint32_t u = 0; u < query_->vertices(); ++u) {
        if ((candidates.of(v) >> u & 1u) != 0) left[u].push_back(v);
      }
    }
    return left;
  }

 private:
  std::unique_ptr<graph::DataGraph> graph_;
  std::unique_ptr<plan::BoundQuery> query_;
};

}  // namespace deltamatch::filter

// A batch as the standing queries with EMIT FINAL see it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "engine/batch/batch_listing.hpp"
#include "engine/batch/final_wait.hpp"
#include "graph/batch_resolver.hpp"
#include "match/final_matches.hpp"

namespace deltamatch::engine {

class FinalBatches {
 public:
  /// Prepares for the staged batch, which must outlive it. `window`: 0 if there is none, or edges are kept for conditions only.
  FinalBatches(const graph::DataGraph& graph, const graph::ResolvedBatch& resolved, std::optional<Timestamp> watermark_before,
               Timestamp window);

  /// Adds the next of the queries. `wait` is null unless it says EMIT FINAL.
  void add(FinalWait* wait);
  /// Lets the queries list only matches that are final.
  void filter(BatchListing& listing) const;
  /// Whether the batch passes the bound of an edge.
  [[nodiscard]] bool due() const noexcept { return due_; }
  /// Lists the matches of a query that become final without a new edge, if it says EMIT FINAL.
  void find(std::size_t query, const match::QueryTask& task, Workers& workers, BatchListing& listing) const;

 private:
  struct Query {
    match::FinalBatch batch;
    match::DueEdges due;
  };

  const graph::DataGraph* graph_;
  const graph::ResolvedBatch* batch_;
  std::optional<Timestamp> watermark_before_;
  Timestamp window_;
  std::vector<graph::Resolved> resolved_;
  std::vector<graph::Edge> gone_;
  std::vector<std::unique_ptr<Query>> queries_;  // null unless it says EMIT FINAL
  bool due_ = false;
};

}  // namespace deltamatch::engine

// A batch as the standing queries that count see it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/stop.hpp"
#include "engine/batch/batch_listing.hpp"
#include "engine/batch/standing_query.hpp"
#include "graph/batch_resolver.hpp"
#include "match/counted_changes.hpp"

namespace deltamatch::engine {

class CountedBatches {
 public:
  /// A watermark before the batch and after it.
  struct Watermarks {
    std::optional<Timestamp> before;
    std::optional<Timestamp> after;
  };

  /// Prepares for the staged batch. `inserted` and `removed`: the changed edges, without those that only age. All must outlive
  /// it.
  CountedBatches(const graph::DataGraph& graph, const graph::BatchResolver& resolver, const match::PassWork& inserted,
                 const match::PassWork& removed)
      : resolver_(&resolver),
        inserted_(inserted.anchors),
        inserted_marks_(inserted.marks),
        removed_(removed.anchors),
        resolved_(graph.resolved()) {}

  /// Adds the query of the next task. `span`: how long edges are young enough for it; 0: for ever.
  void add(const plan::BoundQuery& query, Timestamp span, const Watermarks& watermarks);
  /// Lets the tasks list only matches for which their conditions hold.
  void filter(BatchListing& listing) const;
  /// Lists the matches of a task that appear or vanish although the batch leaves their edges alone.
  void find_turned(std::size_t number, const match::QueryTask& task, Workers& workers, BatchListing& listing) const;
  /// Whether vertices come, go or change that queries of one vertex may match.
  [[nodiscard]] bool touches_vertices() const noexcept { return vertices_ && !vertices_->empty(); }

 private:
  const graph::BatchResolver* resolver_;
  std::span<const graph::Edge> inserted_;
  std::span<const Timestamp> inserted_marks_;
  std::span<const graph::Edge> removed_;
  std::vector<graph::Resolved> resolved_;
  std::optional<graph::VertexChanges> vertices_;               // if a query has one vertex
  std::vector<std::unique_ptr<match::CountedBatch>> batches_;  // by task; null: its query does not count
};

}  // namespace deltamatch::engine

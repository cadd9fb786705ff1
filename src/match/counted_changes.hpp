// Finds the matches of a query whose own edges a batch leaves alone, but for which its counting conditions turn.
//
// A changed edge may be a part of what is counted. It then changes the count only at the vertices that the counted pattern
// shares with the query. These vertices are collected first. If they alone decide the count, it is compared before and after.
// Only where it differs, or something else takes part, the matches of the query on stable edges are enumerated.
//
// Under WITHIN edges age, and ageing alone turns no match. A match with a new edge is tested with edges as old as they are at
// the record that completes it (counted_filter.hpp). A match of stable edges appears if its conditions are TRUE after the
// batch, but not before it. They must not be TRUE either before it with edges as old as they are after it. It vanishes the
// other way round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "graph/data_graph.hpp"
#include "graph/vertex_changes.hpp"
#include "match/counted_truth.hpp"
#include "match/matcher.hpp"
#include "match/pattern_search.hpp"
#include "plan/bound_query.hpp"

namespace deltamatch::match {

/// A batch as counting conditions see it. All that it names must outlive its use.
struct CountedBatch {
  std::span<const graph::Edge> inserted;      ///< ascending, as is the next
  std::span<const graph::Edge> removed;       ///< without those that only age
  std::span<const Timestamp> inserted_marks;  ///< the watermark at the record that inserts the edge
  std::span<const graph::Resolved> resolved;
  const graph::VertexChanges* vertices = nullptr;  ///< needed by queries of one vertex
  /// Edges of this time or older are too old for a query with WITHIN, before and after the batch.
  std::optional<Timestamp> aged_before;
  std::optional<Timestamp> aged_after;
  Timestamp span = 0;  ///< how long edges are young enough; 0: for ever
};

/// The matches for which the conditions turn.
struct TurnedMatches {
  FoundMatches vanished;
  FoundMatches appeared;
};

/// Finds them, each at least once. For a query of one vertex it also finds the matches at vertices that come, go or change. The
/// graph has the batch staged. Stops soon once the task's stop flag is set. Throws std::bad_alloc.
[[nodiscard]] TurnedMatches find_turned(const QueryTask& task, const CountedBatch& batch, Workers& workers);

/// Finds all matches of a query of one vertex in a graph without a staged batch.
void find_single(const plan::BoundQuery& query, std::span<const graph::Resolved> resolved, std::optional<Timestamp> aged,
                 std::span<const VertexId> vertices, FoundMatches& found);

}  // namespace deltamatch::match

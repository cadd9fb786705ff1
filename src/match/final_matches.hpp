// Finds the matches of a query with EMIT FINAL that a batch makes final.
//
// A match has a moment: the latest time that its bounds give. It is final once the watermark has passed the moment by the
// allowed lateness. No edge that comes in time can then change what its condition counts. Whether it is reported is decided in
// the batch in which it becomes final, or in a later one that inserts one of its edges.
//
// So the graph and the two watermarks of a batch say which matches are decided in it. Nothing else has to be remembered.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "condition/final_bounds.hpp"
#include "graph/data_graph.hpp"
#include "graph/window.hpp"
#include "match/matcher.hpp"
#include "match/pattern_search.hpp"
#include "plan/bound_query.hpp"

namespace deltamatch::match {

/// When the matches of a query are final. What it names must outlive its use.
struct FinalRule {
  std::span<const condition::FinalBound> bounds;
  Timestamp lateness = 0;
  std::optional<Timestamp> span{};  ///< of WITHIN and the greatest bound; edges that are older before the moment do not count

  /// The moment of a match; INT64_MIN if nothing can come for it, because its edges have no times.
  [[nodiscard]] Timestamp moment(const graph::EdgeTable& table, std::span<const graph::Edge> edges) const noexcept;
  [[nodiscard]] bool passed(Timestamp moment, std::optional<Timestamp> watermark) const noexcept;
};

/// A batch as queries with EMIT FINAL see it. What it names must outlive its use.
struct FinalBatch {
  FinalRule rule;
  std::span<const graph::Resolved> resolved;
  std::span<const graph::Edge> inserted;  ///< ascending, as are `gone` and `expired`
  /// The watermark at the record that inserts the edge. None are needed if there is neither a window nor WITHIN.
  std::span<const Timestamp> inserted_marks;
  std::span<const graph::Edge> gone;        ///< edges that records delete
  std::span<const graph::Expired> expired;  ///< edges that the window has passed
  Timestamp window = 0;
  std::optional<Timestamp> watermark_before{};
  std::optional<Timestamp> watermark{};  ///< after it
};

/// Throws Error(configuration) if edges leave a window before what waits `needed` for them is final. `window`: 0 if there is
/// none.
void require_window(const Query& query, Timestamp needed, Timestamp window);

/// What stays of the matches that a pass has found. Of those with an edge of D: the ones that were decided earlier. Of others:
/// the ones that are final and for which the condition holds.
[[nodiscard]] Records keep_final(const plan::BoundQuery& query, const Records& records, Pass pass, const FinalBatch& batch);

/// The edges whose bounds the batch passes, for each bound of the rule.
using DueEdges = std::vector<std::vector<graph::Edge>>;

/// The matches that become final in the batch without one of its inserted edges, and for which the condition holds. Each is
/// found at least once. Stops soon once the task's stop flag is set.
[[nodiscard]] FoundMatches find_final(const QueryTask& task, const FinalBatch& batch, const DueEdges& due, Workers& workers);

/// The matches in a settled graph that are not final at the batch's watermark, and for which the condition holds now. `due` are
/// all edges whose bounds the watermark has not passed.
[[nodiscard]] FoundMatches find_waiting(const plan::BoundQuery& query, const FinalBatch& batch, const DueEdges& due);

}  // namespace deltamatch::match

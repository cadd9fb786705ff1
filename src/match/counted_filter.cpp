#include "match/counted_filter.hpp"

#include "match/completion_mark.hpp"
#include "match/keep_records.hpp"

namespace deltamatch::match {

namespace {

/// The time of edges that have just aged when a record completes the match; nullopt: none have.
std::optional<Timestamp> aged_at_completion(const CountedBatch& batch, std::span<const graph::Edge> edges) {
  const Timestamp mark = completion_mark(batch.inserted, batch.inserted_marks, edges);
  Timestamp aged = 0;
  return mark == INT64_MIN || __builtin_sub_overflow(mark, batch.span, &aged) ? std::nullopt : std::optional(aged);
}

}  // namespace

Records keep_counted(const plan::BoundQuery& query, const Records& records, Pass pass, const CountedBatch& batch) {
  if (records.plans.empty() || pass == Pass::transient) return {};
  CountedTruth truth(query, batch.resolved);
  const LastingEdges lasting{.gone = batch.removed};
  const bool by_record = pass == Pass::added && batch.span > 0;
  if (by_record) {
    truth.read_lasting(&lasting);
  } else {
    truth.age(GraphState::before, batch.aged_before);
    truth.age(GraphState::aged, batch.aged_after);
    truth.age(GraphState::after, batch.aged_after);
  }
  const auto holds = [&](std::span<const VertexId> vertices, std::span<const graph::Edge> edges) {
    if (pass == Pass::whole) return truth.holds(GraphState::settled, vertices, edges);
    if (by_record) {
      truth.age(GraphState::lasting, aged_at_completion(batch, edges));
      return truth.holds(GraphState::lasting, vertices, edges);
    }
    if (pass == Pass::added) return truth.holds(GraphState::after, vertices, edges);
    return truth.holds(GraphState::before, vertices, edges) && truth.holds(GraphState::aged, vertices, edges);
  };
  return keep_records(query, records, holds);
}

}  // namespace deltamatch::match

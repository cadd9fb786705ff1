#include "match/final_matches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "condition/literal.hpp"
#include "deltamatch/error.hpp"
#include "match/completion_mark.hpp"
#include "match/counted_truth.hpp"
#include "match/keep_records.hpp"
#include "plan/condition_steps.hpp"

namespace deltamatch::match {

namespace {

constexpr std::size_t edges_at_once = 64;

Timestamp sum(Timestamp a, Timestamp b) noexcept {
  Timestamp result = 0;
  if (!__builtin_add_overflow(a, b, &result)) return result;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

/// Decides on single matches of a batch.
class FinalTruth {
 public:
  FinalTruth(const plan::BoundQuery& query, const FinalBatch& batch, GraphState state)
      : batch_(&batch), table_(query.graph().edge_table.get()), state_(state), truth_(query, batch.resolved) {
    lasting_ = {batch.gone, batch.expired};
    truth_.read_lasting(&lasting_);
  }

  [[nodiscard]] const LastingEdges& lasting() const noexcept { return lasting_; }
  [[nodiscard]] Timestamp moment(std::span<const graph::Edge> edges) const noexcept {
    return batch_->rule.moment(*table_, edges);
  }
  /// Whether the edges were there when the match was decided, and the condition held. That is at its moment, or once it was
  /// complete.
  [[nodiscard]] bool holds(std::span<const VertexId> vertices, std::span<const graph::Edge> edges, Timestamp moment) {
    const FinalRule& rule = batch_->rule;
    const bool timed = moment != INT64_MIN;
    // The watermark at which it was decided: a match may be complete only after its moment.
    const Timestamp decided = std::max(sum(moment, rule.lateness), completed(edges));
    lasting_.dead = timed && batch_->window > 0 ? sum(decided, -batch_->window) : INT64_MIN;
    const auto there = [&](const graph::Edge& edge) { return lasting_.admits(edge); };
    bool held = state_ != GraphState::lasting || std::ranges::all_of(edges, there);
    truth_.age(state_, timed && rule.span ? std::optional(sum(sum(decided, -rule.lateness), -*rule.span)) : std::nullopt);
    held = held && truth_.holds(state_, vertices, edges);
    lasting_.dead = INT64_MIN;  // searches go on with all edges
    return held;
  }

 private:
  /// The watermark at which a record completes the match. INT64_MIN if it was complete before the batch: it then waited for its
  /// moment.
  [[nodiscard]] Timestamp completed(std::span<const graph::Edge> edges) const noexcept {
    if (batch_->inserted_marks.empty()) return INT64_MIN;  // no edge is inserted, or none ever goes
    return completion_mark(batch_->inserted, batch_->inserted_marks, edges);
  }

  const FinalBatch* batch_;
  const graph::EdgeTable* table_;
  GraphState state_;
  LastingEdges lasting_;
  CountedTruth truth_;
};

/// Finds matches at edges that have a role in them.
class FinalFinder {
 public:
  FinalFinder(const plan::BoundQuery& query, const FinalBatch& batch, GraphState state)
      : query_(&query), batch_(&batch), state_(state), truth_(query, batch, state), search_(query, 0, batch.resolved) {
    search_.read_lasting(&truth_.lasting());
  }

  /// Adds the matches with this edge as the query's `role` for which `wanted(moment)`.
  template <class Wanted>
  void look(std::uint32_t role, const graph::Edge& edge, const Wanted& wanted, FoundMatches& found) {
    look(role, edge, true, wanted, found);
    if (!query_->edges[role].directed) look(role, edge, false, wanted, found);
  }

 private:
  template <class Wanted>
  void look(std::uint32_t role, const graph::Edge& edge, bool forward, const Wanted& wanted, FoundMatches& found) {
    search_.begin(state_, std::nullopt);
    if (!search_.bind_edge(role, edge, forward)) return;
    search_.run([&] {
      const auto inserted = [&](const graph::Edge& each) { return std::ranges::binary_search(batch_->inserted, each); };
      if (!plan::satisfies(*query_, search_.vertices(), search_.edges())) return true;
      const Timestamp moment = truth_.moment(search_.edges());
      if (!wanted(moment) || std::ranges::any_of(search_.edges(), inserted)) return true;
      if (truth_.holds(search_.vertices(), search_.edges(), moment)) found.add(search_.vertices(), search_.edges());
      return true;
    });
  }

  const plan::BoundQuery* query_;
  const FinalBatch* batch_;
  GraphState state_;
  FinalTruth truth_;
  PatternSearch search_;
};

}  // namespace

Timestamp FinalRule::moment(const graph::EdgeTable& table, std::span<const graph::Edge> edges) const noexcept {
  Timestamp latest = INT64_MIN;
  for (const condition::FinalBound& bound : bounds) {
    const std::optional<Timestamp> time = table.time(edges[bound.edge].which);
    if (time) latest = std::max(latest, sum(*time, bound.after));
  }
  return latest;
}

bool FinalRule::passed(Timestamp moment, std::optional<Timestamp> watermark) const noexcept {
  return moment == INT64_MIN || (watermark && sum(moment, lateness) < *watermark);
}

void require_window(const Query& query, Timestamp needed, Timestamp window) {
  if (window == 0 || window > needed) return;
  const auto text = [](Timestamp span) { return condition::to_text(Literal(Duration{span})); };
  throw Error(ErrorKind::configuration, "query " + query.name,
              fmt::format("EMIT FINAL waits up to {} for an edge, but the window is {}, so matches would leave it before",
                          text(needed), text(window)),
              fmt::format("set a window longer than {}, or lower the bound or the allowed lateness", text(needed)));
}

Records keep_final(const plan::BoundQuery& query, const Records& records, Pass pass, const FinalBatch& batch) {
  if (records.plans.empty()) return {};
  FinalTruth truth(query, batch, GraphState::lasting);
  return keep_records(query, records, [&](std::span<const VertexId> vertices, std::span<const graph::Edge> edges) {
    const Timestamp moment = truth.moment(edges);
    if (pass == Pass::removed) return batch.rule.passed(moment, batch.watermark_before);
    return batch.rule.passed(moment, batch.watermark) && truth.holds(vertices, edges, moment);
  });
}

FoundMatches find_final(const QueryTask& task, const FinalBatch& batch, const DueEdges& due, Workers& workers) {
  std::vector<FoundMatches> parts(workers.size());
  std::vector<std::optional<FinalFinder>> finders(workers.size());
  const auto stopped = [&] { return task.stop != nullptr && task.stop->load(std::memory_order_relaxed); };
  const auto wanted = [&](Timestamp moment) {
    return batch.rule.passed(moment, batch.watermark) && !batch.rule.passed(moment, batch.watermark_before);
  };
  for (std::size_t b = 0; b < due.size(); ++b) {
    workers.for_each(due[b].size(), edges_at_once, [&](unsigned worker, std::size_t begin, std::size_t end) {
      if (stopped()) return;
      if (task.watch != nullptr) task.watch->enter(worker, task.progress_index);
      if (!finders[worker]) finders[worker].emplace(*task.query, batch, GraphState::lasting);
      for (std::size_t i = begin; i < end && !stopped(); ++i)
        finders[worker]->look(batch.rule.bounds[b].edge, due[b][i], wanted, parts[worker]);
      if (task.watch != nullptr) task.watch->leave(worker);
    });
  }
  FoundMatches found;
  for (const FoundMatches& part : parts) found.add_all(part);
  return found;
}

FoundMatches find_waiting(const plan::BoundQuery& query, const FinalBatch& batch, const DueEdges& due) {
  FoundMatches found;
  FinalFinder finder(query, batch, GraphState::settled);
  const auto wanted = [&](Timestamp moment) { return !batch.rule.passed(moment, batch.watermark); };
  for (std::size_t b = 0; b < due.size(); ++b) {
    for (const graph::Edge& edge : due[b]) finder.look(batch.rule.bounds[b].edge, edge, wanted, found);
  }
  return found;
}

}  // namespace deltamatch::match

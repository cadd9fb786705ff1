#include "engine/batch/final_wait.hpp"

#include <algorithm>

namespace deltamatch::engine {
namespace {

Timestamp sum(Timestamp a, Timestamp b) noexcept {
  Timestamp result = 0;
  return __builtin_add_overflow(a, b, &result) ? INT64_MAX : result;  // neither is negative
}

}  // namespace

FinalWait::FinalWait(const Query& query, Timestamp lateness, Timestamp window) : bounds_(condition::final_bounds(query)) {
  for (const condition::FinalBound& bound : bounds_) {
    greatest_ = std::max(greatest_, bound.after);
    // A bound is passed by a watermark that is later, not by one that is equal.
    queues_.push_back(std::make_unique<graph::Window>(sum(sum(bound.after, lateness), 1)));
  }
  rule_ = {bounds_, lateness, {}};
  if (query.within) rule_.span = sum(query.within->microseconds, greatest_);
  match::require_window(query, sum(greatest_, lateness), window);
}

void FinalWait::begin(const plan::BoundQuery& query, std::optional<Timestamp> watermark) {
  const match::DueEdges edges = waiting_edges(query, rule_, watermark);
  for (std::size_t b = 0; b < edges.size(); ++b) {
    for (const graph::Edge& edge : edges[b]) queues_[b]->note(edge, *query.graph().edge_table->time(edge.which));
  }
}

void FinalWait::note(const plan::BoundQuery& query, std::span<const graph::Edge> inserted) {
  const graph::EdgeTable& table = *query.graph().edge_table;
  for (const graph::Edge& edge : inserted) {
    const std::optional<Timestamp> time = table.time(edge.which);
    for (std::size_t b = 0; time && b < bounds_.size(); ++b) {
      if (plan::admits(query.edges[bounds_[b].edge].labels, table.label(edge.which))) queues_[b]->note(edge, *time);
    }
  }
}

match::DueEdges FinalWait::take(const graph::DataGraph& graph, Timestamp watermark) {
  match::DueEdges due(bounds_.size());
  std::vector<graph::Expired> passed;
  for (std::size_t b = 0; b < bounds_.size(); ++b) {
    passed.clear();
    queues_[b]->collect(graph, watermark, passed);
    for (const graph::Expired& each : passed) due[b].push_back(each.edge);
  }
  return due;
}

void FinalWait::settle() noexcept {
  for (const auto& queue : queues_) queue->commit();
}

void FinalWait::undo() noexcept {
  for (const auto& queue : queues_) queue->undo();
}

std::size_t FinalWait::bytes() const noexcept {
  std::size_t bytes = 0;
  for (const auto& queue : queues_) bytes += queue->bytes();
  return bytes;
}

match::DueEdges waiting_edges(const plan::BoundQuery& query, const match::FinalRule& rule, std::optional<Timestamp> watermark) {
  match::DueEdges edges(rule.bounds.size());
  const graph::EdgeTable& table = *query.graph().edge_table;
  for (graph::Slot slot = 0; slot < table.slots(); ++slot) {
    const std::optional<Timestamp> time = table.live(slot) ? table.time(slot) : std::nullopt;
    for (std::size_t b = 0; time && b < rule.bounds.size(); ++b) {
      const condition::FinalBound& bound = rule.bounds[b];
      if (!plan::admits(query.edges[bound.edge].labels, table.label(slot)) || rule.passed(sum(*time, bound.after), watermark))
        continue;
      edges[b].push_back({table.tail(slot), table.head(slot), slot});
    }
  }
  return edges;
}

}  // namespace deltamatch::engine

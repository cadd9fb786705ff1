#include "match/enumerator.hpp"

#include <algorithm>

#include "match/programs.hpp"

namespace deltamatch::match {

std::uint64_t Enumerator::run(Share share, FoundSink* sink) {
  const plan::Plan& plan = partial_->plan();
  const ScratchScope scope(partial_->scratch());
  sink_ = sink;
  count_ = 0;
  const VertexId tail = partial_->at(0);
  const VertexId head = partial_->at(1);
  if (ordered_ && ((plan.anchor_above && head < tail) || (plan.anchor_below && head > tail))) return 0;
  for (const plan::Probe& probe : plan.closing) {
    if (multiplicity(partial_->view(probe), head) == 0) return 0;
  }
  vertices_.resize(query_->vertices());
  tags_.resize(query_->edges.size());
  edges_.resize(query_->edges.size());
  options_.resize(query_->edges.size());
  vertices_[plan.tail] = tail;
  vertices_[plan.head] = head;
  plain_ = is_plain(*query_, plan, partial_->lists().resolved());
  for (std::uint32_t e = 0; e < query_->edges.size(); ++e) {
    const graph::Resolved& where = partial_->lists().resolved(query_->edges[e].reading[0]);
    tags_[e] = graph::entry_tag(where.edge_label, where.incoming);
  }
  const graph::Edge& anchor = partial_->lists().anchor();
  const bool reversed = plan.anchor.reversed && query_->graph().directed();
  tags_[plan.anchor.edge] = graph::entry_tag(anchor.label, reversed);
  edges_[plan.anchor.edge] = anchor;
  if (plan.levels.empty()) {
    if (share.index == 0) leaf();
  } else {
    descend(0, share);
  }
  return count_;
}

void Enumerator::descend(std::size_t level, Share share) {
  const plan::Level& next = partial_->plan().levels[level];
  const ScratchScope scope(partial_->scratch());
  auto candidates = partial_->extend(level);
  if (ordered_) candidates = partial_->between(candidates, next.candidates);
  const auto position = static_cast<plan::Position>(level + 2);
  const bool last = level + 1 == partial_->plan().levels.size();
  if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) return;
  candidates = partial_->part(candidates, share);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const VertexId vertex = candidates[i];
    if (!last) partial_->lists().prefetch_ahead({}, candidates, i);
    if (!partial_->differs(vertex, next.candidates.distinct)) continue;
    partial_->put(position, vertex);
    vertices_[next.vertex] = vertex;
    if (last) {
      leaf();
    } else {
      descend(level + 1, {});
    }
  }
}

void Enumerator::leaf() {
  if (plain_) {
    ++count_;
    if (sink_ != nullptr) sink_->found({vertices_, tags_});
    return;
  }
  choose_edge(0);
}

bool Enumerator::taken(const graph::Edge& edge, std::uint32_t before) const noexcept {
  if (query_->mode == MatchMode::homomorphism) return false;
  if (edges_[partial_->plan().anchor.edge] == edge) return true;
  for (std::uint32_t e = 0; e < before; ++e) {
    if (edges_[e] == edge) return true;
  }
  return false;
}

// Maps the query edges from `edge` on to data edges between their ends, in all ways that keep edges distinct where they must
// be.
void Enumerator::choose_edge(std::uint32_t edge) {
  if (edge == query_->edges.size()) {
    ++count_;
    if (sink_ != nullptr) sink_->found({vertices_, tags_});
    return;
  }
  const plan::Plan& plan = partial_->plan();
  if (edge == plan.anchor.edge) {
    choose_edge(edge + 1);
    return;
  }
  const plan::BoundEdge& bound = query_->edges[edge];
  const VertexId source = vertices_[bound.source];
  const VertexId target = vertices_[bound.target];
  Lists& lists = partial_->lists();
  const graph::Resolved& where = lists.resolved(bound.reading[0]);
  const bool inclusive = query_->mode == MatchMode::homomorphism && edge > plan.anchor.edge;
  auto& options = options_[edge];
  options.clear();
  {
    const ScratchScope scope(partial_->scratch());
    collect_tags(lists.view(bound.reading[0], source, inclusive, partial_->scratch()), target,
                 graph::entry_tag(where.edge_label, where.incoming), options);
  }
  for (const std::uint32_t tag : options) {
    const graph::Edge image = lists.edge_of(source, target, tag >> 1, (tag & 1u) != 0);
    if (taken(image, edge)) continue;
    tags_[edge] = tag;
    edges_[edge] = image;
    choose_edge(edge + 1);
  }
}

}  // namespace deltamatch::match

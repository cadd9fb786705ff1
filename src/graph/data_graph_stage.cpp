// Staging and settling: a net batch becomes half-edges, which the stores take.
#include <algorithm>
#include <atomic>
#include <bit>

#include "base/prefetch.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::graph {

namespace {

// Number of edges that a thread makes half-edges of at a time.
constexpr std::size_t halves_grain = 512;
// How far ahead the labels of their ends are prefetched.
constexpr std::size_t labels_ahead = 16;

// Finds the relations of one direction. It skips the look-up if the relation is the same as before.
struct LastRelation {
  Direction direction;
  std::span<std::uint8_t> seen;  // by relation, whether it was found; threads share it
  LabelId edge_label = empty_label;
  LabelId neighbour_label = empty_label;
  RelationId relation = no_relation;

  RelationId find(const BaseRelations& relations, LabelId edge, LabelId neighbour) {
    if (relation == no_relation || edge != edge_label || neighbour != neighbour_label) {
      relation = relations.find(direction, edge, neighbour);
      edge_label = edge;
      neighbour_label = neighbour;
      if (relation != no_relation) std::atomic_ref(seen[relation]).store(1, std::memory_order_relaxed);
    }
    return relation;
  }
};

}  // namespace

void DataGraph::derive(const HalfEdge& half, HalfEdges& out) const {
  const BaseRelation& base = relations_[half.relation];
  for (const RegisteredQueryRelation& query_relation : query_relations_) {
    if (query_relation.users == 0 || query_relation.derived == no_relation || !query_relation.query_relation.covers(base))
      continue;
    const std::uint32_t tag = edge_table ? half.tag : entry_tag(base.edge_label, base.direction == Direction::in);
    out.push_back({half.vertex, query_relation.derived, half.neighbour, tag, tag});
  }
}

void DataGraph::halves_of(std::span<const Edge> edges, std::span<const Timestamp> times, HalfEdges& halves,
                          std::vector<std::uint8_t>& relations, Workers& workers) {
  halves.resize(2 * edges.size());
  relations.assign(relations_.size(), 0);
  std::atomic<bool> all_named = true;
  const std::span<const LabelId> labels = dictionary.labels();
  // The edges are in order of rank, and the heads' half-edges come first. In undirected data a vertex is the head of edges from
  // lower vertices and the tail of edges to higher ones. So each list's neighbours ascend, which makes sorting fast.
  workers.for_each(edges.size(), workers.grain(edges.size(), halves_grain), [&](unsigned, std::size_t begin, std::size_t end) {
    LastRelation from_tail{directed_ ? Direction::out : Direction::both, relations};
    LastRelation from_head{directed_ ? Direction::in : Direction::both, relations};
    bool named = true;
    for (std::size_t i = begin; i < end; ++i) {
      if (i + labels_ahead < end) {
        fetch_line(&labels[edges[i + labels_ahead].tail]);
        fetch_line(&labels[edges[i + labels_ahead].head]);
      }
      const Edge& edge = edges[i];
      const LabelId label = label_of(edge);
      std::uint64_t at_head = times.empty() ? 0 : std::bit_cast<std::uint64_t>(times[i]);
      std::uint64_t at_tail = at_head;
      if (edge_table) {  // the payload is the tag
        at_head = entry_tag(edge.which, directed_);
        at_tail = entry_tag(edge.which, false);
      }
      const auto tag = [&](std::uint64_t payload) { return edge_table ? static_cast<std::uint32_t>(payload) : 0; };
      const RelationId head_relation = from_head.find(relations_, label, dictionary.label(edge.tail));
      const RelationId tail_relation = from_tail.find(relations_, label, dictionary.label(edge.head));
      named = named && head_relation != no_relation && tail_relation != no_relation;
      halves[i] = {edge.head, head_relation, edge.tail, tag(at_head), at_head};
      halves[edges.size() + i] = {edge.tail, tail_relation, edge.head, tag(at_tail), at_tail};
    }
    if (!named) all_named = false;
  });
  if (!all_named) name_new_relations(edges, halves, relations);
  if (keeps_loops_) join_halves_of_loops(edges, halves, relations);
  sort_.run(halves, dictionary.capacity(), workers);
}

/// Numbers relations that have no number yet, in order of their edges.
void DataGraph::name_new_relations(std::span<const Edge> edges, HalfEdges& halves, std::vector<std::uint8_t>& relations) {
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& edge = edges[i];
    const auto name = [&](HalfEdge& half, Direction direction) {
      if (half.relation != no_relation) return;
      half.relation = relations_.intern(direction, label_of(edge), dictionary.label(half.neighbour));
      relations.resize(relations_.size());
      relations[half.relation] = 1;
    };
    name(halves[i], directed_ ? Direction::in : Direction::both);
    name(halves[edges.size() + i], directed_ ? Direction::out : Direction::both);
  }
}

/// A self-loop has one half-edge, in a list of its own.
void DataGraph::join_halves_of_loops(std::span<const Edge> edges, HalfEdges& halves, std::vector<std::uint8_t>& relations) {
  std::size_t kept = edges.size();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& edge = edges[i];
    if (edge.tail != edge.head) {
      halves[kept++] = halves[edges.size() + i];
      continue;
    }
    halves[i].relation = relations_.intern(Direction::loop, label_of(edge), dictionary.label(edge.tail));
    if (edge_table) halves[i].payload = halves[i].tag = entry_tag(edge.which, false);
  }
  halves.resize(kept);
  relations.assign(relations_.size(), 0);
  for (const HalfEdge& half : halves) relations[half.relation] = 1;
}

void DataGraph::note_times(std::span<const Edge> added) {
  constexpr std::size_t ahead = 16;
  newest_.resize(dictionary.capacity(), {INT64_MIN, INT64_MIN});
  for (std::size_t i = 0; i < added.size(); ++i) {
    if (i + ahead < added.size()) {
      fetch_line_to_write(&newest_[added[i + ahead].tail]);
      fetch_line_to_write(&newest_[added[i + ahead].head]);
    }
    const Edge& edge = added[i];
    const std::optional<Timestamp> time = edge_table->time(edge.which);
    if (!time) continue;
    const auto raise = [&](VertexId vertex, bool out) {
      Timestamp& newest = newest_[vertex][out ? 1 : 0];
      newest = std::max(newest, *time);
    };
    raise(edge.tail, true);
    raise(edge.head, false);
    if (directed_) continue;
    raise(edge.tail, false);
    raise(edge.head, true);
  }
}

void DataGraph::stage(const NetBatch& batch) {
  Workers alone(1);
  stage(batch, alone);
}

void DataGraph::stage(const NetBatch& batch, Workers& workers) {
  base_.reserve_vertices(dictionary.capacity());
  halves_of(batch.inserted, batch.inserted_times, added_, arriving_, workers);
  halves_of(batch.removed, {}, removed_, leaving_, workers);
  if (edge_table) note_times(batch.inserted);
  base_.stage(added_, removed_, workers);
  try {
    resolve_query_relations(arriving_);
    if (derived_) {
      derived_->reserve_vertices(dictionary.capacity());
      derived_added_.clear();
      derived_removed_.clear();
      for (const HalfEdge& half : added_) derive(half, derived_added_);
      for (const HalfEdge& half : removed_) derive(half, derived_removed_);
      sort_.run(derived_added_, dictionary.capacity(), workers);
      sort_.run(derived_removed_, dictionary.capacity(), workers);
      derived_->stage(derived_added_, derived_removed_, workers);
      resolve_query_relations(arriving_);
    }
  } catch (...) {
    unstage();
    throw;
  }
  staged_edges_ = edges_ + batch.inserted.size() - batch.removed.size();
}

void DataGraph::unstage() noexcept {
  base_.unstage();
  if (derived_) derived_->unstage();
}

void DataGraph::settle(Workers& workers) noexcept {
  base_.settle(workers);
  if (derived_) derived_->settle(workers);
  edges_ = staged_edges_;
  numbered_by_degree_ = false;
}

}  // namespace deltamatch::graph

#include "filter/pruned_lists.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace deltamatch::filter {

namespace {

// Half-edges that are staged at once. This bounds the memory besides the lists.
constexpr std::size_t chunk = std::size_t{1} << 18;

bool reads_tags(const plan::BoundQuery& query) {
  return std::ranges::any_of(query.edges, [&](const plan::BoundEdge& edge) {
    return std::ranges::any_of(edge.query_relation, [&](graph::QueryRelationId query_relation) {
      return query.graph().resolve(query_relation).tagged;
    });
  });
}

std::uint32_t target(const plan::BoundEdge& edge, unsigned end) { return end == 0 ? edge.target : edge.source; }
std::uint32_t source(const plan::BoundEdge& edge, unsigned end) { return end == 0 ? edge.source : edge.target; }

}  // namespace

PrunedLists::PrunedLists(const plan::BoundQuery& query, const Candidates& candidates, Numbering numbering, Workers& workers,
                         const std::atomic<bool>& stop)
    : alike_(candidates.alike()), store_(reads_tags(query) ? graph::Column::tag : graph::Column::none, query.graph().slabs()) {
  for (std::uint32_t e = 0; e < query.edges.size(); ++e) {
    for (unsigned end = 0; end < 2; ++end) {
      if (relation_of(query, e, end) < relations_.size()) continue;
      const plan::BoundEdge& edge = query.edges[e];
      relations_.push_back({edge.query_relation[end], alike_[source(edge, end)], alike_[target(edge, end)]});
    }
  }
  const auto vertices = static_cast<VertexId>(candidates.masks().size());
  if (numbering == Numbering::by_degree) number_by_degree(query.graph(), vertices);
  store_.reserve_vertices(vertices);
  std::vector<graph::HalfEdge> arriving;
  const auto flush = [&] {
    store_.stage(arriving, {}, workers);
    store_.settle(workers);
    entries_ += arriving.size();
    arriving.clear();
  };
  for (VertexId at = 0; at < vertices; ++at) {
    const VertexId vertex = by_number_.empty() ? at : by_number_[at];
    if (candidates.of(vertex) != 0) collect(query, candidates, vertex, arriving);
    if (arriving.size() < chunk) continue;
    flush();
    if (stop.load(std::memory_order_relaxed)) return;
  }
  flush();
  store_.track_changes();  // there will be none, so a mirror need not look for them
}

// The relation that a query edge reads at an end, or one past the last if there is none yet.
std::size_t PrunedLists::relation_of(const plan::BoundQuery& query, std::uint32_t edge, unsigned end) const {
  const plan::BoundEdge& bound = query.edges[edge];
  const auto found = std::ranges::find_if(relations_, [&](const Relation& relation) {
    return relation.query_relation == bound.query_relation[end] && relation.sources == alike_[source(bound, end)] &&
           relation.targets == alike_[target(bound, end)];
  });
  return static_cast<std::size_t>(found - relations_.begin());
}

// Appends the vertex's lists, ascending by relation and entry.
void PrunedLists::collect(const plan::BoundQuery& query, const Candidates& candidates, VertexId vertex,
                          std::vector<graph::HalfEdge>& into) const {
  const Mask own = candidates.of(vertex);
  for (graph::RelationId r = 0; r < relations_.size(); ++r) {
    const Relation& relation = relations_[r];
    if ((relation.sources & own) == 0) continue;
    const graph::Resolved& where = query.graph().resolve(relation.query_relation);
    if (where.store == nullptr) continue;
    const graph::List list = where.store->list(vertex, where.relation);
    std::ptrdiff_t kept = 0;
    for (std::uint32_t i = 0; i < list.size; ++i) {
      if ((candidates.of(list.ids[i]) & relation.targets) == 0) continue;
      const std::uint32_t tag = where.tagged ? list.tags[i] : 0;
      into.push_back({number(vertex), r, number(list.ids[i]), tag, tag});
      ++kept;
    }
    if (!numbers_.empty()) {
      std::sort(into.end() - kept, into.end(), [](const graph::HalfEdge& a, const graph::HalfEdge& b) {
        return std::tie(a.neighbour, a.tag) < std::tie(b.neighbour, b.tag);
      });
    }
  }
}

// A counting sort. Vertices of the same degree keep their order.
void PrunedLists::number_by_degree(const graph::DataGraph& graph, VertexId vertices) {
  std::vector<VertexId> next(graph.base().degree_bound() + 2);
  for (VertexId vertex = 0; vertex < vertices; ++vertex) ++next[graph.degree(vertex) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  numbers_.resize(vertices);
  by_number_.resize(vertices);
  for (VertexId vertex = 0; vertex < vertices; ++vertex) {
    numbers_[vertex] = next[graph.degree(vertex)]++;
    by_number_[numbers_[vertex]] = vertex;
  }
}

void PrunedLists::lend(plan::BoundQuery& query, graph::DataGraph& graph) const {
  for (std::uint32_t e = 0; e < query.edges.size(); ++e) {
    std::array<std::size_t, 2> relations{relation_of(query, e, 0), relation_of(query, e, 1)};
    for (unsigned end = 0; end < 2; ++end) {
      const auto relation = static_cast<graph::RelationId>(relations[end]);
      query.restrict(e, end, graph.lend_query_relation(relations_[relation].query_relation, store_, relation));
    }
  }
}

}  // namespace deltamatch::filter

#include "plan/estimates.hpp"

#include <algorithm>
#include <bit>
#include <random>

namespace deltamatch::plan {

namespace {

// A relation with fewer entries says little about future batches. The planner then assumes middling lists, so that structure
// decides and no plan depends on an almost empty graph. Nor do the triangles of a graph with fewer edges count. This does not
// apply if only the current graph will be read.
constexpr double telling_entries = 1000;
constexpr double unknown_degree = 8;

// Returns the query vertex at which a probe for `block` is read.
std::uint32_t far_end(const BoundQuery& query, std::uint32_t block, const Probe& probe) noexcept {
  const BoundEdge& edge = query.edges[probe.edge];
  return (block >> edge.source & 1u) != 0 ? edge.target : edge.source;
}

}  // namespace

std::uint32_t read_at(const BoundQuery& query, std::uint32_t block, const std::vector<Probe>& probes) noexcept {
  std::uint32_t vertices = 0;
  for (const Probe& probe : probes) vertices |= 1u << far_end(query, block, probe);
  return vertices;
}

Estimates::Estimates(const BoundQuery& query, Of what, double closure) : query_(&query) {
  if (what == Of::current || static_cast<double>(query.graph().edges()) >= telling_entries) closure_ = closure;
  for (const BoundEdge& edge : query.edges) {
    std::array<double, 2> degree{};
    std::array<double, 2> lists{};
    double entries = 0;
    for (unsigned end = 0; end < 2; ++end) {
      const graph::RelationFigures figures = query.graph().figures(edge.query_relation[end]);
      entries = std::max(entries, static_cast<double>(figures.entries));
      const auto found = static_cast<double>(figures.entries);
      degree[end] = found == 0 ? unknown_degree : figures.squares / found;
      lists[end] = std::max(1.0, static_cast<double>(figures.lists));
      if (found < telling_entries && what == Of::batches && !query.graph().resolve(edge.query_relation[end]).lent) {
        degree[end] = std::max(degree[end], unknown_degree);
        lists[end] = std::max(lists[end], telling_entries);
      }
    }
    degree_.push_back(degree);
    lists_.push_back(lists);
    entries_.push_back(entries);
  }
}

double Estimates::size(std::uint32_t block, const std::vector<Probe>& probes) const noexcept {
  if (seen_ != nullptr) {
    const std::uint32_t from = read_at(*query_, block, probes);
    for (const Observation& seen : *seen_) {
      if (seen.from == from && block == 1u << seen.vertex) return seen.candidates;
    }
  }
  double shortest = -1;
  double thinning = 1;
  std::uint32_t before = 0;
  for (const Probe& probe : probes) {
    const unsigned from = end(probe);
    const double length = degree(probe.edge, from);
    const double longer = std::max(length, shortest);
    const double chance = std::min(1.0, longer / targets(probe.edge, from));
    const std::uint32_t at = far_end(*query_, block, probe);
    if (shortest >= 0) thinning *= (query_->neighbours(at) & before) != 0 ? std::max(chance, closure_) : chance;
    shortest = shortest < 0 ? length : std::min(shortest, length);
    before |= 1u << at;
  }
  return std::max(0.0, shortest) * thinning;
}

Candidates candidates_for(const BoundQuery& query, std::uint32_t block, const std::vector<std::uint32_t>& positions,
                          std::uint32_t anchor, std::size_t kept_apart) {
  Candidates result;
  struct Reach {
    std::uint32_t edge;
    unsigned end;         // at the side outside the block
    std::uint32_t bound;  // the query vertex at that end
  };
  std::vector<Reach> from_block;  // few of a large query's edges; this keeps planning fast
  for (std::uint32_t e = 0; e < query.edges.size(); ++e) {
    const BoundEdge& edge = query.edges[e];
    if ((block >> edge.target & 1U) != 0) from_block.push_back({e, 0, edge.source});
    if ((block >> edge.source & 1U) != 0) from_block.push_back({e, 1, edge.target});
  }
  const auto holds_for_any = [](std::uint32_t mask, auto&& any) {
    for (; mask != 0; mask &= mask - 1) {
      if (any(static_cast<std::uint32_t>(std::countr_zero(mask)))) return true;
    }
    return false;
  };
  for (std::size_t p = 0; p < positions.size(); ++p) {
    const auto position = static_cast<Position>(p);
    bool joined = false;
    for (const Reach& reach : from_block) {
      if ((positions[p] >> reach.bound & 1U) == 0) continue;
      joined = true;
      const Probe probe{position, is_inclusive(query, reach.edge, anchor), 1, reach.edge,
                        query.edges[reach.edge].query_relation[reach.end]};
      const auto same = std::find_if(result.probes.begin(), result.probes.end(), [&](const Probe& other) {
        return other.position == position && other.query_relation == probe.query_relation && other.inclusive == probe.inclusive;
      });
      if (same == result.probes.end()) {
        result.probes.push_back(probe);
      } else {
        ++same->power;
      }
    }
    if (joined || p >= kept_apart || query.mode != MatchMode::isomorphism) continue;
    const bool meets = holds_for_any(block, [&](std::uint32_t u) {
      return holds_for_any(positions[p], [&](std::uint32_t v) { return query.compatible(u, v); });
    });
    if (meets) result.distinct.push_back(position);
  }
  return result;
}

double triangle_closure(const graph::DataGraph& graph) {
  constexpr int sample = 1024;
  constexpr int draws_per_vertex = 4;
  const graph::Adjacency& base = graph.base();
  if (base.vertices() == 0) return 0;
  const auto neighbour = [&](VertexId vertex, std::uint32_t at) {
    VertexId found = vertex;
    base.for_each_list(vertex, [&](graph::RelationId, std::span<const std::uint32_t> ids, const std::uint32_t*) {
      if (at < ids.size()) found = ids[at];
      at = at < ids.size() ? UINT32_MAX : at - static_cast<std::uint32_t>(std::min<std::size_t>(at, ids.size()));
    });
    return found;
  };
  const auto joined = [&](VertexId a, VertexId b) {
    bool found = false;
    base.for_each_list(a, [&](graph::RelationId, std::span<const std::uint32_t> ids, const std::uint32_t*) {
      found = found || std::binary_search(ids.begin(), ids.end(), b);
    });
    return found;
  };
  std::minstd_rand draw;
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(draw() % n); };
  double closed = 0;
  double all = 0;
  for (int i = 0; i < sample; ++i) {
    const VertexId vertex = below(static_cast<std::uint32_t>(base.vertices()));
    const std::uint32_t degree = base.degree(vertex);
    if (degree < 2) continue;
    for (int j = 0; j < draws_per_vertex; ++j) {
      const VertexId a = neighbour(vertex, below(degree));
      const VertexId b = neighbour(vertex, below(degree));
      if (a == b) continue;
      all += degree;
      if (joined(a, b)) closed += degree;
    }
  }
  return all > 0 ? closed / all : 0;
}

}  // namespace deltamatch::plan

#include "plan/estimates.hpp"

#include <algorithm>
#include <random>

namespace deltamatch::plan {

namespace {

// A relation with fewer entries says little about the batch that is coming: it is taken for one of middling lists, so that
// structure decides and no plan rests on a graph that is still empty. Lent lists are all that will be read.
constexpr double telling_entries = 1000;
constexpr double unknown_degree = 8;

// The query vertex that a probe for `block` is read at.
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

Estimates::Estimates(const BoundQuery& query, double closure) : query_(&query), closure_(closure) {
  for (const BoundEdge& edge : query.edges) {
    std::array<double, 2> degree{};
    std::array<double, 2> lists{};
    double entries = 0;
    for (unsigned end = 0; end < 2; ++end) {
      const graph::RelationFigures figures = query.graph().figures(edge.reading[end]);
      entries = std::max(entries, static_cast<double>(figures.entries));
      const auto found = static_cast<double>(figures.entries);
      degree[end] = found == 0 ? unknown_degree : figures.squares / found;
      lists[end] = std::max(1.0, static_cast<double>(figures.lists));
      if (found < telling_entries && !query.graph().resolve(edge.reading[end]).lent) {
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
  for (std::size_t p = 0; p < positions.size(); ++p) {
    const auto position = static_cast<Position>(p);
    bool joined = false;
    for (std::uint32_t e = 0; e < query.edges.size(); ++e) {
      const BoundEdge& edge = query.edges[e];
      for (unsigned end = 0; end < 2; ++end) {
        const std::uint32_t bound = end == 0 ? edge.source : edge.target;
        const std::uint32_t free = end == 0 ? edge.target : edge.source;
        if ((positions[p] >> bound & 1u) == 0 || (block >> free & 1u) == 0) continue;
        joined = true;
        const Probe probe{position, is_inclusive(query, e, anchor), 1, e, edge.reading[end]};
        const auto same = std::find_if(result.probes.begin(), result.probes.end(), [&](const Probe& other) {
          return other.position == position && other.reading == probe.reading && other.inclusive == probe.inclusive;
        });
        if (same == result.probes.end()) {
          result.probes.push_back(probe);
        } else {
          ++same->power;
        }
      }
    }
    if (joined || p >= kept_apart || query.mode != MatchMode::isomorphism) continue;
    bool meets = false;
    for (std::uint32_t u = 0; u < query.vertices(); ++u) {
      for (std::uint32_t v = 0; v < query.vertices(); ++v) {
        meets = meets || ((block >> u & 1u) != 0 && (positions[p] >> v & 1u) != 0 && query.compatible(u, v));
      }
    }
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

#include "plan/estimates.hpp"

#include <algorithm>

namespace deltamatch::plan {

namespace {

// A relation with fewer entries says little about the batch that is coming: it is taken for one of middling lists, so that
// structure decides and no plan rests on a graph that is still empty. Lent lists are all that will be read.
constexpr double telling_entries = 1000;
constexpr double unknown_degree = 8;

}  // namespace

Estimates::Estimates(const BoundQuery& query) : query_(&query) {
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

double Estimates::size(const std::vector<Probe>& probes) const noexcept {
  double shortest = -1;
  double thinning = 1;
  for (const Probe& probe : probes) {
    const unsigned from = end(probe);
    const double length = degree(probe.edge, from);
    const double share = std::min(1.0, length / targets(probe.edge, from));
    if (shortest < 0) {
      shortest = length;
    } else if (length < shortest) {
      thinning *= std::min(1.0, shortest / targets(probe.edge, from));
      shortest = length;
    } else {
      thinning *= share;
    }
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

}  // namespace deltamatch::plan

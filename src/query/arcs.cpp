#include "query/arcs.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace deltamatch::query {
namespace {

std::size_t pair_index(std::uint32_t u, std::uint32_t v) noexcept {
  return std::min(u, v) * max_query_vertices + std::max(u, v);
}

}  // namespace

std::vector<Arc> arcs(const Query& query) {
  std::vector<Arc> result;
  for (std::uint32_t e = 0; e < query.edges.size(); ++e) {
    result.push_back({e, false});
    if (!query.edges[e].directed) result.push_back({e, true});
  }
  return result;
}

EdgeAction::EdgeAction(const Query& query) : by_pair_(query.edges.size()) {
  std::map<LabelSet, std::uint32_t> label_sets;
  edges_.reserve(query.edges.size());
  for (const QueryEdge& edge : query.edges) {
    const auto labels = label_sets.try_emplace(edge.labels, static_cast<std::uint32_t>(label_sets.size())).first->second;
    Edge added{static_cast<std::uint8_t>(edge.source), static_cast<std::uint8_t>(edge.target), edge.directed, labels, 0};
    added.rank = static_cast<std::uint32_t>(std::ranges::count_if(
        edges_, [&](const Edge& other) { return leads_alike(other, added, added.source, added.target); }));
    edges_.push_back(added);
    ++first_[pair_index(edge.source, edge.target) + 1];
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  std::iota(by_pair_.begin(), by_pair_.end(), 0U);
  std::sort(by_pair_.begin(), by_pair_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(pair_index(edges_[a].source, edges_[a].target), a) <
           std::pair(pair_index(edges_[b].source, edges_[b].target), b);
  });
}

Arc EdgeAction::image(Arc arc, const Permutation& automorphism) const {
  const Edge& edge = edges_[arc.edge];
  const std::uint8_t source = automorphism[edge.source];
  const std::uint8_t target = automorphism[edge.target];
  const std::size_t ends = pair_index(source, target);
  for (std::uint32_t i = first_[ends]; i < first_[ends + 1]; ++i) {
    const Edge& other = edges_[by_pair_[i]];
    if (other.rank != edge.rank || !leads_alike(other, edge, source, target)) continue;
    return {by_pair_[i], other.source == source ? arc.reversed : !arc.reversed};
  }
  return arc;  // not reached for an automorphism
}

std::vector<ArcOrbit> arc_orbits(const Query& query, const Group& group) {
  const EdgeAction action(query);
  const std::vector<Arc> all = arcs(query);
  std::map<Arc, Permutation> reached;  // arcs of all orbits, with a map from the orbit's smallest arc
  std::vector<ArcOrbit> result;
  for (const Arc arc : all) {
    if (reached.contains(arc)) continue;
    std::vector<Arc> members{arc};
    reached.emplace(arc, identity());
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (const Permutation& g : group.generators()) {
        const Arc image = action.image(members[i], g);
        if (reached.try_emplace(image, compose(reached.at(members[i]), g)).second) members.push_back(image);
      }
    }
    std::sort(members.begin(), members.end());
    ArcOrbit& orbit = result.emplace_back();
    orbit.representative = arc;
    for (const Arc member : members) orbit.transversal.push_back(reached.at(member));
    orbit.members = std::move(members);
  }
  return result;
}

}  // namespace deltamatch::query

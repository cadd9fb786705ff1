#include "query/structure.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace deltamatch::query {

Permutation identity() noexcept {
  Permutation result;
  std::iota(result.begin(), result.end(), std::uint8_t{0});
  return result;
}

Permutation compose(const Permutation& first, const Permutation& second) noexcept {
  Permutation result;
  for (std::size_t v = 0; v < result.size(); ++v) result[v] = second[first[v]];
  return result;
}

Permutation inverse(const Permutation& permutation) noexcept {
  Permutation result;
  for (std::size_t v = 0; v < result.size(); ++v) result[permutation[v]] = static_cast<std::uint8_t>(v);
  return result;
}

Structure::Structure(const Query& query) : size(query.vertices.size()) {
  std::map<LabelSet, Colour> vertex_colours;
  for (std::size_t v = 0; v < size; ++v) {
    vertex[v] = vertex_colours.try_emplace(query.vertices[v].labels, static_cast<Colour>(vertex_colours.size())).first->second;
  }

  // The edges between u and v as seen from u: a sorted list of (out, in or either way; labels).
  enum class Way : std::uint8_t { out, in, either };
  using Half = std::pair<Way, LabelSet>;
  std::map<std::pair<Vertex, Vertex>, std::vector<Half>> halves;
  for (const QueryEdge& edge : query.edges) {
    halves[{edge.source, edge.target}].emplace_back(edge.directed ? Way::out : Way::either, edge.labels);
    halves[{edge.target, edge.source}].emplace_back(edge.directed ? Way::in : Way::either, edge.labels);
  }
  std::map<std::vector<Half>, Colour> pair_colours;
  for (auto& [ends, list] : halves) {
    std::sort(list.begin(), list.end());
    const auto fresh = static_cast<Colour>(pair_colours.size() + 1);
    pair[ends.first][ends.second] = pair_colours.try_emplace(std::move(list), fresh).first->second;
  }
}

bool Structure::kept_by(const Permutation& permutation) const noexcept {
  for (std::size_t u = 0; u < size; ++u) {
    if (permutation[u] >= size || vertex[permutation[u]] != vertex[u]) return false;
    for (std::size_t v = 0; v < size; ++v) {
      if (pair[permutation[u]][permutation[v]] != pair[u][v]) return false;
    }
  }
  return true;
}

std::vector<TwinClass> twins(const Query& query) {
  const Structure structure(query);
  // Two vertices are alike if exchanging them is an automorphism. This is an equivalence relation: (a c) = (a b)(b c)(a b).
  const auto alike = [&](Vertex u, Vertex v) {
    if (structure.vertex[u] != structure.vertex[v] || structure.pair[u][v] != structure.pair[v][u]) return false;
    for (std::size_t w = 0; w < structure.size; ++w) {
      if (w != u && w != v && structure.pair[u][w] != structure.pair[v][w]) return false;
    }
    return true;
  };
  std::vector<TwinClass> result;
  std::array<bool, max_query_vertices> taken{};
  for (Vertex u = 0; u < structure.size; ++u) {
    if (taken[u]) continue;
    TwinClass found{{u}, false};
    for (Vertex v = u + 1; v < structure.size; ++v) {
      if (taken[v] || !alike(u, v)) continue;
      taken[v] = true;
      found.vertices.push_back(v);
      found.adjacent = structure.pair[u][v] != 0;
    }
    if (found.vertices.size() > 1) result.push_back(std::move(found));
  }
  return result;
}

}  // namespace deltamatch::query

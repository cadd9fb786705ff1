// What mining must find, by trying every set of vertices. Shares no code with what it tests.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "deltamatch/mine.hpp"

namespace deltamatch::brute {

using Vertices = std::vector<std::uint32_t>;
using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

struct Graph {
  std::uint32_t n = 0;
  Edges edges;
  std::vector<std::vector<bool>> joined;

  Graph(std::uint32_t vertices, const Edges& list) : n(vertices), joined(vertices, std::vector<bool>(vertices, false)) {
    for (const auto& [u, v] : list) {
      edges.emplace_back(u, v);
      if (u != v) joined[u][v] = joined[v][u] = true;
    }
  }
  [[nodiscard]] SimpleGraph simple() const { return {n, edges}; }
};

inline Graph random_graph(std::uint32_t n, double density, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Edges edges;
  for (std::uint32_t v = 0; v < n; ++v) {
    for (std::uint32_t u = 0; u < v; ++u) {
      if (std::uniform_real_distribution<double>()(random) < density) edges.emplace_back(u, v);
    }
  }
  return {n, edges};
}

/// Draws ends with a bias to low numbers. That gives a dense core of hubs in a sparse graph, which is too large to be a Graph.
inline SimpleGraph skewed_graph(std::uint32_t n, std::size_t edges, double bias, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform;
  const auto end = [&] { return static_cast<std::uint32_t>(std::pow(uniform(random), bias) * n); };
  Edges drawn;
  for (std::size_t i = 0; i < edges; ++i) drawn.emplace_back(end(), end());
  return {n, drawn};
}

/// Every k-subset of 0 to n - 1, ascending.
inline void for_each_subset(std::uint32_t n, unsigned k, const std::function<void(const Vertices&)>& take) {
  if (k > n) return;
  std::vector<bool> chosen(n, false);
  std::fill(chosen.begin(), chosen.begin() + k, true);
  do {
    Vertices set;
    for (std::uint32_t v = 0; v < n; ++v) {
      if (chosen[v]) set.push_back(v);
    }
    take(set);
  } while (std::prev_permutation(chosen.begin(), chosen.end()));
}

/// The key of the vertices in this order, as in Pattern::key.
inline std::uint32_t key_of(const Graph& graph, const Vertices& set) {
  std::uint32_t key = 0;
  unsigned bit = 0;
  for (std::size_t j = 1; j < set.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i, ++bit) {
      if (graph.joined[set[i]][set[j]]) key |= 1U << bit;
    }
  }
  return key;
}

inline unsigned edges_of(const Graph& graph, const Vertices& set) {
  unsigned edges = 0;
  for (std::size_t j = 1; j < set.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) edges += graph.joined[set[i]][set[j]] ? 1U : 0U;
  }
  return edges;
}

inline bool connected(const Graph& graph, const Vertices& set) {
  std::vector<bool> reached(set.size(), false);
  std::vector<std::size_t> open{0};
  reached[0] = true;
  std::size_t count = 1;
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (reached[i] || !graph.joined[set[at]][set[i]]) continue;
      reached[i] = true;
      ++count;
      open.push_back(i);
    }
  }
  return count == set.size();
}

/// The least key over all orders of the vertices: a canonical form by definition.
inline std::uint32_t least_key(const Graph& graph, Vertices set) {
  std::sort(set.begin(), set.end());
  std::uint32_t least = 0xffffffff;
  do {
    least = std::min(least, key_of(graph, set));
  } while (std::next_permutation(set.begin(), set.end()));
  return least;
}

/// Connected induced subgraphs of k vertices by least key.
inline std::map<std::uint32_t, std::uint64_t> motifs(const Graph& graph, unsigned k) {
  std::map<std::uint32_t, std::uint64_t> counts;
  std::map<std::uint32_t, std::uint32_t> known;  // least keys of raw keys
  for_each_subset(graph.n, k, [&](const Vertices& set) {
    if (!connected(graph, set)) return;
    const auto [found, fresh] = known.try_emplace(key_of(graph, set), 0);
    if (fresh) found->second = least_key(graph, set);
    ++counts[found->second];
  });
  return counts;
}

/// The graph of a pattern.
inline Graph graph_of(const Pattern& pattern) {
  Edges edges;
  for (const auto& [i, j] : pattern.edges()) edges.emplace_back(i, j);
  return {pattern.vertices, edges};
}

/// The counts of count_motifs by least key, without patterns that do not occur.
inline std::map<std::uint32_t, std::uint64_t> by_least_key(const MotifResult& result) {
  std::map<std::uint32_t, std::uint64_t> counts;
  for (const Motif& motif : result.motifs) {
    if (motif.count == 0) continue;
    Vertices all(motif.pattern.vertices);
    std::iota(all.begin(), all.end(), 0U);
    counts[least_key(graph_of(motif.pattern), all)] += static_cast<std::uint64_t>(motif.count);
  }
  return counts;
}

}  // namespace deltamatch::brute

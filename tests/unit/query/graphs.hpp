// Query graphs with known automorphism groups, random ones, and a slow, obvious way to find all automorphisms.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
// rapidcheck's gtest.h needs gtest first
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "deltamatch/query.hpp"
#include "query/structure.hpp"

namespace deltamatch::query {

inline Query unlabelled(std::size_t n, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges,
                        bool directed = false) {
  Query query;
  for (std::size_t v = 0; v < n; ++v) query.vertices.push_back({"v" + std::to_string(v), {}});
  for (const auto& [u, v] : edges) query.edges.push_back({u, v, {}, directed});
  validate(query, "test");
  return query;
}

inline Query complete(std::uint32_t n) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (std::uint32_t u = 0; u < n; ++u) {
    for (std::uint32_t v = u + 1; v < n; ++v) edges.emplace_back(u, v);
  }
  return unlabelled(n, edges);
}

inline Query path(std::uint32_t n, bool directed = false) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (std::uint32_t v = 1; v < n; ++v) edges.emplace_back(v - 1, v);
  return unlabelled(n, edges, directed);
}

inline Query cycle(std::uint32_t n, bool directed = false) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (std::uint32_t v = 0; v < n; ++v) edges.emplace_back(v, (v + 1) % n);
  return unlabelled(n, edges, directed);
}

/// The centre is vertex 0.
inline Query star(std::uint32_t leaves, bool directed = false) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (std::uint32_t v = 1; v <= leaves; ++v) edges.emplace_back(0, v);
  return unlabelled(leaves + 1, edges, directed);
}

inline Query petersen() {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (std::uint32_t v = 0; v < 5; ++v) {
    edges.emplace_back(v, (v + 1) % 5);
    edges.emplace_back(v, v + 5);
    edges.emplace_back(v + 5, (v + 2) % 5 + 5);
  }
  return unlabelled(10, edges);
}

inline Query hypercube(std::uint32_t dimension) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (std::uint32_t v = 0; v < 1U << dimension; ++v) {
    for (std::uint32_t d = 0; d < dimension; ++d) {
      if ((v >> d & 1) == 0) edges.emplace_back(v, v | 1U << d);
    }
  }
  return unlabelled(1U << dimension, edges);
}

inline Query grid(std::uint32_t rows, std::uint32_t columns) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t c = 0; c < columns; ++c) {
      if (c + 1 < columns) edges.emplace_back(r * columns + c, r * columns + c + 1);
      if (r + 1 < rows) edges.emplace_back(r * columns + c, (r + 1) * columns + c);
    }
  }
  return unlabelled(rows * columns, edges);
}

/// 2 to `most` vertices, connected, few labels, parallel, directed and undirected edges. Some are symmetric.
inline rc::Gen<Query> any_query(std::uint32_t most) {
  return rc::gen::exec([most] {
    const auto n = *rc::gen::inRange<std::uint32_t>(2, most + 1);
    const int kinds = *rc::gen::inRange(1, 4);  // of labels; 1: nothing has a label
    const int directions = *rc::gen::inRange(0, 3);
    const auto labels = [&] {
      static const LabelSet sets[] = {{}, {"A"}, {"", "B"}};
      return sets[*rc::gen::inRange(0, kinds)];
    };
    Query query;
    for (std::uint32_t v = 0; v < n; ++v) query.vertices.push_back({"v" + std::to_string(v), labels()});
    const auto add = [&](std::uint32_t u, std::uint32_t v) {
      QueryEdge edge{u, v, labels(), directions == 0 || (directions == 1 && *rc::gen::inRange(0, 2) == 0)};
      if (*rc::gen::inRange(0, 2) == 0) std::swap(edge.source, edge.target);
      const bool twice = std::any_of(query.edges.begin(), query.edges.end(), [&](const QueryEdge& other) {
        QueryEdge reverse = other;
        std::swap(reverse.source, reverse.target);
        return edge == other || (!edge.directed && edge == reverse);
      });
      if (!twice) query.edges.push_back(std::move(edge));
    };
    const int shape = *rc::gen::inRange(0, 3);  // tree to grow: random, path or star
    for (std::uint32_t v = 1; v < n; ++v) add(shape == 0 ? *rc::gen::inRange<std::uint32_t>(0, v) : shape == 1 ? v - 1 : 0, v);
    const auto extra = *rc::gen::inRange<std::uint32_t>(0, 2 * n);
    for (std::uint32_t i = 0; i < extra; ++i) {
      const auto u = *rc::gen::inRange<std::uint32_t>(0, n);
      const auto v = *rc::gen::inRange<std::uint32_t>(0, n);
      if (u != v) add(u, v);
    }
    validate(query, "test");
    return query;
  });
}

/// Whether a permutation of the vertices maps the set of edges to itself and keeps labels. This is about the query, not a
/// Structure.
inline bool is_automorphism(const Query& query, const Permutation& p) {
  for (std::size_t v = 0; v < query.vertices.size(); ++v) {
    if (query.vertices[p[v]].labels != query.vertices[v].labels) return false;
  }
  return std::all_of(query.edges.begin(), query.edges.end(), [&](const QueryEdge& edge) {
    return std::any_of(query.edges.begin(), query.edges.end(), [&](const QueryEdge& other) {
      if (other.labels != edge.labels || other.directed != edge.directed) return false;
      if (other.source == p[edge.source] && other.target == p[edge.target]) return true;
      return !edge.directed && other.source == p[edge.target] && other.target == p[edge.source];
    });
  });
}

/// Finds all automorphisms by trying every permutation. For few vertices.
inline std::vector<Permutation> all_automorphisms(const Query& query) {
  std::vector<Permutation> result;
  Permutation p = identity();
  const auto end = p.begin() + static_cast<std::ptrdiff_t>(query.vertices.size());
  do {
    if (is_automorphism(query, p)) result.push_back(p);
  } while (std::next_permutation(p.begin(), end));
  return result;
}

}  // namespace deltamatch::query

// Query graphs of two to eight vertices, and small fixed data graphs to plan them on.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "deltamatch/query.hpp"
#include "graph/data_graph.hpp"
#include "plan/bound_query.hpp"
#include "plan/plan.hpp"

namespace deltamatch::plan {

struct Shape {
  const char* name;
  std::uint32_t vertices;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
};

inline const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all{
      {"edge", 2, {{0, 1}}},
      {"triangle", 3, {{0, 1}, {1, 2}, {2, 0}}},
      {"path3", 3, {{0, 1}, {1, 2}}},
      {"path4", 4, {{0, 1}, {1, 2}, {2, 3}}},
      {"double_broom", 6, {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {1, 5}}},
      {"cycle4", 4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}},
      {"diamond", 4, {{0, 1}, {1, 2}, {2, 0}, {1, 3}, {2, 3}}},
      {"clique4", 4, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}},
      {"tailed_triangle", 4, {{0, 1}, {1, 2}, {2, 0}, {2, 3}}},
      {"house", 5, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 4}}},
      {"path5", 5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}},
      {"star4", 5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}}},
      {"clique5", 5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 2}, {1, 3}, {1, 4}, {2, 3}, {2, 4}, {3, 4}}},
      {"joined_triangles", 6, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 5}, {5, 3}}},
      {"cycle6", 6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}}},
      {"sparse6", 6, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {1, 4}, {4, 5}, {5, 2}}},
      {"cycle8", 8, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 0}}},
  };
  return all;
}

/// All vertices have the label P, or the i-th one has L<i>.
inline Query query_of(const Shape& shape, bool all_different) {
  Query query;
  query.name = shape.name;
  for (std::uint32_t v = 0; v < shape.vertices; ++v) {
    query.vertices.push_back({std::string(1, static_cast<char>('a' + v)), {all_different ? "L" + std::to_string(v) : "P"}});
  }
  for (const auto& [u, v] : shape.edges) query.edges.push_back({u, v, {}, false});
  return query;
}

/// A skewed graph of 96 vertices with labels P, or L0 to L7, and edge labels X and Y. It is the same on every machine.
class Data {
 public:
  Data(bool directed, bool all_different) : graph(directed, false) {
    for (VertexId v = 0; v < vertices; ++v) {
      const std::string label = all_different ? "L" + std::to_string(v % 8) : "P";
      graph.dictionary.create(std::int64_t{v}, graph.vertex_labels.intern(label));
    }
    const LabelId labels[] = {graph.edge_labels.intern("X"), graph.edge_labels.intern("Y")};
    std::set<graph::Edge> edges;
    std::uint64_t state = 1;
    const auto draw = [&] {
      return static_cast<std::uint32_t>((state = state * 6364136223846793005U + 1442695040888963407U) >> 33);
    };
    while (edges.size() < 600) {
      const VertexId u = draw() % vertices;
      const std::uint32_t bound = 1 + draw() % vertices;  // low numbers are hubs
      const VertexId v = draw() % bound;
      if (u != v) edges.insert(graph.ranked(u, v, labels[draw() % 3 / 2]));
    }
    graph::NetBatch batch;
    batch.inserted.assign(edges.begin(), edges.end());
    Workers workers(1);
    graph.stage(batch);
    graph.settle(workers);
  }

  static constexpr VertexId vertices = 96;
  graph::DataGraph graph;
};

}  // namespace deltamatch::plan

#include "engine/storage/graph_updates.hpp"

#include <algorithm>
#include <vector>

#include "engine/listing/delivery.hpp"

namespace deltamatch::engine {

void for_each_update(const graph::DataGraph& graph, const std::function<void(const Update&)>& take) {
  std::vector<VertexId> vertices;
  vertices.reserve(graph.dictionary.size());
  for (VertexId v = 0; v < graph.dictionary.capacity(); ++v) {
    if (graph.dictionary.alive(v)) vertices.push_back(v);
  }
  std::sort(vertices.begin(), vertices.end(),
            [&](VertexId a, VertexId b) { return graph.dictionary.external(a) < graph.dictionary.external(b); });
  for (const VertexId v : vertices) {
    Update update;
    update.kind = UpdateKind::insert_vertex;
    update.source = graph.dictionary.external(v);
    update.source_label = graph.vertex_labels.text(graph.dictionary.label(v));
    take(update);
  }
  for (const VertexId v : vertices) {
    std::vector<std::pair<MatchedEdge, Timestamp>> edges;
    graph.for_each_edge(v, !graph.directed(), [&](const graph::Edge& edge, Timestamp time) {
      const MatchedEdge external = external_edge(graph, edge);
      if (external.source == graph.dictionary.external(v)) edges.emplace_back(external, time);
    });
    std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) {
      return a.first.target != b.first.target ? a.first.target < b.first.target
             : a.first.label != b.first.label ? a.first.label < b.first.label
                                              : a.first.ordinal < b.first.ordinal;
    });
    for (const auto& [edge, time] : edges) {
      Update update;
      update.source = edge.source;
      update.target = edge.target;
      update.label = edge.label;
      if (graph.edge_table) {
        update.time = edge.time;
      } else if (graph.timed()) {
        update.time = time;
      }
      take(update);
    }
  }
}

}  // namespace deltamatch::engine

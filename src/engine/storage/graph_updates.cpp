#include "engine/storage/graph_updates.hpp"

#include <algorithm>
#include <tuple>
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
  std::vector<AttributeValue> edge_values(graph.edge_table ? graph.edge_table->values().width() : 0);
  std::vector<AttributeValue> vertex_values(graph.vertex_values.width());
  for (const VertexId v : vertices) {
    Update update;
    update.kind = UpdateKind::insert_vertex;
    update.source = graph.dictionary.external(v);
    update.source_label = graph.vertex_labels.text(graph.dictionary.label(v));
    graph.vertex_values.values(v, vertex_values);
    const Properties properties{std::nullopt, vertex_values};
    if (!vertex_values.empty()) update.properties = &properties;
    take(update);
  }
  for (const VertexId v : vertices) {
    std::vector<std::tuple<MatchedEdge, Timestamp, graph::Edge>> edges;
    graph.for_each_edge(v, !graph.directed(), [&](const graph::Edge& edge, Timestamp time) {
      const MatchedEdge external = external_edge(graph, edge);
      if (external.source == graph.dictionary.external(v)) edges.emplace_back(external, time, edge);
    });
    std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) {
      const auto order = [](const MatchedEdge& edge) { return std::tie(edge.target, edge.label, edge.ordinal, edge.key); };
      return order(std::get<0>(a)) < order(std::get<0>(b));
    });
    for (const auto& [edge, time, place] : edges) {
      Update update;
      update.source = edge.source;
      update.target = edge.target;
      update.label = edge.label;
      if (!graph.edge_table) {
        if (graph.timed()) update.time = time;
        take(update);
        continue;
      }
      update.time = edge.time;
      graph.edge_table->values().values(place.which, edge_values);
      const Properties properties{edge.key, edge_values};
      if (edge.key || !edge_values.empty()) update.properties = &properties;
      take(update);
    }
  }
}

}  // namespace deltamatch::engine

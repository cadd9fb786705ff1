#include "engine/whole/edge_labels.hpp"

#include <algorithm>

namespace deltamatch::engine {

std::vector<EdgeLabelStatistics> edge_labels_read(const graph::DataGraph& graph, std::span<const plan::LabelIds> admitted) {
  const std::vector<graph::EdgeLabelFigures> figures = graph.edge_label_figures();
  std::vector<EdgeLabelStatistics> read;
  bool labelled = false;
  for (LabelId label = 0; label < figures.size(); ++label) {
    if (figures[label].edges == 0) continue;
    labelled = labelled || label != empty_label;
    if (std::ranges::none_of(admitted, [&](const plan::LabelIds& labels) { return plan::admits(labels, label); })) continue;
    read.push_back({std::string(graph.edge_labels.text(label)), figures[label].edges, figures[label].bytes});
  }
  if (!labelled) return {};
  std::ranges::sort(read, {}, &EdgeLabelStatistics::label);
  return read;
}

std::vector<EdgeLabelStatistics> edge_labels_read(const plan::BoundQuery& query) {
  std::vector<plan::LabelIds> admitted;
  for (const plan::BoundEdge& edge : query.edges) admitted.push_back(edge.labels);
  for (const plan::BoundCount& count : query.counts) {
    for (std::size_t e = count.first_edge(); e < count.pattern->edges.size(); ++e)
      admitted.push_back(count.pattern->edges[e].labels);
  }
  if (query.induced) admitted.emplace_back();  // any edge may rule out a match
  return edge_labels_read(query.graph(), admitted);
}

}  // namespace deltamatch::engine

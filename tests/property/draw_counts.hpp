// Gives random queries conditions that count.
#pragma once

#include <functional>

#include "property/scenario.hpp"

namespace deltamatch::property {

/// What counted patterns are drawn from.
struct CountChoices {
  bool directed = true;     ///< the data is
  bool alike_edges = true;  ///< the graph may have two alike edges
  bool single = true;       ///< the query may be cut down to one vertex
  std::function<LabelSet()> vertex_labels;
  std::function<LabelSet()> edge_labels;
  std::function<Expression(const Query&)> comparison;  ///< of elements of a query
};

/// Adds one or two counts to the query's condition. Sometimes the query is cut down to one vertex, if it may be.
void draw_counts(const CountChoices& choices, Query& query);

}  // namespace deltamatch::property

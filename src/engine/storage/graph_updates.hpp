// Turns a graph into the updates that would make it.
#pragma once

#include <functional>

#include "deltamatch/update.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::engine {

/// Calls take(update) for every vertex of the settled graph, ordered by external id. Then calls it for every edge, ordered by
/// source, target, label, and then by age or key. The views in an update are valid during the call. O(V log V + E log(largest
/// degree)).
void for_each_update(const graph::DataGraph& graph, const std::function<void(const Update&)>& take);

}  // namespace deltamatch::engine

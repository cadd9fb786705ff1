// A graph as the updates that would make it.
#pragma once

#include <functional>

#include "deltamatch/update.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::engine {

/// Calls take(update) for every vertex of the settled graph, by external id, then for every edge, by source, target and label.
/// What an update views holds during the call. O(V log V + E log(largest degree)).
void for_each_update(const graph::DataGraph& graph, const std::function<void(const Update&)>& take);

}  // namespace deltamatch::engine

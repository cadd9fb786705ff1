#include "engine/whole/work_estimate.hpp"

#include <algorithm>
#include <utility>

namespace deltamatch::engine {

namespace {

// The most edges of a walk; what lies farther off is much the same for all vertices. Fewer walks lead to lesser vertices only.
constexpr std::size_t most_edges = 2;
constexpr std::size_t most_edges_down = 3;
constexpr double by_itself = 50;  // in walks: the work at an anchor's end or a root that leads nowhere
// Vertices that a thread takes at a time.
constexpr std::size_t grain = 1024;

}  // namespace

WorkEstimate::WorkEstimate(const graph::DataGraph& graph, const plan::BoundQuery& query, bool ordered, Workers& workers,
                           const match::StopFlag& stop) {
  std::vector<std::pair<const graph::Adjacency*, graph::RelationId>> lists;
  std::size_t vertices = graph.base().vertices();
  for (const auto& edge : query.edges) {
    for (const graph::QueryRelationId query_relation : edge.query_relation) {
      const graph::Resolved& where = graph.resolve(query_relation);
      if (where.store == nullptr) continue;
      lists.emplace_back(where.store, where.relation);
      vertices = std::max(vertices, where.store->vertices());
    }
  }
  std::sort(lists.begin(), lists.end());
  lists.erase(std::unique(lists.begin(), lists.end()), lists.end());

  walks_.assign(vertices, 1);
  std::vector<double> longer(vertices);
  const std::size_t edges = std::min<std::size_t>(ordered ? most_edges_down : most_edges, query.vertices() - 1);
  for (std::size_t length = 0; length < edges; ++length) {
    workers.for_each(vertices, grain, [&](unsigned, std::size_t begin, std::size_t end) {
      if (stop.load(std::memory_order_relaxed)) return;
      for (std::size_t v = begin; v < end; ++v) {
        double walks = 1;
        for (const auto& [store, relation] : lists) {
          if (v >= store->vertices()) continue;
          const graph::List list = store->list(static_cast<VertexId>(v), relation);
          for (std::uint32_t i = 0; i < list.size && (!ordered || list.ids[i] < v); ++i) walks += walks_[list.ids[i]];
        }
        longer[v] = walks;
      }
    });
    walks_.swap(longer);
  }
  for (double& walks : walks_) walks += by_itself;
}

}  // namespace deltamatch::engine

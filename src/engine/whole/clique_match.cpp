#include "engine/whole/clique_match.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "deltamatch/mine.hpp"
#include "engine/whole/edge_labels.hpp"
#include "mine/cliques.hpp"

namespace deltamatch::engine {
namespace {

constexpr std::uint64_t steps_of_edge = 10;  // some nanoseconds each, to find an edge and to write it down
constexpr std::size_t least_vertices = 4;    // with fewer vertices, sums over plans are as fast

bool is_clique(const Query& query) {
  const std::size_t n = query.vertices.size();
  if (n < least_vertices || query.edges.size() != n * (n - 1) / 2 || query.where || query.within) return false;
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const QueryEdge& edge : query.edges) {
    if (edge.directed || !edge.labels.empty() || edge.quantifier) return false;
    pairs.insert(std::minmax(edge.source, edge.target));
  }
  return pairs.size() == query.edges.size() &&
         std::all_of(query.vertices.begin(), query.vertices.end(), [](const QueryVertex& v) { return v.labels.empty(); });
}

bool asks_for_cliques(const Query& query, const StaticOptions& options) {
  return options.query.mode == MatchMode::isomorphism && !options.query.list && !options.limit &&
         options.filter == Filter::automatic && !options.filter_without.any() && options.count_from == CountFrom::automatic &&
         options.query.planner == nullptr && is_clique(query);
}

/// The graph without directions and labels. No value if several edges join the same two vertices. Incomplete once the run is
/// stopped.
std::optional<SimpleGraph> without_parallels(const graph::DataGraph& graph, mine::RunControl& control) {
  mine::PeriodicCheck check(control, 0);
  std::vector<std::pair<VertexId, VertexId>> edges;
  edges.reserve(graph.edges());
  const VertexId vertices = graph.base().vertices();
  for (VertexId v = 0; v < vertices && check.go_on(steps_of_edge * std::uint64_t{graph.degree(v)}); ++v) {
    graph.for_each_edge(v, false, [&](const graph::Edge& edge, Timestamp) { edges.emplace_back(edge.tail, edge.head); });
  }
  if (control.check(0)) return SimpleGraph(0, {});
  SimpleGraph simple(vertices, edges);
  if (simple.edges() != edges.size()) return std::nullopt;
  return simple;
}

}  // namespace

std::optional<StaticResult> match_clique(const CliqueScene& scene, const Query& query, const StaticOptions& options) {
  if (!asks_for_cliques(query, options)) return std::nullopt;
  std::atomic<bool> stopped = false;  // only by the caller, not by the time-out
  MineOptions how{.timeout = options.timeout};
  if (options.stop) {
    how.stop = [&] {
      if (options.stop()) stopped.store(true);
      return stopped.load();
    };
  }
  if (options.progress) how.progress = [&](double share) { options.progress({share}); };  // counts are added up at the end
  mine::RunControl control(how);
  const std::optional<SimpleGraph> graph = without_parallels(scene.graph, control);
  if (!graph) return std::nullopt;
  control.check(0);  // counting checks the clock only after some time
  const auto n = static_cast<unsigned>(query.vertices.size());
  const std::vector<Count> counts = mine::clique_counts(*graph, n, scene.workers, control, scene.devices);
  StaticResult result;
  if (counts.size() > n) result.matches = counts[n];
  if (options.query.count == CountMode::embeddings) result.matches = checked_mul(result.matches, checked_factorial(n));
  if (control.stopped()) result.shortfall = stopped.load() ? Shortfall::stopped : Shortfall::timeout;
  result.seconds = control.seconds();
  result.edge_labels = edge_labels_read(scene.graph, std::vector<plan::LabelIds>(1));
  return result;
}

std::string explain_clique(const CliqueScene& scene, const Query& query, const StaticOptions& options) {
  if (!asks_for_cliques(query, options)) return "";
  const MineOptions how;
  mine::RunControl control(how);
  if (!without_parallels(scene.graph, control)) return "";
  return "query " + query.name + ": cliques of " + std::to_string(query.vertices.size()) +
         " vertices, counted along a tree of pivots " + (scene.devices != nullptr ? "on devices" : "on the CPU") + "\n";
}

}  // namespace deltamatch::engine

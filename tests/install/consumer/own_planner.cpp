// A planner of one's own: next comes the vertex that closes the most query edges. Among equals, the one with the fewest
// expected candidates.
#include <cstdint>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/planner.hpp"

namespace {

using namespace deltamatch;

class ClosesMost final : public Planner {
 public:
  [[nodiscard]] std::vector<std::uint32_t> order(const PlanRequest& request) const override {
    const Query& query = request.query();
    std::vector<std::uint32_t> matched{request.tail(), request.head()};
    while (matched.size() < query.vertices.size()) matched.push_back(next(request, matched));
    return {matched.begin() + 2, matched.end()};
  }

 private:
  static bool holds(std::span<const std::uint32_t> vertices, std::uint32_t vertex) {
    for (const std::uint32_t each : vertices) {
      if (each == vertex) return true;
    }
    return false;
  }

  static std::uint32_t next(const PlanRequest& request, std::span<const std::uint32_t> matched) {
    const Query& query = request.query();
    std::uint32_t best = 0;
    std::size_t most = 0;
    double least = 0;
    for (std::uint32_t v = 0; v < query.vertices.size(); ++v) {
      if (holds(matched, v)) continue;
      std::size_t closed = 0;
      for (const QueryEdge& edge : query.edges) {
        if ((edge.source == v && holds(matched, edge.target)) || (edge.target == v && holds(matched, edge.source))) ++closed;
      }
      if (closed == 0) continue;  // it must be joined to a matched vertex
      const double candidates = request.expected(v, matched).candidates;
      if (closed < most || (closed == most && candidates >= least)) continue;
      best = v;
      most = closed;
      least = candidates;
    }
    return best;
  }
};

}  // namespace

int main() {
  const ClosesMost planner;  // outlives the engine, which keeps a pointer to it
  Engine engine({.directed = false});
  UpdateBatch start;
  for (const auto& [source, target] : std::vector<std::pair<int, int>>{{1, 2}, {2, 3}, {3, 4}, {4, 1}, {1, 5}})
    start.add({.source = source, .target = target});
  engine.load(start);  // the graph before the stream; it has no house yet

  const Query house = parse_pattern("(a)--(b)--(c)--(d)--(a), (a)--(r)--(b)", "house");
  engine.add_query(house, {.planner = &planner});
  std::vector<UpdateBatch> stream(2);
  stream[0].add({.source = 2, .target = 5});
  stream[1].add({.kind = UpdateKind::delete_edge, .source = 3, .target = 4});
  for (const UpdateBatch& update : stream) {
    const BatchResult result = engine.process(update);
    std::printf("house: +%s -%s\n", to_string(result.queries[0].added).c_str(), to_string(result.queries[0].removed).c_str());
  }

  // A planner that names a vertex twice is found out.
  struct Wrong final : Planner {
    [[nodiscard]] std::vector<std::uint32_t> order(const PlanRequest& request) const override {
      return std::vector<std::uint32_t>(request.query().vertices.size() - 2, request.tail());
    }
  } const wrong;
  try {
    static_cast<void>(engine.explain(house, QueryOptions{.planner = &wrong}));
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
  }
}

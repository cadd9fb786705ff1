// Mining: how often each connected pattern of three vertices occurs in an engine's graph, and which triangles there are.
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "deltamatch/engine.hpp"
#include "deltamatch/mine.hpp"

int main() {
  using namespace deltamatch;
  UpdateBatch start;
  for (const auto& [source, target] : {std::pair("ann", "bob"), {"bob", "cy"}, {"cy", "ann"}, {"cy", "dan"}})
    start.add({.source = source, .target = target});
  Engine engine;
  engine.load(start);

  const SimpleGraph graph = SimpleGraph::of(engine);
  for (const Motif& motif : count_motifs(graph, 3).motifs)
    std::printf("%s: %s\n", std::string(motif.pattern.common_name()).c_str(), to_string(motif.count).c_str());

  list_cliques(graph, 3, std::nullopt, {}, [&](std::span<const SimpleGraph::Vertex> clique) {
    for (const SimpleGraph::Vertex vertex : clique) std::printf("%s ", to_string(graph.id(vertex)).c_str());
    std::printf("\n");
  });
}

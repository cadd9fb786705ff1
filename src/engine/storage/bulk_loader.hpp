// Loads a large start graph into an engine without one update per edge.
// For 10^9 edges it takes seconds; updates take minutes and 100 GiB. For programs that make their graph in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/labels.hpp"
#include "deltamatch/engine.hpp"
#include "engine/storage/graph_file.hpp"
#include "graph/bulk_graph.hpp"

namespace deltamatch::engine {

/// A graph whose vertices have the ids 0 to vertices - 1. All edges have the empty label.
struct BulkGraph {
  VertexId vertices = 0;
  std::span<const graph::VertexPair> edges;  ///< in any order, duplicates count once, no self-loops
  std::span<const std::uint8_t> labels;      ///< by vertex: an index into label_names; none given: the empty label for all
  std::vector<std::string> label_names;
};

struct BulkLoader {
  /// Makes the engine that Engine::load would make from one insertion per edge. A vertex without edges is not part of the
  /// graph. Throws Error if an edge is out of range or a self-loop, or if the options have a window. Takes O(edges) time, in
  /// parallel. While it runs, it takes 8 bytes per edge and 12 per vertex besides the graph.
  [[nodiscard]] static Engine load(const EngineOptions& options, const BulkGraph& bulk);

  /// Like Engine::load, for a graph that is stated once and does not change. A second label for a declared vertex is refused.
  static BatchResult load(Engine& engine, const UpdateBatch& batch, OnReject on_reject = OnReject::stop);

  /// Calls GraphFile::load for an engine. The engine must have the file's direction, no window, and no updates yet.
  static LoadedShare load(Engine& engine, GraphFile& file, const EdgeDemand* demand);
  /// The labels in use.
  [[nodiscard]] static const LabelTable& vertex_labels(const Engine& engine) noexcept;
  [[nodiscard]] static const LabelTable& edge_labels(const Engine& engine) noexcept;
  /// Calls write_graph_file for the engine's graph. The file has times if the engine has a window.
  static void save(const Engine& engine, const std::filesystem::path& path);
};

}  // namespace deltamatch::engine

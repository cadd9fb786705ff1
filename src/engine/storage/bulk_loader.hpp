// A start graph of many edges for an engine, without an update for each: what 10^9 of them take minutes and 100 GiB for takes
// seconds here. For programs that make their graph in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "engine/storage/graph_file.hpp"
#include "graph/bulk_graph.hpp"

namespace deltamatch::engine {

/// A graph over vertices with the ids 0 to vertices - 1. All edges bear the empty label.
struct BulkGraph {
  VertexId vertices = 0;
  std::span<const graph::VertexPair> edges;  ///< in any order; what is stated twice is one edge; no self-loops
  std::span<const std::uint8_t> labels;      ///< by vertex: an index into label_names; empty: all bear the empty label
  std::vector<std::string> label_names;
};

struct BulkLoader {
  /// An engine as Engine::load makes it from one insertion per edge: a vertex without edges is not part of the graph. Throws
  /// Error where an edge is out of range or a self-loop or where the options have a window. O(edges) time in parallel; takes
  /// 8 bytes for an edge and 12 for a vertex besides the graph while it runs.
  [[nodiscard]] static Engine load(const EngineOptions& options, const BulkGraph& bulk);

  /// As Engine::load, of a graph that is told once and changes no more: another label of a declared vertex is refused.
  static BatchResult load(Engine& engine, const UpdateBatch& batch, OnReject on_reject = OnReject::stop);

  /// GraphFile::load into an engine that was made with the file's direction and without a window and has had no updates.
  static LoadedShare load(Engine& engine, GraphFile& file, const EdgeDemand* demand);
  /// write_graph_file of the engine's graph; with times if it has a window.
  static void save(const Engine& engine, const std::filesystem::path& path);
};

}  // namespace deltamatch::engine

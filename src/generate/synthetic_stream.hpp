// A synthetic graph that is split into a start graph and a stream of updates, in memory and as t/v/e text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace deltamatch::generate {

using Edge = std::pair<std::uint32_t, std::uint32_t>;

/// A simple graph: no self-loops and no repeated edges. Vertices are 0 to vertices - 1; some may have no edges.
struct Graph {
  std::uint32_t vertices = 0;
  bool directed = false;              ///< false: every edge is stored once, the smaller vertex first
  std::vector<Edge> edges;            ///< in the order drawn: those of high-degree vertices early
  std::vector<std::uint32_t> labels;  ///< one per vertex
};

struct GeneratorOptions {
  double insertions = 0.1;  ///< share of all edges that the stream inserts; they are missing from the start graph
  double deletions = 0;     ///< share of the start graph's edges that the stream deletes; insertions and deletions are mixed
  double noise = 0;         ///< duplicate inserts and absent deletes, half each, as a share of the valid updates; at most 1
  std::uint32_t edge_labels = 1;  ///< 0: no label column; else labels 0 to edge_labels - 1, uniform, fixed per edge
  std::uint64_t seed = 1;
};

/// Checks the options. Throws Error(usage) if a share is not in [0, 1].
void validate(const GeneratorOptions& options);

struct StreamUpdate {
  bool insert = true;
  Edge edge;
  std::uint32_t label = 0;  ///< 0 if there are no edge labels
};

/// A graph with the roles of its edges. Edges [0, kept) always exist, [kept, start) are deleted, and [start, end) are inserted.
struct Stream {
  Graph graph;
  GeneratorOptions options;
  std::size_t kept = 0;
  std::size_t start = 0;

  [[nodiscard]] std::span<const Edge> start_edges() const { return {graph.edges.data(), start}; }
  [[nodiscard]] std::span<const Edge> deleted_edges() const { return std::span(graph.edges).subspan(kept, start - kept); }
  [[nodiscard]] std::span<const Edge> inserted_edges() const { return std::span(graph.edges).subspan(start); }
  [[nodiscard]] std::uint32_t edge_label(const Edge& edge) const noexcept;
  /// Calls `take` for every update in stream order, which is the same for every call. Without noise all updates are valid: each
  /// insert adds an absent edge, and each delete removes an existing one.
  void for_each_update(const std::function<void(const StreamUpdate&)>& take) const;
  [[nodiscard]] std::vector<StreamUpdate> updates() const;
};

/// Shuffles the edges by options.seed and so chooses their roles. Throws Error(usage) if options are invalid.
[[nodiscard]] Stream make_stream(Graph graph, const GeneratorOptions& options = {});

/// Writes the start graph: `t N M`, `v id label degree` in order of ids, `e u v [label]`. The degree is the one in the start
/// graph. Throws Error(runtime) if a write fails.
void write_graph(const Stream& stream, std::FILE* out);
/// Writes the updates: `e u v [label]` inserts, `-e u v [label]` deletes.
void write_updates(const Stream& stream, std::FILE* out);
/// The same, to files that are created or overwritten.
void write_graph(const Stream& stream, const std::filesystem::path& path);
void write_updates(const Stream& stream, const std::filesystem::path& path);

}  // namespace deltamatch::generate

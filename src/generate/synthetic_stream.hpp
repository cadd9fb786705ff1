// A synthetic graph split into a start graph and a stream of updates, in memory and as t/v/e text.
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

/// A simple graph: no self-loops, no edge twice. Vertices are 0 to vertices - 1; some may have no edge.
struct Graph {
  std::uint32_t vertices = 0;
  bool directed = false;              ///< false: every edge is stated once, the lesser vertex first
  std::vector<Edge> edges;            ///< in the order drawn: those of heavy vertices early
  std::vector<std::uint32_t> labels;  ///< one per vertex
};

struct StreamOptions {
  double insertions = 0.1;  ///< share of all edges held out of the start graph and inserted by the stream
  double deletions = 0;     ///< share of the start graph's edges deleted by the stream; insertions and deletions are mixed
  double noise = 0;         ///< duplicate inserts and absent deletes, half each, as a share of the valid updates; at most 1
  std::uint32_t edge_labels = 1;  ///< 0: no label column; else labels 0 to edge_labels - 1, uniform, fixed per edge
  std::uint64_t seed = 1;
};

/// Throws Error(usage) where a share is not in [0, 1].
void validate(const StreamOptions& options);

struct StreamUpdate {
  bool insert = true;
  Edge edge;
  std::uint32_t label = 0;  ///< 0 where there are no edge labels
};

/// A graph with the roles of its edges: edges [0, kept) live throughout, [kept, start) are deleted, [start, end) are inserted.
struct Stream {
  Graph graph;
  StreamOptions options;
  std::size_t kept = 0;
  std::size_t start = 0;

  [[nodiscard]] std::span<const Edge> start_edges() const { return {graph.edges.data(), start}; }
  [[nodiscard]] std::span<const Edge> deleted_edges() const { return std::span(graph.edges).subspan(kept, start - kept); }
  [[nodiscard]] std::span<const Edge> inserted_edges() const { return std::span(graph.edges).subspan(start); }
  [[nodiscard]] std::uint32_t edge_label(const Edge& edge) const noexcept;
  /// Every update in stream order. Valid (each insert is of an absent edge, each delete of a live one) unless noise is asked
  /// for; the same at every call.
  void for_each_update(const std::function<void(const StreamUpdate&)>& take) const;
  [[nodiscard]] std::vector<StreamUpdate> updates() const;
};

/// Shuffles the edges by options.seed, and with it chooses their roles. Throws Error(usage) on bad options.
[[nodiscard]] Stream make_stream(Graph graph, const StreamOptions& options = {});

/// Writes the start graph: `t N M`, `v id label degree` in order of ids, `e u v [label]`. The degree is the one in the start
/// graph. Throws Error(runtime) where a write fails.
void write_graph(const Stream& stream, std::FILE* out);
/// Writes the updates: `e u v [label]` inserts, `-e u v [label]` deletes.
void write_updates(const Stream& stream, std::FILE* out);
/// The same, to files that are created or overwritten.
void write_graph(const Stream& stream, const std::filesystem::path& path);
void write_updates(const Stream& stream, const std::filesystem::path& path);

}  // namespace deltamatch::generate

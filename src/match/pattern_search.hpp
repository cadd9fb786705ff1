// Completes a partial match of a pattern, edge by edge, in one state of the graph.
//
// It counts a pattern at its shared vertices. It finds the vertices at which a changed edge changes a count. And it finds the
// matches at vertices whose count has changed. It reads the lists of the staged graph, so it sees both states of a batch, in
// all models of edges.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "match/list_view.hpp"
#include "match/scratch.hpp"
#include "plan/bound_query.hpp"

namespace deltamatch::match {

/// What a search may read. `before` and `after` are the graph before the staged batch and after it, `stable` are the edges that
/// it leaves alone. `aged` is the graph before the batch, with edges as old as they are after it. Nothing is staged in a
/// `settled` graph.
enum class GraphState : std::uint8_t { before, aged, after, stable, settled };

/// Matches of one query, one after the other, in the query's order of vertices and edges.
struct FoundMatches {
  std::vector<VertexId> vertices;
  std::vector<graph::Edge> edges;
  std::size_t count = 0;

  void add(std::span<const VertexId> of_vertices, std::span<const graph::Edge> of_edges) {
    vertices.insert(vertices.end(), of_vertices.begin(), of_vertices.end());
    edges.insert(edges.end(), of_edges.begin(), of_edges.end());
    ++count;
  }
};

class PatternSearch {
 public:
  /// Matches the query's edges from `first_edge` on, and the vertices that they join. The elements before belong to another
  /// pattern; conditions may read them. `query` and `resolved` must outlive it.
  PatternSearch(const plan::BoundQuery& query, std::uint32_t first_edge, std::span<const graph::Resolved> resolved);

  /// Begins a search in a state. Edges of this time or older, or without a time, are passed over if `aged` is given.
  void begin(GraphState state, std::optional<Timestamp> aged);
  /// Gives a vertex or an edge its image. Elements of the other pattern may get theirs, too. Returns false if the image does
  /// not fit. Its label may be another one, it may be too old, or be the image of an element that must differ. Or a condition
  /// does not hold of which all elements have images.
  [[nodiscard]] bool bind_vertex(std::uint32_t vertex, VertexId image);
  /// `forward`: the image of the edge's source is the image's tail, in directed data.
  [[nodiscard]] bool bind_edge(std::uint32_t edge, const graph::Edge& image, bool forward);
  /// The same for an edge of the other pattern, which is not checked.
  void give_edge(std::uint32_t edge, const graph::Edge& image) noexcept;
  void give_vertex(std::uint32_t vertex, VertexId image) noexcept;

  /// Finds all ways to give the other edges their images. At least one vertex must have one, unless there are no edges. Calls
  /// `found` for each; if it returns false, the search ends. Returns whether it went on to the end.
  bool run(const std::function<bool()>& found);

  [[nodiscard]] bool bound(std::uint32_t vertex) const noexcept { return (bound_vertices_ >> vertex & 1U) != 0; }
  [[nodiscard]] std::span<const VertexId> vertices() const noexcept { return vertices_; }
  [[nodiscard]] std::span<const graph::Edge> edges() const noexcept { return edges_; }
  [[nodiscard]] const plan::BoundQuery& query() const noexcept { return *query_; }

 private:
  struct Choice {
    std::uint32_t edge;
    bool at_source;
    ListView view;
  };
  [[nodiscard]] bool bind_labelled(std::uint32_t vertex, VertexId image);
  [[nodiscard]] ListView view_of(std::uint32_t edge, bool at_source);
  [[nodiscard]] std::optional<Choice> next();
  bool descend(const std::function<bool()>& found);
  bool attempt(const Choice& choice, VertexId neighbour, std::uint32_t tag, const std::function<bool()>& found);
  [[nodiscard]] bool admits(std::uint32_t edge, const graph::Edge& image) const noexcept;
  [[nodiscard]] bool conditions_hold(std::span<const std::uint32_t> conditions) const;

  const plan::BoundQuery* query_;
  std::uint32_t first_edge_;
  Lists lists_;
  std::span<const graph::Resolved> resolved_;
  std::uint32_t own_vertices_ = 0;  // a bit set: the vertices that the edges from first_edge_ on join
  std::optional<Timestamp> aged_;
  std::uint32_t bound_vertices_ = 0;                   // a bit set
  std::vector<std::uint8_t> bound_edges_;              // by edge
  std::vector<VertexId> vertices_;                     // by query vertex
  std::vector<graph::Edge> edges_;                     // by query edge
  std::vector<std::uint32_t> all_;                     // conditions
  std::vector<std::vector<std::uint32_t>> of_vertex_;  // conditions that read it
  std::vector<std::vector<std::uint32_t>> of_edge_;
  Scratch scratch_;
};

}  // namespace deltamatch::match

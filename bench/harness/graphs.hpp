// Large graphs for the GPU benchmark, made in parallel: 10^9 edges in seconds.
//
// Equal seeds give equal graphs for any number of threads. The power law takes its weights from libm, so there the C library
// must be equal, too. Unlike src/generate, these promise no exact number of edges, because repeated edges are dropped.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "graph/bulk_graph.hpp"

namespace deltamatch::bench {

using graph::VertexPair;

/// An array that is not cleared first. So the threads that fill it are the first to touch its pages.
class Edges {
 public:
  Edges() = default;
  explicit Edges(std::size_t size) : memory_(std::make_unique_for_overwrite<std::uint64_t[]>(size)), size_(size) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void shrink(std::size_t size) noexcept { size_ = size; }
  VertexPair& operator[](std::size_t at) noexcept { return data()[at]; }
  const VertexPair& operator[](std::size_t at) const noexcept { return span()[at]; }
  [[nodiscard]] VertexPair* data() noexcept { return reinterpret_cast<VertexPair*>(memory_.get()); }
  [[nodiscard]] std::span<const VertexPair> span() const noexcept {
    return {reinterpret_cast<const VertexPair*>(memory_.get()), size_};
  }

 private:
  static_assert(sizeof(VertexPair) == sizeof(std::uint64_t) && alignof(VertexPair) <= alignof(std::uint64_t));
  std::unique_ptr<std::uint64_t[]> memory_;
  std::size_t size_ = 0;
};

/// What a generator promises about degrees, so that the graph can be checked. Vertices fall into classes of one expected
/// degree.
struct ExpectedDegrees {
  /// place(i) for i < vertices: the i-th vertex and its class.
  std::function<std::pair<std::uint32_t, std::uint32_t>(std::uint32_t)> place;
  std::vector<double> mean;  ///< of a class, with repeated edges
  double largest = 0;        ///< no vertex has a larger degree, except with a chance of 10^-8
};

/// Edges are distinct, without self-loops. Undirected ones have the smaller vertex first.
struct Graph {
  std::string name;
  std::uint32_t vertices = 0;
  bool directed = false;
  std::uint64_t drawn = 0;
  Edges edges;
  ExpectedDegrees expected;
};

struct RmatSettings {
  unsigned scale = 20;  ///< 2^scale vertices; 1 to 31
  std::uint64_t edges = 1 << 24;
  double a = 0.57;
  double b = 0.19;
  double c = 0.19;
  bool directed = false;
};

/// Recursive quadrants of the adjacency matrix. Vertices are renumbered at random, so that numbers say nothing about degrees.
[[nodiscard]] Graph make_rmat(const RmatSettings& settings, std::uint64_t seed, Workers& workers);

struct SocialSettings {
  std::uint32_t vertices = 1 << 20;
  std::uint64_t edges = 1 << 24;
  double exponent = 2.5;     ///< P(degree = k) ~ k^-exponent; above 2
  double max_degree = 4400;  ///< expected degree of the heaviest vertex
  double local = 0.5;        ///< share of the edges that stay within a community: they make triangles
  bool directed = false;
};

/// Like the social networks of LDBC Graphalytics. Degrees follow a power law with a cap (Chung-Lu). Some of the edges lead to a
/// vertex of the same community. Communities are nested and have 16 to 32,768 vertices.
[[nodiscard]] Graph make_social(const SocialSettings& settings, std::uint64_t seed, Workers& workers);

struct GridSettings {
  std::uint32_t width = 1024;
  std::uint32_t height = 1024;
  double street = 0.66;    ///< share of the lattice's edges that exist
  double diagonal = 0.10;  ///< share of the cells with a diagonal
};

/// Like a road network: a lattice with gaps and some diagonals, undirected. Degrees are at most 6.
[[nodiscard]] Graph make_grid(const GridSettings& settings, std::uint64_t seed, Workers& workers);

/// Vertex labels 0 to `labels` - 1, drawn uniformly.
[[nodiscard]] std::vector<std::uint8_t> draw_labels(std::uint32_t vertices, unsigned labels, std::uint64_t seed,
                                                    Workers& workers);

struct DegreeReport {
  std::uint32_t largest = 0;
  double mean = 0;           ///< over vertices with edges
  std::uint64_t linked = 0;  ///< vertices with edges
  double worst = 0;          ///< largest relative difference between a class's mean degree and the expected one, beyond chance
  bool ok = false;
};

/// Counts degrees and checks them against graph.expected: the classes that lost few repeated edges, and the largest degree.
[[nodiscard]] DegreeReport check_degrees(const Graph& graph, Workers& workers);

struct Change {
  VertexPair edge;
  bool insert;
};

/// Draws `count` edges at random. Each becomes an insertion, which leaves the graph, or a deletion, with the same chance. The
/// changes come in random order. `count` is at most the number of edges.
[[nodiscard]] std::vector<Change> draw_changes(Graph& graph, std::uint64_t count, std::uint64_t seed);

}  // namespace deltamatch::bench

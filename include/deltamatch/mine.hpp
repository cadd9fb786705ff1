// Mining a graph without a query: motifs, cliques, quasi-cliques, and connected induced subgraphs that satisfy a condition.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deltamatch/count.hpp"
#include "deltamatch/error.hpp"
#include "deltamatch/id.hpp"

namespace deltamatch {

class Backend;
class Engine;

/// An immutable undirected simple graph. It is a handle: copies share one graph. Safe to read from several threads.
class SimpleGraph {
 public:
  using Vertex = std::uint32_t;

  /// Makes a graph of the vertices 0 to vertices - 1. Edges may be in any order; self-loops and repeats (in either direction)
  /// are dropped. Throws Error if an edge names a vertex out of range. O(m log m).
  SimpleGraph(Vertex vertices, std::span<const std::pair<Vertex, Vertex>> edges);

  /// Makes the simple view of an engine's graph. Two vertices are neighbours iff any edge joins them, whatever its direction,
  /// its label and the number of parallel edges. Vertices are numbered in order of their ids. Copies; O(m log m).
  static SimpleGraph of(const Engine& engine);

  [[nodiscard]] Vertex vertices() const noexcept;
  [[nodiscard]] std::uint64_t edges() const noexcept;
  /// Ascending.
  [[nodiscard]] std::span<const Vertex> neighbours(Vertex vertex) const noexcept;
  [[nodiscard]] Vertex degree(Vertex vertex) const noexcept { return static_cast<Vertex>(neighbours(vertex).size()); }
  /// The external id of the vertex: its number if the graph was made from numbers. Valid as long as any copy exists.
  [[nodiscard]] Id id(Vertex vertex) const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct Data;
  std::shared_ptr<const Data> data_;
};

/// A connected pattern of up to `max_vertices` vertices in canonical form. Isomorphic graphs have the same one.
struct Pattern {
  static constexpr unsigned max_vertices = 8;

  unsigned vertices = 0;
  /// Bit j(j-1)/2 + i says whether i and j (i < j) are joined.
  std::uint32_t key = 0;

  /// The edges, ascending by second end, then by first end.
  [[nodiscard]] std::vector<std::pair<unsigned, unsigned>> edges() const;
  /// The graph6 string of the canonical form: its name, unique among all patterns.
  [[nodiscard]] std::string graph6() const;
  /// "path", "star", "cycle", "clique" or another well-known name; empty if there is none.
  [[nodiscard]] std::string_view common_name() const noexcept;
  friend auto operator<=>(const Pattern&, const Pattern&) = default;
};

/// The canonical form of a graph given by its key. Throws Error(usage) if it has more than Pattern::max_vertices.
[[nodiscard]] Pattern canonical_pattern(unsigned vertices, std::uint32_t key);

/// A condition on induced subgraphs, e.g. "edges >= 5 and max_degree <= 3". It depends on the subgraph alone, so it is decided
/// once per pattern.
/// - Features (integers): vertices, edges, missing (pairs that are not joined), min_degree, max_degree, triangles, leaves
///   (vertices of degree 1).
/// - Operators by rising precedence: or, and, not, comparisons (< <= = != >= >), + -, *.
class Condition {
 public:
  /// Parses a condition. Throws Error(usage) with the column and the reason. Errors call the text `where`.
  static Condition parse(std::string_view text, std::string_view where = "condition");

  enum class Op : std::uint8_t {
    constant,
    vertices,
    edges,
    missing,
    min_degree,
    max_degree,
    triangles,
    leaves,  // push a value
    add,
    subtract,
    multiply,
    less,
    less_equal,
    equal,
    logical_and,
    logical_or,  // take two, push one
    logical_not  // takes one, pushes one
  };
  struct Step {
    Op op{};
    std::int32_t value = 0;  ///< of a constant
  };
  /// The condition in postfix order, at most `max_steps` long. Other backends run this.
  [[nodiscard]] std::span<const Step> program() const noexcept { return steps_; }
  static constexpr std::size_t max_steps = 64;

  /// Whether the graph with this key satisfies the condition.
  [[nodiscard]] bool holds(unsigned vertices, std::uint32_t key) const;
  /// Returns false only if no connected graph of `k` vertices that contains this one as an induced subgraph satisfies the
  /// condition.
  [[nodiscard]] bool may_hold(unsigned vertices, std::uint32_t key, unsigned k) const;

 private:
  std::vector<Step> steps_;
};

/// A connected induced subgraph during the enumeration. The views are valid during the call.
struct Subgraph {
  std::span<const SimpleGraph::Vertex> vertices{};  ///< in the order in which they were added
  std::uint32_t key = 0;                            ///< of those vertices in that order; see Pattern::key
};

/// Options of every mining run.
struct MineOptions {
  unsigned threads = 0;  ///< 0: as many as the machine has cores
  std::optional<std::chrono::nanoseconds> timeout = {};
  /// Called now and then by any of the threads. True ends the run as a time-out does. Must be thread-safe.
  std::function<bool()> stop = {};
  /// Called now and then by the calling thread, with the share (0 to 1) of the starting points that are done.
  std::function<void(double)> progress = {};
  /// Counts motifs (except by formulas), cliques, and quasi-cliques that lack at most k - 2 edges. The CPU counts what does not
  /// fit its devices, and does all other mining. Null: the CPU alone.
  std::shared_ptr<Backend> backend = {};
};

enum class MotifMethod : std::uint8_t {
  automatic,  ///< the fastest that supports the options; if the backend counts motifs, the fastest that it supports
  formulas,   ///< k <= 5: from counts per vertex, edge and pair; nothing larger than a diamond is enumerated
  pairs,      ///< visits subgraphs of k - 2 vertices and counts the pairs that complete them
  extend,     ///< visits subgraphs of k - 1 vertices and counts the vertices that complete them
};

struct MotifOptions {
  MineOptions run = {};
  MotifMethod method = MotifMethod::automatic;
  /// Counts only patterns that satisfy it. Parts that can no longer satisfy it are skipped.
  std::optional<Condition> where = {};
  /// Grows only parts that satisfy it, starting from a single vertex: a subgraph counts if all parts on its way do. If the
  /// condition holds for all subgraphs of a subgraph that satisfies it, this equals `where`. Requires the method extend.
  std::optional<Condition> growing = {};
};

struct Motif {
  Pattern pattern{};
  Count count = 0;
};

struct MotifResult {
  /// Every connected pattern of k vertices (that `where` admits), ascending by number of edges, then by key.
  std::vector<Motif> motifs{};
  MotifMethod method = MotifMethod::automatic;  ///< the method used
  bool complete = true;                         ///< false: stopped early, and counts are lower bounds
  double seconds = 0;
  std::optional<double> kernel_seconds = {};  ///< as in CliqueResult
};

/// Counts the induced occurrences of all connected patterns of k vertices, 2 <= k <= Pattern::max_vertices. Throws Error(usage)
/// if k is out of range or the options exclude each other, and Error if a count exceeds 128 bits.
[[nodiscard]] MotifResult count_motifs(const SimpleGraph& graph, unsigned k, const MotifOptions& options = {});

struct SubgraphOptions {
  MineOptions run = {};
  std::optional<Condition> where = {};    ///< as in MotifOptions
  std::optional<Condition> growing = {};  ///< as in MotifOptions
  /// `extend` decides whether a part (2 to k - 1 vertices) grows further, `keep` whether a complete subgraph is kept. Any of
  /// the threads may call them.
  std::function<bool(const Subgraph&)> extend = {};
  std::function<bool(const Subgraph&)> keep = {};
  std::optional<std::uint64_t> limit = {};  ///< stop after this many
};

struct ListResult {
  Count listed = 0;
  bool complete = true;  ///< false: stopped by limit or time-out
  double seconds = 0;
};

/// Visits each connected induced subgraph of k vertices once, 2 <= k <= Pattern::max_vertices. Passes those that are kept to
/// `store`, one call at a time, in no particular order. Throws as count_motifs does, and what `store` throws.
ListResult list_subgraphs(const SimpleGraph& graph, unsigned k, const SubgraphOptions& options,
                          const std::function<void(const Subgraph&)>& store);

struct CliqueResult {
  /// By number of vertices, from index 0. Sizes that were not requested have 0. Sizes beyond the end do not occur.
  std::vector<Count> counts{};
  bool complete = true;  ///< false: stopped early, and counts are lower bounds
  double seconds = 0;
  std::optional<double> kernel_seconds = {};  ///< of a backend, the longest of several devices; nullopt: the CPU counted
};

/// Counts cliques of `k` vertices, k >= 1; with nullopt, cliques of every size. Throws Error if a count exceeds 128 bits.
[[nodiscard]] CliqueResult count_cliques(const SimpleGraph& graph, std::optional<unsigned> k, const MineOptions& options = {});

/// Passes every clique of k >= 1 vertices to `store`, one call at a time, in no particular order.
ListResult list_cliques(const SimpleGraph& graph, unsigned k, std::optional<std::uint64_t> limit, const MineOptions& options,
                        const std::function<void(std::span<const SimpleGraph::Vertex>)>& store);

struct QuasiCliqueResult {
  /// Index m: the number of connected induced subgraphs that lack m of the k(k-1)/2 edges, up to the most that the density
  /// allows.
  std::vector<Count> by_missing{};
  bool complete = true;  ///< false: stopped early, and counts are lower bounds
  double seconds = 0;
  std::optional<double> kernel_seconds = {};  ///< as in CliqueResult
};

inline constexpr unsigned max_quasi_clique = 24;

/// The minimum number of edges with which k vertices have the density. 0 <= density <= 1.
[[nodiscard]] unsigned edges_of_density(unsigned k, double density) noexcept;

/// Counts the connected induced subgraphs of k vertices, 2 <= k <= max_quasi_clique, with at least `edges` edges. Throws
/// Error(usage) if k is out of range, and Error if a count exceeds 128 bits.
[[nodiscard]] QuasiCliqueResult count_quasi_cliques(const SimpleGraph& graph, unsigned k, unsigned edges,
                                                    const MineOptions& options = {});

/// Passes each of them to `store`, one call at a time, in no particular order.
ListResult list_quasi_cliques(const SimpleGraph& graph, unsigned k, unsigned edges, std::optional<std::uint64_t> limit,
                              const MineOptions& options,
                              const std::function<void(std::span<const SimpleGraph::Vertex>, unsigned missing)>& store);

}  // namespace deltamatch

// Mining a graph without a query: motifs, cliques, quasi-cliques, and the connected induced subgraphs that a condition keeps.
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

/// An undirected simple graph that does not change. A handle: copies share one graph. Safe to read from several threads.
class SimpleGraph {
 public:
  using Vertex = std::uint32_t;

  /// Edges between the vertices 0 to vertices - 1, in any order; self-loops and repeats (in either direction) are dropped.
  /// Throws Error where an edge names a vertex beyond. O(m log m).
  SimpleGraph(Vertex vertices, std::span<const std::pair<Vertex, Vertex>> edges);

  /// The simple view of an engine's graph: two vertices are neighbours iff any edge joins them, whatever its direction, its
  /// label and the number of its parallels. Vertices are numbered in order of their ids. Copies; O(m log m).
  static SimpleGraph of(const Engine& engine);

  [[nodiscard]] Vertex vertices() const noexcept;
  [[nodiscard]] std::uint64_t edges() const noexcept;
  /// Ascending.
  [[nodiscard]] std::span<const Vertex> neighbours(Vertex vertex) const noexcept;
  [[nodiscard]] Vertex degree(Vertex vertex) const noexcept { return static_cast<Vertex>(neighbours(vertex).size()); }
  /// What the vertex is called outside: its number where the graph was made from numbers. Holds as long as any copy does.
  [[nodiscard]] Id id(Vertex vertex) const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct Data;
  std::shared_ptr<const Data> data_;
};

/// A connected pattern of up to `max_vertices` vertices in canonical form: of two isomorphic graphs the same one.
struct Pattern {
  static constexpr unsigned max_vertices = 8;

  unsigned vertices = 0;
  /// Bit j(j-1)/2 + i says whether i and j (i < j) are joined.
  std::uint32_t key = 0;

  /// Ascending by second, then first end.
  [[nodiscard]] std::vector<std::pair<unsigned, unsigned>> edges() const;
  /// The graph6 string of the canonical form: its name, unique among all patterns.
  [[nodiscard]] std::string graph6() const;
  /// "path", "star", "cycle", "clique" and the names of other well-known patterns; empty where it has none.
  [[nodiscard]] std::string_view common_name() const noexcept;
  friend auto operator<=>(const Pattern&, const Pattern&) = default;
};

/// The canonical form of a graph given by its key. Throws Error(usage) beyond Pattern::max_vertices.
[[nodiscard]] Pattern canonical_pattern(unsigned vertices, std::uint32_t key);

/// A condition on induced subgraphs, e.g. "edges >= 5 and max_degree <= 3". It looks at the subgraph alone, so that it can be
/// decided once per pattern. Features (integers): vertices, edges, missing (pairs that are not joined), min_degree, max_degree,
/// triangles, leaves (vertices of degree 1). Operators by rising precedence: or, and, not, comparisons (< <= = != >= >), + -,
/// *.
class Condition {
 public:
  /// Throws Error(usage) that tells the column, and why; `where` is what it calls the text.
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
    Op op;
    std::int32_t value = 0;  ///< of a constant
  };
  /// In postfix order, at most `max_steps` long: what another backend runs.
  [[nodiscard]] std::span<const Step> program() const noexcept { return steps_; }
  static constexpr std::size_t max_steps = 64;

  /// Whether the graph given by its key satisfies it.
  [[nodiscard]] bool holds(unsigned vertices, std::uint32_t key) const;
  /// False only if no connected graph of `k` vertices that contains this one as an induced subgraph satisfies it.
  [[nodiscard]] bool may_hold(unsigned vertices, std::uint32_t key, unsigned k) const;

 private:
  std::vector<Step> steps_;
};

/// A connected induced subgraph as the enumeration sees it; the views hold during the call.
struct Subgraph {
  std::span<const SimpleGraph::Vertex> vertices;  ///< in the order in which they were added
  std::uint32_t key = 0;                          ///< of those vertices in that order; see Pattern
};

/// How long, on how many cores, and who wants to know.
struct MineOptions {
  unsigned threads = 0;  ///< 0: as many as the machine has
  std::optional<std::chrono::nanoseconds> timeout = {};
  /// Asked now and then by any of the threads; true ends the run as a time-out does. Must be thread-safe.
  std::function<bool()> stop = {};
  /// Told now and then, by the calling thread, which share (0 to 1) of the starting points is taken.
  std::function<void(double)> progress = {};
  /// Counts motifs (but not by formulas), cliques, and quasi-cliques that lack at most k - 2 edges, where there is one, and
  /// leaves to the CPU what its devices have no room for. Other mining is done by the CPU alone.
  std::shared_ptr<Backend> backend = {};
};

enum class MotifMethod : std::uint8_t {
  automatic,  ///< the fastest that does what is asked; of those that devices know where there is a backend
  formulas,   ///< k <= 5: from counts per vertex, edge and pair; nothing larger than a diamond is enumerated
  pairs,      ///< visits subgraphs of k - 2 vertices and counts the pairs that complete them
  extend,     ///< visits subgraphs of k - 1 vertices and counts the vertices that complete them
};

struct MotifOptions {
  MineOptions run = {};
  MotifMethod method = MotifMethod::automatic;
  /// Only patterns that satisfy it are counted; parts that can no longer satisfy it are left.
  std::optional<Condition> where = {};
  /// Only subgraphs are visited whose parts, in the order in which they were grown from a single vertex, all satisfy it. Where
  /// a subgraph's own subgraphs inherit the condition, that is the same as `where`. Needs the method extend.
  std::optional<Condition> growing = {};
};

struct Motif {
  Pattern pattern;
  Count count = 0;
};

struct MotifResult {
  /// Every connected pattern of k vertices (that `where` admits), ascending by number of edges, then key.
  std::vector<Motif> motifs;
  MotifMethod method = MotifMethod::automatic;  ///< the one that was used
  bool complete = true;                         ///< false: stopped early, and counts are at least so many
  double seconds = 0;
  std::optional<double> kernel_seconds = {};  ///< as in CliqueResult
};

/// Counts the induced occurrences of all connected patterns of k vertices, 2 <= k <= Pattern::max_vertices. Throws Error(usage)
/// where k is beyond that or the options exclude each other, Error where a count exceeds 128 bits.
[[nodiscard]] MotifResult count_motifs(const SimpleGraph& graph, unsigned k, const MotifOptions& options = {});

struct SubgraphOptions {
  MineOptions run = {};
  std::optional<Condition> where = {};    ///< as in MotifOptions
  std::optional<Condition> growing = {};  ///< as in MotifOptions
  /// Whether to grow a part (2 to k - 1 vertices) further, and whether to keep a complete subgraph. Called by any of the
  /// threads.
  std::function<bool(const Subgraph&)> extend = {};
  std::function<bool(const Subgraph&)> keep = {};
  std::optional<std::uint64_t> limit = {};  ///< stop after so many
};

struct ListResult {
  Count listed = 0;
  bool complete = true;  ///< false: stopped by limit or time-out
  double seconds = 0;
};

/// Visits each connected induced subgraph of k vertices once, 2 <= k <= Pattern::max_vertices, and hands those that are kept to
/// `store`, one call at a time, in no particular order. Throws as count_motifs does, and what `store` throws.
ListResult list_subgraphs(const SimpleGraph& graph, unsigned k, const SubgraphOptions& options,
                          const std::function<void(const Subgraph&)>& store);

struct CliqueResult {
  /// By number of vertices, from index 0; of sizes that were not asked for 0. There are none of sizes beyond the end.
  std::vector<Count> counts;
  bool complete = true;  ///< false: stopped early, and counts are at least so many
  double seconds = 0;
  std::optional<double> kernel_seconds = {};  ///< of a backend, the longest of several devices; none: the CPU has counted
};

/// Counts cliques of `k` vertices, k >= 1, or with nullopt of every size up to the largest. Throws Error where a count exceeds
/// 128 bits.
[[nodiscard]] CliqueResult count_cliques(const SimpleGraph& graph, std::optional<unsigned> k, const MineOptions& options = {});

/// Hands every clique of k >= 1 vertices to `store`, one call at a time, in no particular order.
ListResult list_cliques(const SimpleGraph& graph, unsigned k, std::optional<std::uint64_t> limit, const MineOptions& options,
                        const std::function<void(std::span<const SimpleGraph::Vertex>)>& store);

struct QuasiCliqueResult {
  /// Index m: connected induced subgraphs that lack m of the k(k-1)/2 edges, up to the most that the density allows.
  std::vector<Count> by_missing;
  bool complete = true;  ///< false: stopped early, and counts are at least so many
  double seconds = 0;
  std::optional<double> kernel_seconds = {};  ///< as in CliqueResult
};

inline constexpr unsigned max_quasi_clique = 24;

/// The least number of edges that k vertices need to have the density. 0 <= density <= 1.
[[nodiscard]] unsigned edges_of_density(unsigned k, double density) noexcept;

/// Counts the connected induced subgraphs of k vertices, 2 <= k <= max_quasi_clique, with at least `edges` edges. Throws
/// Error(usage) where k is beyond that, Error where a count exceeds 128 bits.
[[nodiscard]] QuasiCliqueResult count_quasi_cliques(const SimpleGraph& graph, unsigned k, unsigned edges,
                                                    const MineOptions& options = {});

/// Hands each of them to `store`, one call at a time, in no particular order.
ListResult list_quasi_cliques(const SimpleGraph& graph, unsigned k, unsigned edges, std::optional<std::uint64_t> limit,
                              const MineOptions& options,
                              const std::function<void(std::span<const SimpleGraph::Vertex>, unsigned missing)>& store);

}  // namespace deltamatch

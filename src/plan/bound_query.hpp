// A query bound to a data graph. Labels become numbers, and each end of a query edge gets the query relation that leads to the
// other end.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "condition/program.hpp"
#include "condition/time_bounds.hpp"
#include "deltamatch/match.hpp"
#include "deltamatch/query.hpp"
#include "deltamatch/query_options.hpp"
#include "graph/data_graph.hpp"
#include "query/arcs.hpp"
#include "query/automorphism.hpp"

namespace deltamatch::plan {

using LabelIds = std::vector<LabelId>;  ///< ascending; empty: any label

/// Whether a set admits a label.
[[nodiscard]] bool admits(const LabelIds& labels, LabelId label) noexcept;

/// Whether a set asks for labels of which the graph has none.
[[nodiscard]] bool is_absent(const LabelIds& labels) noexcept;

struct BoundEdge {
  std::uint32_t source;
  std::uint32_t target;
  bool directed;  ///< false: both orientations of a data edge match
  LabelIds labels;
  std::array<graph::QueryRelationId, 2> query_relation;  ///< [0] from source to target, [1] from target to source
};

class BoundQuery;

/// Whether the condition of a query counts.
[[nodiscard]] bool counts_something(const Query& query) noexcept;

/// The query that is matched if this one stands: with the conditions of an induced match, if that is wanted. Throws
/// Error(configuration) if it is wanted in another mode than isomorphism.
[[nodiscard]] Query standing_form(const Query& query, const QueryOptions& options);

/// A pattern that a condition of a query counts.
struct BoundCount {
  condition::Counted counted;
  std::unique_ptr<BoundQuery> pattern;  ///< the query and behind it the pattern's own vertices and edges
  std::vector<std::uint32_t> shared;    ///< the query's vertices that edges of the pattern join, ascending
  bool closed = true;  ///< its condition reads nothing of the query but shared vertices, so these decide how many there are

  [[nodiscard]] std::uint32_t first_vertex() const noexcept { return counted.pattern.first_vertex; }
  [[nodiscard]] std::uint32_t first_edge() const noexcept { return counted.pattern.first_edge; }
};

/// A part of a query's condition in which counts stand.
struct CountedCondition {
  condition::Program program;
  std::vector<std::int64_t> symbols;  ///< as BoundQuery::symbols
  std::vector<std::uint32_t> counts;  ///< for each of the program's counts, an index into BoundQuery::counts
};

/// A query, its options, and its query relations in the graph. It registers the query relations, and drops them when it is
/// destroyed. The graph must outlive it.
class BoundQuery {
 public:
  /// Requires a valid query. Throws Error(configuration) if a directed query edge meets undirected data, or if subgraphs are to
  /// be counted in a mode other than isomorphism.
  BoundQuery(const Query& query, MatchMode mode, CountMode count, graph::DataGraph& graph, bool induced = false);
  ~BoundQuery();
  BoundQuery(const BoundQuery&) = delete;
  BoundQuery& operator=(const BoundQuery&) = delete;

  const Query pattern;  ///< as it was given
  /// The pattern without self-loops: each vertex with self-loops has a double behind all vertices. Its self-loops lead to the
  /// double, which is matched to the same vertex (Direction::loop). Edges have the same numbers.
  const Query query;
  const MatchMode mode;
  const CountMode count;
  const bool induced;            ///< the matched edges must be all edges that join the matched vertices
  const std::uint64_t id;        ///< unique in this process; an address may be used again
  std::vector<LabelIds> labels;  ///< by query vertex; labels unknown to the graph get numbers of their own
  std::vector<BoundEdge> edges;
  /// If induced, by query vertex: the query relation along any edge to vertices that the query vertex's labels admit.
  std::vector<graph::QueryRelationId> any_edge;
  query::Group group;
  std::vector<condition::Program> conditions;  ///< all must be TRUE
  /// The numbers of the texts of each condition as symbols of the graph; negative for a text that no attribute has.
  std::vector<std::vector<std::int64_t>> symbols;
  condition::TimeBounds time_bounds;  ///< that follow from the conditions and WITHIN
  std::vector<BoundCount> counts;
  std::vector<CountedCondition> counted;  ///< all must be TRUE, too; `conditions` does not hold them
  const Planner* planner = nullptr;       ///< of its matching orders; null: the default

  /// Whether a query vertex is a double. Distinctness does not concern it.
  [[nodiscard]] bool is_double(std::uint32_t vertex) const noexcept { return vertex >= pattern.vertices.size(); }
  /// Whether a query edge is a self-loop of the pattern.
  [[nodiscard]] bool is_loop(std::uint32_t edge) const noexcept { return is_double(edges[edge].target); }
  /// Whether data edges that are self-loops can be images of other query edges too.
  [[nodiscard]] bool takes_loops() const noexcept { return graph_->keeps_loops() && mode != MatchMode::isomorphism; }
  /// Whether data edges must be chosen level by level, because the query has conditions or two alike edges. Such queries are
  /// never summed: their matches are enumerated.
  [[nodiscard]] bool conditional() const noexcept {
    return !conditions.empty() || query.within.has_value() || has_alike_edges_ || counts_;
  }
  /// Whether the condition counts. What is then found of the query alone is a match only if `counted` is TRUE.
  [[nodiscard]] bool counts_something() const noexcept { return counts_; }
  [[nodiscard]] std::uint32_t vertices() const noexcept { return static_cast<std::uint32_t>(labels.size()); }
  [[nodiscard]] const graph::DataGraph& graph() const noexcept { return *graph_; }
  /// Whether a label that the query names has another number by now, because it was added to the graph or freed. The query must
  /// then be bound anew before anything is added to the graph. O(1) while the graph's labels stay the same.
  [[nodiscard]] bool outdated() const;
  /// Looks up `symbols` anew if texts have come or gone. Call it before matching. O(1) otherwise.
  void bind_symbols();
  /// Whether a condition reads attributes of vertices.
  [[nodiscard]] bool reads_vertex_attributes() const noexcept;
  /// Whether the labels of two query vertices allow both to map to one data vertex.
  [[nodiscard]] bool compatible(std::uint32_t u, std::uint32_t v) const noexcept;
  [[nodiscard]] bool adjacent(std::uint32_t u, std::uint32_t v) const noexcept { return (neighbours_[u] >> v & 1u) != 0; }
  /// The bit set of query vertices that share an edge with `u`.
  [[nodiscard]] std::uint32_t neighbours(std::uint32_t u) const noexcept { return neighbours_[u]; }
  /// Whether two query edges between the same two vertices may map to one data edge. Distinct vertices then do not imply
  /// distinct edges.
  [[nodiscard]] bool edges_may_coincide() const noexcept { return edges_may_coincide_; }

  /// Replaces the query relation of a query edge at one end (0: source, 1: target). The new query relation must cover a part of
  /// the old one that includes everything matches need. Takes over one use of the new query relation. The old one stays
  /// registered.
  void restrict(std::uint32_t edge, unsigned end, graph::QueryRelationId query_relation) noexcept;
  /// Restores the query relations that restrict replaced, and drops those that it took over.
  void lift_restrictions() noexcept;

 private:
  /// `own`: the first edge that may have alike ones. Those before it are of another query.
  BoundQuery(const Query& query, MatchMode mode, CountMode count, graph::DataGraph& graph, bool induced, std::uint32_t own);
  void bind_counts();
  [[nodiscard]] BoundCount bind_count(const condition::Counted& wanted) const;

  /// The terms that the query has for labels of vertices or of edges. A term that is a label of the graph has its number in the
  /// graph's table. All others have numbers that no label of a graph can have. So only labels in the graph use up numbers of
  /// its table. The further numbers of a term are those of the label sets that satisfy it.
  class Names {
   public:
    /// `sets`: a text of the table may be several labels.
    explicit Names(bool sets) : sets_(sets) {}
    [[nodiscard]] LabelIds bind(const LabelSet& labels, const LabelTable& table);
    [[nodiscard]] bool outdated(const LabelTable& table) const;

   private:
    [[nodiscard]] LabelIds further(std::string_view term, const LabelTable& table) const;
    struct Named {
      std::string term;
      LabelId number;    // its own
      LabelIds further;  // ascending
    };
    bool sets_;
    std::vector<Named> named_;
    mutable std::uint64_t edition_ = 0;  // of the table for which the numbers are valid
  };

  graph::DataGraph* graph_;
  Names vertex_labels_{true};
  Names edge_labels_{false};
  std::vector<std::uint32_t> neighbours_;
  std::optional<std::uint64_t> symbol_edition_;
  bool edges_may_coincide_ = false;
  bool has_alike_edges_ = false;
  bool counts_ = false;
  struct Replaced {
    std::uint32_t edge;
    unsigned end;
    graph::QueryRelationId query_relation;
  };
  std::vector<Replaced> replaced_;
};

/// Whether an arc may map to a data edge by its shape. If that is a self-loop, both arcs of an undirected query edge map to it
/// in the same way. So only one of them does.
[[nodiscard]] inline bool may_begin(const BoundQuery& query, query::Arc arc, bool loop) noexcept {
  if (query.is_loop(arc.edge)) return loop;
  return !loop || (query.takes_loops() && !arc.reversed);
}

}  // namespace deltamatch::plan

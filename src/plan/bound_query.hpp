// A query bound to a data graph: labels as numbers, and for both ends of each query edge the reading that leads to the other
// end.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deltamatch/match.hpp"
#include "deltamatch/query.hpp"
#include "graph/data_graph.hpp"
#include "query/arcs.hpp"
#include "query/automorphism.hpp"

namespace deltamatch::plan {

using LabelIds = std::vector<LabelId>;  ///< ascending; empty = any

/// Whether a label satisfies a set.
[[nodiscard]] bool admits(const LabelIds& labels, LabelId label) noexcept;

struct BoundEdge {
  std::uint32_t source;
  std::uint32_t target;
  bool directed;  ///< both orientations of a data edge count where false
  LabelIds labels;
  std::array<graph::ReadingId, 2> reading;  ///< [0] from source to target, [1] from target to source
};

/// Registers its readings with the graph, which must outlive it, and drops them when it goes.
class BoundQuery {
 public:
  /// Requires a valid query. Throws Error(configuration) where directed edges meet undirected data, or where subgraphs are to
  /// be counted in another mode than isomorphism.
  BoundQuery(const Query& query, MatchMode mode, CountMode count, graph::DataGraph& graph, bool induced = false);
  ~BoundQuery();
  BoundQuery(const BoundQuery&) = delete;
  BoundQuery& operator=(const BoundQuery&) = delete;

  const Query query;
  const MatchMode mode;
  const CountMode count;
  const bool induced;            ///< the matched edges are to be all that join the matched vertices
  const std::uint64_t id;        ///< another one for each that this process makes: an address may be taken again
  std::vector<LabelIds> labels;  ///< by query vertex; a label that the graph did not know has a number of its own
  std::vector<BoundEdge> edges;
  /// Induced, by query vertex: leads along any edge to what the vertex's labels admit.
  std::vector<graph::ReadingId> any_edge;
  query::Group group;

  [[nodiscard]] std::uint32_t vertices() const noexcept { return static_cast<std::uint32_t>(labels.size()); }
  [[nodiscard]] const graph::DataGraph& graph() const noexcept { return *graph_; }
  /// The text of a vertex label, or an edge label, that the query names.
  [[nodiscard]] std::string_view vertex_label(LabelId label) const;
  [[nodiscard]] std::string_view edge_label(LabelId label) const;
  /// Whether some label that the query names has another number by now, having come to the graph or gone: it is to be bound
  /// anew before anything else comes to the graph. O(1) while the graph's labels stay the same.
  [[nodiscard]] bool outdated() const;
  /// Whether two query vertices may be mapped to one vertex as far as labels go.
  [[nodiscard]] bool compatible(std::uint32_t u, std::uint32_t v) const noexcept;
  [[nodiscard]] bool adjacent(std::uint32_t u, std::uint32_t v) const noexcept { return (neighbours_[u] >> v & 1u) != 0; }
  /// Bit set of the query vertices that share an edge with `u`.
  [[nodiscard]] std::uint32_t neighbours(std::uint32_t u) const noexcept { return neighbours_[u]; }
  /// Whether two query edges between the same two vertices may be mapped to one data edge, so that keeping edges distinct
  /// takes more than distinct vertices.
  [[nodiscard]] bool edges_may_coincide() const noexcept { return edges_may_coincide_; }

  /// From now on the query edge is read at this end (0: source, 1: target) by another reading, which covers some of what the
  /// one before covers and all that matches need. Takes a use of the reading over; the one before stays registered.
  void restrict(std::uint32_t edge, unsigned end, graph::ReadingId reading) noexcept;
  /// Reads again as it did before it was restricted, and drops the readings that it took over.
  void lift_restrictions() noexcept;

 private:
  /// The labels that one side of the query names: each with the number that it has in the graph's table, or one that no label
  /// of a graph can have. So a query gives no label a number: only what is in the graph has one.
  class Names {
   public:
    [[nodiscard]] LabelIds bind(const LabelSet& labels, const LabelTable& table);
    [[nodiscard]] std::string_view text(LabelId label) const;
    [[nodiscard]] bool outdated(const LabelTable& table) const;

   private:
    std::vector<std::pair<std::string, LabelId>> named_;
    mutable std::uint64_t edition_ = 0;  // of the table for which the numbers hold
  };

  graph::DataGraph* graph_;
  Names vertex_labels_;
  Names edge_labels_;
  std::vector<std::uint32_t> neighbours_;
  bool edges_may_coincide_ = false;
  struct Replaced {
    std::uint32_t edge;
    unsigned end;
    graph::ReadingId reading;
  };
  std::vector<Replaced> replaced_;
};

}  // namespace deltamatch::plan

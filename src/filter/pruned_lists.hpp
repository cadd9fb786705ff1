// The candidate edges of a query. For each query edge and end, they are the lists of that end's candidates, with only the other
// end's candidates as entries.
//
// They form an adjacency store like the graph's own, with a relation for every query relation, set of sources and set of
// targets. The query reads them through query relations that are lent to the graph. So planner and matcher see a smaller graph
// and need not know about filtering. Query vertices with exactly the same candidates share their relations. So plans see from
// equal query relations what is alike.
//
// A vertex has a list only if it is a candidate of the query vertex that the list is read for. So a query edge admits the same
// pairs of vertices from either end. That makes inclusion and exclusion over merged query vertices exact. Each assignment of
// vertices meets the same condition in all terms or in none, although each term chooses the ends at which it reads edges.
//
// Query vertices with different candidates must not share a list. A vertex that stands for two merged ones would then count as
// a candidate of both if its own lists are read. It would not if other lists lead to it. So terms that must cancel would not.
//
// For counts, vertices can be renumbered by ascending degree. An order constraint then cuts the long lists of hubs and leaves
// the short ones (Chiba and Nishizeki 1985).
#pragma once

#include <atomic>
#include <vector>

#include "filter/candidates.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::filter {

enum class Numbering : std::uint8_t { of_graph, by_degree };

/// Must outlive every query that reads it, and must not be moved meanwhile. Its lists are in the slabs of the graph, which must
/// outlive it.
class PrunedLists {
 public:
  /// Makes the lists. Once `stop` is set, they are useless. O(entries of the candidates' lists x relations that read them).
  PrunedLists(const plan::BoundQuery& query, const Candidates& candidates, Numbering numbering, Workers& workers,
              const std::atomic<bool>& stop);

  /// From now on, the query, whose graph this is, reads these lists.
  void lend(plan::BoundQuery& query, graph::DataGraph& graph) const;

  [[nodiscard]] std::uint64_t entries() const noexcept { return entries_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return store_.bytes(); }

 private:
  struct Relation {
    graph::QueryRelationId query_relation;
    Mask sources;  ///< query vertices with exactly the same candidates, at which it is read
    Mask targets;  ///< the same for those that it leads to
  };
  [[nodiscard]] std::size_t relation_of(const plan::BoundQuery& query, std::uint32_t edge, unsigned end) const;
  void number_by_degree(const graph::DataGraph& graph, VertexId vertices);
  void collect(const plan::BoundQuery& query, const Candidates& candidates, VertexId vertex,
               std::vector<graph::HalfEdge>& into) const;
  [[nodiscard]] VertexId number(VertexId vertex) const noexcept { return numbers_.empty() ? vertex : numbers_[vertex]; }

  std::vector<VertexId> by_number_;  // empty: numbered as in the graph
  std::vector<VertexId> numbers_;    // by vertex
  std::vector<Mask> alike_;
  std::vector<Relation> relations_;
  graph::Adjacency store_;
  std::uint64_t entries_ = 0;
};

}  // namespace deltamatch::filter

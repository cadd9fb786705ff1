// The candidate edges of a query: for each query edge and end, the lists of one end's candidates with the other end's
// candidates only.
//
// They are an adjacency store like the graph's own, with a relation for every reading, set of sources and set of targets, and
// the query reads them through readings that are lent to the graph. So planner and matcher see a smaller graph and need not
// know of filtering. Query vertices with the very same candidates share their relations, as plans tell from equal readings what
// is alike.
//
// A vertex has a list only where it is a candidate of the query vertex that the list is read for. So a query edge admits the
// same pairs of vertices at whichever end it is read, and inclusion and exclusion over merged query vertices is exact: each
// vertex assignment either meets the same condition in all terms or in none, although these read edges at ends of their own
// choice. (Did query vertices with other candidates share the list, a vertex that stands for two merged ones would pass for a
// candidate of both where its own lists are read, and not where others lead to it: what must cancel would not.)
//
// For counts the vertices can be numbered anew, by ascending degree: then an order constraint cuts the long lists of hubs and
// leaves the short ones (Chiba and Nishizeki 1985).
#pragma once

#include <atomic>
#include <vector>

#include "filter/candidates.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::filter {

enum class Numbering : std::uint8_t { of_graph, by_degree };

/// Outlives every query that reads it, and must not be moved meanwhile. Its lists live where the graph's do, whose slabs
/// outlive it.
class PrunedLists {
 public:
  /// Once `stop` is set, what is made is of no use. O(entries of the candidates' lists x relations that read them).
  PrunedLists(const plan::BoundQuery& query, const Candidates& candidates, Numbering numbering, Workers& workers,
              const std::atomic<bool>& stop);

  /// From now on the query, whose graph this is, reads these lists.
  void lend(plan::BoundQuery& query, graph::DataGraph& graph) const;

  [[nodiscard]] std::uint64_t entries() const noexcept { return entries_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return store_.bytes(); }

 private:
  struct Relation {
    graph::ReadingId reading;
    Mask sources;  ///< query vertices with one and the same candidates, at which it is read
    Mask targets;  ///< the same of those that it leads to
  };
  [[nodiscard]] std::size_t relation_of(const plan::BoundQuery& query, std::uint32_t edge, unsigned end) const;
  void number_by_degree(const graph::DataGraph& graph, VertexId vertices);
  void collect(const plan::BoundQuery& query, const Candidates& candidates, VertexId vertex,
               std::vector<graph::HalfEdge>& into) const;
  [[nodiscard]] VertexId number(VertexId vertex) const noexcept { return numbers_.empty() ? vertex : numbers_[vertex]; }

  std::vector<VertexId> by_number_;  // empty: as in the graph
  std::vector<VertexId> numbers_;    // by vertex
  std::vector<Mask> alike_;
  std::vector<Relation> relations_;
  graph::Adjacency store_;
  std::uint64_t entries_ = 0;
};

}  // namespace deltamatch::filter

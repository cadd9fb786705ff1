// The join of GpSM (Tran et al. 2015): candidate edges of one query edge after the other are joined to the partial matches so
// far, all of which are kept. A baseline, for one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "deltamatch/query.hpp"
#include "graph/data_graph.hpp"

namespace deltamatch::bench {

struct EdgeJoin {
  std::uint64_t embeddings = 0;  ///< of use where complete
  bool complete = true;          ///< false: the partial matches took more memory than allowed
  std::uint64_t candidate_edges = 0;
  std::size_t candidate_bytes = 0;
  std::vector<std::uint64_t> partials;  ///< partial matches after each query edge
  std::size_t peak_bytes = 0;           ///< of the partial matches before and after a join together
  double filter_seconds = 0;            ///< of the thread
  double join_seconds = 0;
};

/// Isomorphism in a settled graph in which no two edges that a query edge admits join the same vertices; else Error. Candidates
/// by label, degree and rounds of refinement. First comes the query edge with the fewest candidate edges, then of those that
/// close a cycle, or else are joined to what is matched, the one with the fewest.
[[nodiscard]] EdgeJoin join_edges(const Query& query, graph::DataGraph& graph, std::size_t memory, Workers& workers);

}  // namespace deltamatch::bench

// A graph from a file, and ways to match a query in the whole of it on one thread, for programs that compare them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/parallel.hpp"
#include "deltamatch/count.hpp"
#include "deltamatch/query.hpp"
#include "graph/data_graph.hpp"
#include "plan/plan.hpp"

namespace deltamatch::bench {

/// Reads what `deltamatch match --undirected --on-error skip --graph` reads, but graph files. Throws Error.
[[nodiscard]] std::unique_ptr<graph::DataGraph> read_graph(const std::string& path);

/// Embeddings in isomorphism, counted by the matcher's sums.
[[nodiscard]] Count sum_embeddings(const Query& query, graph::DataGraph& graph, Workers& workers);

struct Walked {
  std::uint64_t matches = 0;  ///< one of each class
  Count embeddings = 0;
  double seconds = 0;  ///< of the thread, without planning
};

/// The same by the matcher's enumeration: every match is walked to and handed over, in one thread, without being translated.
[[nodiscard]] Walked walk(const Query& query, graph::DataGraph& graph);

}  // namespace deltamatch::bench

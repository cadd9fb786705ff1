// Counts queries that are cliques by an algorithm of their own.
#pragma once

#include <optional>
#include <string>

#include "base/parallel.hpp"
#include "deltamatch/query.hpp"
#include "deltamatch/static.hpp"
#include "graph/data_graph.hpp"
#include "match/dense_set_counter.hpp"

namespace deltamatch::engine {

/// The graph and threads that cliques are counted with. All must outlive the call. Nothing may be staged.
struct CliqueScene {
  const graph::DataGraph& graph;
  Workers& workers;
  match::DenseSetCounter* devices;  ///< null: the CPU counts
};

/// Answers Engine::match if the matches are the cliques of the graph. No value otherwise. It has an answer if
/// - nothing in the query distinguishes its vertices or edges,
/// - matches are only counted,
/// - the options do not ask for a particular way of matching, and
/// - no two edges join the same vertices.
/// Takes O(m log m) before counting begins.
[[nodiscard]] std::optional<StaticResult> match_clique(const CliqueScene& scene, const Query& query,
                                                       const StaticOptions& options);

/// The text of Engine::explain if match_clique has an answer, else an empty text.
[[nodiscard]] std::string explain_clique(const CliqueScene& scene, const Query& query, const StaticOptions& options);

}  // namespace deltamatch::engine

// Queries that are cliques, counted by an algorithm of their own.
#pragma once

#include <optional>
#include <string>

#include "base/parallel.hpp"
#include "deltamatch/engine.hpp"
#include "graph/data_graph.hpp"
#include "match/dense_set_counter.hpp"

namespace deltamatch::engine {

/// What it works on. Everything outlives the call; nothing is staged.
struct CliqueScene {
  const graph::DataGraph& graph;
  Workers& workers;
  match::DenseSetCounter* devices;  ///< null: the CPU counts
};

/// The answer of Engine::match where the matches are the cliques of the graph: nothing in the query tells vertices or edges
/// apart, matches are only counted, no way is asked for, and no two edges join the same vertices. None else. O(m log m) before
/// counting begins.
[[nodiscard]] std::optional<StaticResult> match_clique(const CliqueScene& scene, const Query& query,
                                                       const StaticOptions& options);

/// That match_clique has an answer, in the words of Engine::explain; empty where it has none.
[[nodiscard]] std::string explain_clique(const CliqueScene& scene, const Query& query, const StaticOptions& options);

}  // namespace deltamatch::engine

// Matches a query of one vertex, whose condition counts, in a whole graph.
#pragma once

#include "engine/whole/static_match.hpp"

namespace deltamatch::engine {

/// As match_variant. Every vertex is tried.
[[nodiscard]] StaticResult match_single(const StaticScene& scene, const Query& query, const StaticOptions& options,
                                        MatchSink* sink);

}  // namespace deltamatch::engine

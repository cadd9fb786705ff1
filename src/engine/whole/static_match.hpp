// Static mode: a whole graph matched once, apart from standing queries and batches.
#pragma once

#include <optional>
#include <string>

#include "base/parallel.hpp"
#include "deltamatch/engine.hpp"
#include "graph/data_graph.hpp"
#include "match/matcher.hpp"

namespace deltamatch::engine {

/// What a static match works on. Everything outlives the call; nothing is staged.
struct StaticScene {
  graph::DataGraph& graph;
  match::Matcher& matcher;
  Workers& workers;
  std::optional<Timestamp> watermark;
  bool may_renumber = false;  ///< nobody else knows vertices by their numbers
};

/// The plans by which match_whole goes about what the query reads, in plans that begin with `anchor` where one is given; those
/// of listings that begin without sums have them where `sums` asks for it. Without sums once `stop` is set. The readings are
/// resolved.
[[nodiscard]] plan::QueryPlans plan_whole(const StaticScene& scene, const plan::BoundQuery& query, const StaticOptions& options,
                                          const match::StopFlag& stop, std::optional<std::uint32_t> anchor = std::nullopt,
                                          bool sums = false);

/// See Engine::match.
[[nodiscard]] StaticResult match_whole(const StaticScene& scene, const Query& query, const StaticOptions& options,
                                       MatchSink* sink);

/// See Engine::explain.
[[nodiscard]] std::string explain_whole(const StaticScene& scene, const Query& query, const StaticOptions& options,
                                        FilterReport* filtered);

/// See Engine::sample.
[[nodiscard]] SampleResult sample_whole(const StaticScene& scene, const Query& query, const SampleOptions& options);

}  // namespace deltamatch::engine

// Static mode: matches a whole graph once, without standing queries and batches.
#pragma once

#include <optional>
#include <string>

#include "base/parallel.hpp"
#include "deltamatch/engine.hpp"
#include "deltamatch/filter.hpp"
#include "deltamatch/id.hpp"
#include "deltamatch/match.hpp"
#include "deltamatch/query.hpp"
#include "deltamatch/sample.hpp"
#include "deltamatch/static.hpp"
#include "graph/data_graph.hpp"
#include "match/matcher.hpp"
#include "query/paths.hpp"

namespace deltamatch::engine {

/// What a static match works on. All must outlive the call. Nothing may be staged.
struct StaticScene {
  graph::DataGraph& graph;
  match::Matcher& matcher;
  Workers& workers;
  std::optional<Timestamp> watermark;
  bool may_renumber = false;  ///< nobody else uses the numbers of vertices
  SpoolOptions spool{};       ///< for a listing in order
};

/// The plans by which match_whole matches the query. If `anchor` is given, all plans begin with that query edge. A listing that
/// begins without sums gets them only if `sums` is set. Plans have no sums once `stop` is set. The query relations must be
/// resolved.
[[nodiscard]] plan::QueryPlans plan_whole(const StaticScene& scene, const plan::BoundQuery& query, const StaticOptions& options,
                                          const match::StopFlag& stop, std::optional<std::uint32_t> anchor = std::nullopt,
                                          bool sums = false);

/// See Engine::match. Matches the variants of the query one after the other, the shortest first. Limit and time-out are those
/// of all together. The report of filtering is that of the last.
[[nodiscard]] StaticResult match_whole(const StaticScene& scene, const Query& query, const StaticOptions& options,
                                       MatchSink* sink);

/// Matches one variant. Writes to the sink, which has begun.
[[nodiscard]] StaticResult match_variant(const StaticScene& scene, const query::Variant& variant, const StaticOptions& options,
                                         MatchSink* sink);

/// See Engine::explain.
[[nodiscard]] std::string explain_whole(const StaticScene& scene, const Query& query, const StaticOptions& options,
                                        FilterReport* filtered);

/// See Engine::sample. Each variant gets its share of the walks and of the time.
[[nodiscard]] SampleResult sample_whole(const StaticScene& scene, const Query& query, const SampleOptions& options);
/// The same for a query without paths.
[[nodiscard]] SampleResult sample_variant(const StaticScene& scene, const Query& query, const SampleOptions& options);

}  // namespace deltamatch::engine

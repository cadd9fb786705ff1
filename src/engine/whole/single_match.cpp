#include "engine/whole/single_match.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/deadline.hpp"
#include "base/seconds.hpp"
#include "engine/whole/whole_listing.hpp"
#include "match/counted_changes.hpp"

namespace deltamatch::engine {

namespace {

constexpr std::size_t vertices_at_once = 1024;

}  // namespace

StaticResult match_single(const StaticScene& scene, const Query& query, const StaticOptions& options, MatchSink* sink) {
  const auto start = std::chrono::steady_clock::now();
  match::StopFlag stop = false;
  const Deadline deadline(options.timeout, stop, options.stop);
  const plan::BoundQuery bound(query, options.query.mode, options.query.count, scene.graph);
  scene.graph.resolve_all();
  const match::QueryTask task{&bound, nullptr, true};
  WholeListing listing(scene.graph, scene.watermark, task, {}, options.limit, stop, sink, [] {});
  if (options.in_order) listing.put_in_order(scene.spool);
  const std::vector<graph::Resolved> resolved = scene.graph.resolved();
  const auto aged = aged_in_whole(bound, scene.watermark);
  const graph::Dictionary& dictionary = scene.graph.dictionary;
  scene.workers.for_each(dictionary.capacity(), vertices_at_once, [&](unsigned, std::size_t begin, std::size_t end) {
    if (stop.load()) return;
    std::vector<VertexId> vertices;
    for (std::size_t v = begin; v < end; ++v) {
      if (dictionary.alive(static_cast<VertexId>(v))) vertices.push_back(static_cast<VertexId>(v));
    }
    match::FoundMatches found;
    match::find_single(bound, resolved, aged, vertices, found);
    if (found.count > 0) listing.take(found);
  });
  listing.finish();
  StaticResult result;
  result.matches = listing.taken();
  if (options.query.list) result.digest = listing.digest();
  if (listing.beyond_limit()) {
    result.shortfall = Shortfall::limit;
  } else if (stop.load()) {
    result.shortfall = deadline.passed() ? Shortfall::timeout : Shortfall::stopped;
  }
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace deltamatch::engine

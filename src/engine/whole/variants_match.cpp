// Matches or samples a whole graph for a query whose paths make variants, and adds up what they find.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "base/seconds.hpp"
#include "engine/whole/static_match.hpp"

namespace deltamatch::engine {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

std::vector<query::Variant> variants_of(const Query& query) {
  validate(query, "query " + query.name);
  return query::expand(query);
}

/// What is left of a time-out.
std::optional<nanoseconds> time_left(const std::optional<nanoseconds>& timeout, Clock::time_point start) {
  if (!timeout) return std::nullopt;
  return std::max(nanoseconds(0), *timeout - std::chrono::duration_cast<nanoseconds>(Clock::now() - start));
}

StaticResult match_all(const StaticScene& scene, const std::vector<query::Variant>& variants, const StaticOptions& options,
                       MatchSink* sink) {
  const auto start = Clock::now();
  StaticResult all;
  for (std::size_t v = 0; v < variants.size() && all.complete(); ++v) {
    StaticOptions own = options;
    own.timeout = time_left(options.timeout, start);
    if (options.limit) own.limit = *options.limit - static_cast<std::uint64_t>(all.matches);
    if (options.progress) {
      own.progress = [&, v](const StaticProgress& progress) {
        StaticProgress whole{(static_cast<double>(v) + progress.fraction) / static_cast<double>(variants.size()), {}};
        if (progress.matches) whole.matches = checked_add(all.matches, *progress.matches);
        options.progress(whole);
      };
    }
    StaticResult found = match_variant(scene, variants[v], own, sink);
    found.matches = checked_add(found.matches, all.matches);
    found.digest.add_all(all.digest);
    all = std::move(found);
  }
  all.seconds = seconds_since(start);
  return all;
}

}  // namespace

StaticResult match_whole(const StaticScene& scene, const Query& query, const StaticOptions& options, MatchSink* sink) {
  if (options.limit && !options.query.list) {
    throw Error(ErrorKind::configuration, "query " + query.name, "a limit applies to listed matches only",
                "set QueryOptions::list, or leave the limit out");
  }
  const std::vector<query::Variant> variants = variants_of(query);
  if (!options.query.list || sink == nullptr) return match_all(scene, variants, options, nullptr);
  // Whatever refuses a query does so before the sink begins.
  for (const query::Variant& variant : variants)
    const plan::BoundQuery bound(variant.query, options.query.mode, options.query.count, scene.graph, options.induced);
  try {
    sink->begin(0);
    StaticResult result = match_all(scene, variants, options, sink);
    sink->end({query.name, static_cast<std::uint64_t>(result.matches), result.shortfall});
    sink->commit();
    return result;
  } catch (...) {
    sink->abort();
    throw;
  }
}

SampleResult sample_whole(const StaticScene& scene, const Query& query, const SampleOptions& options) {
  const std::vector<query::Variant> variants = variants_of(query);
  if (variants.size() == 1) return sample_variant(scene, variants.front().query, options);
  const auto start = Clock::now();
  const auto count = static_cast<double>(variants.size());
  SampleResult all;
  double squares = 0;  // of the errors, which are independent
  for (std::size_t v = 0; v < variants.size(); ++v) {
    SampleOptions own = options;
    own.walks = options.walks == 0 ? 0 : (options.walks - 1) / variants.size() + 1;
    if (const auto left = time_left(options.timeout, start)) own.timeout = *left / (variants.size() - v);
    if (options.progress) {
      own.progress = [&, v](double fraction, double matches) {
        options.progress((static_cast<double>(v) + fraction) / count, all.matches + matches);
      };
    }
    const SampleResult found = sample_variant(scene, variants[v].query, own);
    all.matches += found.matches;
    squares += (found.high - found.matches) * (found.high - found.matches);
    all.walks += found.walks;
    all.hits += found.hits;
    if (all.shortfall == Shortfall::none) all.shortfall = found.shortfall;
  }
  all.low = std::max(0.0, all.matches - std::sqrt(squares));
  all.high = all.matches + std::sqrt(squares);
  all.seconds = seconds_since(start);
  return all;
}

}  // namespace deltamatch::engine

#include "ingest/service/state/repeated_queries.hpp"

#include <algorithm>
#include <utility>

namespace deltamatch::ingest {

void KnownQueries::add(std::span<const ServiceQuery> queries) {
  const std::scoped_lock lock(mutex_);
  for (const ServiceQuery& query : queries) {
    if (!query.query.once) continue;
    Known known{{query.query.name, query_fingerprint(query.query, query.options)}, {query.query, query.options}};
    known.query.options.list = false;
    if (std::ranges::find(known_, known.active, &Known::active) == known_.end()) known_.push_back(std::move(known));
  }
}

std::vector<KnownQueries::Known> KnownQueries::among(std::span<const ActiveQuery> active) const {
  const std::scoped_lock lock(mutex_);
  std::vector<Known> found;
  for (const ActiveQuery& query : active) {
    const auto known = std::ranges::find(known_, query, &Known::active);
    if (known != known_.end()) found.push_back(*known);
  }
  return found;
}

void RepeatedQueries::stand(const CommitPoint& mark) {
  std::vector<KnownQueries::Known> wanted;
  if (known_ != nullptr) wanted = known_->among(mark.queries);
  std::vector<ActiveQuery> names;
  std::vector<NewQuery> queries;
  for (KnownQueries::Known& known : wanted) {
    names.push_back(std::move(known.active));
    queries.push_back(std::move(known.query));
  }
  if (names != standing_) {
    ids_ = engine_->replace_queries(ids_, queries);
    standing_ = std::move(names);
  }
  engine_->retain(mark.retention);
  engine_->watch_vertices(mark.watches_vertices);
}

void RepeatedQueries::leave() {
  if (!any()) return;
  engine_->replace_queries(ids_, {});
  ids_.clear();
  standing_.clear();
}

}  // namespace deltamatch::ingest

#include "ingest/service/loop/standing_queries.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace deltamatch::ingest {

QueryChange StandingQueries::replace(std::vector<ServiceQuery> wanted, std::span<const ActiveQuery> before,
                                     const ListExisting& list) {
  std::vector<Standing> next;
  std::vector<Standing> fresh;
  for (ServiceQuery& query : wanted) {
    query.options.list = !query.sinks.empty();
    std::string fingerprint = query_fingerprint(query.query, query.options);
    const auto old = std::find_if(standing_.begin(), standing_.end(), [&](const Standing& standing) {
      return standing.query.query == query.query && standing.query.options == query.options;
    });
    auto& kind = old == standing_.end() ? fresh : next;
    kind.push_back({query, std::move(fingerprint), old == standing_.end() ? QueryId{} : old->id});
  }
  std::sort(next.begin(), next.end(), [](const Standing& a, const Standing& b) { return a.id < b.id; });
  std::vector<QueryId> gone;
  for (const Standing& standing : standing_) {
    if (std::ranges::find(next, standing.id, &Standing::id) == next.end()) gone.push_back(standing.id);
  }
  std::vector<NewQuery> wanted_anew;
  for (const Standing& standing : fresh) wanted_anew.push_back({standing.query.query, standing.query.options});
  auto names = std::make_shared<std::vector<std::string>>();
  const std::size_t kept = next.size();
  next.insert(next.end(), fresh.begin(), fresh.end());
  QueryChange change = changes(before, next);
  std::vector<ServiceQuery> reported;
  std::ranges::copy_if(change.added, std::back_inserter(reported),
                       [](const ServiceQuery& query) { return query.report_existing && !query.sinks.empty(); });
  const bool lists = list && !reported.empty();
  try {
    router_->set_queries(wanted);
    if (lists) {
      router_->begin(engine_->batch() + 1);
      list(reported);
    }
    names->reserve(next.size());
    for (const Standing& standing : next) names->push_back(standing.query.query.name);
    const std::vector<QueryId> ids = engine_->replace_queries(gone, wanted_anew);
    for (std::size_t i = 0; i < ids.size(); ++i) next[kept + i].id = ids[i];
  } catch (...) {
    if (lists) router_->abort();
    std::vector<ServiceQuery> old;
    old.reserve(standing_.size());
    for (const Standing& standing : standing_) old.push_back(standing.query);
    router_->set_queries(old);
    throw;
  }
  if (lists) router_->commit();
  standing_ = std::move(next);
  names_ = std::move(names);
  for (const Standing& standing : standing_) engine_->budget(standing.id, standing.query.budget.limits);
  return change;
}

/// What changes if `next` stand after `before`.
QueryChange StandingQueries::changes(std::span<const ActiveQuery> before, std::span<const Standing> next) {
  QueryChange change;
  std::vector<ActiveQuery> now;
  for (const Standing& standing : next) {
    now.push_back({standing.query.query.name, standing.fingerprint});
    if (std::ranges::find(before, now.back()) == before.end()) change.added.push_back(standing.query);
  }
  for (const ActiveQuery& query : before) {
    if (std::ranges::find(now, query) == now.end()) change.removed.push_back(query.name);
  }
  return change;
}

void StandingQueries::suspend(std::span<const QueryId> queries) {
  std::vector<Standing> left;
  std::vector<ServiceQuery> routed;
  auto names = std::make_shared<std::vector<std::string>>();
  for (const Standing& standing : standing_) {
    if (std::ranges::find(queries, standing.id) != queries.end()) continue;
    left.push_back(standing);
    routed.push_back(standing.query);
    names->push_back(standing.query.query.name);
  }
  router_->set_queries(routed);
  for (const QueryId query : queries) engine_->remove_query(query);
  standing_ = std::move(left);
  names_ = std::move(names);
}

std::vector<StandingQueries::Named> StandingQueries::standing() const {
  std::vector<Named> named;
  named.reserve(standing_.size());
  for (const Standing& standing : standing_) named.push_back({standing.id, &standing.query, standing.fingerprint});
  return named;
}

std::optional<BatchResult> StandingQueries::process(const UpdateBatch& batch, BatchOptions options) const {
  const bool lists = std::ranges::any_of(standing_, [](const Standing& standing) { return standing.query.options.list; });
  options.sink = lists ? router_ : nullptr;
  std::optional<BatchResult> result = engine_->process(batch, options);
  if (result && !lists) {
    router_->begin(result->batch);
    router_->commit();
  }
  return result;
}

std::vector<ActiveQuery> StandingQueries::active() const {
  std::vector<ActiveQuery> active;
  active.reserve(standing_.size());
  for (const Standing& standing : standing_) active.push_back({standing.query.query.name, standing.fingerprint});
  std::sort(active.begin(), active.end());
  return active;
}

}  // namespace deltamatch::ingest

// Which queries stand: changes requested while the service works, and queries over their budgets.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/loop/existing_matches.hpp"
#include "ingest/service/loop/pipeline.hpp"
#include "ingest/service/loop/start_up.hpp"

namespace deltamatch::ingest {
namespace {

std::string limit_text(const QueryBudget& limits, Shortfall shortfall) {
  if (shortfall == Shortfall::limit) return fmt::format("budget.matches ({})", limits.matches.value_or(0));
  const std::chrono::duration<double> time = limits.time.value_or(std::chrono::nanoseconds(0));
  return fmt::format("budget.time ({} s)", time.count());
}

std::vector<std::string> names_over_http(std::span<const ServiceQuery> queries) {
  std::vector<std::string> names;
  for (const ServiceQuery& query : queries) {
    if (query.over_http) names.push_back(query.query.name);
  }
  std::ranges::sort(names);
  return names;
}

constexpr const char* resume =
    "raise its budget or change it, then reload (SIGHUP), or PUT it if it was made over HTTP; it starts anew from the present "
    "graph";

}  // namespace

/// A caller waits for these queries to stand.
struct Pipeline::Request {
  QueryWish wish;
  QueryChange change;
  std::exception_ptr failure;
  bool done = false;
};

/// Whether a query exceeded its budget and should stop the service. Then nothing of the batch may be committed.
bool Pipeline::stops_here(const BatchResult& result) {
  for (const QueryDelta& delta : result.queries) {
    if (delta.complete()) continue;
    for (const StandingQueries::Named& named : queries_.standing()) {
      const ServiceQuery& query = *named.query;
      if (named.id != delta.query || query.budget.then != OverBudget::stop) continue;
      context_.metrics.over_budget(query.query.name, delta.shortfall);
      exceeded_ = Exceeded{query.query.name, query.where,
                           fmt::format("batch {} takes the query '{}' over its {}, so nothing of the batch is committed",
                                       result.batch, query.query.name, limit_text(query.budget.limits, delta.shortfall))};
      return true;
    }
  }
  return false;
}

/// Makes the counts those of the alerts. A query over its budget publishes none of the batch. Matches that were there when a
/// query was added appear in the batch.
void Pipeline::count_alerts(BatchResult& result, std::span<const std::string> names) {
  for (std::size_t q = 0; q < result.queries.size(); ++q) {
    QueryDelta& delta = result.queries[q];
    if (!delta.complete()) delta.added = delta.removed = delta.suppressed = 0;
    if (const auto existing = existing_.find(names[q]); existing != existing_.end()) delta.added += existing->second;
  }
  existing_.clear();
}

/// Suspends queries that exceeded their budgets. That is committed with the batch, whose alerts include a report of it.
void Pipeline::suspend(const BatchResult& result) {
  std::vector<QueryId> suspended;
  for (const StandingQueries::Named& named : queries_.standing()) {
    const auto delta = std::ranges::find(result.queries, named.id, &QueryDelta::query);
    if (delta == result.queries.end() || delta->complete()) continue;
    const std::string& name = named.query->query.name;
    suspended.push_back(named.id);
    last_.suspended.push_back({name, std::string(named.fingerprint), result.batch, delta->shortfall});
    context_.metrics.over_budget(name, delta->shortfall);
    context_.metrics.suspended(name, true);
    context_.journal.tell(Level::error, "a query exceeded its budget and is suspended",
                          {{"query", name},
                           {"batch", std::to_string(result.batch)},
                           {"budget", limit_text(named.query->budget.limits, delta->shortfall)},
                           {"remedy", resume}});
  }
  if (suspended.empty()) return;
  queries_.suspend(suspended);
  std::ranges::sort(last_.suspended);
}

/// Sets the first queries. Queries that the last batch left suspended stay so, unless their definition has changed.
void Pipeline::begin_queries(std::vector<ServiceQuery> wanted) {
  std::vector<std::string> over_http = names_over_http(wanted);
  std::vector<SuspendedQuery> suspended;
  std::erase_if(wanted, [&](const ServiceQuery& query) {
    QueryOptions options = query.options;
    options.list = !query.sinks.empty();
    const auto found = std::ranges::find(last_.suspended, query.query.name, &SuspendedQuery::name);
    if (found == last_.suspended.end() || found->fingerprint != query_fingerprint(query.query, options)) return false;
    suspended.push_back(*found);
    return true;
  });
  std::ranges::sort(suspended);
  for (const SuspendedQuery& query : suspended) {
    context_.metrics.suspended(query.name, true);
    context_.journal.tell(Level::warn, "a query is suspended",
                          {{"query", query.name}, {"since_batch", std::to_string(query.batch)}, {"remedy", resume}});
  }
  try {
    change(std::move(wanted), std::vector<ActiveQuery>(last_.queries), std::move(suspended), std::nullopt,
           std::move(over_http));
  } catch (const PipelineEnds&) {
    throw StartupCancelled();
  }
}

/// Replaces the standing and the suspended queries. If that changes anything compared with `before`, it becomes a batch of its
/// own, without updates. That batch reports existing matches of the added queries that ask for it.
QueryChange Pipeline::change(std::vector<ServiceQuery> wanted, std::span<const ActiveQuery> before,
                             std::vector<SuspendedQuery> suspended, std::optional<QueryRecord> record,
                             std::vector<std::string> over_http) {
  context_.known->add(wanted);
  QueryChange change =
      queries_.replace(std::move(wanted), before, [this](std::span<const ServiceQuery> queries) { list_existing(queries); });
  const std::vector<SuspendedQuery> were = std::exchange(last_.suspended, std::move(suspended));
  const std::vector<std::string> were_over_http = std::exchange(last_.over_http, std::move(over_http));
  {
    const std::scoped_lock lock(mutex_);
    status_.queries = queries_.active();
    status_.suspended = last_.suspended;
  }
  change.batch = last_.batch;
  if (change.empty() && !record && were == last_.suspended && were_over_http == last_.over_http) return change;
  if (record) {
    record->batch = last_.batch + 1;
    changes_.push_back(std::move(*record));
  }
  const std::vector<ActiveQuery> standing = queries_.active();
  for (const SuspendedQuery& query : were) {
    if (std::ranges::find(last_.suspended, query.name, &SuspendedQuery::name) != last_.suspended.end()) continue;
    const bool stands = std::ranges::find(standing, query.name, &ActiveQuery::name) != standing.end();
    if (stands) context_.metrics.suspended(query.name, false);
    if (!stands && std::ranges::find(change.removed, query.name) == change.removed.end()) change.removed.push_back(query.name);
  }
  process_empty();
  change.batch = last_.batch;
  context_.journal.tell(Level::info, "queries changed",
                        {{"batch", std::to_string(last_.batch)},
                         {"added", std::to_string(change.added.size())},
                         {"removed", std::to_string(change.removed.size())}});
  return change;
}

/// Lists the existing matches of queries that are about to stand. Throws Error(configuration) if that takes too much. Throws
/// PipelineEnds.
void Pipeline::list_existing(std::span<const ServiceQuery> queries) {
  auto counts = ingest::list_existing(engine_, router_, queries, ExistingWatch{context_.options.existing, &monitor_});
  if (counts) {
    existing_ = std::move(*counts);
    return;
  }
  context_.journal.tell(
      Level::warn, "a change of the queries was abandoned because the service stops",
      {{"query", queries.front().query.name}, {"effect", "its existing matches were being listed; nothing has changed"}});
  throw PipelineEnds();
}

QueryChange Pipeline::change_queries(QueryWish wish) {
  const auto request = std::make_shared<Request>();
  request->wish = std::move(wish);
  std::unique_lock lock(mutex_);
  if (ended_) throw PipelineEnds();
  requests_.push_back(request);
  ++requested_;
  if (reader_) reader_->wake();
  changed_.wait(lock, [&] { return request->done; });
  if (request->failure) std::rethrow_exception(request->failure);
  return std::move(request->change);
}

/// Makes the wanted queries stand. Those that are suspended, and not meant, stay so as long as they are wanted.
QueryChange Pipeline::grant(QueryWish wish) {
  std::vector<std::string> over_http = names_over_http(wish.queries);
  std::vector<SuspendedQuery> suspended;
  if (wish.only) {
    std::ranges::copy_if(last_.suspended, std::back_inserter(suspended), [&](const SuspendedQuery& query) {
      const auto named = [&](const ServiceQuery& wanted) { return wanted.query.name == query.name; };
      return query.name != *wish.only && std::ranges::any_of(wish.queries, named);
    });
    std::erase_if(wish.queries, [&](const ServiceQuery& query) {
      return std::ranges::find(suspended, query.query.name, &SuspendedQuery::name) != suspended.end();
    });
  }
  return change(std::move(wish.queries), queries_.active(), std::move(suspended), std::move(wish.change), std::move(over_http));
}

void Pipeline::serve_requests() {
  for (;;) {
    std::shared_ptr<Request> request;
    {
      const std::scoped_lock lock(mutex_);
      if (requests_.empty()) return;
      request = requests_.front();
      requests_.pop_front();
      --requested_;
    }
    std::exception_ptr fatal;
    try {
      request->change = grant(std::move(request->wish));
      committer_->drain(Clock::time_point::max());
    } catch (const Error& error) {
      request->failure = std::current_exception();
      if (error.kind() != ErrorKind::configuration) fatal = request->failure;
    } catch (...) {
      fatal = request->failure = std::current_exception();
    }
    {
      const std::scoped_lock lock(mutex_);
      request->done = true;
    }
    changed_.notify_all();
    if (fatal) std::rethrow_exception(fatal);
  }
}

void Pipeline::refuse_requests() {
  const std::scoped_lock lock(mutex_);
  ended_ = true;
  for (const std::shared_ptr<Request>& request : requests_) {
    request->failure = std::make_exception_ptr(PipelineEnds());
    request->done = true;
  }
  requests_.clear();
  changed_.notify_all();
}

}  // namespace deltamatch::ingest

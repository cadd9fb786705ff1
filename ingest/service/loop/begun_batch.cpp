#include "ingest/service/loop/begun_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/service/alert/router.hpp"
#include "ingest/service/loop/backlog.hpp"
#include "ingest/service/loop/commit.hpp"
#include "ingest/service/loop/existing_matches.hpp"
#include "ingest/service/loop/large_batch.hpp"
#include "ingest/service/loop/standing_queries.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::string_view remedy =
    "restore the query for this start, or start the instance whose state directory holds the log of that batch";

/// The place of a query among those that stood, or behind all if the record of progress does not name it.
std::size_t place_of(const BegunBatch& begun, const std::string& query) {
  const std::vector<std::string>& names = begun.progress.queries;
  return static_cast<std::size_t>(std::ranges::find(names, query) - names.begin());
}

/// The queries that were standing after the batch, as configured now and in the order of their alerts.
std::vector<ServiceQuery> queries_of(const BegunBatch& begun) {
  std::vector<ServiceQuery> queries;
  for (const ActiveQuery& active : begun.progress.mark.queries) {
    const auto query = std::ranges::find_if(begun.options.queries, [&](const ServiceQuery& wanted) {
      QueryOptions options = wanted.options;
      options.list = !wanted.sinks.empty();
      return wanted.query.name == active.name && query_fingerprint(wanted.query, options) == active.fingerprint;
    });
    if (query == begun.options.queries.end()) {
      throw Error(ErrorKind::configuration, "queries",
                  fmt::format("batch {} is only partly published, and its query '{}' has changed since",
                              begun.progress.mark.batch, active.name),
                  remedy);
    }
    queries.push_back(*query);
    queries.back().budget = {};  // the query kept within it
  }
  std::ranges::stable_sort(queries, {}, [&](const ServiceQuery& query) { return place_of(begun, query.query.name); });
  return queries;
}

/// Reports again which queries exceeded their budgets in the batch, to their current sinks. These reports have no id, so they
/// may appear twice.
void report_suspended(const BegunBatch& begun, AlertRouter& router) {
  const CommitPoint& mark = begun.progress.mark;
  router.set_queries(begun.options.queries);
  for (const SuspendedQuery& query : mark.suspended) {
    if (query.batch == mark.batch) router.end({query.name, 0, query.shortfall, query.batch});
  }
}

}  // namespace

void match_again(const BegunBatch& begun, Recovered& recovered, InputBatch batch) {
  const CommitPoint& mark = begun.progress.mark;
  AlertRouter router(begun.options.sinks, std::chrono::steady_clock::now, alert_memory(begun.directory),
                     begun.options.engine.schema);
  StandingQueries standing(recovered.engine, router);
  recovered.engine.spool({.memory = match_memory, .folder = begun.directory.path()});
  standing.replace(queries_of(begun), recovered.reached.queries, [&](std::span<const ServiceQuery> queries) {
    static_cast<void>(list_existing(recovered.engine, router, queries, std::nullopt));
  });
  recovered.engine.watch_vertices(mark.watches_vertices);
  Commit commit;
  BatchOptions options;
  options.on_reject = OnReject::skip;
  options.record_by_record = true;
  commit.result = standing.process(batch.updates, options).value();
  commit.consumed = commit.result.consumed;
  commit.mark = mark;
  commit.input = std::move(batch);
  report_suspended(begun, router);
  commit.alerts = router.take();
  standing.replace({}, {});
  if (commit.result.batch != mark.batch || commit.result.watermark != mark.watermark) {
    throw Error(begun.directory.path().string(),
                fmt::format("batch {}, read again from the input, differs from the one that is partly published", mark.batch),
                "start the instance whose state directory holds the log of that batch");
  }
  must_be_digest_of(mark, recovered.engine.digest(), begun.directory.path().string(),
                    "start the instance whose state directory holds the log of that batch");
  append_to_log(begun.options, *recovered.log, commit, true);
  recovered.log->sync();
  recovered.reached = mark;
}

void publish_rest(const BegunBatch& begun, kafka::Transactions& transactions,
                  const std::function<void(std::string)>& progress) {
  const CommitPoint& mark = begun.progress.mark;
  LogReader log(begun.directory.path(), begun.directory.fingerprint(),
                {.updates_from = LogReader::none, .alerts_from = mark.batch});
  LogReader::Entry entry{};
  do {
    entry = log.next();
    if (entry == LogReader::Entry::end) {
      throw Error(begun.directory.path().string(), fmt::format("the log no longer holds batch {}", mark.batch),
                  "start the service again");
    }
  } while (entry != LogReader::Entry::batch || log.batch().mark.batch != mark.batch);
  std::vector<TopicAlerts> alerts;
  for (const StreamedAlerts& streamed : log.batch().streamed) {
    if (!streamed.in_transaction) continue;
    const auto sink = std::ranges::find(begun.options.sinks, streamed.sink, &SinkOptions::name);
    if (sink == begun.options.sinks.end() || sink->kind != SinkOptions::Kind::kafka) {
      throw Error(
          ErrorKind::configuration, "sinks",
          fmt::format("batch {} is only partly published, and its sink '{}' is no longer a topic", mark.batch, streamed.sink),
          "restore the sink for this start");
    }
    const auto published = begun.progress.published.find(streamed.sink);
    alerts.push_back({streamed.sink, sink->topic, logged_stream(begun.directory, mark.batch, streamed.sink, streamed.alerts),
                      published == begun.progress.published.end() ? 0 : published->second});
  }
  // The first transaction had its dead letters, and its changes of queries.
  LargeBatch batch(begun.options, mark, std::move(alerts), begun.progress.queries, {}, nullptr, begun.journal);
  batch.publish(transactions, begun.options.transaction_timeout,
                [&] { progress(fmt::format("publishing the rest of batch {}", mark.batch)); });
}

}  // namespace deltamatch::ingest

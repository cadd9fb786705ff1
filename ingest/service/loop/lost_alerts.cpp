#include "ingest/service/loop/lost_alerts.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "ingest/service/loop/backlog.hpp"
#include "ingest/service/loop/commit.hpp"
#include "ingest/service/loop/existing_matches.hpp"

namespace deltamatch::ingest {

LostAlerts find_lost_alerts(const ServiceOptions& options, const StateDirectory& directory, const Log& log,
                            const std::optional<DeliveryNote>& note, std::uint64_t committed) {
  LostAlerts lost;
  if (!note) return lost;
  const std::vector<Delivered> positions = log.positions();
  for (const SinkOptions& sink : options.sinks) {
    if (!sink.sends_requests()) continue;
    const auto own = std::ranges::find(positions, sink.name, &Delivered::sink);
    std::uint64_t delivered = note->of(sink.name);
    if (own != positions.end()) delivered = std::max(delivered, own->batch);
    lost.delivered[sink.name] = std::min(delivered, committed);
    if (!is_logged(directory, delivered + 1, committed)) lost.from = std::min(lost.from, delivered + 1);
  }
  return lost;
}

AlertMaker::AlertMaker(const StartupContext& context, Recovered& recovered, const LostAlerts& lost)
    : options_(context.options),
      made_(context.made),
      journal_(context.journal),
      recovered_(recovered),
      lost_(lost),
      router_(
          options_.sinks, [this] { return std::chrono::steady_clock::time_point(std::chrono::milliseconds(time_)); },
          alert_memory(context.directory), options_.engine.schema),
      standing_(recovered.engine, router_) {
  const StateDirectory& directory = context.directory;
  const CommitPoint& reached = recovered.reached;
  recovered.engine.save(directory.snapshot_path(reached.batch), to_json(reached));
  recovered.log.reset();
  recovered.log = std::make_unique<Log>(directory.path(), directory.fingerprint(), reached.batch);
  const std::vector<Delivered> positions = recovered.log->positions();
  for (const auto& [sink, delivered] : lost.delivered) {
    const auto own = std::ranges::find(positions, sink, &Delivered::sink);
    recovered.log->delivered({sink, reached.batch, own == positions.end() ? std::string() : own->position});
  }
  for (const SinkOptions& sink : logged_sinks(options_)) {
    if (sink.kind != SinkOptions::Kind::file || std::ranges::find(positions, sink.name, &Delivered::sink) != positions.end())
      continue;
    recovered.log->delivered({sink.name, reached.batch, std::string(unsure_position)});
  }
  recovered.log->sync();
  recovered.engine.spool({.memory = match_memory, .folder = directory.path()});
}

/// The queries that stood after the batch. Those that are configured now come first, in that order.
std::vector<ServiceQuery> AlertMaker::queries_of(const CommitPoint& mark) {
  std::vector<ServiceQuery> queries;
  const auto take = [&](const ServiceQuery& wanted) {
    QueryOptions options = wanted.options;
    options.list = !wanted.sinks.empty();
    const ActiveQuery active{wanted.query.name, query_fingerprint(wanted.query, options)};
    if (std::ranges::find(mark.queries, active) == mark.queries.end()) return;
    queries.push_back(wanted);
    queries.back().budget = {};  // the query kept within it
  };
  std::map<std::string_view, const MadeQuery*> made;  // what stood then, by name
  for (const MadeQuery& query : made_) {
    if (query.batch <= mark.batch) made[query.name] = &query;
  }
  std::erase_if(made, [](const auto& entry) { return !entry.second->query; });
  for (const ServiceQuery& wanted : options_.queries) {
    const auto then = made.extract(wanted.query.name);
    take(then ? *then.mapped()->query : wanted);
  }
  for (const auto& [name, then] : made) take(*then->query);
  for (const ActiveQuery& active : mark.queries) {
    const auto same = [&](const ServiceQuery& query) { return query.query.name == active.name; };
    if (std::ranges::none_of(queries, same)) changed_.try_emplace(active.name, mark.batch);
  }
  return queries;
}

/// Reports which queries exceeded their budgets in the batch.
void AlertMaker::report_suspended(const CommitPoint& mark) {
  router_.set_queries(options_.queries);
  for (const SuspendedQuery& query : mark.suspended) {
    if (query.batch == mark.batch) router_.end({query.name, 0, query.shortfall, query.batch});
  }
}

void AlertMaker::make(const CommitPoint& mark, InputBatch& batch, std::int64_t time, bool last) {
  Engine& engine = recovered_.engine;
  time_ = time;
  if (last) router_.close_intervals();
  const bool changed = std::ranges::find(made_, mark.batch, &MadeQuery::batch) != made_.end();  // perhaps only its sinks
  if (active_ != mark.queries || changed) {
    standing_.replace(queries_of(mark), recovered_.reached.queries, [&](std::span<const ServiceQuery> queries) {
      static_cast<void>(list_existing(engine, router_, queries, std::nullopt));
    });
    active_ = mark.queries;
  }
  engine.retain(mark.retention);
  engine.watch_vertices(mark.watches_vertices);
  Commit commit;
  BatchOptions how;
  how.on_reject = OnReject::skip;
  how.record_by_record = true;
  commit.result = standing_.process(batch.updates, how).value();
  commit.consumed = commit.result.consumed;
  commit.mark = mark;
  if (!options_.input.dead_letter_file.empty()) commit.letters = letters_of(batch, commit.result, options_.input.on_error);
  if (std::ranges::any_of(mark.suspended, [&](const SuspendedQuery& query) { return query.batch == mark.batch; })) {
    report_suspended(mark);
    active_.reset();
  }
  commit.alerts = router_.take();
  for (std::size_t s = 0; s < commit.alerts.size(); ++s) {
    const SinkOptions& sink = options_.sinks[s];
    const auto delivered = lost_.delivered.find(sink.name);
    const bool has_it = delivered != lost_.delivered.end() && mark.batch <= delivered->second;
    if (sink.kind == SinkOptions::Kind::kafka || has_it) commit.alerts[s] = AlertList();
    alerts_ += sink.sends_requests() ? commit.alerts[s].size() : 0;
  }
  commit.input = std::move(batch);
  append_to_log(options_, *recovered_.log, commit);
  batch = std::move(commit.input);
}

void AlertMaker::finish() {
  standing_.replace({}, {});
  recovered_.log->sync();
  for (const auto& [query, since] : changed_) {
    journal_.tell(Level::error, "alerts of a query are lost with the log, because it has changed since",
                  {{"query", query},
                   {"from", std::to_string(std::max(since, lost_.from))},
                   {"to", std::to_string(recovered_.reached.batch)},
                   {"remedy", "find these alerts again with deltamatch replay --cuts"}});
  }
  journal_.tell(Level::warn, "alerts that waited in a lost log are made again",
                {{"from", std::to_string(lost_.from)},
                 {"to", std::to_string(recovered_.reached.batch)},
                 {"alerts", std::to_string(alerts_)}});
}

}  // namespace deltamatch::ingest

// deltamatch match: matches queries against a whole graph, once.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/seconds.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/interrupt.hpp"
#include "cli/commands/session.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/option_kinds.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/progress.hpp"
#include "plan/bound_query.hpp"

namespace deltamatch::cli {
namespace {

constexpr const char* examples = R"(Examples:
  deltamatch match --graph friends.txt --undirected --query 'triangle=(a)--(b)--(c)--(a)'
  deltamatch match --graph yeast.graph --query queries/ --induced --timeout 10s --json
  deltamatch match --snapshot after.dms --query ring.pattern --emit matches --limit 100 \
    --out first.csv
  deltamatch match --graph web.txt --query '(a)--(b)--(c)--(d)--(a)--(e)--(b)' --sample 1000000

An answer that --limit or --timeout cut short is marked as partial and ends with exit code 1.)";

struct Match {
  GraphOptions graph;
  QuerySelection queries;
  EmitOptions emit;
  WholeOptions whole;
  std::optional<std::uint64_t> limit;
  Timestamp timeout = 0;
  std::uint64_t sample = 0;  ///< number of walks; 0: count or list
  std::optional<std::uint64_t> seed;

  [[nodiscard]] bool lists() const { return emit.emit != Emit::none || limit; }
  [[nodiscard]] std::optional<std::chrono::nanoseconds> time() const {
    if (timeout == 0) return std::nullopt;
    return std::chrono::microseconds(timeout);
  }
};

void check(const Match& options) {
  check(options.graph, {});
  options.emit.check();
  options.whole.check(options.queries.mode);
  if (options.whole.count_from == CountFrom::vertices) check_no_order(options.queries, "--count-from vertices");
  std::vector<NamedPath> outputs = options.emit.outputs();
  outputs.push_back({"--dead-letters", options.graph.dead_letters});
  check_apart(input_paths(options.graph, {}, options.queries), outputs);
  if (options.graph.graphs.empty() && options.graph.snapshot.empty()) {
    throw Error(ErrorKind::usage, "match", "there is no graph", "name one with --graph or --snapshot");
  }
  if (options.sample == 0) {
    if (options.seed) throw Error(ErrorKind::usage, "--seed", "no walks are drawn", "add --sample WALKS, or leave it out");
    if (options.whole.count_from != CountFrom::automatic && options.lists()) {
      throw Error(ErrorKind::usage, "--count-from", "matches are listed, not summed",
                  options.limit ? "leave it or --limit out" : "leave it or --emit out");
    }
    return;
  }
  if (options.whole.count_from != CountFrom::automatic) {
    throw Error(ErrorKind::usage, "--count-from", "an estimate sums no counts", "leave it or --sample out");
  }
  if (options.whole.filter != Filter::automatic) {
    throw Error(ErrorKind::usage, "--filter", "an estimate does not filter candidates", "leave it or --sample out");
  }
  if (options.whole.filter_without.any()) {
    throw Error(ErrorKind::usage, "--filter-without", "an estimate does not filter candidates", "leave it or --sample out");
  }
  if (options.limit || options.emit.emit != Emit::none) {
    throw Error(ErrorKind::usage, "--sample", "an estimate lists no matches",
                options.limit ? "leave --limit out" : "leave --emit out");
  }
}

std::string_view remedy(Shortfall shortfall) {
  switch (shortfall) {
    case Shortfall::none:
      break;
    case Shortfall::limit:
      return "raise --limit for all of it";
    case Shortfall::timeout:
      return "raise --timeout for all of it";
    case Shortfall::stopped:
      return "run it again for all of it";
  }
  return {};
}

/// Says for standard error why answers are partial or missing. Empty if all are complete.
std::string shortfalls(const Report& report, bool sampled) {
  std::string text;
  for (const QueryMatches& query : report.matches) {
    if (!query.error.empty()) {
      text += fmt::format("deltamatch: query {}: {}; {}list some matches with --limit\n", query.name, query.error,
                          sampled ? "" : "estimate it with --sample, or ");
    }
    const Shortfall shortfall = query.shortfall();
    if (shortfall == Shortfall::none) continue;
    const std::string after = query.sample ? fmt::format("{} walks", query.sample->walks)
                                           : fmt::format("{} matches", to_string(query.result.matches));
    const std::string by = shortfall == Shortfall::stopped ? "an interrupt" : fmt::format("--{}", shortfall_name(shortfall));
    text += fmt::format("deltamatch: query {}: stopped by {} after {}, so the answer is partial; {}\n", query.name, by, after,
                        remedy(shortfall));
  }
  return text;
}

QueryMatches find_matches(Engine& engine, const NamedQuery& query, const QueryOptions& asked, const Match& options,
                          Progress& progress, MatchSink* sink) {
  const std::string what = "matches of " + query.query.name;
  QueryMatches found{.name = query.query.name, .result = {}, .sample = {}};
  if (options.sample > 0) {
    SampleOptions how;
    how.query = asked;
    how.induced = options.whole.induced;
    how.walks = options.sample;
    how.timeout = options.time();
    how.seed = options.seed.value_or(how.seed);
    how.progress = [&](double fraction, double /*matches*/) {
      progress.show("walks for " + query.query.name, static_cast<std::uint64_t>(fraction * static_cast<double>(how.walks)),
                    fraction);
    };
    how.stop = interrupted;
    found.sample = engine.sample(query.query, how);
  } else {
    StaticOptions how = options.whole.options(asked);
    how.limit = options.limit;
    how.timeout = options.time();
    if (progress.enabled()) {
      how.progress = [&](const StaticProgress& so_far) {
        std::optional<std::uint64_t> matches;
        if (so_far.matches) matches = static_cast<std::uint64_t>(std::min<Count>(*so_far.matches, UINT64_MAX));
        progress.show(what, matches, so_far.fraction);
      };
    }
    how.stop = interrupted;
    found.result = engine.match(query.query, how, sink);
  }
  return found;
}

/// The result of a query that had not begun at the interrupt. A listing marks it too.
QueryMatches not_begun(const NamedQuery& query, const Match& options, MatchSink* sink) {
  QueryMatches none{.name = query.query.name, .result = {}, .sample = {}};
  if (options.sample > 0) {
    none.sample.emplace().shortfall = Shortfall::stopped;
  } else {
    none.result.shortfall = Shortfall::stopped;
  }
  if (sink != nullptr) {
    sink->begin(0);
    sink->end({.query = none.name, .matches = 0, .shortfall = Shortfall::stopped});
    sink->commit();
  }
  return none;
}

/// Matches one query. A count beyond 128 bits becomes an error of this query only.
QueryMatches match_one(Engine& engine, const NamedQuery& query, const QueryOptions& asked, const Match& options,
                       Progress& progress, MatchSink* sink) {
  const auto start = std::chrono::steady_clock::now();
  QueryMatches found;
  try {
    found = find_matches(engine, query, asked, options, progress, sink);
  } catch (const CountOverflow&) {
    found.name = query.query.name;
    found.error = "a count exceeds 2^128-1";
    found.result.seconds = seconds_since(start);
  }
  progress.clear();
  return found;
}

int match(const Match& options) {
  const auto start = std::chrono::steady_clock::now();
  check(options);
  options.emit.check_outputs();
  end_at_interrupt();
  Session session(options.graph, {});
  const auto queries = read_queries(options.queries.sources, session.directed());
  session.heed(queries);
  const MatchingOrders orders(options.queries.orders, queries);
  Report report;
  report.describe(options.queries, thread_count(session.engine().options().threads));
  report.digests = options.emit.emit == Emit::digest;
  check_fit(session.engine().options(), queries, options.queries.options(false));

  engine::EdgeDemand demand;
  for (const NamedQuery& query : queries) demand.add(query.query, options.whole.induced);
  // A condition that counts also holds where there is nothing to count, so it may read any vertex.
  const bool counts = std::ranges::any_of(queries, [](const NamedQuery& query) { return plan::counts_something(query.query); });
  session.load(report, counts ? nullptr : &demand);
  watch_interrupts();
  const Listing listing =
      options.emit.make_listing(session.engine().options(), queries);  // not earlier: opening empties the file
  MatchSink* const sink = listing.sink.get();
  Progress progress(options.graph.progress);
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const QueryOptions asked = orders.apply(options.queries.options(options.lists()), q);
    report.matches.push_back(interrupted() ? not_begun(queries[q], options, sink)
                                           : match_one(session.engine(), queries[q], asked, options, progress, sink));
    report.steps.match += report.matches.back().seconds();
  }
  const std::string left_out = listing.finish();
  report.interrupted = interrupted();
  report.graph = session.engine().graph();
  report.backend = session.backend();
  report.total = seconds_since(start);
  report.cpu = cpu_seconds();
  print(report, options.emit);
  const std::string missing = shortfalls(report, options.sample > 0);
  print_err(left_out + missing + report.notes.verdict());
  if (report.interrupted) return interrupt_exit_code();
  return missing.empty() && !report.notes.too_many_refused() ? exit_ok : exit_runtime;
}

}  // namespace

void add_match(const Command& program, Run& run) {
  const Command command = program.add_command("match", "Match queries against a whole graph, once", examples);
  const auto options = std::make_shared<Match>();
  add_query_options(command, options->queries).required();
  add_matching_order_option(command, options->queries);
  add_whole_options(command, options->whole);
  add_number(command, "--limit", options->limit, "Stop after N matches of a query", 1).group("Queries");
  add_duration(command, "--timeout", options->timeout, "Stop each query after this time, e.g. 10s").group("Queries");
  add_number(command, "--sample", options->sample, "Estimate the count by N random walks, with an interval", 1)
      .group("Queries");
  add_number(command, "--seed", options->seed, "Seed of the walks (default: 1)", 0).group("Queries");
  add_emit_options(command, options->emit);
  add_graph_options(command, options->graph, false);
  add_self_loops_option(command, options->graph.self_loops);
  command.runs(run, [options] { return match(*options); });
}

}  // namespace deltamatch::cli

// deltamatch match: a whole graph, once.
#include <fmt/format.h>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "cli/option_kinds.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"

namespace deltamatch::cli {
namespace {

constexpr const char* examples = R"(Examples:
  deltamatch match --graph friends.txt --undirected --query 'triangle=(a)--(b)--(c)--(a)'
  deltamatch match --graph yeast.graph --query queries/ --timeout 10s --json
  deltamatch match --snapshot after.dms --query config/patterns --emit matches --limit 100 --out first.csv

An answer that --limit or --timeout cut short is marked as partial and ends with exit code 1.)";

struct Match {
  GraphOptions graph;
  QuerySelection queries;
  EmitOptions emit;
  std::optional<std::uint64_t> limit;
  Timestamp timeout = 0;
};

/// What cut answers short, for standard error; empty where all are complete.
std::string shortfall(const Report& report, const Match& options) {
  std::string text;
  for (const QueryMatches& query : report.matches) {
    if (query.result.complete) continue;
    const bool by_limit = options.limit && query.result.matches >= *options.limit;
    text += fmt::format("deltamatch: query {}: stopped by {} after {} matches, so the answer is partial; {}\n", query.name,
                        by_limit ? "--limit" : "--timeout", to_string(query.result.matches),
                        by_limit ? "raise --limit for the whole of it" : "raise --timeout for the whole of it");
  }
  return text;
}

int match(const Match& options) {
  const auto start = std::chrono::steady_clock::now();
  options.emit.check();
  check_apart(input_paths(options.graph, {}, options.queries),
              {{"--out", options.emit.out}, {"--dead-letters", options.graph.dead_letters}});
  if (options.graph.graphs.empty() && options.graph.snapshot.empty()) {
    throw Error(ErrorKind::usage, "match", "there is no graph", "name one with --graph or --snapshot");
  }
  Session session(options.graph, {});
  const auto queries = read_queries(options.queries.sources, session.directed());
  const std::unique_ptr<MatchSink> sink = options.emit.make_sink();
  Report report;
  report.digests = options.emit.emit == Emit::digest;
  StaticOptions how;
  how.query = options.queries.options(options.emit.emit != Emit::none || options.limit);
  how.limit = options.limit;
  if (options.timeout > 0) how.timeout = std::chrono::microseconds(options.timeout);
  for (const NamedQuery& query : queries) {  // a query that does not fit is refused before the graph is read
    session.engine().remove_query(session.engine().add_query(query.query, how.query));
  }

  session.load(report);
  for (const NamedQuery& query : queries) {
    report.matches.push_back({query.query.name, session.engine().match(query.query, how, sink.get())});
    report.steps.match += report.matches.back().result.seconds;
  }
  report.graph = session.engine().graph();
  report.cache = session.cache();
  report.total = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  print(report, options.emit);
  const std::string missing = shortfall(report, options);
  print_err(missing);
  return missing.empty() ? exit_ok : exit_runtime;
}

}  // namespace

void add_match(const Command& program, Run& run) {
  const Command command = program.add_command("match", "Match queries against a whole graph, once", examples);
  const auto options = std::make_shared<Match>();
  add_query_options(command, options->queries).required();
  add_number(command, "--limit", options->limit, "Stop after so many matches of a query", 1).group("Queries");
  add_duration(command, "--timeout", options->timeout, "Stop after so long on a query, e.g. 10s").group("Queries");
  add_emit_options(command, options->emit);
  add_graph_options(command, options->graph, false);
  command.runs(run, [options] { return match(*options); });
}

}  // namespace deltamatch::cli

// deltamatch explain: prints how queries will be matched, and after a run how they were.
#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands/commands.hpp"
#include "cli/commands/session.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/option_kinds.hpp"
#include "cli/report/filter_report.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/output.hpp"

namespace deltamatch::cli {
namespace {

constexpr const char* examples = R"(Examples:
  deltamatch explain --query 'ring=(a)-->(b)-->(c)-->(a)'
  deltamatch explain --query patterns --graph start.csv
  deltamatch explain --query patterns --graph start.csv --whole
  deltamatch explain --query patterns --graph start.csv --whole --filter refine
  deltamatch explain --query patterns --graph start.csv --updates log.csv --analyze)";

struct Explain {
  GraphOptions graph;
  ReplayOptions stream;
  QuerySelection queries;
  bool analyze = false;
  bool whole = false;
  bool variants = false;
  WholeOptions how;
};

/// Every variant as a query of its own. The lengths of its paths are a part of its name. `numbers` gets the place of each one's
/// query.
std::vector<NamedQuery> all_variants(const std::vector<NamedQuery>& queries, std::vector<std::size_t>& numbers) {
  std::vector<NamedQuery> all;
  numbers.clear();
  for (std::size_t q = 0; q < queries.size(); ++q) {
    const NamedQuery& query = queries[q];
    const std::vector<Query> lengths = variants(query.query);
    for (std::size_t v = 0; v < lengths.size(); ++v) {
      numbers.push_back(q);
      all.push_back(query);
      all.back().query = lengths[v];
      if (lengths.size() > 1) all.back().query.name += fmt::format(", variant {} of {}", v + 1, lengths.size());
    }
  }
  return all;
}

/// The plans in a text of explain. The lines before the first are left out.
std::vector<std::string_view> plans_in(std::string_view text) {
  constexpr std::string_view head = "\nplan ";
  std::vector<std::string_view> plans;
  for (std::size_t begin = text.find(head); begin != std::string_view::npos;) {
    const std::size_t end = text.find(head, begin + 1);
    plans.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return plans;
}

/// How many plans of a given order differ from the planner's own. Both texts have a plan for the same edges.
std::string difference(std::string_view given, std::string_view own) {
  const auto plans = plans_in(given);
  const auto others = plans_in(own);
  std::size_t differ = 0;
  for (std::size_t p = 0; p < plans.size(); ++p) differ += p >= others.size() || plans[p] != others[p] ? 1 : 0;
  if (differ == 0) return "the given order leads to the same plans as the planner's own\n";
  return fmt::format("the given order changes {} of {} plans\n", differ, plans.size());
}

int explain(Explain options) {
  if (options.whole && (options.analyze || !options.stream.updates.empty())) {
    throw Error(ErrorKind::usage, "--whole", "a whole graph is matched once, without a stream",
                "leave out --analyze and --updates");
  }
  if (!options.whole) options.queries.induced = std::exchange(options.how.induced, false);
  if (!options.whole && options.how.given()) {
    throw Error(ErrorKind::usage, "--filter, --filter-without and --count-from", "these options are for matching a whole graph",
                "add --whole");
  }
  if (options.variants && options.analyze) {
    throw Error(ErrorKind::usage, "--variants", "what is measured is told of the longest variant only",
                "leave out --analyze or --variants");
  }
  options.how.check(options.queries.mode);
  if (options.how.count_from == CountFrom::vertices) check_no_order(options.queries, "--count-from vertices");
  if (!options.analyze && !options.stream.updates.empty()) {
    throw Error(ErrorKind::usage, "--updates", "the stream is only read with --analyze", "add --analyze");
  }
  check_apart(input_paths(options.graph, options.stream, options.queries), {{"--dead-letters", options.graph.dead_letters}});
  if (options.analyze && options.stream.updates.empty()) {  // the graph itself is the stream
    options.stream.updates = std::exchange(options.graph.graphs, {});
    options.stream.input = options.graph.graph_input;
    if (options.stream.updates.empty()) {
      throw Error(ErrorKind::usage, "--analyze", "there is nothing to run",
                  "name a stream with --updates, or a graph with --graph");
    }
  }
  Session session(options.graph, options.stream);
  Engine& engine = session.engine();
  engine.analyze(options.analyze);
  auto queries = read_queries(options.queries.sources, session.directed());
  check_lateness(options.stream, queries);
  if (!options.whole) check_order(engine.options(), options.graph.snapshot, queries);
  session.heed(queries);
  const MatchingOrders orders(options.queries.orders, queries);
  const QueryOptions how = options.queries.options(false);
  Report report;
  std::vector<QueryId> ids;
  if (options.whole)
    check_fit(engine.options(), queries, how);
  else
    ids = register_queries(engine, queries, how, orders, report);
  session.load(report);
  if (options.analyze) session.run(report, nullptr, [](const BatchResult&, const ingest::PositionedBatch&) {}, {});
  std::vector<std::size_t> numbers(queries.size());  // by what is shown: the number of its query
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  if (options.variants) queries = all_variants(queries, numbers);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    FilterReport filter;
    const QueryOptions own = orders.apply(how, numbers[i]);
    const auto planned = [&](const QueryOptions& given, FilterReport* filtered) {
      return options.whole ? engine.explain(queries[i].query, options.how.options(given), filtered)
                           : engine.explain(queries[i].query, given);
    };
    std::string plans = options.analyze ? engine.explain(ids[i]) : planned(own, &filter);
    if (own.planner != nullptr && !options.analyze) plans += difference(plans, planned(how, nullptr));
    const std::string& name = queries[i].query.name;
    print_out(fmt::format("{}{}{}:\n{}", i == 0 ? "" : "\n", filter_text(name, filter), name, plans));
  }
  print_err(report.notes.verdict());
  return report.notes.too_many_refused() ? exit_runtime : exit_ok;
}

}  // namespace

void add_explain(const Command& program, Run& run) {
  const Command command = program.add_command("explain", "Show how queries are matched: the plans, with estimates", examples);
  const auto options = std::make_shared<Explain>();
  add_query_options(command, options->queries).required();
  command
      .add_flag("--analyze", options->analyze,
                "Run the stream (or --graph) and report each plan's matches; often takes 4 to 20 times as long as replay")
      .group("Queries");
  command.add_flag("--whole", options->whole, "Show the plans by which match counts in the whole graph").group("Queries");
  command.add_flag("--variants", options->variants, "Show the plans of every variant of a query with paths").group("Queries");
  add_matching_order_option(command, options->queries);
  add_whole_options(command, options->how);
  add_replay_options(command, options->stream);
  add_graph_options(command, options->graph, true);
  add_self_loops_option(command, options->graph.self_loops);
  command.runs(run, [options] { return explain(*options); });
}

}  // namespace deltamatch::cli

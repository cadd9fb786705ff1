// deltamatch replay: feeds a stream of updates to standing queries over a start graph.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/seconds.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/interrupt.hpp"
#include "cli/commands/session.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/option_kinds.hpp"
#include "cli/report/top_vertices.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/values.hpp"
#include "ingest/sink/match_form.hpp"

namespace deltamatch::cli {
namespace {

constexpr const char* examples = R"(Examples:
  deltamatch replay --updates payments.csv --edges keyed --attributes 'amount:decimal(2)' \
    --query config/patterns
  deltamatch replay --graph start.graph --updates stream.txt --query q1.graph --batch 1000 --json
  zcat log.tsv.gz | deltamatch replay --updates - --query '(a)-->(b)-->(c)-->(a)' --emit matches
  deltamatch replay --updates log.csv --columns source=payer,target=payee,time=at \
    --query 'pair=(a)-->(b)-->(a)' --on-error dead-letter --dead-letters bad.jsonl)";

struct Replay {
  GraphOptions graph;
  ReplayOptions stream;
  QuerySelection queries;
  EmitOptions emit;
  std::size_t spool_memory = SpoolOptions().memory;
  std::string save_snapshot;
  Timestamp timeout = 0;  // microseconds; 0: none
  std::optional<std::uint64_t> max_matches;
  std::optional<std::uint64_t> top;  ///< vertices of each query that are named
  std::optional<SharePart> share;
};

// Freed if a batch runs out of memory, for what is written then: sections of a snapshot, and the report.
constexpr std::size_t reserve_bytes = std::size_t{16} << 20;

// No run takes longer, and more would not fit as nanoseconds.
constexpr Timestamp longest_timeout = Timestamp{36'500} * 86'400 * 1'000'000;

/// Reads K/N.
SharePart parse_share(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto of = read_number(text.substr(slash + 1), 1, Share::most_slots);
    const auto number = of ? read_number(text.substr(0, slash), 1, *of) : std::nullopt;
    if (number) return {static_cast<std::uint32_t>(*number), static_cast<std::uint32_t>(*of)};
  }
  throw Error(
      ErrorKind::usage, "--share", fmt::format("'{}' is not a share", text),
      fmt::format("write the number of the share and how many there are, such as 2/3; there may be {}", Share::most_slots));
}

/// The end of a run. It tries every step, even if an earlier one failed.
class Ending {
 public:
  template <class Step>
  void attempt(const Step& step) {
    try {
      step();
    } catch (...) {
      failures_.push_back(std::current_exception());
    }
  }
  [[nodiscard]] bool failed() const noexcept { return !failures_.empty(); }

  /// Prints all failures but the first, and throws that one.
  void report() const {
    if (failures_.empty()) return;
    const std::string first = text_of(failures_.front());
    for (const std::exception_ptr& failure : failures_) {
      const std::string text = text_of(failure);
      if (text != first) print_err("deltamatch: " + text + '\n');  // one file may fail twice for the same reason
    }
    std::rethrow_exception(failures_.front());
  }

 private:
  static std::string text_of(const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::bad_alloc&) {
      return "out of memory; use a machine with more memory";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  std::vector<std::exception_ptr> failures_;
};

/// Marks in the listing that it ends before the stream does.
void mark_ends(MatchSink& sink, const Report& report, ingest::Signs signs) {
  sink.begin(0);
  for (const QueryTotals& query : report.deltas) {
    const Count matches = (wants(signs, true) ? query.added : 0) + (wants(signs, false) ? query.removed : 0);
    sink.end({.query = query.name,
              .matches = matches > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(matches),
              .shortfall = report.timed_out ? Shortfall::timeout : Shortfall::stopped});
  }
  sink.commit();
}

/// A line for each reason why the answer is partial. Empty if it is whole.
std::string shortfalls(const Report& report) {
  std::string text;
  if (report.timed_out) {
    text +=
        fmt::format("deltamatch: stopped by --timeout after {} {}, so the answer is partial; raise --timeout for all of it\n",
                    report.batches, report.batches == 1 ? "batch" : "batches");
  }
  for (const QueryTotals& query : report.deltas) {
    if (query.partial_batches == 0) continue;
    text += fmt::format(
        "deltamatch: query {}: stopped by --max-matches in {} {}, first in batch {}, so the answer is partial; raise "
        "--max-matches for all of it\n",
        query.name, query.partial_batches, query.partial_batches == 1 ? "batch" : "batches", *query.first_partial);
  }
  return text;
}

void check(const Replay& options) {
  check(options.graph, options.stream);
  options.emit.check();
  if (options.top && options.emit.csv) {
    throw Error(ErrorKind::usage, "--top", "--csv prints the row of each query, which names no vertices",
                "leave one of the two out, or choose --json, which has both");
  }
  std::vector<NamedPath> outputs = options.emit.outputs();
  outputs.push_back({"--batches", options.emit.batches});
  outputs.push_back({"--save-snapshot", options.save_snapshot});
  outputs.push_back({"--dead-letters", options.graph.dead_letters});
  check_apart(input_paths(options.graph, options.stream, options.queries), outputs);
  check_files({{"--save-snapshot", options.save_snapshot}});
}

/// Refuses a snapshot that would lack what the other shares remember.
void check_share(const Replay& options, const std::vector<NamedQuery>& queries) {
  if (!options.share || options.share->of == 1 || options.save_snapshot.empty()) return;
  for (const NamedQuery& named : queries) {
    if (!named.query.once) continue;
    throw Error(ErrorKind::usage, "--save-snapshot",
                fmt::format("with --share, it would hold only a share of what ALERT ONCE of {} remembers", named.query.name),
                "leave one of the two out");
  }
}

/// Warns if edges leave the window too early for a query.
void warn_of_window(const EngineOptions& engine, const std::vector<NamedQuery>& queries, Report& report) {
  for (const NamedQuery& named : queries) {
    std::string what = short_window(engine, named.query);
    if (what.empty()) continue;
    report.notes.warn({"window_short", "--window", std::move(what), "make the window as long, or leave it out"});
    return;
  }
}

int replay(const Replay& options) {
  const auto start = std::chrono::steady_clock::now();
  check(options);
  options.emit.check_outputs();
  check_replaceable(options.save_snapshot);
  end_at_interrupt();
  const std::chrono::microseconds timeout(std::min(options.timeout, longest_timeout));
  if (options.timeout > 0) end_after(timeout);
  Session session(options.graph, options.stream);
  session.engine().spool({.memory = options.spool_memory, .folder = {}});
  const auto queries = read_queries(options.queries.sources, session.directed());
  check_lateness(options.stream, queries);
  check_share(options, queries);
  check_order(session.engine().options(), options.graph.snapshot, queries);
  session.heed(queries);
  const MatchingOrders orders(options.queries.orders, queries);
  Report report;
  report.describe(options.queries, thread_count(session.engine().options().threads));
  report.digests = options.emit.emit == Emit::digest;
  report.share = options.share;
  if (options.share) session.engine().take_share(Share::part(options.share->number, options.share->of));
  warn_of_window(session.engine().options(), queries, report);
  const std::vector<QueryId> ids = register_queries(
      session.engine(), queries, options.queries.options(options.emit.emit != Emit::none || options.top), orders, report);
  session.load(report);
  watch_interrupts();
  // Not earlier: opening empties the files.
  const Listing listing = options.emit.make_listing(session.engine().options(), queries);
  std::optional<TopVertices> top;
  if (options.top) top.emplace(listing.sink.get());
  MatchSink* const sink = top ? &*top : listing.sink.get();
  const std::unique_ptr<TextFile> batches =
      options.emit.batches.empty() ? nullptr : std::make_unique<TextFile>(options.emit.batches);
  const bool batch_rows = options.emit.batches.ends_with(".csv");

  Ending ending;
  std::unique_ptr<char[]> reserve;
  ending.attempt([&] {
    reserve = std::make_unique_for_overwrite<char[]>(reserve_bytes);
    if (batch_rows) batches->line(batches_csv_header());
    session.run(
        report, sink,
        [&](const BatchResult& result, const ingest::PositionedBatch& batch) {
          if (!batches) return;
          if (batch_rows) {
            for (const std::string& row : to_csv(result, batch, report.deltas)) batches->line(row);
          } else {
            batches->line(to_json(result, batch, report.deltas));
          }
          batches->flush();
        },
        {.until = options.timeout > 0 ? std::optional(start + timeout) : std::nullopt, .max_matches = options.max_matches});
  });
  report.failed = ending.failed();
  if (report.failed) {  // perhaps because memory ran out; the graph is that after the batches before
    session.release_inputs();
    reserve.reset();
  }
  if (listing.sink && (report.interrupted || report.timed_out || report.failed))
    ending.attempt([&] { mark_ends(*listing.sink, report, options.emit.listed_signs()); });
  std::string left_out;
  ending.attempt([&] { left_out = listing.finish(); });
  if (!options.save_snapshot.empty()) ending.attempt([&] { session.engine().save(options.save_snapshot); });
  if (batches) ending.attempt([&] { batches->close(); });
  ending.attempt([&] {
    for (std::size_t q = 0; !report.failed && q < queries.size(); ++q) {
      if (queries[q].query.emit_final) report.deltas[q].waiting = session.engine().waiting(ids[q]);
    }
    for (std::size_t q = 0; top && q < queries.size(); ++q)
      report.deltas[q].top = top->top(report.deltas[q].name, *options.top);
    report.graph = session.engine().graph();
    report.digest = session.engine().digest().now;
    report.backend = session.backend();
    report.total = seconds_since(start);
    report.cpu = cpu_seconds();
    print(report, options.emit);
  });
  if (!report.failed) {
    print_err(left_out);
    print_err(report.notes.verdict());
    print_err(shortfalls(report));
  }
  ending.report();
  if (report.interrupted) return interrupt_exit_code();
  return report.complete() ? exit_ok : exit_runtime;
}

}  // namespace

void add_replay(const Command& program, Run& run) {
  const Command command =
      program.add_command("replay", "Feed a stream of updates to standing queries, batch by batch", examples);
  const auto options = std::make_shared<Replay>();
  add_query_options(command, options->queries).required();
  command.add_flag("--induced", options->queries.induced, "Only matches whose vertices are joined by no further edge")
      .group("Queries");
  add_matching_order_option(command, options->queries);
  add_replay_options(command, options->stream).required();
  add_duration(command, "--timeout", options->timeout, "Stop after this time, e.g. 10s, and abandon the current batch")
      .group("Stream");
  add_number(command, "--max-matches", options->max_matches, "Stop a query in a batch after N new and removed matches", 1)
      .group("Queries");
  command
      .add_value(
          "--share", [options](const std::string& text) { options->share = parse_share(text); },
          "Find only share K of N of the matches, in slots of their own; the shares of 1/N to N/N are all of them", "K/N")
      .group("Queries");
  add_number(command, "--top", options->top, "Name the N vertices of each query that are in most new matches", 1)
      .group("Output");
  add_emit_options(command, options->emit);
  add_signs_option(command, options->emit);
  command
      .add_text("--batches", options->emit.batches,
                "Where a JSON object per batch goes, or rows for a name in .csv; - is standard output", "FILE")
      .group("Output");
  add_size(command, "--spool-memory", options->spool_memory, "Most memory for a batch's listed matches (default: 1G)")
      .group("Output");
  command.add_text("--save-snapshot", options->save_snapshot, "Where a snapshot of the final graph goes", "FILE")
      .group("Output");
  add_graph_options(command, options->graph, true);
  add_self_loops_option(command, options->graph.self_loops);
  command.runs(run, [options] { return replay(*options); });
}

}  // namespace deltamatch::cli

// The outcome of a run, as a JSON object or as a table for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/common_options.hpp"
#include "cli/report/input_notes.hpp"
#include "cli/report/top_vertices.hpp"
#include "deltamatch/count.hpp"
#include "deltamatch/digest.hpp"
#include "deltamatch/match.hpp"
#include "deltamatch/result.hpp"
#include "deltamatch/sample.hpp"
#include "deltamatch/static.hpp"
#include "deltamatch/statistics.hpp"
#include "deltamatch/update.hpp"
#include "engine/storage/graph_file.hpp"
#include "ingest/batch/batcher.hpp"
#include "ingest/batch/refusals.hpp"

namespace deltamatch::cli {

class JsonWriter;

/// Records that changed nothing, by cause, and refused records by reason. Both codec and engine refuse records.
struct Unused {
  Ignored ignored;
  ingest::RefusalCounters refused;

  void add(const ingest::RefusalCounters& counters) noexcept;
};

/// Writes the member "ignored" of the `--json` object, with every counter.
void write_unused(JsonWriter& json, const Unused& unused);
/// The line of the summary about updates that changed nothing, with its line end. Empty if there were none.
[[nodiscard]] std::string ignored_text(const Ignored& ignored);

/// What a replay did to one query.
struct QueryTotals {
  std::string name;
  Count added = 0;
  Count removed = 0;
  MatchDigest added_digest;
  MatchDigest removed_digest;
  bool once = false;                             ///< its pattern says ALERT ONCE
  Count suppressed = 0;                          ///< new matches that this left out
  std::optional<Count> waiting = std::nullopt;   ///< matches that are not final at the end, if its pattern says EMIT FINAL
  std::uint64_t partial_batches = 0;             ///< in which it exceeded a limit; its counts are lower bounds then
  std::optional<std::uint64_t> first_partial;    ///< the first of these batches
  double seconds = 0;                            ///< its share of the time of matching
  std::optional<TopOfQuery> top = std::nullopt;  ///< the vertices in most new matches, if asked for
};

/// What a static match found.
struct QueryMatches {
  std::string name;
  StaticResult result;
  std::optional<SampleResult> sample;  ///< in place of the result
  std::string error = {};              ///< why there is neither; empty: there is one

  [[nodiscard]] Shortfall shortfall() const noexcept { return sample ? sample->shortfall : result.shortfall; }
  [[nodiscard]] double seconds() const noexcept { return sample ? sample->seconds : result.seconds; }
};

/// How a run matched or counted, for whoever reads the results later.
struct RunSettings {
  MatchMode mode = MatchMode::isomorphism;
  CountMode counting = CountMode::subgraphs;
  unsigned threads = 1;
};
/// Which part of the matches a run finds.
struct SharePart {
  std::uint32_t number = 1;  ///< from 1
  std::uint32_t of = 1;
};

/// Writes the members "version", "mode", "counting" and "threads" of the `--json` object.
void write_settings(JsonWriter& json, const RunSettings& settings);

struct Report {
  RunSettings settings;
  GraphStatistics graph;
  std::optional<Hash128> digest;   ///< replay: the running digest at the end
  std::optional<SharePart> share;  ///< replay: if not all matches are looked for
  std::uint64_t batches = 0;
  std::uint64_t cut_batches = 0;      ///< of them: those that ended early because an edge in them expired
  Timestamp batch_span = 0;           ///< most event time of a batch in microseconds, as options or window say. 0: no limit
  std::uint64_t updates = 0;          ///< records of the update stream, not of the start graph
  Unused unused;                      ///< of the start graph and the stream
  InputNotes notes;                   ///< of the start graph and the stream
  std::vector<QueryTotals> deltas;    ///< replay
  std::vector<QueryMatches> matches;  ///< match
  StepSeconds steps;
  std::optional<BackendStatistics> backend;   ///< if not the CPU matched
  std::optional<engine::LoadedShare> loaded;  ///< of a graph file
  double load = 0;                            ///< seconds from the first byte of the start graph to its last edge
  double total = 0;                           ///< seconds
  double cpu = 0;                             ///< seconds of processors, of all threads
  bool digests = false;
  bool interrupted = false;
  bool timed_out = false;
  /// The batch that was being matched when the run was interrupted or timed out. The report covers nothing of it.
  std::optional<std::uint64_t> abandoned;
  bool failed = false;  ///< an error ended the stream; the report covers what was done before

  /// Sets how the queries are matched.
  void describe(const QuerySelection& queries, unsigned threads);
  /// Adds everything but refused records, which the stream counts.
  void add(const BatchResult& result);
  /// Why a standing query's counts are partial: its own reason, or that of the run.
  [[nodiscard]] Shortfall shortfall(const QueryTotals& query) const noexcept;
  [[nodiscard]] bool complete() const noexcept;
  /// Seconds of `total` that no step has: reading records, planning, writing.
  [[nodiscard]] double other() const noexcept;
};

/// Returns the `--json` object, without a line end.
[[nodiscard]] std::string to_json(const Report& report);

/// Returns a line of `--batches`, about one batch, without a line end.
[[nodiscard]] std::string to_json(const BatchResult& result, const ingest::PositionedBatch& batch,
                                  const std::vector<QueryTotals>& names);
/// The same as CSV: a row for each query, up to its carriage return. A line feed must follow.
[[nodiscard]] std::vector<std::string> to_csv(const BatchResult& result, const ingest::PositionedBatch& batch,
                                              const std::vector<QueryTotals>& names);
[[nodiscard]] std::string batches_csv_header();

/// Returns the row of each query as CSV (RFC 4180), with a header.
[[nodiscard]] std::string to_csv(const Report& report);

/// Returns the summary for people, with line ends.
[[nodiscard]] std::string to_table(const Report& report);

/// Prints the report as JSON, CSV or a table, as the options say. If lines take standard output, the table goes to standard
/// error.
void print(const Report& report, const EmitOptions& options);

}  // namespace deltamatch::cli

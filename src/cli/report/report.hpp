// The outcome of a run, as one JSON object or as a table for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/common_options.hpp"
#include "cli/report/input_notes.hpp"
#include "deltamatch/count.hpp"
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

/// Records that changed nothing: by cause, and refused ones by reason, be it the codec or the engine that refused them.
struct Unused {
  Ignored ignored;
  ingest::RefusalCounters refused;

  void add(const ingest::RefusalCounters& counters) noexcept;
};

/// The member "ignored" of a `--json` object: every counter.
void write_unused(JsonWriter& json, const Unused& unused);
/// The line of the summary that tells what changed nothing, ended; empty if nothing did.
[[nodiscard]] std::string ignored_text(const Ignored& ignored);

/// What a replay did to one query.
struct QueryTotals {
  std::string name;
  Count added = 0;
  Count removed = 0;
  MatchDigest added_digest;
  MatchDigest removed_digest;
  std::uint64_t partial_batches = 0;           ///< in which it exceeded a limit: the counts are at least so many
  std::optional<std::uint64_t> first_partial;  ///< the first of these batches
};

/// What a static match found.
struct QueryMatches {
  std::string name;
  StaticResult result;
  std::optional<SampleResult> sample;  ///< in place of the result
  std::string error = {};              ///< why there is neither; empty: there is

  [[nodiscard]] Shortfall shortfall() const noexcept { return sample ? sample->shortfall : result.shortfall; }
  [[nodiscard]] double seconds() const noexcept { return sample ? sample->seconds : result.seconds; }
};

struct Report {
  GraphStatistics graph;
  std::uint64_t batches = 0;
  std::uint64_t updates = 0;          ///< records of the update stream; those of the start graph are not among them
  Unused unused;                      ///< of the start graph and the stream
  InputNotes notes;                   ///< likewise
  std::vector<QueryTotals> deltas;    ///< replay
  std::vector<QueryMatches> matches;  ///< match
  StepSeconds steps;
  std::optional<CacheStatistics> cache;       ///< where a GPU matched
  std::optional<engine::LoadedShare> loaded;  ///< of a graph file
  double load = 0;                            ///< seconds from the first byte of the start graph to its last edge
  double total = 0;                           ///< seconds
  bool digests = false;
  bool interrupted = false;
  bool timed_out = false;
  /// A batch that was being matched at the end of an interrupted or timed-out run: nothing of it is covered.
  std::optional<std::uint64_t> abandoned;
  bool failed = false;  ///< the stream was left at an error; like an interrupted report, this one covers what was done before

  /// All but refused records, which the stream counts.
  void add(const BatchResult& result);
  /// What a standing query's counts lack: its own, or what the run does.
  [[nodiscard]] Shortfall shortfall(const QueryTotals& query) const noexcept;
  [[nodiscard]] bool complete() const noexcept;
};

/// The `--json` object, without a line end.
[[nodiscard]] std::string to_json(const Report& report);

/// One line of `--batches`: what a batch did, without a line end.
[[nodiscard]] std::string to_json(const BatchResult& result, const ingest::PositionedBatch& batch,
                                  const std::vector<QueryTotals>& names);

/// The summary for people, lines ended.
[[nodiscard]] std::string to_table(const Report& report);

/// The report where the options want it: as JSON or as a table, the table on standard error where lines take standard output.
void print(const Report& report, const EmitOptions& options);

}  // namespace deltamatch::cli

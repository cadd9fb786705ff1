// An engine, and the tables that it reads and makes. Knows nothing of Python.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "engine/storage/named_labels.hpp"
#include "ingest/batch/absent_deletes.hpp"
#include "ingest/batch/absent_times.hpp"
#include "ingest/batch/late_records.hpp"
#include "ingest/stream.hpp"
#include "ingest/table/match_table.hpp"
#include "ingest/table_stream.hpp"
#include "settings.hpp"

namespace deltamatch::python {

using Stop = std::atomic<bool>;

/// What the batches of one table did.
struct Totals {
  struct OfQuery {
    QueryId id{};
    std::string name;
    Count added = 0;
    Count removed = 0;
    Count suppressed = 0;
    std::uint64_t partial = 0;  ///< batches in which it exceeded its budget
  };
  std::uint64_t batches = 0;
  std::uint64_t updates = 0;
  std::uint64_t inserted = 0;
  std::uint64_t deleted = 0;
  std::uint64_t expired = 0;
  std::uint64_t out_of_order = 0;
  std::vector<std::uint64_t> missing;  ///< insertions of edges without a value, by attribute
  Ignored ignored;
  StepSeconds seconds;
  std::vector<OfQuery> queries;
};

/// What the standing queries ask of the rows of a table.
struct Demand {
  bool times = false;            ///< some query reads them
  std::string ordered{};         ///< the first query that misses matches of late rows; empty: none
  bool allows_lateness = false;  ///< whether rows may come late for it, if the engine is told so
};

/// A table that is being processed.
class Reading {
 public:
  /// `time`: the name of the column of times.
  Reading(std::unique_ptr<ingest::UpdateStream> stream, const EngineOptions& engine, Demand demand, std::string time)
      : stream_(std::move(stream)),
        windowed_(engine.window > 0),
        demand_(std::move(demand)),
        time_(std::move(time)),
        absent_(engine.directed),
        order_(engine.allowed_lateness) {
    totals_.missing.resize(engine.schema.edges.size());
  }

  [[nodiscard]] ingest::UpdateStream& stream() noexcept { return *stream_; }
  [[nodiscard]] Totals& totals() noexcept { return totals_; }
  [[nodiscard]] const Totals& totals() const noexcept { return totals_; }
  /// Looks at a batch that comes after others, before it is processed.
  void see_order(const ingest::PositionedBatch& batch, std::optional<Timestamp> watermark) { order_.add(batch, watermark); }
  void see(const UpdateBatch& batch, const BatchResult& result);
  /// Ends reading and returns what is doubtful.
  [[nodiscard]] std::vector<ingest::Warning> warnings();

 private:
  std::unique_ptr<ingest::UpdateStream> stream_;
  bool windowed_;
  Demand demand_;
  std::string time_;
  ingest::AbsentDeletes absent_;
  ingest::AbsentTimes times_;
  ingest::LateRecords order_;
  Totals totals_;
};

class Session {
 public:
  explicit Session(const EngineOptions& options) : engine_(options) {}
  explicit Session(Engine engine) : engine_(std::move(engine)) {}

  [[nodiscard]] Engine& engine() noexcept { return engine_; }

  /// Registers a standing query, and bounds its matches in a batch. Throws as Engine::add_query does.
  QueryId add(const Query& query, const QueryOptions& options, std::optional<std::uint64_t> max_matches);
  /// Throws Error if there is no such query.
  void remove(QueryId id);
  /// The names of the standing queries, in their order.
  [[nodiscard]] std::vector<std::string> names() const;

  /// What is doubtful about the labels of the standing queries, if no edge or no vertex had them. `unlabelled`: says only if
  /// none had any label.
  [[nodiscard]] std::vector<std::string> absent_labels(bool unlabelled) const;
  /// The same for queries that are asked of the graph as it stands.
  [[nodiscard]] std::vector<std::string> absent_labels(const std::vector<Query>& queries) const;

  /// Opens a table. What it says of ids and times decides what those of results are.
  [[nodiscard]] std::unique_ptr<Reading> open(std::unique_ptr<ingest::TableReader> table, const ReadSettings& settings);
  /// Applies a table without matching.
  void load(Reading& reading, const Stop& stop);
  /// What the updates of a table say, in sums.
  struct Sums {
    std::uint64_t updates = 0;
    std::uint64_t ids = 0;     ///< integers themselves, texts by their length; modulo 2^64
    std::uint64_t labels = 0;  ///< bytes
    std::uint64_t times = 0;   ///< microseconds, modulo 2^64
  };
  /// Reads a table into batches, which are forgotten.
  [[nodiscard]] static Sums drain(Reading& reading, const Stop& stop);
  /// Processes batches until there are so many matches to be taken. Returns false at the end of the table, or if stopped.
  /// `whole`: the table is one batch, of which nothing is applied if a row cannot be read.
  bool advance(Reading& reading, std::uint64_t matches, bool whole, const Stop& stop);
  /// Takes the matches of what was processed.
  [[nodiscard]] ingest::ArrowTable take();

  struct Found {
    std::vector<StaticResult> results;  ///< by query
    std::optional<ingest::ArrowTable> matches;
  };
  /// Matches the graph as it stands, query by query. The queries have different names.
  [[nodiscard]] Found match(const std::vector<Query>& queries, StaticOptions options, const Stop& stop);

 private:
  struct Standing {
    QueryId id;
    Query query;
    bool list;
  };
  /// The sink of matches. Null if no standing query lists.
  [[nodiscard]] ingest::MatchTable* sink();
  [[nodiscard]] ingest::MatchTable::Form form() const;
  bool process(Reading& reading, ingest::PositionedBatch& batch, const Stop& stop);
  void add_up(Totals& totals, const BatchResult& result) const;
  [[nodiscard]] Demand demand() const;

  Engine engine_;
  std::vector<Standing> standing_;
  engine::NamedLabels named_labels_;
  std::unique_ptr<ingest::MatchTable> sink_;
  bool timestamps_ = false;
  bool text_ids_ = false;
  bool text_keys_ = false;
};

}  // namespace deltamatch::python

// The engine: a data graph, the standing queries on it, and the life cycle of a batch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/attribute.hpp"
#include "deltamatch/backend.hpp"
#include "deltamatch/batch.hpp"
#include "deltamatch/digest.hpp"
#include "deltamatch/error.hpp"
#include "deltamatch/query.hpp"
#include "deltamatch/result.hpp"
#include "deltamatch/sample.hpp"
#include "deltamatch/share.hpp"
#include "deltamatch/static.hpp"
#include "deltamatch/statistics.hpp"
#include "deltamatch/update.hpp"

namespace deltamatch {

namespace engine {
struct BulkLoader;
}

/// In which order records of edges count.
enum class EventOrder : std::uint8_t {
  arrival,  ///< as they come
  /// By their time: a record loses against a newer one of its edge. At equal times the later one to come counts. A record
  /// without a time, or with one that lies far ahead, counts as it comes. So do records of vertices. Deletions are remembered
  /// for the window, or as long as patterns WITHIN a time need. In the model `events`, a deletion that finds no event takes the
  /// next one to come that is not newer.
  time
};

/// What becomes of edges from a vertex to itself: they are counted (Ignored::self_loop) and left out, or are edges.
enum class SelfLoops : std::uint8_t { leave_out, keep };

struct EngineOptions {
  bool directed = true;
  unsigned threads = 0;  ///< 0: as many as the machine has cores; Engine::options says 0, too
  /// Sliding window in microseconds. An edge lives while its latest insert time + window > watermark. 0: no window.
  Timestamp window = 0;
  /// How late records may come, in microseconds, so that matches of patterns with WITHIN are still reported.
  Timestamp allowed_lateness = 0;
  /// Time needs a window, or WITHIN in every standing query. Until one is added, all deletions are remembered.
  EventOrder order = EventOrder::arrival;
  Schema schema{};  ///< which edges there are
  SelfLoops self_loops = SelfLoops::leave_out;
  std::shared_ptr<Backend> backend = nullptr;  ///< null: that of make_cpu_backend
  friend bool operator==(const EngineOptions&, const EngineOptions&) = default;
};

/// Where listed matches are stored until all are found, because they come in the order of their ids.
struct SpoolOptions {
  /// Bytes in memory; matches beyond go to a temporary file. Each thread also buffers a few thousand matches.
  std::uint64_t memory = std::uint64_t{1} << 30;
  /// The folder of that file. Empty: the first of TMPDIR, TMP, TEMP and TEMPDIR that is set, else /tmp.
  std::filesystem::path folder{};
};

/// A data graph with standing queries. It uses `threads` threads inside, but is not thread-safe: threads that share an engine
/// lock a mutex around each call, also if it is const. Two engines may run in two threads, with own backends. Every call
/// succeeds, or it throws and leaves graph, queries and counters as they were. It throws Error or std::bad_alloc, or what a
/// sink, a planner or `take` of for_each has thrown.
///
/// What the engine calls may not call it back: sinks, planners, `take` of for_each, and the functions in options. Until the
/// outer call has returned, all that is not const throws Error(usage), and so do save and for_each. If a sink replaces or
/// destroys the engine, the outer call still ends well.
///
/// A moved-from engine can only be destroyed or assigned to.
class Engine {
 public:
  explicit Engine(const EngineOptions& options = {});
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Registers a standing query. Its matches are reported from the next batch on. Throws Error(configuration) if the query does
  /// not fit the graph (directed edges over undirected data) or if the options exclude each other. It also throws if another
  /// standing query has the name; any number of them may have the empty name.
  ///
  /// Edges that no standing query needs any more are gone (`retention`). If the new query's WITHIN is longer, it misses matches
  /// with them. `retain` keeps edges for such queries.
  QueryId add_query(const Query& query, const QueryOptions& options = {});
  /// What ALERT ONCE remembers of the query is forgotten. Throws Error if the query does not exist.
  void remove_query(QueryId query);
  /// Removes queries and registers others, all of them or none. A new query may have the name of a removed one. Returns the ids
  /// of the new queries, in their order. Throws as add_query does, and if a removed query does not exist. What ALERT ONCE
  /// remembers of a removed query, or of one in a snapshot, is kept until the next batch. A new query with its name and
  /// definition goes on with it.
  std::vector<QueryId> replace_queries(std::span<const QueryId> removed, std::span<const NewQuery> added);

  /// Applies updates without matching, to load the start graph. Records are refused as in process.
  BatchResult load(const UpdateBatch& batch, OnReject on_reject = OnReject::stop);

  /// Applies one batch and finds the matches that appeared and vanished. `sink` gets the matches of listing queries after all
  /// matching of the batch has succeeded. It may be null. Throws Error(configuration) if there is a sink and standing queries,
  /// but none of them lists.
  BatchResult process(const UpdateBatch& batch, OnReject on_reject = OnReject::stop, MatchSink* sink = nullptr,
                      const Upcoming& upcoming = {});
  /// Processes a batch like the above, with limits and control during the run. Returns nullopt if `options.stop` abandoned the
  /// batch. Then graph, queries and counters are as before, nothing was reported, and the batch may be given again.
  ///
  /// A query that exceeds its budget is stopped for this batch alone. Its delta and the sink's `end` say so.
  /// - The sink first gets the matches found, removed before new, smallest ids first, at most as many as the budget.
  /// - If the batch relabels a vertex, no match found of such a query is certain. The query then reports no matches.
  /// - All other queries are complete, the batch settles, and the query resumes with the next batch.
  /// - A backend other than the CPU matches a batch again, query by query, if some budget may be exceeded.
  [[nodiscard]] std::optional<BatchResult> process(const UpdateBatch& batch, const BatchOptions& options);
  /// How many matches of a query with EMIT FINAL wait: they exist and satisfy its condition, but that is not final yet. 0 for
  /// other queries. As long as a batch in which all of them become final. Throws Error if the query does not exist.
  [[nodiscard]] Count waiting(QueryId query);
  /// Sets a query's budget from the next batch on. Throws Error if the query does not exist.
  void budget(QueryId query, const QueryBudget& budget);

  /// Takes effect with the next batch, or the next listing in order.
  void spool(const SpoolOptions& options);

  /// The default limit of distinct vertex labels, and of distinct edge labels, at one time. The empty label does not count.
  static constexpr std::uint64_t default_label_limit = 1'000'000;
  /// Sets the label limit from the next batch on. A record that needs a label beyond it is refused (RejectReason::label_limit).
  /// Labels that are in the graph stay. absorb ignores the limit, because it repeats what another engine accepted.
  void limit_labels(std::uint64_t most);

  /// Sets which part of the matches is found, from the next batch on (deltamatch/share.hpp). At first, all are. What is
  /// reported of a batch is then that part: counts, listings, digests of matches, and what is suppressed or waits. Graph and
  /// running digest are the same for every share, as are whole-graph matches. A budget bounds what is found in this engine.
  ///
  /// A query with ALERT ONCE remembers what it needs for the slots that are owned. So while one stands, or one could still go
  /// on, slots can only be given up. Else throws Error(usage). Snapshots do not hold the share.
  void take_share(const Share& share);
  [[nodiscard]] const Share& share() const noexcept;

  /// Applies a batch that another engine has processed. The batch counts, but nothing is matched. A log of batches thus brings
  /// an engine to the state of the other. Refused records are skipped. If queries with ALERT ONCE stand, all standing queries
  /// are matched, so that the memory of these follows. Nothing is reported. `record_by_record` must then be as it was
  /// (BatchOptions).
  BatchResult absorb(const UpdateBatch& batch, bool record_by_record = false);

  /// How long edges are kept for the conditions of the standing queries, in microseconds. 0: for ever, or as the window says.
  [[nodiscard]] Timestamp retention() const noexcept;
  /// Sets how long edges are kept, from the next batch on; 0: for ever. Queries that are added or removed decide anew. This is
  /// for queries that are to come later: give their longest WITHIN plus the allowed lateness. Standing queries that need more
  /// miss matches. It is also for an engine that repeats the batches of another one, in which all its standing queries stood.
  /// It does nothing under a window, or in a graph of simple edges.
  void retain(Timestamp retention);

  /// Whether a vertex whose attributes change gets a fresh number, because conditions of the standing queries read them.
  [[nodiscard]] bool watches_vertices() const noexcept;
  /// Makes the engine number as one that watches vertices, from the next batch on. For an engine that repeats the batches of
  /// another one. Queries that are added or removed decide anew.
  void watch_vertices(bool watched);

  /// The running digest after the latest batch. Engines that are in the same state and take the same batches have the same, so
  /// replicas can compare theirs. A snapshot keeps it. It costs 1 % of a batch, or 2 to 4 % if edges have keys and attributes.
  [[nodiscard]] RunningDigest digest() const noexcept;
  /// Lets the digest begin anew, with a hash of all numbers of the graph. So engines whose graphs are numbered differently do
  /// not compare theirs. A snapshot of a version without digests begins so when it is restored. O(vertices), and O(edges) if
  /// edges have keys or are events.
  void begin_digest();

  /// The number of the latest batch: 0 before the first.
  [[nodiscard]] std::uint64_t batch() const noexcept;
  /// The event time up to which the stream is complete, if any batch had one.
  [[nodiscard]] std::optional<Timestamp> watermark() const noexcept;

  /// Matches the whole graph in its current state. Listed matches go to `sink` as `added` during matching, which waits for the
  /// sink, or after it (StaticOptions::in_order). So memory is bounded for any number of matches. If it throws, portions that
  /// were flushed stay written. Throws Error(configuration) if there is a sink and the query does not list.
  ///
  /// A long count may number the vertices anew, if no query stands and no edge has a time. The running digest then begins anew.
  StaticResult match(const Query& query, const StaticOptions& options = {}, MatchSink* sink = nullptr);

  /// Estimates the number of matches in the whole graph, by random walks through the static plan. The result is the same for
  /// every number of threads, unless the run is cut short.
  SampleResult sample(const Query& query, const SampleOptions& options = {});

  /// Describes the plans of a query as text, with estimates from the current graph. For a standing query it adds measured
  /// figures after the first batch. The text says which labels of the query the graph does not have. Throws as add_query does,
  /// or Error if a standing query does not exist.
  [[nodiscard]] std::string explain(const Query& query, const QueryOptions& options = {});
  [[nodiscard]] std::string explain(QueryId query);
  /// Describes how `match` begins to count or list. If `match` filters first, the text describes the plan on the remaining
  /// candidates, and `filtered` gets the report (it may be null). With Filter::automatic, `match` may filter later, after a
  /// long run.
  [[nodiscard]] std::string explain(const Query& query, const StaticOptions& options, FilterReport* filtered = nullptr);
  /// From the next batch on, counts what every level of every plan finds, for explain. Batches take longer then, because
  /// matching also walks to all matches that it could otherwise sum.
  void analyze(bool on);

  [[nodiscard]] GraphStatistics graph() const;
  /// What the backend did since the engine was made.
  [[nodiscard]] BackendStatistics backend_statistics() const;
  /// Calls `take` with updates that rebuild the graph: first every vertex (insert_vertex with its label), then every edge
  /// (insert_edge). Edges have their time if there is a window. Both are in order of ids, so equal graphs give equal sequences.
  /// The views are valid during the call. O(n log n).
  void for_each(const std::function<void(const Update&)>& take) const;
  [[nodiscard]] const EngineOptions& options() const noexcept;

  /// Writes a snapshot of graph, dictionary, window, batch number and digest. The file has checksums and is written aside, then
  /// renamed. Standing queries are not part of it, but what ALERT ONCE remembers of them is. `annotation` is up to 1 MiB of the
  /// caller's data, stored in the snapshot. Throws Error(usage) if a share of the slots is owned, and something is remembered:
  /// it would lack what other engines remember.
  void save(const std::filesystem::path& path, std::string_view annotation = {}) const;
  /// Reads the annotation of a snapshot. Throws Error if the file's beginning is torn or corrupt. O(its length).
  [[nodiscard]] static std::string annotation(const std::filesystem::path& path);
  /// Makes an engine with the state that `save` wrote. Direction and window come from the snapshot. Throws Error if the file is
  /// torn, corrupt or of another version.
  static Engine restore(const std::filesystem::path& path, unsigned threads = 0, std::shared_ptr<Backend> backend = nullptr);

 private:
  friend struct engine::BulkLoader;
  struct Impl;
  std::shared_ptr<Impl> impl_;  // a call that runs shares it
};

}  // namespace deltamatch

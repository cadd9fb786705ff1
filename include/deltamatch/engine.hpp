// The engine: a data graph, the standing queries on it, and the life cycle of a batch.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/count.hpp"
#include "deltamatch/error.hpp"
#include "deltamatch/filter.hpp"
#include "deltamatch/match.hpp"
#include "deltamatch/query.hpp"
#include "deltamatch/update.hpp"

namespace deltamatch {

/// Stores neighbour lists and matches on them. A build for GPUs can make one (deltamatch/gpu.hpp).
class Backend;

namespace engine {
struct BulkLoader;
}

struct EngineOptions {
  bool directed = true;
  unsigned threads = 0;  ///< 0: as many as the machine has cores
  /// Sliding window in microseconds. An edge lives while its latest insert time + window > watermark. 0: no window.
  Timestamp window = 0;
  std::shared_ptr<Backend> backend = nullptr;  ///< null: lists are on the heap, and CPU cores match
  friend bool operator==(const EngineOptions&, const EngineOptions&) = default;
};

struct QueryOptions {
  MatchMode mode = MatchMode::isomorphism;
  CountMode count = CountMode::subgraphs;
  bool list = false;  ///< report matches to the sink and digest them; otherwise they are only counted
  friend bool operator==(const QueryOptions&, const QueryOptions&) = default;
};

/// Announces the next batch, so that the engine looks up its ids while it matches the current one. Used only with a backend: if
/// the CPU matches, it has no time to spare. Never changes results, whichever batch is announced or comes. The engine calls it
/// from a thread of its own. The call waits until the next batch is known or `stop` is requested. It returns null if there is
/// none; an exception counts as null. The batch must not change until the call of process returns.
using Upcoming = std::function<const UpdateBatch*(const std::stop_token& stop)>;

/// Identifies a standing query. Ids are never reused within one engine.
enum class QueryId : std::uint32_t {};

/// What to do if an update of a record is refused. stop: apply all records before this one and stop there. skip: leave the
/// record out.
enum class OnReject : std::uint8_t { stop, skip };

/// Counts of the updates that changed nothing, by cause.
struct Ignored {
  std::uint64_t duplicate_insert = 0;  ///< the edge existed already
  std::uint64_t absent_delete = 0;     ///< the edge (or vertex) did not exist
  std::uint64_t superseded = 0;        ///< a later update of the same edge in the batch replaced it
  std::uint64_t late = 0;              ///< the window had already passed the edge's time
  std::uint64_t self_loop = 0;         ///< an insertion or deletion of an edge from a vertex to itself
  Ignored& operator+=(const Ignored& other) noexcept;
};

/// Seconds spent in each step of the batch life cycle.
struct StepSeconds {
  double apply = 0;
  double estimate = 0;  ///< which lists will be read most (if there is a cache to fill), and which plans are cheaper
  double cache = 0;
  double match = 0;
  double settle = 0;
  double anticipate = 0;  ///< look up the ids of the next batch, in parallel with the steps after `apply`
  StepSeconds& operator+=(const StepSeconds& other) noexcept;
};

/// Limits what one standing query may use of a batch's matching. Both limits are per batch.
struct QueryBudget {
  /// The query's share of the time in which the batch is matched. If half of the threads match the query, half of the time
  /// counts. It is measured by sampling the threads every few milliseconds, so it depends on the machine.
  std::optional<std::chrono::nanoseconds> time;
  /// New and removed matches together. Whether a query exceeds this does not depend on the machine. Which of its matches were
  /// found by then does.
  std::optional<std::uint64_t> matches;
  [[nodiscard]] bool any() const noexcept { return time || matches; }
  friend bool operator==(const QueryBudget&, const QueryBudget&) = default;
};

/// The state of a batch that is being matched.
struct BatchProgress {
  double seconds = 0;            ///< since process was called
  std::optional<QueryId> query;  ///< the query that has taken most of the matching time so far; nullopt before matching begins
  std::uint64_t matches = 0;     ///< a lower bound of those found so far; matches that are summed count once a sum is complete
};

/// How a batch is processed.
struct BatchOptions {
  OnReject on_reject = OnReject::stop;
  MatchSink* sink = nullptr;  ///< gets the matches of listing queries after all matching of the batch has succeeded
  Upcoming upcoming{};
  /// Called at the beginning, between the steps of the batch and every few milliseconds, by any thread. If it returns true, the
  /// batch is abandoned within milliseconds, as if it had never been given. Not called after the sink has committed. Must be
  /// thread-safe and must not throw.
  std::function<bool()> stop{};
  /// Called about ten times a second while a batch is processed, by a thread of the engine's own; so brief batches never call
  /// it. Must not throw. The batch does not end during a call.
  std::function<void(const BatchProgress&)> progress{};
  /// If a query exceeds its budget: whether the sink gets the matches found so far. If not, it gets only the end.
  bool report_partial = true;
};

/// An order-free digest of a set of matches: the sum of their ids modulo 2^128.
struct MatchDigest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  void add(const MatchId& id) noexcept;
  friend bool operator==(const MatchDigest&, const MatchDigest&) = default;
};

/// The changes that a batch made to the matches of one standing query.
struct QueryDelta {
  QueryId query{};
  Count added = 0;
  Count removed = 0;
  MatchDigest added_digest;    ///< only if the query lists
  MatchDigest removed_digest;  ///< only if the query lists
  /// limit or timeout: the query exceeded its budget, so `added` and `removed` are lower bounds. The digests then cover the
  /// matches that the sink got.
  Shortfall shortfall = Shortfall::none;
  [[nodiscard]] bool complete() const noexcept { return shortfall == Shortfall::none; }
};

struct BatchResult {
  std::uint64_t batch = 0;     ///< number of the batch, from 1
  std::size_t consumed = 0;    ///< updates processed, in whole records: all, or those before the record that stopped the batch
  std::uint64_t inserted = 0;  ///< edges in the net batch
  std::uint64_t deleted = 0;   ///< edges in the net batch, including expired ones
  std::uint64_t expired = 0;
  Ignored ignored;
  std::vector<Reject> rejects;      ///< ascending by index
  std::vector<QueryDelta> queries;  ///< in order of registration
  std::optional<Timestamp> watermark;
  StepSeconds seconds;
};

/// The memory that the edges of one label use.
struct EdgeLabelStatistics {
  std::string label;
  std::uint64_t edges = 0;
  std::uint64_t bytes = 0;  ///< of their neighbour lists; memory per vertex and spare room belong to no label
};

/// Where listed matches of a batch are stored until its matching has succeeded.
struct SpoolOptions {
  /// Bytes in memory; matches beyond go to a temporary file. Each thread also buffers a few thousand matches.
  std::uint64_t memory = std::uint64_t{1} << 30;
  /// The folder of that file. Empty: the first of TMPDIR, TMP, TEMP and TEMPDIR that is set, else /tmp.
  std::filesystem::path folder;
};

struct StaticResult {
  Count matches = 0;  ///< a lower bound if not complete
  MatchDigest digest;
  Shortfall shortfall = Shortfall::none;
  double seconds = 0;
  FilterReport filter;
  /// The edge labels in the graph that matching reads, ordered by name. Empty if no edge has a label.
  std::vector<EdgeLabelStatistics> edge_labels;
  [[nodiscard]] bool complete() const noexcept { return shortfall == Shortfall::none; }
};

struct StaticProgress {
  double fraction = 0;             ///< of the work, estimated from list lengths, or of the limit; never decreases
  std::optional<Count> matches{};  ///< so far; nullopt while a count is not summed yet
};

/// How a count of a whole graph is summed. edges: for each data edge, the matches that map one chosen query edge to it.
/// vertices: the same for data vertices and one query vertex. `automatic` takes the one with the lower estimated cost.
enum class CountFrom : std::uint8_t { automatic, edges, vertices };

struct StaticOptions {
  QueryOptions query;
  /// Only induced matches: the match contains every data edge between its vertices, of any label and direction. A match has the
  /// same id whether it was found by induced matching or not.
  bool induced = false;
  Filter filter = Filter::automatic;  ///< does not change the answer
  FilterWithout filter_without;
  /// Does not change the answer. Listings use edges, and so do queries that cannot be summed from a vertex. If this and the
  /// filter are both automatic, cliques of at least four vertices are counted with a tree of pivots instead. That needs a query
  /// whose vertices are interchangeable, and a graph in which parallel edges do not multiply matches of a clique.
  CountFrom count_from = CountFrom::automatic;
  std::optional<std::uint64_t> limit;  ///< list at most this many matches (requires query.list)
  /// Counted from the call. The run stops within milliseconds of it, except while it makes derived lists for a wildcard or a
  /// simple graph for a clique. (Vertices are numbered by degree only if enough time is left for that.)
  std::optional<std::chrono::nanoseconds> timeout;
  /// Called every few milliseconds by any thread. True ends the run as a time-out does. Must be thread-safe and must not throw.
  std::function<bool()> stop;
  /// Called now and then, by one thread at a time. Needs a few passes over the graph's lists beforehand, to compute the
  /// fraction.
  std::function<void(const StaticProgress&)> progress;
};

struct SampleOptions {
  QueryOptions query;    ///< `list` is ignored
  bool induced = false;  ///< as in StaticOptions
  std::uint64_t walks = 1'000'000;
  std::uint64_t seed = 1;
  /// As in StaticOptions. The walks that are finished by then count.
  std::optional<std::chrono::nanoseconds> timeout;
  std::function<bool()> stop;  ///< as in StaticOptions
  /// Called now and then by the thread that called sample, with the finished share of the walks and the current estimate.
  std::function<void(double fraction, double matches)> progress;
};

/// An estimate of the number of matches. The mean is unbiased. The interval is Student's t interval over the replicates. It
/// holds the truth with about its probability if many walks find a match. With few hits it is too narrow; without any it is
/// meaningless.
struct SampleResult {
  static constexpr unsigned replicates = 30;  ///< independent of each other, with the same number of walks
  static constexpr double confidence = 0.95;
  double matches = 0;
  double low = 0;  ///< not below 0
  double high = 0;
  std::uint64_t walks = 0;  ///< at least those requested, a multiple of `replicates`; fewer if cut short or without any match
  std::uint64_t hits = 0;   ///< walks that found a match
  Shortfall shortfall = Shortfall::none;
  double seconds = 0;
};

struct GraphStatistics {
  std::uint64_t vertices = 0;  ///< in the dictionary
  std::uint64_t edges = 0;
  std::uint64_t bytes = 0;            ///< of adjacency, dictionary and labels, and of the window's records if there is a window
  std::uint64_t adjacency_bytes = 0;  ///< lists, rows and free blocks
  std::uint64_t dictionary_bytes = 0;
  std::uint64_t vertex_labels = 0;  ///< distinct labels, without the empty one
  std::uint64_t edge_labels = 0;    ///< distinct labels, without the empty one
  std::uint64_t label_bytes = 0;    ///< of both tables
};

/// The most frequently read lists. `share` is relative to all lists that were read.
struct TopLists {
  double share;
  double accesses;  ///< their fraction of all look-ups
  double coverage;  ///< the fraction of these look-ups that hit the cache
  double bytes;     ///< cache size that holds all of them
};

/// What a backend's cache of neighbour lists did since the engine was made. All 0 without a cache. A list counts once for each
/// look-up by a kernel.
struct CacheStatistics {
  std::uint64_t hits = 0;          ///< look-ups of lists in device memory
  std::uint64_t misses = 0;        ///< look-ups of lists that were read from host memory
  std::uint64_t copied_bytes = 0;  ///< sent to the device in bulk, for the cache and for batches
  std::uint64_t cached_lists = 0;  ///< in device memory now
  std::uint64_t cached_bytes = 0;
  std::uint64_t choices = 0;       ///< how often the cache's contents were chosen anew
  std::uint64_t shared_parts = 0;  ///< parts of work that busy warps gave to idle ones
  std::uint64_t on_cpu = 0;        ///< how many times a query of a batch ran on the CPU instead, in one of its passes or both
  double kernel_seconds = 0;       ///< run time of kernels; of several devices the longest
  std::string notice;              ///< what the backend did differently than planned, and why; empty if nothing
  /// If measuring is on: averages over the batches, for shares of 1 % to 5 %, 10 % and 20 %.
  std::vector<TopLists> top;
  double coverage = 0;  ///< of the top 5 %
};

/// 32 lower-case hexadecimal digits that identify a query. They are equal for two queries iff their matches get equal ids.
/// Names do not matter.
[[nodiscard]] std::string query_fingerprint(const Query& query, const QueryOptions& options);

/// A data graph with standing queries. Not thread-safe: one thread calls it, and it uses `threads` threads inside. Every call
/// succeeds, or it throws Error or std::bad_alloc and leaves graph, queries and counters as they were.
class Engine {
 public:
  explicit Engine(const EngineOptions& options = {});
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Registers a standing query. Its matches are reported from the next batch on. Throws Error(configuration) if the query does
  /// not fit the graph (directed edges over undirected data) or if the options exclude each other.
  QueryId add_query(const Query& query, const QueryOptions& options = {});
  void remove_query(QueryId query);

  /// Applies updates without matching, to load the start graph. Records are refused as in process.
  BatchResult load(const UpdateBatch& batch, OnReject on_reject = OnReject::stop);

  /// Applies one batch and finds the matches that appeared and vanished. `sink` gets the matches of listing queries after all
  /// matching of the batch has succeeded. It may be null.
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
  /// Sets a query's budget from the next batch on. Throws Error if the query does not exist.
  void budget(QueryId query, const QueryBudget& budget);

  /// Takes effect with the next batch.
  void spool(const SpoolOptions& options);

  /// The default limit of distinct vertex labels, and of distinct edge labels, at one time. The empty label does not count.
  static constexpr std::uint64_t default_label_limit = 1'000'000;
  /// Sets the label limit from the next batch on. A record that needs a label beyond it is refused (RejectReason::label_limit).
  /// Labels that are in the graph stay. absorb ignores the limit, because it repeats what another engine accepted.
  void limit_labels(std::uint64_t most) noexcept;

  /// Applies a batch that another engine has processed. The batch counts, but nothing is matched. A log of batches thus brings
  /// an engine to the state of the other. Refused records are skipped.
  BatchResult absorb(const UpdateBatch& batch);

  /// The number of the latest batch: 0 before the first.
  [[nodiscard]] std::uint64_t batch() const noexcept;
  /// The event time up to which the stream is complete, if any batch had one.
  [[nodiscard]] std::optional<Timestamp> watermark() const noexcept;

  /// Matches the whole graph in its current state. Listed matches go to `sink` as `added` during matching, which waits for the
  /// sink. So memory is bounded for any number of matches. If it throws, portions that were flushed stay written.
  StaticResult match(const Query& query, const StaticOptions& options = {}, MatchSink* sink = nullptr);

  /// Estimates the number of matches in the whole graph, by random walks through the static plan. The result is the same for
  /// every number of threads, unless the run is cut short.
  SampleResult sample(const Query& query, const SampleOptions& options = {});

  /// Describes the plans of a query as text, with estimates from the current graph. For a standing query it adds measured
  /// figures after the first batch.
  [[nodiscard]] std::string explain(const Query& query, const QueryOptions& options = {});
  [[nodiscard]] std::string explain(QueryId query);
  /// Describes how `match` begins to count or list. If `match` filters first, the text describes the plan on the remaining
  /// candidates, and `filtered` gets the report (it may be null). With Filter::automatic, `match` may filter later, after a
  /// long run.
  [[nodiscard]] std::string explain(const Query& query, const StaticOptions& options, FilterReport* filtered = nullptr);
  /// From the next batch on, counts what every level of every plan finds, for explain. Batches take longer then, because
  /// matching also walks to all matches that it could otherwise sum.
  void analyze(bool on) noexcept;

  [[nodiscard]] GraphStatistics graph() const;
  [[nodiscard]] CacheStatistics cache() const;
  /// Calls `take` with updates that rebuild the graph: first every vertex (insert_vertex with its label), then every edge
  /// (insert_edge). Edges have their time if there is a window. Both are in order of ids, so equal graphs give equal sequences.
  /// The views are valid during the call. O(n log n).
  void for_each(const std::function<void(const Update&)>& take) const;
  [[nodiscard]] const EngineOptions& options() const noexcept;

  /// Writes a snapshot of graph, dictionary, window and batch number. The file has checksums and is written aside, then
  /// renamed. Standing queries are not part of it. `annotation` is up to 1 MiB of the caller's data, stored in the snapshot.
  void save(const std::filesystem::path& path, std::string_view annotation = {}) const;
  /// Reads the annotation of a snapshot. Throws Error if the file's beginning is torn or corrupt. O(its length).
  [[nodiscard]] static std::string annotation(const std::filesystem::path& path);
  /// Makes an engine with the state that `save` wrote. Direction and window come from the snapshot. Throws Error if the file is
  /// torn, corrupt or of another version.
  static Engine restore(const std::filesystem::path& path, unsigned threads = 0, std::shared_ptr<Backend> backend = nullptr);

 private:
  friend struct engine::BulkLoader;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deltamatch

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

/// Where lists live and who matches; a build with a GPU makes one (deltamatch/gpu.hpp).
class Backend;

namespace engine {
struct BulkLoader;
}

struct EngineOptions {
  bool directed = true;
  unsigned threads = 0;  ///< 0: as many as the machine has
  /// Sliding window in microseconds: an edge lives while its latest insert time + window > watermark. 0: no window.
  Timestamp window = 0;
  std::shared_ptr<Backend> backend = nullptr;  ///< null: lists on the heap, matched on CPU cores
  friend bool operator==(const EngineOptions&, const EngineOptions&) = default;
};

struct QueryOptions {
  MatchMode mode = MatchMode::isomorphism;
  CountMode count = CountMode::subgraphs;
  bool list = false;  ///< list matches to the sink and digest them; otherwise they are only counted
  friend bool operator==(const QueryOptions&, const QueryOptions&) = default;
};

/// Tells the engine which batch it will be given next, so that ids of that one are looked up while this one is matched. Only
/// where a backend matches: CPU cores that match have no time to spare. No bearing on results, whichever batch is next. Asked
/// by a thread of the engine's own, it waits until that batch is known or it is to stop; null: none is. The batch stays as it
/// is until the call of process returns. Exceptions count as null.
using Upcoming = std::function<const UpdateBatch*(const std::stop_token& stop)>;

/// Names a standing query; never reused within one engine.
enum class QueryId : std::uint32_t {};

/// What to do about a bad record, one of whose updates is refused: apply what stands before the record and stop there, or leave
/// the record out.
enum class OnReject : std::uint8_t { stop, skip };

/// Updates that changed nothing, by cause.
struct Ignored {
  std::uint64_t duplicate_insert = 0;  ///< the edge lived already
  std::uint64_t absent_delete = 0;     ///< the edge (or vertex) did not live
  std::uint64_t superseded = 0;        ///< a later update of the same edge in the batch
  std::uint64_t late = 0;              ///< dead on arrival under the window
  std::uint64_t self_loop = 0;         ///< an insertion or deletion of an edge from a vertex to itself
  Ignored& operator+=(const Ignored& other) noexcept;
};

/// Seconds spent in each step of the batch life cycle.
struct StepSeconds {
  double apply = 0;
  double estimate = 0;  ///< what will be looked up most (where there is a cache to fill), and which plans are better
  double cache = 0;
  double match = 0;
  double settle = 0;
  double anticipate = 0;  ///< looking up the ids of the next batch, beside the steps of this one that follow `apply`
  StepSeconds& operator+=(const StepSeconds& other) noexcept;
};

/// How much of a batch's matching a standing query may take. Both bounds hold for one batch.
struct QueryBudget {
  /// Of the time in which the batch is matched, the query's share: of threads that all match it, all; of half of them, half.
  /// Found by looking at the threads every few milliseconds, so it depends on the machine.
  std::optional<std::chrono::nanoseconds> time;
  /// New and removed ones together. Whether a query exceeds it does not depend on the machine; which of its matches were found
  /// by then does.
  std::optional<std::uint64_t> matches;
  [[nodiscard]] bool any() const noexcept { return time || matches; }
  friend bool operator==(const QueryBudget&, const QueryBudget&) = default;
};

/// A batch that is being matched.
struct BatchProgress {
  double seconds = 0;            ///< since process was called
  std::optional<QueryId> query;  ///< what has taken most of the matching so far; nothing before it begins
  std::uint64_t matches = 0;     ///< found so far, at least; those that are summed count once a sum is complete
};

/// How a batch is processed.
struct BatchOptions {
  OnReject on_reject = OnReject::stop;
  MatchSink* sink = nullptr;  ///< takes the matches of listing queries once all of the batch's matching has succeeded
  Upcoming upcoming{};
  /// Asked at the beginning, between the steps of the batch and every few milliseconds, by any thread; true abandons the batch
  /// within milliseconds, as if it had never been given. It is not asked any more once the sink has committed. Must be
  /// thread-safe, and not throw.
  std::function<bool()> stop{};
  /// Called about ten times a second while a batch is under way, by a thread of the engine's own; so never of brief batches.
  /// Must not throw. The batch does not end while it runs.
  std::function<void(const BatchProgress&)> progress{};
  /// Whether the sink gets what was found of a query that exceeds its budget; if not, it is only told of the end.
  bool report_partial = true;
};

/// An order-free digest of a set of matches: the sum of their ids modulo 2^128.
struct MatchDigest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  void add(const MatchId& id) noexcept;
  friend bool operator==(const MatchDigest&, const MatchDigest&) = default;
};

/// What a batch did to one standing query.
struct QueryDelta {
  QueryId query{};
  Count added = 0;
  Count removed = 0;
  MatchDigest added_digest;    ///< only where the query lists
  MatchDigest removed_digest;  ///< only where the query lists
  /// limit or timeout: the query exceeded its budget, so at least so many matches appeared and vanished. Digests are of those
  /// that the sink got.
  Shortfall shortfall = Shortfall::none;
  [[nodiscard]] bool complete() const noexcept { return shortfall == Shortfall::none; }
};

struct BatchResult {
  std::uint64_t batch = 0;     ///< number of the batch, from 1
  std::size_t consumed = 0;    ///< updates taken: all, or those before the record that stopped it, which are whole records
  std::uint64_t inserted = 0;  ///< edges in the net batch
  std::uint64_t deleted = 0;   ///< edges in the net batch, expired ones among them
  std::uint64_t expired = 0;
  Ignored ignored;
  std::vector<Reject> rejects;      ///< ascending by index
  std::vector<QueryDelta> queries;  ///< in order of registration
  std::optional<Timestamp> watermark;
  StepSeconds seconds;
};

/// What the edges of a label take in memory.
struct EdgeLabelStatistics {
  std::string label;
  std::uint64_t edges = 0;
  std::uint64_t bytes = 0;  ///< of their neighbour lists; what a vertex takes, and room to grow, belong to no label
};

/// Where the listed matches of a batch are kept until its matching has succeeded.
struct SpoolOptions {
  /// Bytes; what is beyond goes to a temporary file. Each thread holds a portion of some thousand matches besides.
  std::uint64_t memory = std::uint64_t{1} << 30;
  /// Of that file. Empty: what the first of TMPDIR, TMP, TEMP and TEMPDIR names that is set, else /tmp.
  std::filesystem::path folder;
};

struct StaticResult {
  Count matches = 0;  ///< where not complete, at least so many are there
  MatchDigest digest;
  Shortfall shortfall = Shortfall::none;
  double seconds = 0;
  FilterReport filter;
  /// The edge labels that matching reads, of those that the graph's edges bear; by name. Empty where the edges bear none.
  std::vector<EdgeLabelStatistics> edge_labels;
  [[nodiscard]] bool complete() const noexcept { return shortfall == Shortfall::none; }
};

struct StaticProgress {
  double fraction = 0;  ///< of the work, as lists' lengths tell it beforehand, or of the limit; never less than told before
  std::optional<Count> matches{};  ///< so far; nothing where a count is not added up yet
};

/// What a count of a whole graph is made of: for each data edge the matches in which it is the image of one query edge, or for
/// each data vertex those in which it is the image of one query vertex. `automatic` takes what is estimated to be cheaper.
enum class CountFrom : std::uint8_t { automatic, edges, vertices };

struct StaticOptions {
  QueryOptions query;
  /// Only matches whose edges are all the edges that the data graph has between their vertices, whatever label and direction.
  /// A match has the same id, induced or not.
  bool induced = false;
  Filter filter = Filter::automatic;  ///< what it is has no bearing on the answer
  FilterWithout filter_without;
  /// No bearing on the answer either. Listings, and queries that cannot be summed from a vertex, go by edges. Where both this
  /// and the filter are automatic, cliques of four and more vertices that nothing tells apart are counted along a tree of
  /// pivots instead, unless parallel edges make several matches of one clique.
  CountFrom count_from = CountFrom::automatic;
  std::optional<std::uint64_t> limit;  ///< list at most that many matches (requires query.list)
  /// From the call on. Making derived lists for a wildcard, or a simple graph for a clique, is not interrupted, all else is,
  /// within milliseconds. (Vertices are numbered by degree only where the time that this could take is left.)
  std::optional<std::chrono::nanoseconds> timeout;
  /// Asked every few milliseconds by any thread; true ends the run as a time-out does. Must be thread-safe, and not throw.
  std::function<bool()> stop;
  /// Called now and then, by one thread at a time. To tell the fraction takes a few passes over the graph's lists ahead.
  std::function<void(const StaticProgress&)> progress;
};

struct SampleOptions {
  QueryOptions query;    ///< `list` plays no part
  bool induced = false;  ///< as in StaticOptions
  std::uint64_t walks = 1'000'000;
  std::uint64_t seed = 1;
  /// As in StaticOptions; the walks that were finished by then count.
  std::optional<std::chrono::nanoseconds> timeout;
  std::function<bool()> stop;  ///< as in StaticOptions
  /// Called now and then, by the thread that called sample, with the share of the walks and the estimate so far.
  std::function<void(double fraction, double matches)> progress;
};

/// An estimate of a number of matches. The mean is unbiased. The interval is Student's over the replicates, so it holds the
/// truth with about its probability where many walks find a match; with few it is too narrow, and without any it says nothing.
struct SampleResult {
  static constexpr unsigned replicates = 30;  ///< independent of each other, with as many walks each
  static constexpr double confidence = 0.95;
  double matches = 0;
  double low = 0;  ///< not below 0
  double high = 0;
  std::uint64_t walks = 0;  ///< at least those asked for, a multiple of `replicates`; fewer: cut short, or there is no match
  std::uint64_t hits = 0;   ///< of them, walks that found a match
  Shortfall shortfall = Shortfall::none;
  double seconds = 0;
};

struct GraphStatistics {
  std::uint64_t vertices = 0;  ///< in the dictionary
  std::uint64_t edges = 0;
  std::uint64_t bytes = 0;            ///< adjacency, dictionary and labels; with a window its notes
  std::uint64_t adjacency_bytes = 0;  ///< lists, rows and free blocks
  std::uint64_t dictionary_bytes = 0;
  std::uint64_t vertex_labels = 0;  ///< different ones, without the empty label
  std::uint64_t edge_labels = 0;    ///< likewise
  std::uint64_t label_bytes = 0;    ///< of both tables
};

/// The lists that were looked up most often, as a share of those that were at all.
struct TopLists {
  double share;
  double accesses;  ///< the part of all look-ups that fell on them
  double coverage;  ///< the part of them that was cached
  double bytes;     ///< that a cache needs to hold them all
};

/// What a backend's cache of neighbour lists did since the engine was made; all 0 where there is none. A list counts once for
/// each time that a kernel looked it up.
struct CacheStatistics {
  std::uint64_t hits = 0;          ///< look-ups of lists in device memory
  std::uint64_t misses = 0;        ///< look-ups of lists that were read from host memory
  std::uint64_t copied_bytes = 0;  ///< sent to the device in bulk, for cache and batches
  std::uint64_t cached_lists = 0;  ///< in device memory now
  std::uint64_t cached_bytes = 0;
  std::uint64_t choices = 0;       ///< times that what to cache was chosen anew
  std::uint64_t shared_parts = 0;  ///< parts of work that busy warps gave to idle ones
  std::uint64_t on_cpu = 0;        ///< queries of batches that the CPU matched instead, in one of their passes or both
  double kernel_seconds = 0;       ///< that kernels ran; the longest of several devices
  std::string notice;              ///< what the backend had to do otherwise than it would, and why; empty: nothing
  /// Where measuring was asked for, by share (1 % to 5 %, 10 %, 20 %): averages over the batches.
  std::vector<TopLists> top;
  double coverage = 0;  ///< of the top 5 %
};

/// 32 lower-case hexadecimal digits that name what a query asks for: equal for two queries iff their matches bear equal ids.
/// Names play no part.
[[nodiscard]] std::string query_fingerprint(const Query& query, const QueryOptions& options);

/// Not thread-safe: one thread calls it; it uses `threads` threads inside. Every call either succeeds or throws Error or
/// std::bad_alloc and leaves graph, queries and counters as they were before it.
class Engine {
 public:
  explicit Engine(const EngineOptions& options = {});
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Registers a standing query: from the next batch on its matches are reported. Throws Error(configuration) where the query
  /// does not fit the graph (directed edges over undirected data) or the options exclude each other.
  QueryId add_query(const Query& query, const QueryOptions& options = {});
  void remove_query(QueryId query);

  /// Applies updates without matching: the start graph. Records are refused as in process.
  BatchResult load(const UpdateBatch& batch, OnReject on_reject = OnReject::stop);

  /// Applies one batch and finds the matches that appeared and vanished. Matches of listing queries go to `sink` (which may be
  /// null) once all of the batch's matching has succeeded.
  BatchResult process(const UpdateBatch& batch, OnReject on_reject = OnReject::stop, MatchSink* sink = nullptr,
                      const Upcoming& upcoming = {});
  /// The same, with a say while it goes on. Nothing where `options.stop` abandoned the batch: graph, queries and counters are
  /// as before the call, nothing of it was reported, and the batch may be given again.
  ///
  /// A query that exceeds its budget is given up for this batch alone: its delta tells so, and the sink's `end`, after what was
  /// found of it, removed before new and of each the least ids first, no more than the budget's number. All other queries are
  /// complete, the batch settles, and the query goes on with the next one. If a batch gives a vertex another label, nothing
  /// that was found of such a query is certain: it is told as no match at all. On a backend other than the CPU a batch in which
  /// some budget may be exceeded is matched again, query by query.
  [[nodiscard]] std::optional<BatchResult> process(const UpdateBatch& batch, const BatchOptions& options);
  /// From the next batch on. Throws Error where there is no such query.
  void budget(QueryId query, const QueryBudget& budget);

  /// From the next batch on.
  void spool(const SpoolOptions& options);

  /// How many different labels vertices may bear at a time, and how many edges; the empty label is not counted.
  static constexpr std::uint64_t default_label_limit = 1'000'000;
  /// From the next batch on. A record that needs one more is refused (RejectReason::label_limit); what is in the graph stays.
  /// absorb knows no limit: it takes what another engine took.
  void limit_labels(std::uint64_t most) noexcept;

  /// Applies a batch that was processed before, by another engine: it counts as a batch, but nothing is matched. So a log of
  /// batches brings an engine to where the other was. Refused records are left out.
  BatchResult absorb(const UpdateBatch& batch);

  /// The number of the latest batch: 0 before the first.
  [[nodiscard]] std::uint64_t batch() const noexcept;
  /// The event time up to which the stream is complete, where any batch told one.
  [[nodiscard]] std::optional<Timestamp> watermark() const noexcept;

  /// Matches the whole graph as it stands. Listed matches go to `sink` as `added` while matching goes on, which waits for the
  /// sink: memory is bounded whatever their number. When it throws, portions that were flushed stay written.
  StaticResult match(const Query& query, const StaticOptions& options = {}, MatchSink* sink = nullptr);

  /// Estimates how many matches the whole graph has, by random walks through the static plan. The same for every number of
  /// threads unless it is cut short.
  SampleResult sample(const Query& query, const SampleOptions& options = {});

  /// The plans of a query as text, with estimates from the graph as it stands; where `query` is standing and batches have been
  /// processed, with actual figures too.
  [[nodiscard]] std::string explain(const Query& query, const QueryOptions& options = {});
  [[nodiscard]] std::string explain(QueryId query);
  /// How `match` begins to count or list: where it filters first, on the candidates that are left, of which `filtered` is told
  /// where it is not null. With Filter::automatic it may filter later on, once matching has taken long.
  [[nodiscard]] std::string explain(const Query& query, const StaticOptions& options, FilterReport* filtered = nullptr);
  /// From the next batch on, whether to count what every level of every plan finds, for explain: that walks to all matches
  /// besides, so a batch takes longer.
  void analyze(bool on) noexcept;

  [[nodiscard]] GraphStatistics graph() const;
  [[nodiscard]] CacheStatistics cache() const;
  /// Hands out the graph as updates that build it anew: every vertex (insert_vertex with its label), then every edge
  /// (insert_edge, with its time where there is a window), each in order of ids, so that equal graphs are told alike. The
  /// views hold during the call. O(n log n).
  void for_each(const std::function<void(const Update&)>& take) const;
  [[nodiscard]] const EngineOptions& options() const noexcept;

  /// Writes graph, dictionary, window and batch number; checksummed, written aside and renamed. Standing queries are not part
  /// of a snapshot. `annotation`: up to 1 MiB of the caller's own, kept with it.
  void save(const std::filesystem::path& path, std::string_view annotation = {}) const;
  /// The annotation of a snapshot. Throws Error where the file's beginning is torn or corrupt. O(its length).
  [[nodiscard]] static std::string annotation(const std::filesystem::path& path);
  /// An engine with the state that `save` wrote. Direction and window come from the snapshot. Throws Error where the file is
  /// torn, corrupt or of another version.
  static Engine restore(const std::filesystem::path& path, unsigned threads = 0, std::shared_ptr<Backend> backend = nullptr);

 private:
  friend struct engine::BulkLoader;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deltamatch

// What replay, match and explain do alike: open every input before any work starts, settle the direction, build the engine,
// load the start graph, and feed the stream to it batch by batch.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "cli/paths.hpp"
#include "cli/progress.hpp"
#include "cli/queries.hpp"
#include "cli/report.hpp"
#include "deltamatch/engine.hpp"
#include "engine/graph_file.hpp"
#include "ingest/stream.hpp"

namespace deltamatch::cli {

/// Every file that is read. Throws as query_paths does.
[[nodiscard]] std::vector<NamedPath> input_paths(const GraphOptions& graph, const StreamOptions& stream,
                                                 const QuerySelection& queries);

class Session {
 public:
  /// Opens the inputs; the direction is known afterwards. Throws Error(usage) where the inputs contradict each other or the
  /// options, and Error where one cannot be read.
  Session(const GraphOptions& graph, const StreamOptions& stream);

  [[nodiscard]] Engine& engine() noexcept { return *engine_; }
  /// Of a backend's cache; nothing where the CPU matches.
  [[nodiscard]] std::optional<CacheStatistics> cache() const;
  [[nodiscard]] bool directed() const noexcept { return engine_->options().directed; }

  /// Vertex labels first, then the start graph, to its end: no interrupt leaves a part of it. Records that change nothing are
  /// counted in `report`, as is the time. Of a graph file that is all of the start graph only what is in `demand` is loaded
  /// (null: everything), and the report says how much. Only here the file of dead letters is emptied.
  void load(Report& report, const engine::EdgeDemand* demand = nullptr);

  /// What ends a run or a query early.
  struct Limits {
    std::optional<std::chrono::steady_clock::time_point> until{};
    std::optional<std::uint64_t> max_matches{};  ///< of a query in one batch
  };
  using OnBatch = std::function<void(const BatchResult& result, const ingest::PositionedBatch& batch)>;
  /// Processes the stream to its end, or until SIGINT or SIGTERM comes (report.interrupted) or the time is over
  /// (report.timed_out): a batch that is being matched then is abandoned, as if it had not come. One that is still being read
  /// ends with what was read of it, and has half a second. Matches go to `sink`, which
  /// may be null. Throws Error at the first bad record if the policy is to fail, and if the stream cannot be read on, and
  /// std::bad_alloc if a batch finds no memory. What stands before has been processed and is in the report then.
  void run(Report& report, MatchSink* sink, const OnBatch& on_batch, const Limits& limits);
  /// Closes the inputs and gives back the memory that they hold. Nothing can be run behind it.
  void release_inputs() noexcept;

 private:
  using Sources = std::vector<std::unique_ptr<ingest::BatchSource>>;
  /// Updates of one input that did nothing, and what they are held against.
  struct Vain {
    std::uint64_t late = 0;
    std::uint64_t deletes = 0;
    std::uint64_t absent_deletes = 0;  // of them

    void add(const UpdateBatch& batch, const Ignored& ignored, bool directed);
  };

  void compare_ids(Report& report) const;
  void conclude(ingest::BatchSource& source, Report& report, const Vain& vain);
  void run_source(std::size_t index, Report& report, MatchSink* sink, const OnBatch& on_batch);
  [[nodiscard]] bool ended() const noexcept;
  void show(const BatchProgress& progress, const Report& report);
  void open(const GraphOptions& graph, const StreamOptions& stream, Timestamp window);
  void check_graph_files(const GraphOptions& graph) const;
  void check_updates_of_snapshot(const std::string& snapshot) const;
  [[nodiscard]] bool decide_direction(const GraphOptions& graph) const;
  void load_files(Report& report, const engine::EdgeDemand* demand);
  void load_as_updates(engine::GraphFile& file);

  std::unique_ptr<Engine> engine_;
  std::shared_ptr<ingest::DeadLetterSink> letters_;  // null: refused records are not kept
  Sources labels_;
  Sources graphs_;
  std::vector<std::unique_ptr<engine::GraphFile>> graph_files_;
  Sources updates_;
  double max_refused_;
  Limits limits_;
  bool ended_ = false;  // before the end of the stream
  Progress progress_;
};

/// The queries of the command line, registered as standing queries; the report has a row for each.
std::vector<QueryId> register_queries(Engine& engine, const std::vector<NamedQuery>& queries, const QueryOptions& options,
                                      Report& report);

}  // namespace deltamatch::cli

// What replay, match and explain have in common. They open every input before any work starts and settle the direction. They
// build the engine, load the start graph, and feed the stream to it batch by batch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/inputs.hpp"
#include "cli/options/common_options.hpp"
#include "cli/options/matching_orders.hpp"
#include "cli/options/paths.hpp"
#include "cli/options/queries.hpp"
#include "cli/report/report.hpp"
#include "cli/terminal/progress.hpp"
#include "deltamatch/engine.hpp"
#include "engine/storage/graph_file.hpp"
#include "engine/storage/named_labels.hpp"
#include "ingest/batch/absent_deletes.hpp"
#include "ingest/batch/absent_times.hpp"
#include "ingest/batch/label_use.hpp"
#include "ingest/batch/late_records.hpp"
#include "ingest/stream.hpp"

namespace deltamatch::cli {

/// Every file that is read. Throws as query_paths does.
[[nodiscard]] std::vector<NamedPath> input_paths(const GraphOptions& graph, const ReplayOptions& stream,
                                                 const QuerySelection& queries);

class Session {
 public:
  /// Opens the inputs and settles the direction. Throws Error(usage) if the inputs contradict each other or the options. Throws
  /// Error if an input cannot be read.
  Session(GraphOptions graph, const ReplayOptions& stream);

  [[nodiscard]] Engine& engine() noexcept { return *engine_; }
  /// Statistics of the backend's cache. Nothing if the CPU matches.
  [[nodiscard]] std::optional<BackendStatistics> backend() const;
  [[nodiscard]] bool directed() const noexcept { return engine_->options().directed; }

  /// States the queries. Inputs that lack what these read are doubtful. Call it before load().
  void heed(const std::vector<NamedQuery>& queries);

  /// Loads the vertex labels, then the whole start graph. No interrupt leaves a part of it. `report` gets the time, and counts
  /// of the records that change nothing. If a graph file is all of the start graph, loads only what is in `demand` (null:
  /// everything). The report then says how much. Empties the file of dead letters, not earlier.
  void load(Report& report, const engine::EdgeDemand* demand = nullptr);

  /// What ends a run or a query early.
  struct Limits {
    std::optional<std::chrono::steady_clock::time_point> until{};
    std::optional<std::uint64_t> max_matches{};  ///< of one query in one batch
  };
  using OnBatch = std::function<void(const BatchResult& result, const ingest::PositionedBatch& batch)>;
  /// Processes the stream to its end, or until SIGINT or SIGTERM (report.interrupted) or the time-out (report.timed_out). A
  /// batch that is being matched then is abandoned, as if it had not come. A batch that is still being read ends with what was
  /// read of it, and has half a second. Matches go to `sink`, which may be null.
  ///
  /// Throws Error at the first bad record if the policy is to fail, and if the stream cannot be read on. Throws std::bad_alloc
  /// if a batch runs out of memory. The batches before have been processed and are in the report then.
  void run(Report& report, MatchSink* sink, const OnBatch& on_batch, const Limits& limits);
  /// Closes the inputs and frees their memory. Nothing can be run afterwards.
  void release_inputs() noexcept;

 private:
  using Sources = std::vector<std::unique_ptr<ingest::UpdateStream>>;
  /// Counts updates of one input that changed nothing, or that may be in vain.
  struct Vain {
    explicit Vain(const EngineOptions& engine) noexcept : absent(engine.directed), order(engine.allowed_lateness) {}
    void add(const UpdateBatch& batch, const BatchResult& result) {
      late += result.ignored.late;
      const auto taken = batch.updates().first(result.consumed);
      absent.add(taken, result.ignored);
      times.add(taken);
    }

    std::uint64_t late = 0;
    ingest::AbsentDeletes absent;
    ingest::AbsentTimes times;
    ingest::LateRecords order;
  };

  void compare_ids(Report& report) const;
  void conclude(ingest::UpdateStream& source, Report& report, const Vain& vain);
  void tell_order(const ingest::UpdateStream& source, Report& report, const Vain& vain) const;
  void tell_absent_labels(Report& report) const;
  void run_source(std::size_t index, Report& report, MatchSink* sink, const OnBatch& on_batch);
  [[nodiscard]] bool ended() const noexcept;
  void show(const BatchProgress& progress, const Report& report);
  void open(const GraphOptions& graph, const ReplayOptions& stream, Timestamp window, Inputs inputs);
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
  ingest::LabelUse label_use_;
  bool reads_times_ = false;  // some query does
  std::string heeds_order_;   // the first query that may miss matches with late records
  engine::NamedLabels named_labels_;
  double max_refused_;
  Limits limits_;
  Timestamp batch_span_ = 0;  // of the stream; 0: no limit, or cuts say where batches end
  bool ended_ = false;        // before the end of the stream
  Progress progress_;
};

/// Registers the queries of the command line as standing queries. Adds a row for each to the report.
std::vector<QueryId> register_queries(Engine& engine, const std::vector<NamedQuery>& queries, const QueryOptions& options,
                                      const MatchingOrders& orders, Report& report);

}  // namespace deltamatch::cli

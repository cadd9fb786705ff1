// Watches a batch while the engine processes it: stops it on request, reports progress, and ends queries that exceed their
// budgets.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include "base/stop.hpp"
#include "deltamatch/batch.hpp"
#include "deltamatch/count.hpp"
#include "deltamatch/match.hpp"
#include "deltamatch/query_options.hpp"
#include "match/matcher.hpp"

namespace deltamatch::engine {

/// Watches one batch at a time. The thread that processes the batch calls all members. A second thread checks every few
/// milliseconds. It goes on for a while between batches, so that short batches need not wake it.
///
/// The order of calls for a batch:
/// 1. `begin`.
/// 2. `follow`, once its queries are known.
/// 3. A round of matching for all queries together.
/// 4. One more round for each query alone, if that round was cut short and the matcher cannot tell which query exceeded its
///   budget.
/// 5. `end`.
class BatchWatch {
 public:
  BatchWatch() = default;
  ~BatchWatch();
  BatchWatch(const BatchWatch&) = delete;
  BatchWatch& operator=(const BatchWatch&) = delete;

  /// Begins a batch. `options` must outlive it. `budgets`: some query has a budget. Watches nothing if nothing is asked for.
  void begin(const BatchOptions& options, bool budgets);
  /// Ends the batch. The functions in its options are not called any more.
  void end() noexcept;

  /// The flag that is set once the batch is abandoned. Null if nobody can ask for that.
  [[nodiscard]] const StopFlag* stop() const noexcept { return watching_ ? &stop_ : nullptr; }

  /// Asks now whether to abandon the batch, and throws Stopped if so. A short batch may end before the thread checks.
  void ask();

  /// A query of the batch and its budget.
  struct Followed {
    QueryId id;
    QueryBudget budget;
  };
  /// Names the queries in the order in which they are matched, and the number of threads. `separates_tasks`: see
  /// Matcher::separates_tasks.
  void follow(std::span<const Followed> queries, unsigned threads, bool separates_tasks);
  /// Gives a query's task the stop flag that it checks and the watch that it reports to.
  void attach(std::size_t query, match::QueryTask& task);
  /// Counts matches of a query that the matcher handed over. Only used if the matcher does not tell tasks apart.
  void handed(std::size_t query, std::uint64_t matches) noexcept;

  /// Begins the round that matches all queries together. Returns the stop flag to check, or null.
  [[nodiscard]] const StopFlag* begin_round();
  /// Begins the round that matches this query alone. Returns the stop flag to check.
  [[nodiscard]] const StopFlag* begin_round(std::size_t query);
  /// Ends the round. True if its results are useless because some query, not known which, exceeded its budget.
  [[nodiscard]] bool end_round();

  /// Why the query's result is incomplete, or none. `matches`: how many it has found.
  [[nodiscard]] Shortfall shortfall(std::size_t query, Count matches);

 private:
  using Clock = std::chrono::steady_clock;
  struct State {
    QueryId id{};
    QueryBudget budget;
    double seconds = 0;
    Shortfall shortfall = Shortfall::none;
    StopFlag stop = false;
  };

  void run();
  void check(Clock::time_point now);
  void share_out(double seconds);
  void check_budgets();
  void exceed(State& query, Shortfall shortfall);
  void report_progress(Clock::time_point now);

  StopFlag stop_ = false;   // the batch is abandoned
  StopFlag round_ = false;  // the round of all queries is to end
  match::ThreadProgress watch_;
  bool watching_ = false;  // only used by the caller's thread
  bool follows_ = false;   // only used by the caller's thread

  std::mutex mutex_;
  std::condition_variable changed_;
  const BatchOptions* options_ = nullptr;  // null: no batch; guarded by mutex_, as is all below
  Clock::time_point start_;
  Clock::time_point reported_;
  Clock::time_point last_;  // when time was last shared out
  std::deque<State> queries_;
  std::size_t followed_ = 0;  // the number of queries_ in use
  std::size_t threads_ = 0;
  bool separates_tasks_ = true;
  bool matching_ = false;
  std::optional<std::size_t> alone_;
  double round_seconds_ = 0;
  bool exceeded_ = false;  // some query exceeded its budget in a round of all
  bool parked_ = false;
  bool ending_ = false;
  std::thread thread_;  // made when first needed
};

}  // namespace deltamatch::engine

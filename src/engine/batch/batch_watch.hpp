// Watches a batch while the engine processes it: hears when it is to stop, says how far it is, and ends queries that exceed
// their budgets.
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
#include "deltamatch/engine.hpp"
#include "match/matcher.hpp"

namespace deltamatch::engine {

/// One batch at a time, which one thread processes; that thread calls all members. A thread of its own looks every few
/// milliseconds. It goes on looking for a while between batches, so that brief ones need not wake it.
///
/// A batch: begin, then once its queries are known follow, then a round of matching for all queries together. Where that is
/// cut short, and the matcher cannot tell whose fault it is, another round for each query alone. Then end.
class BatchWatch {
 public:
  BatchWatch() = default;
  ~BatchWatch();
  BatchWatch(const BatchWatch&) = delete;
  BatchWatch& operator=(const BatchWatch&) = delete;

  /// `options` outlives the batch. `budgets`: whether any query has one. Nothing is watched where nobody asks for anything.
  void begin(const BatchOptions& options, bool budgets);
  /// Its functions are not called any more.
  void end() noexcept;

  /// Set once the batch is to be abandoned; null where nobody can ask for that.
  [[nodiscard]] const StopFlag* stop() const noexcept { return watching_ ? &stop_ : nullptr; }

  /// Asks at once whether the batch is to be abandoned, and throws Stopped if so: brief batches end before the thread looks.
  void ask();

  /// A query of the batch and what it may take.
  struct Followed {
    QueryId id;
    QueryBudget budget;
  };
  /// These are going to be matched by so many threads, in this order. `tells`: Matcher::tells_tasks.
  void follow(std::span<const Followed> queries, unsigned threads, bool tells);
  /// Tells a query's task whom to heed, and where to say what it does.
  void attach(std::size_t query, match::QueryTask& task);
  /// A matcher that does not tell tasks apart has handed over matches of one.
  void handed(std::size_t query, std::uint64_t matches) noexcept;

  /// All queries are matched together from here on. Gives the flag to heed, or null.
  [[nodiscard]] const StopFlag* begin_round();
  /// This query alone is.
  [[nodiscard]] const StopFlag* begin_round(std::size_t query);
  /// Whether what was found in the round of all is of no use, since some budget was exceeded, nobody knows whose.
  [[nodiscard]] bool end_round();

  /// A query's matching has come to so many matches. Gives what they lack.
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
  void look(Clock::time_point now);
  void share_out(double seconds);
  void check_budgets();
  void exceed(State& query, Shortfall shortfall);
  void tell(Clock::time_point now);

  StopFlag stop_ = false;   // the batch is abandoned
  StopFlag round_ = false;  // or the round of all queries
  match::Watch watch_;
  bool watching_ = false;  // the caller's own
  bool follows_ = false;   // likewise

  std::mutex mutex_;
  std::condition_variable changed_;
  const BatchOptions* options_ = nullptr;  // guarded by mutex_, as all below; null: no batch
  Clock::time_point start_;
  Clock::time_point told_;
  Clock::time_point last_;  // when the threads were looked at
  std::deque<State> queries_;
  std::size_t followed_ = 0;  // of them
  std::size_t threads_ = 0;
  bool tells_ = true;
  bool matching_ = false;
  std::optional<std::size_t> alone_;
  double round_seconds_ = 0;
  bool exceeded_ = false;  // some budget was, in a round of all
  bool parked_ = false;
  bool leaving_ = false;
  std::thread thread_;  // made when first needed
};

}  // namespace deltamatch::engine

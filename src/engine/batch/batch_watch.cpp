#include "engine/batch/batch_watch.hpp"

#include <algorithm>
#include <vector>

namespace deltamatch::engine {
namespace {

using namespace std::chrono_literals;

constexpr auto interval = 5ms;
constexpr auto pause = 100ms;        // between two reports of progress
constexpr unsigned idle_looks = 20;  // looks without a batch, after which the thread waits to be woken

}  // namespace

BatchWatch::~BatchWatch() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BatchWatch::begin(const BatchOptions& options, bool budgets) {
  watching_ = budgets || options.stop || options.progress;
  follows_ = budgets || options.progress;
  if (!watching_) return;
  stop_.store(false, std::memory_order_relaxed);
  round_.store(false, std::memory_order_relaxed);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  bool wake = false;
  {
    const std::scoped_lock lock(mutex_);
    options_ = &options;
    start_ = reported_ = Clock::now();
    followed_ = 0;
    matching_ = exceeded_ = false;
    alone_.reset();
    wake = parked_;
  }
  if (wake) changed_.notify_all();
}

void BatchWatch::end() noexcept {
  if (!watching_) return;
  const std::scoped_lock lock(mutex_);
  options_ = nullptr;
}

void BatchWatch::ask() {
  if (!watching_) return;
  if (options_->stop && options_->stop()) stop_.store(true);  // only the caller changes options_, and this is its thread
  throw_if_stopped(&stop_);
}

void BatchWatch::follow(std::span<const Followed> queries, unsigned threads, bool separates_tasks) {
  if (!watching_) return;
  const std::scoped_lock lock(mutex_);
  while (queries_.size() < queries.size()) queries_.emplace_back();
  for (std::size_t q = 0; q < queries.size(); ++q) {
    State& query = queries_[q];
    query.id = queries[q].id;
    query.budget = queries[q].budget;
    query.seconds = 0;
    query.shortfall = Shortfall::none;
    query.stop.store(stop_.load());
  }
  followed_ = queries.size();
  threads_ = threads;
  separates_tasks_ = separates_tasks;
  if (follows_) watch_.begin(threads, followed_);
}

void BatchWatch::attach(std::size_t query, match::QueryTask& task) {
  if (!watching_) return;
  task.stop = &queries_[query].stop;  // a deque does not move its members
  if (!follows_) return;
  task.watch = &watch_;
  task.progress_index = query;
}

void BatchWatch::handed(std::size_t query, std::uint64_t matches) noexcept {
  if (follows_ && !separates_tasks_) watch_.handed(query, matches);
}

const StopFlag* BatchWatch::begin_round() {
  if (!watching_) return nullptr;
  const std::scoped_lock lock(mutex_);
  matching_ = true;
  last_ = Clock::now();
  round_seconds_ = 0;
  return &round_;
}

const StopFlag* BatchWatch::begin_round(std::size_t query) {
  const std::scoped_lock lock(mutex_);
  if (!alone_) watch_.begin(static_cast<unsigned>(threads_), followed_);  // all matches are found again
  matching_ = true;
  last_ = Clock::now();
  alone_ = query;
  return &queries_[query].stop;
}

bool BatchWatch::end_round() {
  if (!watching_) return false;
  const std::scoped_lock lock(mutex_);
  matching_ = false;
  return std::exchange(exceeded_, false);
}

Shortfall BatchWatch::shortfall(std::size_t query, Count matches) {
  if (!follows_) return Shortfall::none;
  const std::scoped_lock lock(mutex_);
  State& state = queries_[query];
  if (state.shortfall == Shortfall::none && state.budget.matches && matches > *state.budget.matches)
    state.shortfall = Shortfall::limit;
  return state.shortfall;
}

void BatchWatch::run() {
  std::unique_lock lock(mutex_);
  for (unsigned idle = 0; !ending_;) {
    if (options_ != nullptr) {
      idle = 0;
      check(Clock::now());
    } else if (++idle > idle_looks) {
      parked_ = true;
      changed_.wait(lock, [this] { return ending_ || options_ != nullptr; });
      parked_ = false;
      continue;
    }
    changed_.wait_for(lock, interval, [this] { return ending_; });
  }
}

void BatchWatch::check(Clock::time_point now) {
  if (options_->stop && !stop_.load() && options_->stop()) {
    stop_.store(true);
    round_.store(true);
    for (State& query : queries_) query.stop.store(true);
  }
  if (matching_ && follows_) {
    share_out(std::chrono::duration<double>(now - last_).count());
    last_ = now;
    check_budgets();
  }
  if (options_->progress && now - reported_ >= pause) report_progress(now);
}

/// Shares the time out among the queries that threads are matching now.
void BatchWatch::share_out(double seconds) {
  round_seconds_ += seconds;
  if (alone_) {
    queries_[*alone_].seconds += seconds;
    return;
  }
  std::size_t busy = 0;
  for (std::size_t t = 0; t < watch_.threads(); ++t) busy += watch_.task_of(t) != 0 ? 1 : 0;
  for (std::size_t t = 0; t < watch_.threads(); ++t) {
    const std::uint32_t task = watch_.task_of(t);
    if (task != 0 && task <= followed_)
      queries_[task - 1].seconds += seconds / static_cast<double>(std::max<std::size_t>(busy, 1));
  }
}

void BatchWatch::check_budgets() {
  for (std::size_t q = 0; q < followed_; ++q) {
    State& query = queries_[q];
    if (query.shortfall != Shortfall::none || (alone_ && *alone_ != q)) continue;
    const double seconds = separates_tasks_ || alone_ ? query.seconds : round_seconds_;
    if (query.budget.time && seconds >= std::chrono::duration<double>(*query.budget.time).count()) {
      exceed(query, Shortfall::timeout);
    } else if (query.budget.matches && watch_.matches(q) > *query.budget.matches) {
      exceed(query, Shortfall::limit);
    }
  }
}

void BatchWatch::exceed(State& query, Shortfall shortfall) {
  if (!separates_tasks_ && !alone_) {
    exceeded_ = true;
    round_.store(true);
    return;
  }
  query.shortfall = shortfall;
  query.stop.store(true);
}

void BatchWatch::report_progress(Clock::time_point now) {
  reported_ = now;
  BatchProgress progress;
  progress.seconds = std::chrono::duration<double>(now - start_).count();
  double most = 0;
  for (std::size_t q = 0; q < followed_; ++q) {
    if (queries_[q].seconds > most) {
      most = queries_[q].seconds;
      progress.query = queries_[q].id;
    }
    if (__builtin_add_overflow(progress.matches, watch_.matches(q), &progress.matches)) progress.matches = UINT64_MAX;
  }
  options_->progress(progress);
}

}  // namespace deltamatch::engine

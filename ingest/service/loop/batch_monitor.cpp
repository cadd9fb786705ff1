#include "ingest/service/loop/batch_monitor.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace deltamatch::ingest {

void BatchMonitor::begin(std::uint64_t batch, Names names) {
  const std::scoped_lock lock(mutex_);
  batch_ = batch;
  names_ = std::move(names);
  next_word_ = std::chrono::duration<double>(longest_).count();
}

std::string BatchMonitor::text() const {
  return fmt::format("batch {} has been matching for {:.0f} s{}", now_->batch, now_->seconds,
                     now_->query.empty() ? "" : fmt::format(", mostly query '{}'", now_->query));
}

void BatchMonitor::progress(const deltamatch::BatchProgress& progress) {
  std::optional<Now> told;
  {
    const std::scoped_lock lock(mutex_);
    Now now{batch_, progress.seconds, {}, progress.matches};
    if (progress.query) {
      const auto named = std::ranges::find(names_, *progress.query, &Names::value_type::first);
      if (named != names_.end()) now.query = named->second;
    }
    now_ = std::move(now);
    if (longest_.count() != 0 && progress.seconds >= next_word_) {
      overdue_ = true;
      next_word_ *= 2;
      told = now_;
    }
  }
  metrics_->batch_under_way(progress.seconds);
  if (!told) return;
  journal_->tell(Level::warn, "a batch takes long to match",
                 {{"batch", std::to_string(told->batch)},
                  {"seconds", fmt::format("{:.1f}", told->seconds)},
                  {"query", told->query},
                  {"matches_so_far", std::to_string(told->matches)},
                  {"remedy", "give the query a budget, or remove it from the configuration, then reload (SIGHUP)"}});
}

void BatchMonitor::end() {
  std::optional<Now> told;
  {
    const std::scoped_lock lock(mutex_);
    if (overdue_) told = now_;
    overdue_ = false;
    now_.reset();
  }
  metrics_->batch_under_way(0);
  if (!told) return;
  journal_->tell(Level::info, "the batch that took long is matched",
                 {{"batch", std::to_string(told->batch)}, {"seconds", fmt::format("{:.1f}", told->seconds)}});
}

void BatchMonitor::give_up_at(Clock::time_point until) {
  const std::scoped_lock lock(mutex_);
  until_ = until;
}

bool BatchMonitor::gives_up() const {
  const std::scoped_lock lock(mutex_);
  return until_ && Clock::now() >= *until_;
}

std::optional<BatchMonitor::Now> BatchMonitor::now() const {
  const std::scoped_lock lock(mutex_);
  return now_;
}

std::string BatchMonitor::overdue() const {
  const std::scoped_lock lock(mutex_);
  return overdue_ && now_ ? text() : std::string();
}

}  // namespace deltamatch::ingest

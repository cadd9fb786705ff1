#include "ingest/service/loop/batch_monitor.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;

constexpr BatchMonitor::Clock::duration longest_listing = 10s;  // of existing matches, before it is reported

}  // namespace

void BatchMonitor::begin(std::uint64_t batch, Names names, Work work) {
  const std::scoped_lock lock(mutex_);
  batch_ = batch;
  names_ = std::move(names);
  work_ = work;
  const auto longest = work == Work::existing ? std::min<Clock::duration>(longest_, longest_listing) : longest_;
  next_word_ = std::chrono::duration<double>(longest).count();
}

std::string BatchMonitor::text() const {
  if (now_->work == Work::existing) {
    return fmt::format(
        "the existing matches of query '{}' have been listed for {:.0f} s, {} so far; no batch is matched meanwhile",
        now_->query, now_->seconds, now_->matches);
  }
  return fmt::format("batch {} has been matching for {:.0f} s{}", now_->batch, now_->seconds,
                     now_->query.empty() ? "" : fmt::format(", mostly query '{}'", now_->query));
}

void BatchMonitor::progress(const deltamatch::BatchProgress& progress) {
  std::optional<Now> told;
  {
    const std::scoped_lock lock(mutex_);
    Now now{batch_, progress.seconds, {}, progress.matches, work_};
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
  const bool existing = told->work == Work::existing;
  journal_->tell(Level::warn, existing ? "existing matches take long to list" : "a batch takes long to match",
                 {{"batch", std::to_string(told->batch)},
                  {"seconds", fmt::format("{:.1f}", told->seconds)},
                  {"query", told->query},
                  {"matches_so_far", std::to_string(told->matches)},
                  {"remedy", existing ? "lower the limits under existing, or give the query a budget"
                                      : "give the query a budget, or remove it from the configuration, then reload (SIGHUP)"}});
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
  journal_->tell(Level::info,
                 told->work == Work::existing ? "the listing that took long has ended" : "the batch that took long is matched",
                 {{"batch", std::to_string(told->batch)}, {"seconds", fmt::format("{:.1f}", told->seconds)}});
}

void BatchMonitor::give_up_at(Clock::time_point until) {
  const std::scoped_lock lock(mutex_);
  until_ = until;
}

bool BatchMonitor::stopping() const {
  const std::scoped_lock lock(mutex_);
  return until_.has_value();
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

std::string BatchMonitor::listing() const {
  const std::scoped_lock lock(mutex_);
  return now_ && now_->work == Work::existing ? text() : std::string();
}

}  // namespace deltamatch::ingest

#include "ingest/service/loop/existing_matches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {
namespace {

using Clock = std::chrono::steady_clock;

/// Turns static matches into alerts of a batch, until these are too large.
class ExistingMatches final : public MatchSink {
 public:
  ExistingMatches(AlertRouter& alerts, std::uint64_t batch, std::optional<Timestamp> time, std::uint64_t max_bytes)
      : alerts_(alerts), batch_(batch), time_(time), max_bytes_(max_bytes) {}

  void begin(std::uint64_t /*batch*/) override {}
  void write(const Match& match) override {
    if (full_) return;
    Match alert = match;
    alert.batch = batch_;
    alert.time = time_;
    alert.cause = {};
    alerts_.write(alert);
    ++matches_;
    full_ = alerts_.bytes() > max_bytes_;
  }
  void end(const ListingEnd& /*end*/) override {}
  void commit() override {}
  void abort() noexcept override {}

  /// Any thread may call these.
  [[nodiscard]] std::uint64_t matches() const noexcept { return matches_; }
  [[nodiscard]] bool full() const noexcept { return full_; }

 private:
  AlertRouter& alerts_;
  std::uint64_t batch_;
  std::optional<Timestamp> time_;
  std::uint64_t max_bytes_;
  std::atomic<std::uint64_t> matches_ = 0;
  std::atomic<bool> full_ = false;
};

/// A limit, and the key that sets it.
template <class Value>
struct Limit {
  Value value;
  std::string key;
};

template <class Value>
Limit<Value> lower(const std::optional<Value>& budget, const char* budget_key, Value limit, const char* limit_key) {
  return budget && *budget <= limit ? Limit<Value>{*budget, budget_key} : Limit<Value>{limit, limit_key};
}

Error beyond(const ServiceQuery& query, const std::string& what, const std::string& key) {
  return {ErrorKind::configuration, query.where, fmt::format("the existing matches of '{}' {}", query.query.name, what),
          fmt::format("leave report_existing out, narrow the pattern, or raise {}", key)};
}

/// Shows the monitor that the matches of a query are being listed.
class Shown {
 public:
  Shown(BatchMonitor* monitor, std::uint64_t batch, const std::string& query) : monitor_(monitor) {
    if (monitor_ != nullptr) monitor_->begin(batch, {{QueryId{}, query}}, BatchMonitor::Work::existing);
  }
  ~Shown() {
    if (monitor_ != nullptr) monitor_->end();
  }
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;

 private:
  BatchMonitor* monitor_;
};

}  // namespace

std::optional<std::map<std::string, Count>> list_existing(Engine& engine, AlertRouter& router,
                                                          std::span<const ServiceQuery> queries,
                                                          const std::optional<ExistingWatch>& watch) {
  constexpr auto endless = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t batch = engine.batch() + 1;
  const auto begin = Clock::now();
  ExistingMatches sink(router, batch, engine.watermark(), watch ? watch->limits.max_bytes : endless);
  std::map<std::string, Count> counts;
  for (const ServiceQuery& query : queries) {
    StaticOptions options;
    options.query = query.options;
    options.query.list = true;
    options.induced = query.options.induced;
    options.in_order = true;  // whoever lists them again gets the same alerts
    if (!watch) {
      counts[query.query.name] = engine.match(query.query, options, &sink).matches;
      continue;
    }
    const ExistingOptions& most = watch->limits;
    const QueryBudget& budget = query.budget.limits;
    const auto start = Clock::now();
    const std::uint64_t before = sink.matches();
    const std::chrono::nanoseconds time_left = std::max<std::chrono::nanoseconds>(most.max_time - (start - begin), {});
    const auto time = lower<std::chrono::nanoseconds>(budget.time, "budget.time", time_left, "existing.max_time");
    const auto matches = lower(budget.matches, "budget.matches", most.max_matches - before, "existing.max_matches");
    const Shown shown(watch->monitor, batch, query.query.name);
    std::atomic<std::uint64_t> found = 0;
    options.progress = [&](const StaticProgress& progress) {
      found = static_cast<std::uint64_t>(progress.matches.value_or(0));
    };
    options.timeout = time.value;
    options.limit = matches.value;
    options.stop = [&] {
      const std::chrono::duration<double> taken = Clock::now() - start;
      watch->monitor->progress({taken.count(), QueryId{}, found});
      return sink.full() || watch->monitor->stopping();
    };
    const StaticResult result = engine.match(query.query, options, &sink);
    if (sink.full())
      throw beyond(query, fmt::format("make alerts of more than {} bytes (existing.max_size)", most.max_bytes),
                   "existing.max_size");
    if (result.shortfall == Shortfall::stopped) return std::nullopt;
    counts[query.query.name] = result.matches;
    if (result.shortfall == Shortfall::limit)
      throw beyond(query, fmt::format("are more than {} ({})", matches.value, matches.key), matches.key);
    if (result.shortfall == Shortfall::timeout) {
      const std::chrono::duration<double> seconds = time.value;
      throw beyond(query, fmt::format("take longer than {:.3g} s to list ({})", seconds.count(), time.key), time.key);
    }
  }
  return counts;
}

}  // namespace deltamatch::ingest

#include "ingest/service/alert/retry_limit.hpp"

#include <algorithm>

namespace deltamatch::ingest {
namespace {

/// If only time limits tries, rows are at least 1/fineness of that limit apart. That bounds their number. A batch may wait
/// longer by that much.
constexpr int fineness = 1024;

}  // namespace

void RetryLimit::failed(std::uint64_t latest, Clock::time_point now) {
  const bool newer = rows_.empty() || latest > rows_.back().latest;
  if (newer && (rows_.empty() || most_tries_ != 0 || now - rows_.back().since >= longest_ / fineness))
    rows_.push_back({latest, failures_, now});
  ++failures_;
  while (rows_.size() > 1 && over(rows_[1], now)) rows_.pop_front();
}

bool RetryLimit::over(std::uint64_t batch, Clock::time_point now) const {
  const auto row = std::ranges::lower_bound(rows_, batch, {}, &Row::latest);
  return row != rows_.end() && over(*row, now);
}

std::size_t RetryLimit::tries(std::uint64_t batch) const {
  const auto row = std::ranges::lower_bound(rows_, batch, {}, &Row::latest);
  return row == rows_.end() ? 0 : failures_ - row->before;
}

bool RetryLimit::over(const Row& row, Clock::time_point now) const {
  return (most_tries_ != 0 && failures_ - row.before >= most_tries_) || (longest_.count() != 0 && now - row.since >= longest_);
}

}  // namespace deltamatch::ingest

#include "engine/whole/progress_reporter.hpp"

#include <algorithm>

namespace deltamatch::engine {

void ProgressReporter::expect(double work) {
  const std::scoped_lock turn(turn_);
  all_ = work;
  done_ = within_ = 0;
  before_.clear();
}

const std::function<void(std::size_t)>* ProgressReporter::portion(const std::vector<double>& work) {
  const std::scoped_lock turn(turn_);
  before_.assign(1, 0);
  for (const double part : work) before_.push_back(before_.back() + part);
  within_ = 0;
  next_ = (Clock::now() + pause_).time_since_epoch().count();
  return &begins_;
}

void ProgressReporter::end_portion(Count matches, double left) {
  const std::scoped_lock turn(turn_);
  if (!before_.empty()) done_ += before_.back() - left;
  before_.clear();
  within_ = 0;
  matches_.reset();
  report(done_, matches);
}

void ProgressReporter::found(Count matches) {
  const std::scoped_lock turn(turn_);
  matches_ = matches;
  report(done_ + within_, matches);
}

void ProgressReporter::begin(std::size_t index) {
  const auto now = Clock::now();
  if (now.time_since_epoch().count() < next_.load(std::memory_order_relaxed)) return;
  const std::unique_lock turn(turn_, std::try_to_lock);
  if (!turn || index >= before_.size()) return;
  next_ = (now + pause_).time_since_epoch().count();
  within_ = std::max(within_, before_[index]);
  report(done_ + within_, matches_);
}

void ProgressReporter::report(double done, std::optional<Count> matches) {
  told_ = std::max(told_, all_ > 0 ? std::min(1.0, done / all_) : 1);
  if (limit_ && matches && *limit_ > 0) {
    told_ = std::max(told_, std::min(1.0, static_cast<double>(*matches) / static_cast<double>(*limit_)));
  }
  (*tell_)({told_, matches});
}

}  // namespace deltamatch::engine

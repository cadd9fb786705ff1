#include "engine/whole/progress_teller.hpp"

#include <algorithm>

namespace deltamatch::engine {

void ProgressTeller::expect(double effort) {
  const std::scoped_lock turn(turn_);
  all_ = effort;
  done_ = within_ = 0;
  before_.clear();
}

const std::function<void(std::size_t)>* ProgressTeller::portion(const std::vector<double>& efforts) {
  const std::scoped_lock turn(turn_);
  before_.assign(1, 0);
  for (const double effort : efforts) before_.push_back(before_.back() + effort);
  within_ = 0;
  next_ = (Clock::now() + pause_).time_since_epoch().count();
  return &begins_;
}

void ProgressTeller::end_portion(Count matches, double left) {
  const std::scoped_lock turn(turn_);
  if (!before_.empty()) done_ += before_.back() - left;
  before_.clear();
  within_ = 0;
  matches_.reset();
  tell(done_, matches);
}

void ProgressTeller::found(Count matches) {
  const std::scoped_lock turn(turn_);
  matches_ = matches;
  tell(done_ + within_, matches);
}

void ProgressTeller::begin(std::size_t index) {
  const auto now = Clock::now();
  if (now.time_since_epoch().count() < next_.load(std::memory_order_relaxed)) return;
  const std::unique_lock turn(turn_, std::try_to_lock);
  if (!turn || index >= before_.size()) return;
  next_ = (now + pause_).time_since_epoch().count();
  within_ = std::max(within_, before_[index]);
  tell(done_ + within_, matches_);
}

void ProgressTeller::tell(double done, std::optional<Count> matches) {
  told_ = std::max(told_, all_ > 0 ? std::min(1.0, done / all_) : 1);
  if (limit_ && matches && *limit_ > 0) {
    told_ = std::max(told_, std::min(1.0, static_cast<double>(*matches) / static_cast<double>(*limit_)));
  }
  (*tell_)({told_, matches});
}

}  // namespace deltamatch::engine

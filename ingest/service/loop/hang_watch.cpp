#include "ingest/service/loop/hang_watch.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;

constexpr auto between_looks = 100ms;

}  // namespace

bool HangJudge::look(std::uint64_t turns, Clock::time_point now) {
  still_ = turns == turns_ ? still_ + std::min<Clock::duration>(now - looked_, longest_look) : Clock::duration{};
  turns_ = turns;
  looked_ = now;
  return after_ > Clock::duration{} && still_ >= after_;
}

HangWatch::HangWatch(std::chrono::milliseconds after, std::function<void(Turn)> hangs) : hangs_(std::move(hangs)) {
  if (after.count() == 0) return;
  thread_ = std::jthread([this, after](const std::stop_token& stop) { watch(stop, after); });
}

void HangWatch::turn(Turn turn) noexcept {
  doing_ = turn.doing;
  batch_ = turn.batch;
  may_take_long_ = turn.may_take_long;
  ++turns_;
}

void HangWatch::watch(const std::stop_token& stop, std::chrono::milliseconds after) {
  HangJudge judge(after);
  std::mutex sleep;
  std::unique_lock lock(sleep);
  std::condition_variable_any wake;
  while (!stop.stop_requested()) {
    if (judge.look(turns_, HangJudge::Clock::now()) && !may_take_long_) return hangs_({doing_, batch_});
    wake.wait_for(lock, stop, between_looks, [] { return false; });
  }
}

}  // namespace deltamatch::ingest

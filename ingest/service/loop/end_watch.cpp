#include "ingest/service/loop/end_watch.hpp"

#include <utility>

namespace deltamatch::ingest {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

EndWatch::EndWatch(kafka::Input& input, std::chrono::milliseconds every, std::chrono::milliseconds counts)
    : input_(input), every_(every), counts_(counts), thread_([this](const std::stop_token& stop) { run(stop); }) {}

EndWatch::~EndWatch() = default;

std::vector<std::optional<IdleEvidence>> EndWatch::known() const {
  const std::scoped_lock lock(mutex_);
  return known_;
}

void EndWatch::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    ask();
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, every_, [] { return false; });
  }
}

void EndWatch::ask() {
  const auto asked = Clock::now();
  const std::vector<std::int64_t> ends = input_.ends(asked + 1s);
  const std::vector<kafka::Progress> progress = input_.progress();
  parts_.resize(progress.size());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i] < 0) continue;  // no answer, so the last one gets old
    Part& part = parts_[i];
    const std::int64_t before = std::exchange(part.position, progress[i].seen);
    if (part.position < ends[i]) {
      part.end.reset();
    } else if (part.end && before == part.position && asked - part.end->last < counts_) {
      part.end->last = asked;
    } else {
      part.end = IdleEvidence{asked, asked};
    }
  }
  std::vector<std::optional<IdleEvidence>> known;
  known.reserve(parts_.size());
  for (const Part& part : parts_) known.push_back(part.end);
  const std::scoped_lock lock(mutex_);
  known_ = std::move(known);
}

}  // namespace deltamatch::ingest

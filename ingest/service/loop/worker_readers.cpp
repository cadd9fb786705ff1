#include "ingest/service/loop/worker_readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/kafka/commit_log.hpp"
#include "ingest/service/kafka/topic_follower.hpp"
#include "ingest/service/loop/recutter.hpp"
#include "ingest/service/signals_blocked.hpp"
#include "ingest/service/workers/records.hpp"

namespace deltamatch::ingest {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 60s;  // for brokers that do not answer a request
constexpr auto pause = 2ms;     // between looks at what another thread reads

kafka::Deadline deadline() { return kafka::Clock::now() + patience; }

}  // namespace

WorkerReaders::WorkerReaders(const kafka::Cluster& cluster, std::uint32_t slots, WorkerState& state)
    : cluster_(cluster), slots_(slots), state_(state) {
  for (std::uint32_t slot = 0; slot < slots; ++slot) told_.emplace_back(0);
}

WorkerReaders::~WorkerReaders() {
  progress_.request_stop();
  cuts_.request_stop();
}

TopicPartition WorkerReaders::progress_of(workers::Slot slot) const {
  return {kafka::progress_topic(cluster_.application), static_cast<std::int32_t>(slot)};
}

void WorkerReaders::start(const std::stop_token& stop) {
  std::vector<TopicPartition> partitions;
  for (workers::Slot slot = 0; slot < slots_; ++slot) partitions.push_back(progress_of(slot));
  partitions.push_back({kafka::claims_topic(cluster_.application), 0});
  const auto bounds = kafka::bounds_of(cluster_, partitions, deadline());
  std::vector<std::pair<TopicPartition, std::int64_t>> from;
  // Claims of the past say nothing.
  for (std::size_t i = 0; i < partitions.size(); ++i)
    from.emplace_back(partitions[i], i < slots_ ? bounds[i].first : bounds[i].second);
  const SignalsBlocked for_the_threads;
  progress_ = std::jthread([this, from](const std::stop_token& done) { follow_progress(done, from); });
  const auto is_told = [&](workers::Slot slot) { return told_[slot] >= bounds[slot].second; };
  for (workers::Slot slot = 0; slot < slots_; ++slot) {
    for (; !is_told(slot); std::this_thread::sleep_for(pause)) {
      state_.check();
      if (stop.stop_requested()) throw StartupCancelled();
    }
  }
  kafka::CommitLog commits(cluster_);
  const std::optional<CommitPoint> last = commits.last(deadline());
  std::uint64_t needed = last ? last->batch + 1 : 1;
  if (commits.cut()) {
    needed = last->batch;
    for (const SlotStatus& slot : state_.slots()) needed = std::min(needed, std::max(slot.progress, commits.cut()->first - 1));
    needed = std::max(needed, commits.cut()->first);
  }
  cuts_ = std::jthread([this, needed](const std::stop_token& done) { follow_cuts(done, needed); });
  if (!commits.cut()) return;
  if (!state_.wait_for_cut(last->batch, stop)) throw StartupCancelled();
}

bool WorkerReaders::read_progress(workers::Slot slot, const std::stop_token& stop) const {
  const std::int64_t end = kafka::bounds_of(cluster_, {progress_of(slot)}, deadline()).front().second;
  for (; told_[slot] < end; std::this_thread::sleep_for(pause)) {
    if (stop.stop_requested()) return false;
  }
  return true;
}

bool WorkerReaders::read_cuts(const std::stop_token& stop) const {
  kafka::CommitLog commits(cluster_);
  const std::optional<CommitPoint> last = commits.last(deadline());
  return !commits.cut() || state_.wait_for_cut(last->batch, stop);
}

void WorkerReaders::follow_progress(const std::stop_token& stop,
                                    const std::vector<std::pair<TopicPartition, std::int64_t>>& from) {
  try {
    kafka::TopicFollower follower(cluster_, from);
    while (!stop.stop_requested()) {
      if (const std::optional<kafka::Message> message = follower.poll(100ms)) {
        const std::string where = fmt::format("{} at offset {}", to_string(from[message->partition].first), message->offset);
        const std::string_view text = message->value.value_or("");
        if (message->partition == slots_) {
          if (const auto claim = workers::parse_claim(text, where)) state_.claim(*claim);
        } else if (const auto progress = workers::parse_slot_progress(text, where);
                   progress && progress->slot == message->partition) {
          state_.progress(*progress);
        }
      }
      for (std::uint32_t slot = 0; slot < slots_; ++slot) told_[slot] = follower.seen(slot);
    }
  } catch (...) {
    state_.fail(std::current_exception());
  }
}

void WorkerReaders::follow_cuts(const std::stop_token& stop, std::uint64_t from) {
  try {
    kafka::CommitLog commits(cluster_);
    commits.seek(from, deadline());
    while (!stop.stop_requested()) {
      const std::optional<CommitPoint> mark = commits.follow(100ms);
      if (!mark) continue;
      if (commits.cut()) {
        state_.cut(*commits.cut());
      } else if (state_.newest_cut() != 0) {
        throw Error(kafka::commit_topic(cluster_.application),
                    fmt::format("an instance without workers.slots committed batch {}", mark->batch),
                    "give all instances of an application the same workers.slots");
      }
    }
  } catch (...) {
    state_.fail(std::current_exception());
  }
}

}  // namespace deltamatch::ingest

#include "ingest/service/state/share_publisher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "ingest/service/signals_blocked.hpp"

namespace deltamatch::ingest {

SharePublisher::SharePublisher(SnapshotShare& share, const StateDirectory& directory, Journal& journal, Waits waits)
    : share_(&share), directory_(&directory), journal_(&journal), waits_(waits) {
  const SignalsBlocked for_the_thread;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

SharePublisher::~SharePublisher() {
  thread_.request_stop();
  thread_.join();
}

void SharePublisher::publish(std::uint64_t undelivered_from) {
  const std::scoped_lock lock(mutex_);
  wanted_ = true;
  undelivered_from_ = undelivered_from;
  changed_.notify_all();
}

bool SharePublisher::finish(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [&] { return !wanted_ && !trying_; });
}

ShareStatistics SharePublisher::statistics() const {
  const std::scoped_lock lock(mutex_);
  return statistics_;
}

void SharePublisher::run(const std::stop_token& stop) {
  std::chrono::milliseconds wait = waits_.first;
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return wanted_; })) {
    wanted_ = false;
    trying_ = true;
    const std::uint64_t undelivered_from = undelivered_from_;
    lock.unlock();
    std::string name;
    std::string why;
    std::uint64_t batch = 0;
    const auto begin = std::chrono::steady_clock::now();
    try {
      const std::vector<SnapshotFile> snapshots = directory_->snapshots();
      if (!snapshots.empty()) {
        batch = snapshots.front().batch;
        name = share_->publish(snapshots.front(), stop, undelivered_from);
      }
    } catch (const std::exception& error) {
      why = error.what();
    }
    lock.lock();
    trying_ = false;
    if (stop.stop_requested() && !why.empty()) return;
    statistics_.last_error = why;
    if (why.empty()) {
      statistics_.last_batch = batch;
      statistics_.published += name.empty() ? 0 : 1;
      wait = waits_.first;
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (!name.empty()) {
        journal_->tell(Level::info, "snapshot_shared",
                       {{"batch", std::to_string(batch)}, {"seconds", fmt::format("{:.3f}", seconds)}, {"name", name}});
      }
    } else {
      ++statistics_.failures;
      wanted_ = true;  // again, after a wait; with the snapshot that is the newest then
      journal_->tell(Level::error, "snapshot_not_shared",
                     {{"batch", std::to_string(batch)}, {"why", why}, {"next_try_ms", std::to_string(wait.count())}});
      changed_.notify_all();
      changed_.wait_for(lock, stop, wait, [] { return false; });
      wait = std::min(2 * wait, waits_.longest);
      continue;
    }
    changed_.notify_all();
  }
}

}  // namespace deltamatch::ingest

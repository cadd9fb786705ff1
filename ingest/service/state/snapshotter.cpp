#include "ingest/service/state/snapshotter.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <string>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/state/log_replay.hpp"

namespace deltamatch::ingest {
namespace {

// For the background thread, so that matching has priority.
constexpr int niceness = 10;

constexpr std::uint64_t spool_memory = std::uint64_t{64} << 20;  // for queries that are matched again

/// How long ago a file was written, by today's clocks.
std::chrono::nanoseconds age_of(const std::filesystem::path& path) {
  std::error_code gone;
  const auto written = std::filesystem::last_write_time(path, gone);
  const auto age = std::filesystem::file_time_type::clock::now() - written;
  return gone ? std::chrono::nanoseconds(0) : std::max<std::chrono::nanoseconds>(age, std::chrono::nanoseconds(0));
}

/// Thrown to end a snapshot that is no longer wanted.
struct Cancelled {};

}  // namespace

Snapshotter::Snapshotter(const StateDirectory& directory, Log& log, Journal& journal, SnapshotterOptions options)
    : directory_(&directory), log_(&log), journal_(&journal), options_(std::move(options)), last_(Clock::now()) {
  if (const auto snapshots = directory.snapshots(); !snapshots.empty()) {
    const std::chrono::nanoseconds age = age_of(snapshots.front().path);
    last_ -= age;
    statistics_.last_batch = snapshots.front().batch;
    statistics_.last_made = last_;
  }
  log_bytes_before_ = log.bytes_behind(statistics_.last_batch);
  appended_at_last_ = log.appended_bytes();
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Snapshotter::~Snapshotter() {
  const std::scoped_lock lock(mutex_);
  thread_.request_stop();
  cancel_ = true;
}

// If nothing was committed after the last snapshot, no snapshot is due.
bool Snapshotter::due(Clock::time_point now) const {
  if (statistics_.running || holds_ > 0 || committed_ <= statistics_.last_batch) return false;
  if (now < not_before_) return false;
  if (options_.every.count() > 0 && now - last_ >= options_.every) return true;
  return options_.log_bytes > 0 && log_->appended_bytes() - appended_at_last_ + log_bytes_before_ >= options_.log_bytes;
}

std::optional<Snapshotter::Clock::time_point> Snapshotter::next_due() const {
  if (statistics_.running || holds_ > 0 || committed_ <= statistics_.last_batch) return {};
  if (options_.every.count() > 0) return std::max(last_ + options_.every, not_before_);
  if (Clock::now() < not_before_) return not_before_;
  return {};
}

void Snapshotter::committed(std::uint64_t batch) {
  const std::scoped_lock lock(mutex_);
  const bool first = committed_ <= statistics_.last_batch;  // the thread then waits without a timeout
  committed_ = batch;
  if (first || due(Clock::now())) changed_.notify_all();
}

void Snapshotter::run(const std::stop_token& stop) {
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), niceness);  // best effort
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (!due(Clock::now())) {
      const auto wake = [&] { return due(Clock::now()); };
      if (const auto until = next_due()) {
        changed_.wait_until(lock, stop, *until, wake);
      } else {
        changed_.wait(lock, stop, [&] { return wake() || next_due().has_value(); });
      }
      continue;
    }
    const std::uint64_t batch = committed_;
    begin();
    lock.unlock();
    const Clock::time_point start = Clock::now();
    try {
      make(batch);
      saved(batch, start);
    } catch (const Cancelled&) {
      journal_->tell(Level::info, "snapshot_cancelled", {{"batch", std::to_string(batch)}});
    } catch (const std::exception& error) {
      failed(batch, error.what());
    }
    lock.lock();
    statistics_.running = false;
    changed_.notify_all();
  }
}

// The caller holds the mutex.
void Snapshotter::begin() {
  statistics_.running = true;
  cancel_ = false;
}

// The caller holds the mutex, which is released during the wait.
void Snapshotter::cancel(std::unique_lock<std::mutex>& lock) {
  ++holds_;
  cancel_ = true;
  changed_.wait(lock, [&] { return !statistics_.running; });
  --holds_;
}

// Builds a snapshot from the previous one and the log. Throws Cancelled.
void Snapshotter::make(std::uint64_t batch) {
  EngineOptions engine;
  engine.directed = options_.directed;
  engine.window = options_.window;
  engine.allowed_lateness = options_.lateness;
  engine.schema = options_.schema;
  engine.self_loops = options_.self_loops;
  engine.threads = 1;
  std::optional<Base> newest = restore_newest(*directory_, batch, engine);
  Base base = newest ? std::move(*newest) : Base{options_.begin(), {}};
  base.engine.spool({.memory = spool_memory, .folder = directory_->path()});
  ReplayHooks hooks;
  hooks.queries = options_.queries.get();
  hooks.before = [&](const LoggedBatch&) { return !cancel_.load(); };
  const std::string why = replay(*directory_, base, batch, hooks).why;
  if (cancel_) throw Cancelled{};
  if (base.mark.batch < batch) {
    throw Error(directory_->path().string(), fmt::format("the log cannot be read from batch {} on: {}", base.mark.batch + 1,
                                                         why.empty() ? "it ends there" : why));
  }
  base.engine.save(directory_->snapshot_path(batch), to_json(base.mark));
}

void Snapshotter::saved(std::uint64_t batch, Clock::time_point start) {
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  journal_->tell(Level::info, "snapshot_made", {{"batch", std::to_string(batch)}, {"seconds", fmt::format("{:.3f}", seconds)}});
  {
    const std::scoped_lock lock(mutex_);
    statistics_.last_batch = batch;
    statistics_.last_made = Clock::now();
    statistics_.last_seconds = seconds;
    ++statistics_.made;
    last_ = *statistics_.last_made;
    log_bytes_before_ = 0;
    appended_at_last_ = log_->appended_bytes();
  }
  try {
    if (const auto oldest = directory_->retain_snapshots(options_.keep)) log_->drop_before(*oldest + 1);
  } catch (const std::exception& error) {
    journal_->tell(Level::warn, "old_state_stays", {{"why", error.what()}});
  }
  if (options_.made) options_.made(log_->undelivered_from());
}

void Snapshotter::failed(std::uint64_t batch, const char* why) {
  journal_->tell(Level::error, "snapshot_failed", {{"batch", std::to_string(batch)}, {"why", why}});
  const std::scoped_lock lock(mutex_);
  ++statistics_.failures;
  not_before_ = Clock::now() + options_.retry_after;
}

bool Snapshotter::save_now(const Engine& engine, const CommitPoint& mark) {
  {
    std::unique_lock lock(mutex_);
    cancel(lock);
    begin();
  }
  const Clock::time_point start = Clock::now();
  bool done = true;
  try {
    engine.save(directory_->snapshot_path(mark.batch), to_json(mark));
    saved(mark.batch, start);
  } catch (const std::exception& error) {
    failed(mark.batch, error.what());
    done = false;
  }
  const std::scoped_lock lock(mutex_);
  statistics_.running = false;
  changed_.notify_all();
  return done;
}

SnapshotStatistics Snapshotter::statistics() const {
  const std::scoped_lock lock(mutex_);
  return statistics_;
}

}  // namespace deltamatch::ingest

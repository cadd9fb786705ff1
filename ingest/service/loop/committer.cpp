#include "ingest/service/loop/committer.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include "ingest/service/alert/alert_text.hpp"
#include "ingest/service/loop/large_batch.hpp"
#include "ingest/service/state/delivery_note.hpp"

namespace deltamatch::ingest {
namespace {

std::set<std::string, std::less<>> noted_sinks(const ServiceOptions& options) {
  std::set<std::string, std::less<>> names;
  for (const SinkOptions& sink : options.sinks) {
    if (sink.sends_requests()) names.insert(sink.name);
  }
  return names;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Committer::Committer(const ServiceOptions& options, Log& log, kafka::Transactions& transactions, Metrics& metrics,
                     Journal& journal, Offsets ends, Committed committed, const Limits& limits)
    : options_(options),
      log_(log),
      transactions_(transactions),
      metrics_(metrics),
      journal_(journal),
      committed_(std::move(committed)),
      limits_(limits),
      ends_(std::move(ends)),
      records_(options, metrics, journal),
      commit_topic_(kafka::commit_topic(options.application)),
      query_topic_(kafka::query_topic(options.application)),
      noted_sinks_(noted_sinks(options)),
      thread_([this] { run(); }) {}

Committer::~Committer() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Committer::submit(Commit&& commit) {
  const std::size_t bytes = commit.bytes();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return failure_ || pending_.empty() || (pending_.size() < limits_.batches && pending_bytes_ + bytes <= limits_.bytes);
  });
  if (failure_) std::rethrow_exception(failure_);
  pending_visible_ += commit.visible() ? 1 : 0;
  pending_bytes_ += bytes;
  if (pending_.empty() && under_way_ == 0) waiting_since_ = Clock::now();
  pending_.push_back(std::move(commit));
  lock.unlock();
  changed_.notify_all();
}

bool Committer::drain(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  draining_ = true;
  changed_.notify_all();
  const bool done = changed_.wait_until(lock, deadline, [&] { return failure_ || (pending_.empty() && under_way_ == 0); });
  draining_ = false;
  if (failure_) std::rethrow_exception(failure_);
  return done;
}

void Committer::check() {
  const std::scoped_lock lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

Committer::Statistics Committer::statistics() const {
  const std::scoped_lock lock(mutex_);
  Statistics statistics = statistics_;
  statistics.waiting = pending_.size() + under_way_;
  return statistics;
}

std::optional<std::chrono::steady_clock::time_point> Committer::waiting_since() const {
  const std::scoped_lock lock(mutex_);
  if (pending_.empty() && under_way_ == 0) return std::nullopt;
  return waiting_since_;
}

void Committer::probe() {
  {
    const std::scoped_lock lock(mutex_);
    probing_ = true;
  }
  changed_.notify_all();
}

void Committer::delivered(std::string_view sink) {
  if (!noted_sinks_.contains(sink)) return;
  {
    const std::scoped_lock lock(mutex_);
    unnoted_ = true;
  }
  changed_.notify_all();
}

void Committer::note_deliveries(std::chrono::steady_clock::time_point deadline) {
  if (noted_sinks_.empty()) return;
  std::unique_lock lock(mutex_);
  unnoted_ = probing_ = true;
  changed_.notify_all();
  changed_.wait_until(lock, deadline, [&] { return failure_ || (!unnoted_ && !busy_); });
}

void Committer::run() {
  std::unique_lock lock(mutex_);
  while (wait_for_group(lock)) {
    take_group();
    busy_ = true;
    lock.unlock();
    changed_.notify_all();
    std::exception_ptr failure;
    try {
      commit_group();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    under_way_ = 0;
    busy_ = false;
    waiting_since_ = Clock::now();
    failure_ = failure;
    changed_.notify_all();
    if (failure_) return;
  }
}

/// Takes all waiting batches, up to a large one, which is taken alone. The caller holds the mutex.
void Committer::take_group() {
  group_.clear();
  while (!pending_.empty() && (group_.empty() || !(group_.back().is_large() || pending_.front().is_large()))) {
    Commit& commit = group_.emplace_back(std::move(pending_.front()));
    pending_.pop_front();
    pending_bytes_ -= commit.bytes();
    pending_visible_ -= commit.visible() ? 1 : 0;
  }
  under_way_ = group_.size();
  probing_ = false;
  unnoted_ = false;
}

/// Returns false if the thread should end.
bool Committer::wait_for_group(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [&] { return stopping_ || probing_ || unnoted_ || !pending_.empty(); });
  const auto hurry = [&] {
    return stopping_ || draining_ || probing_ || pending_visible_ > 0 || pending_.size() >= limits_.batches ||
           pending_bytes_ >= limits_.bytes / 2;
  };
  changed_.wait_until(lock, last_ + limits_.notes, [&] { return hurry() || !pending_.empty(); });
  changed_.wait_until(lock, last_ + limits_.quiet, hurry);
  return !stopping_;
}

void Committer::commit_group() {
  const auto start = Clock::now();
  for (const Commit& commit : group_) append_to_log(options_, log_, commit);
  const double written = seconds_since(start);
  double synced = 0;
  if (group_.empty()) {
    commit_transaction([] {});
  } else {
    ends_ = group_.back().mark.ends;
    if (group_.back().is_large()) {
      log_.sync();
      synced = seconds_since(start) - written;
      commit_large(group_.back());
    } else {
      // The brokers get the records while the disk writes. Nobody sees the records before both are done.
      const std::shared_future<double> sync = std::async(std::launch::async, [this] {
        const auto begin = Clock::now();
        log_.sync();
        return seconds_since(begin);
      });
      commit_transaction([&] { synced = sync.get(); });
    }
  }
  last_ = Clock::now();
  const double logged = written + synced;
  const double committed = seconds_since(start) - written;
  metrics_.step("log", logged);
  metrics_.step("commit", committed);
  {
    const std::scoped_lock lock(mutex_);
    ++statistics_.transactions;
    statistics_.log_seconds += logged;
    statistics_.commit_seconds += committed;
  }
  for (Commit& commit : group_) committed_(std::move(commit));
}

/// Publishes a large batch. The log has it, so after any failure the same alerts can be published from there.
void Committer::commit_large(const Commit& commit) {
  std::vector<TopicAlerts> alerts;
  for (std::size_t s = 0; s < commit.alerts.size(); ++s) {
    const SinkOptions& sink = options_.sinks[s];
    if (sink.kind != SinkOptions::Kind::kafka || commit.alerts[s].empty()) continue;
    alerts.push_back({sink.name, sink.topic, commit.alerts[s], 0});
  }
  LargeBatch batch(options_, commit.mark, std::move(alerts), *commit.queries, {commit.letters, commit.changes}, &metrics_,
                   journal_);
  batch.end_with([this] { return delivery_note(); });
  batch.publish(transactions_, limits_.give_up_after, [&] {
    const std::scoped_lock lock(mutex_);
    waiting_since_ = Clock::now();  // there is progress
  });
}

void Committer::commit_transaction(const std::function<void()>& before_end) {
  records_.clear();
  for (const Commit& commit : group_) add_records(commit);
  add_note();
  records_.commit(transactions_, ends_, limits_.give_up_after, before_end);
}

void Committer::add_records(const Commit& commit) {
  records_.add_alerts(commit.mark, commit.alerts);
  records_.add_letters(commit.letters);
  for (const QueryRecord& change : commit.changes) records_.add_change(query_topic_, change);
  records_.add_mark(commit_topic_, to_json(commit.mark));
}

/// What the log says of the sinks. It has the group already, so the note holds once the transaction is committed. Empty if no
/// sink is noted.
std::string Committer::delivery_note() const {
  if (noted_sinks_.empty()) return {};
  DeliveryNote note;
  note.up_to = log_.last_batch();
  for (const Delivered& at : log_.positions()) {
    if (noted_sinks_.contains(at.sink)) note.delivered.emplace(at.sink, at.batch);
  }
  return to_json(note);
}

void Committer::add_note() {
  std::string note = delivery_note();
  if (note.empty() || (group_.empty() && note == last_note_)) return;
  last_note_ = note;
  records_.add_mark(commit_topic_, std::move(note));
}

}  // namespace deltamatch::ingest

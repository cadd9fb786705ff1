#include "ingest/service/alert/delivery_worker.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "ingest/service/alert/alert_text.hpp"
#include "ingest/service/signals_blocked.hpp"

namespace deltamatch::ingest {
namespace {

/// After more failures than this, they are errors instead of warnings.
constexpr std::size_t failures_that_pass = 4;
/// Waiting batches are joined up to this size.
constexpr std::size_t joined_bytes = std::size_t{1} << 20;

}  // namespace

Deliverer::Worker::Worker(DeliveryTarget target, const DeliveryService& service, const DelivererOptions& options)
    : name_(std::move(target.name)),
      sink_(std::move(target.sink)),
      max_backoff_(target.max_backoff),
      options_(options),
      position_(std::move(target.position)),
      recovered_up_to_(target.backlog.from - 1),
      from_(target.backlog.from),
      up_to_(target.backlog.up_to),
      submitted_(target.backlog.up_to),
      unread_(target.backlog.batches),
      service_(service) {
  statistics_.reads_back = from_ <= up_to_;
}

void Deliverer::Worker::start(const std::shared_ptr<Worker>& worker) {
  const SignalsBlocked signals_are_for_other_threads;
  worker->thread_ = std::thread([worker] { worker->run(); });
}

template <class Call>
void Deliverer::Worker::with_service(Call&& call) {
  const std::lock_guard lock(service_mutex_);
  if (service_) call(*service_);
}

void Deliverer::Worker::submit(std::uint64_t batch, AlertList alerts) {
  if (alerts.empty()) return;
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::running) return;  // the log has the batch
  submitted_ = batch;
  const std::size_t bytes = alerts.bytes();
  // The log has streamed alerts, too, and their temporary file would use its disk space a second time.
  const bool fits =
      !alerts.streamed() && (statistics_.queued_bytes == 0 || statistics_.queued_bytes + bytes <= options_.queue_bytes);
  if (!statistics_.reads_back && fits) {
    queue_.push_back({batch, std::move(alerts)});
    statistics_.queued_bytes += bytes;
  } else {
    if (!std::exchange(statistics_.reads_back, true)) from_ = batch;
    up_to_ = batch;
    ++unread_;
  }
  changed_.notify_all();
}

DeliveryStatistics Deliverer::Worker::statistics() const {
  const std::lock_guard lock(mutex_);
  DeliveryStatistics now = statistics_;
  now.left_out = sink_->left_out();
  now.dropped = sink_->dropped();
  now.undelivered = unread_ + queue_.size() + under_way_;
  return now;
}

void Deliverer::Worker::run() {
  while (step()) {
  }
  const std::lock_guard lock(mutex_);
  done_ = true;
  changed_.notify_all();
}

/// Tries once to recover or to deliver a batch. Returns false if there is nothing more to try.
bool Deliverer::Worker::step() {
  try {
    if (!recovered_) recover();
  } catch (const std::exception& error) {
    return failed("sink not recovered", error);
  }
  const bool fresh = current_.empty();
  try {
    if (fresh) take_next();
    if (current_.empty()) return false;
  } catch (const std::exception& error) {
    return failed("log not read", error);
  }
  // The previous batch was given up, and its failure is likely to persist.
  if (fresh && tries_ != 0 && !sink_->gives_up(current_.back().batch)) {
    std::unique_lock lock(mutex_);
    if (!pause(lock, backoff(nullptr))) return false;
  }
  std::string position;
  try {
    position = write();
  } catch (const std::exception& error) {
    sink_->abort();
    return failed("delivery failed", error);
  }
  settle(position);
  return true;
}

void Deliverer::Worker::recover() {
  const std::string position = sink_->recover(position_.value_or(""));
  if (position_ != position) {
    bool noted = false;
    with_service([&](const DeliveryService& service) {
      service.hooks.recovered(name_, recovered_up_to_, position);
      noted = true;
    });
    if (!noted) throw Error("sink '" + name_ + "'", "its position could not be written to the log");
  }
  recovered_ = true;
  tries_ = 0;
  const std::lock_guard lock(mutex_);
  statistics_.last_error.clear();
}

/// Waits for batches and moves them to current_. Leaves current_ empty if the thread should end.
void Deliverer::Worker::take_next() {
  std::unique_lock lock(mutex_);
  while (queue_.empty()) {
    if (over()) return;
    if (statistics_.reads_back) {
      read_back(lock);
    } else if (phase_ == Phase::running) {
      changed_.wait(lock);
    } else {
      return;
    }
  }
  if (over()) return;
  std::size_t bytes = 0;
  do {
    bytes += queue_.front().alerts.bytes();
    current_.push_back(std::move(queue_.front()));
    queue_.pop_front();
  } while (sink_->joins_batches() && !queue_.empty() && bytes + queue_.front().alerts.bytes() <= joined_bytes &&
           !queue_.front().alerts.streamed() && !current_.back().alerts.streamed());
  under_way_ = current_.size();
}

/// Fills the queue from the log. Batches submitted meanwhile extend the range, so none is missed in between.
void Deliverer::Worker::read_back(std::unique_lock<std::mutex>& lock) {
  const std::uint64_t up_to = up_to_;
  std::vector<Delivery> read;
  lock.unlock();
  with_service(
      [&](const DeliveryService& service) { read = service.hooks.read_back(name_, from_, up_to, options_.queue_bytes); });
  lock.lock();
  from_ = read.empty() ? up_to + 1 : read.back().batch + 1;
  statistics_.reads_back = from_ <= up_to_;
  unread_ -= std::min<std::uint64_t>(unread_, statistics_.reads_back ? read.size() : unread_);
  for (Delivery& delivery : read) {
    statistics_.queued_bytes += delivery.alerts.bytes();
    queue_.push_back(std::move(delivery));
  }
}

std::string Deliverer::Worker::write() {
  {
    const std::lock_guard lock(mutex_);
    sink_->await(submitted_);
  }
  sink_->begin(current_.back().batch);
  for (const Delivery& delivery : current_) {
    delivery.alerts.for_each([&](std::string_view alert) { sink_->write(alert_id(alert), alert); });
  }
  return sink_->commit();
}

void Deliverer::Worker::settle(const std::string& position) {
  const std::vector<Delivery> delivered = std::exchange(current_, {});
  const std::uint64_t batch = delivered.back().batch;
  const bool given_up = sink_->gives_up(batch);
  if (!given_up) tries_ = 0;
  const std::uint64_t dropped = sink_->dropped();
  with_service([&](const DeliveryService& service) {
    try {
      service.hooks.delivered(name_, batch, position);
    } catch (const std::exception& error) {
      // The batch is delivered, even if that cannot be noted.
      service.journal->tell(Level::error, "delivery not noted",
                            {{"sink", name_}, {"batch", std::to_string(batch)}, {"error", error.what()}});
    }
  });
  const std::lock_guard lock(mutex_);
  under_way_ = 0;
  statistics_.batches += delivered.size();
  statistics_.latest = batch;
  if (!given_up) statistics_.last_error.clear();
  for (const Delivery& each : delivered) {
    statistics_.alerts += each.alerts.size();
    statistics_.queued_bytes -= each.alerts.bytes();
  }
  statistics_.alerts -= dropped - std::exchange(dropped_, dropped);
}

/// Logs a failure and waits. Returns false if there should be no other try.
bool Deliverer::Worker::failed(std::string_view event, const std::exception& error) {
  ++tries_;
  const std::chrono::milliseconds wait = backoff(&error);
  with_service([&](const DeliveryService& service) {
    service.journal->tell(tries_ > failures_that_pass ? Level::error : Level::warn, event,
                          {{"sink", name_},
                           {"try", std::to_string(tries_)},
                           {"next_try_ms", std::to_string(wait.count())},
                           {"error", error.what()}});
  });
  std::unique_lock lock(mutex_);
  ++statistics_.failures;
  statistics_.last_error = error.what();
  return pause(lock, wait);
}

/// Waits. Returns false if there should be no other try.
bool Deliverer::Worker::pause(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds wait) {
  if (phase_ != Phase::running) return false;
  changed_.wait_for(lock, wait, [&] { return phase_ != Phase::running; });
  return !over();
}

/// The wait after the latest try. Its error, if any, may name a longer one.
std::chrono::milliseconds Deliverer::Worker::backoff(const std::exception* error) {
  auto wait = std::min(options_.first_backoff, max_backoff_);
  for (std::size_t i = 1; i < tries_ && wait < max_backoff_; ++i) wait = std::min(wait * 2, max_backoff_);
  wait -= std::chrono::milliseconds(std::uniform_int_distribution<std::int64_t>(0, wait.count() / 2)(random_));
  const auto* later = dynamic_cast<const TryLater*>(error);
  return later == nullptr ? wait : std::max(wait, later->wait());
}

void Deliverer::Worker::begin_stop(Clock::time_point deadline) {
  const std::lock_guard lock(mutex_);
  phase_ = Phase::stopping;
  deadline_ = deadline;
  changed_.notify_all();
}

bool Deliverer::Worker::wait_done(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [&] { return done_; });
}

void Deliverer::Worker::cancel() {
  {
    const std::lock_guard lock(mutex_);
    phase_ = Phase::cancelled;
    changed_.notify_all();
  }
  sink_->cancel();
}

bool Deliverer::Worker::join() {
  if (wait_done(Clock::now())) {
    thread_.join();
    return true;
  }
  const std::lock_guard lock(service_mutex_);
  service_.reset();
  thread_.detach();
  return false;
}

}  // namespace deltamatch::ingest

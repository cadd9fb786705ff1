#include "ingest/service/committer.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include "ingest/alert/alert_text.hpp"
#include "ingest/alert/dead_letters.hpp"

namespace deltamatch::ingest {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

RefusedRecord refused(const BadRecord& bad) {
  RefusedRecord record{bad.at, bad.offset, bad.reason, bad.message, std::nullopt, bad.value, bad.length};
  if (!bad.key.empty()) record.key = bad.key;
  return record;
}

/// What of the updates that the engine took it did not refuse: the log holds what happened.
std::vector<Update> applied(const Commit& commit) {
  const std::span<const Update> updates = commit.input.updates.updates().first(commit.consumed);
  std::vector<Update> applied;
  applied.reserve(updates.size());
  std::size_t at = 0;
  const auto take_up_to = [&](std::size_t end) {
    for (; at < end; ++at) applied.push_back(updates[at]);
  };
  for (const Reject& reject : commit.result.rejects) {
    if (reject.index >= updates.size()) break;
    const RecordBounds record = record_around(updates, reject.index);
    take_up_to(record.first);
    at = record.last;
  }
  take_up_to(updates.size());
  return applied;
}

/// Where a batch ends, for those who look at one alert.
std::string ends_text(const Mark& mark) {
  std::string out;
  for (const auto& [partition, end] : mark.ends) {
    if (!out.empty()) out += ' ';
    out += to_string(partition) + '=' + std::to_string(end);
  }
  return out;
}

}  // namespace

AlertList dead_letter_list(std::span<const BadRecord> letters) {
  AlertList list;
  std::string text;
  for (const BadRecord& letter : letters) {
    text.clear();
    append_dead_letter(text, refused(letter));
    list.add(text);
  }
  return list;
}

bool Commit::visible() const noexcept {
  return !letters.empty() || std::any_of(alerts.begin(), alerts.end(), [](const AlertList& list) { return !list.empty(); });
}

std::size_t Commit::bytes() const noexcept {
  std::size_t bytes = input.updates.size() * sizeof(Update);
  for (const AlertList& list : alerts) bytes = std::max(bytes, list.bytes());  // they share their text
  for (const BadRecord& letter : letters) bytes += letter.value.size();
  return bytes;
}

Committer::Committer(const ServiceOptions& options, Log& log, kafka::Transactions& transactions, Metrics& metrics, Offsets ends,
                     Committed committed, const Limits& limits)
    : options_(options),
      log_(log),
      transactions_(transactions),
      metrics_(metrics),
      committed_(std::move(committed)),
      limits_(limits),
      ends_(std::move(ends)),
      commit_topic_(kafka::commit_topic(options.application)),
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
  return statistics_;
}

void Committer::probe() {
  {
    const std::scoped_lock lock(mutex_);
    probing_ = true;
  }
  changed_.notify_all();
}

void Committer::run() {
  std::unique_lock lock(mutex_);
  while (wait_for_group(lock)) {
    group_.clear();
    group_.swap(pending_);
    under_way_ = group_.size();
    probing_ = false;
    pending_bytes_ = pending_visible_ = 0;
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
    failure_ = failure;
    changed_.notify_all();
    if (failure_) return;
  }
}

/// False where there is nothing more to do.
bool Committer::wait_for_group(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [&] { return stopping_ || probing_ || !pending_.empty(); });
  const auto hurry = [&] {
    return stopping_ || draining_ || probing_ || pending_visible_ > 0 || pending_.size() >= limits_.batches ||
           pending_bytes_ >= limits_.bytes / 2;
  };
  changed_.wait_until(lock, last_ + limits_.quiet, hurry);
  return !stopping_;
}

void Committer::commit_group() {
  const auto start = Clock::now();
  for (const Commit& commit : group_) write_log(commit);
  const double written = seconds_since(start);
  double synced = 0;
  if (group_.empty()) {
    commit_transaction([] {});
  } else {
    ends_ = group_.back().mark.ends;
    // The records travel to the brokers while the disk writes; nobody sees them before both have them.
    const std::shared_future<double> sync = std::async(std::launch::async, [this] {
      const auto begin = Clock::now();
      log_.sync();
      return seconds_since(begin);
    });
    commit_transaction([&] { synced = sync.get(); });
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

void Committer::write_log(const Commit& commit) {
  std::vector<SinkAlerts> entries;
  for (std::size_t s = 0; s < commit.alerts.size(); ++s) {
    if (options_.sinks[s].kind == SinkOptions::Kind::kafka || commit.alerts[s].empty()) continue;
    SinkAlerts& entry = entries.emplace_back(SinkAlerts{options_.sinks[s].name, {}});
    for (std::size_t i = 0; i < commit.alerts[s].size(); ++i) {
      entry.alerts.push_back({alert_id(commit.alerts[s][i]), commit.alerts[s][i]});
    }
  }
  AlertList letters;
  if (!options_.input.dead_letter_file.empty()) letters = dead_letter_list(commit.letters);
  if (!letters.empty()) {
    SinkAlerts& entry = entries.emplace_back(SinkAlerts{std::string(dead_letter_sink), {}});
    for (std::size_t i = 0; i < letters.size(); ++i) entry.alerts.push_back({{}, letters[i]});
  }
  std::span<const Update> updates = commit.input.updates.updates().first(commit.consumed);
  std::vector<Update> some;
  if (!commit.result.rejects.empty()) updates = some = applied(commit);
  log_.append(commit.mark, updates, commit.input.updates.watermark(), entries);
}

void Committer::commit_transaction(const std::function<void()>& before_end) {
  records_.clear();
  texts_.clear();
  headers_.clear();
  for (const Commit& commit : group_) add_records(commit);
  const auto start = Clock::now();
  try {
    transactions_.commit(records_, ends_, start + limits_.give_up_after, before_end);
  } catch (const kafka::Fenced&) {
    metrics_.transaction(Metrics::Outcome::fenced, seconds_since(start));
    throw;
  } catch (...) {
    metrics_.transaction(Metrics::Outcome::failed, seconds_since(start));
    throw;
  }
  metrics_.transaction(Metrics::Outcome::committed, seconds_since(start));
}

void Committer::add_records(const Commit& commit) {
  const auto keep = [&](std::string text) -> const std::string& { return texts_.emplace_back(std::move(text)); };
  std::span<const kafka::RecordHeader> alert_headers;
  for (std::size_t s = 0; s < commit.alerts.size(); ++s) {
    const AlertList& list = commit.alerts[s];
    if (options_.sinks[s].kind != SinkOptions::Kind::kafka || list.empty()) continue;
    if (alert_headers.empty()) {
      const auto now =
          std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch());
      alert_headers = headers_.emplace_back(std::vector<kafka::RecordHeader>{
          {"deltamatch.committed", keep(std::to_string(now.count()))}, {"deltamatch.ends", keep(ends_text(commit.mark))}});
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string_view id = alert_id(list[i]);
      kafka::OutputRecord& record =
          records_.emplace_back(kafka::OutputRecord{options_.sinks[s].topic, {}, list[i], alert_headers});
      if (!id.empty()) record.key = id;
    }
  }
  if (!options_.input.dead_letter_topic.empty()) {
    for (const BadRecord& letter : commit.letters) {
      std::vector<kafka::RecordHeader> headers;
      for (auto& [name, value] : dead_letter_headers(refused(letter))) {
        const std::string& kept_name = keep(std::move(name));
        headers.push_back({kept_name, keep(std::move(value))});
      }
      kafka::OutputRecord& record = records_.emplace_back(
          kafka::OutputRecord{options_.input.dead_letter_topic, {}, letter.value, headers_.emplace_back(std::move(headers))});
      if (!letter.key.empty()) record.key = letter.key;
    }
  }
  records_.push_back({commit_topic_, std::nullopt, keep(to_json(commit.mark)), {}});
}

}  // namespace deltamatch::ingest

#include "ingest/service/loop/worker_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {

using workers::Step;

WorkerState::WorkerState(std::string worker, std::uint32_t slots)
    : worker_(worker), slots_(slots), protocol_(std::move(worker), slots), steps_(slots) {
  advance();
}

/// Tells the rules, and hands out what follows.
template <class Tell>
void WorkerState::tell(Tell&& what) {
  {
    const std::scoped_lock lock(mutex_);
    const bool waited = waits();
    const std::uint64_t published = protocol_.least_progress();
    what();
    advance();
    ++events_;
    if (!waited || protocol_.least_progress() != published) moved_ = Clock::now();
  }
  changed_.notify_all();
}

/// The caller holds the mutex.
void WorkerState::advance() {
  while (std::optional<Step> step = protocol_.next()) {
    switch (step->kind) {
      case Step::Kind::read_all:
      case Step::Kind::restart:
        engine_step_ = std::move(step);
        break;
      case Step::Kind::exit:
        why_exit_ = step->why;
        return;
      case Step::Kind::publish:
        if (const auto part = parts_.find({step->slot, step->batch}); part != parts_.end())
          gate_seconds_ += std::chrono::duration<double>(Clock::now() - part->second.since).count();
        [[fallthrough]];
      default:
        steps_[step->slot].push_back(std::move(*step));
    }
  }
  if (protocol_.at()) return;
  parts_.clear();  // they are of a graph that is of no use
  bytes_ = 0;
}

void WorkerState::cut(const workers::Cut& cut) {
  if (cut.places.size() != slots_) {
    throw Error(ErrorKind::configuration, "workers.slots",
                fmt::format("the workers divide this application into {} slots, not {}", cut.places.size(), slots_),
                "give all workers the same number");
  }
  tell([&] {
    protocol_.cut(cut);
    if (leader_) leader_->cut(cut);
  });
}

void WorkerState::progress(const workers::SlotProgress& progress) {
  tell([&] {
    const workers::CutBook& cuts = protocol_.cuts();
    if (progress.digest && cuts.holds(progress.batch) && cuts.at(progress.batch).mark.digest &&
        cuts.at(progress.batch).mark.digest->contradicts(*progress.digest)) {
      ++wrong_digests_;
    }
    protocol_.progress(progress.slot, progress.batch);
    forget_published(progress.slot);
  });
}

/// The caller holds the mutex.
void WorkerState::forget_published(workers::Slot slot) {
  const auto end = parts_.upper_bound({slot, protocol_.progress_of(slot)});
  for (auto part = parts_.lower_bound({slot, 0}); part != end; part = parts_.erase(part)) bytes_ -= part->second.part->bytes();
}

void WorkerState::claim(const workers::Claim& claim, Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  roll_.heard(claim, now);
  if (claim.worker != worker_) return;
  if (now - heard_itself_ > workers::Roll::delay) listens_since_ = now;
  heard_itself_ = now;
}

void WorkerState::fail(std::exception_ptr failure) {
  tell([&] {
    if (!failure_) failure_ = std::move(failure);
  });
}

std::optional<Step> WorkerState::next_step(workers::Slot slot, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait(lock, stop, [&] { return !steps_[slot].empty(); })) return std::nullopt;
  Step step = std::move(steps_[slot].front());
  steps_[slot].pop_front();
  return step;
}

std::shared_ptr<const SlotPart> WorkerState::part(workers::Slot slot, std::uint64_t batch) const {
  const std::scoped_lock lock(mutex_);
  const auto part = parts_.find({slot, batch});
  return part == parts_.end() ? nullptr : part->second.part;
}

void WorkerState::cuts_read(workers::Slot slot) {
  tell([&] { protocol_.cuts_read(slot); });
}
void WorkerState::initialised(workers::Slot slot) {
  tell([&] { protocol_.initialised(slot); });
}
void WorkerState::slot_read(workers::Slot slot) {
  tell([&] { protocol_.slot_read(slot); });
}
void WorkerState::published(workers::Slot slot, std::uint64_t batch) {
  tell([&] {
    protocol_.published(slot, batch);
    forget_published(slot);
  });
}
void WorkerState::uncertain(workers::Slot slot) {
  tell([&] { protocol_.uncertain(slot); });
}
void WorkerState::fenced(workers::Slot slot) {
  tell([&] { protocol_.fenced(slot); });
}

bool WorkerState::wait_for_cut(std::uint64_t batch, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto is_there = [&] { return !protocol_.cuts().empty() && protocol_.cuts().newest() >= batch; };
  static_cast<void>(changed_.wait(lock, stop, [&] { return failure_ || is_there(); }));
  if (failure_) std::rethrow_exception(failure_);
  return is_there();
}

void WorkerState::check() {
  const std::scoped_lock lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
  if (!why_exit_.empty()) {
    throw Error(
        "worker", why_exit_,
        "start the service again. If that repeats, its graph differs from that of the leader: give all workers the same "
        "release and configuration, and name an empty state directory");
  }
}

std::optional<Step> WorkerState::engine_step() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(engine_step_, std::nullopt);
}

void WorkerState::all_read() {
  tell([&] { protocol_.all_read(); });
}

void WorkerState::restarted(std::uint64_t batch, workers::CutBook cuts) {
  tell([&] {
    const workers::CutBook& read = protocol_.cuts();
    for (std::uint64_t next = cuts.empty() ? read.oldest() : cuts.newest() + 1; read.holds(next); ++next)
      cuts.add(read.at(next));
    protocol_.restarted(batch, std::move(cuts));
  });
}

std::optional<std::pair<workers::Apply, workers::Cut>> WorkerState::next_batch() const {
  const std::scoped_lock lock(mutex_);
  std::optional<workers::Apply> next = protocol_.next_batch();
  if (!next) return std::nullopt;
  workers::Cut cut = protocol_.cuts().at(next->batch);
  return std::pair{std::move(*next), std::move(cut)};
}

/// The caller holds the mutex.
void WorkerState::keep(workers::Slot slot, std::uint64_t batch, std::shared_ptr<const SlotPart> part) {
  Waiting& waiting = parts_[{slot, batch}];
  if (waiting.part) bytes_ -= waiting.part->bytes();
  bytes_ += part->bytes();
  waiting = {std::move(part), Clock::now()};
}

void WorkerState::applied(const workers::Apply& batch, const RunningDigest& digest, SlotParts parts) {
  tell([&] {
    if (!protocol_.at() || *protocol_.at() + 1 != batch.batch) return;  // a restart was wanted meanwhile
    for (auto& [slot, part] : parts) keep(slot, batch.batch, std::move(part));
    protocol_.applied(batch, digest);
  });
}

void WorkerState::applied_ahead(const workers::Cut& cut, SlotParts parts) {
  tell([&] {
    if (!protocol_.at() || *protocol_.at() + 1 != cut.batch()) return;  // a restart was wanted meanwhile
    std::vector<workers::Slot> matched;
    for (auto& [slot, part] : parts) {
      matched.push_back(slot);
      keep(slot, cut.batch(), std::move(part));
    }
    protocol_.applied_ahead(cut, matched);
  });
}

void WorkerState::lead(bool leads) {
  tell([&] {
    if (leads == leader_.has_value()) return;
    if (leads) {
      leader_.emplace();
    } else {
      leader_.reset();
    }
    protocol_.lead(leads);
  });
}

void WorkerState::wait(std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex_);
  const std::uint64_t before = events_;
  changed_.wait_for(lock, longest, [&] { return events_ != before; });
}

WorkerState::Outlook WorkerState::outlook(Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  const workers::CutBook& cuts = protocol_.cuts();
  Outlook outlook;
  outlook.newest = cuts.empty() ? 0 : cuts.newest();
  outlook.current = !cuts.empty() && protocol_.at() == cuts.newest();
  outlook.published = protocol_.least_progress();
  roll_.published(outlook.published, now);
  std::vector<std::uint64_t> progress;
  for (workers::Slot slot = 0; slot < slots_; ++slot) progress.push_back(protocol_.progress_of(slot));
  const std::vector<workers::Place> last = cuts.empty() ? std::vector<workers::Place>() : cuts.last().places;
  std::vector<workers::Member> members = roll_.members(last, slots_, now);
  // Who has just begun, was paused, or gets nothing from the brokers has not heard of all that live. Its own claim tells.
  const bool hears = now - heard_itself_ <= workers::Roll::delay && now - listens_since_ >= workers::Roll::delay;
  if (!cuts.empty() && !hears) trust_all(members, progress);
  outlook.places = workers::next_places(cuts, progress, members);
  for (std::size_t slot = 0; slot < outlook.places.size(); ++slot) {
    const workers::Change change = outlook.places[slot].change;
    outlook.moves = outlook.moves || change != workers::Change::none;
    outlook.moved += change == workers::Change::move ? 1 : 0;
    outlook.take_overs += change == workers::Change::take_over ? 1 : 0;
  }
  return outlook;
}

/// Adds whoever has slots or owes parts, and lets nobody want any. The caller holds the mutex.
void WorkerState::trust_all(std::vector<workers::Member>& members, const std::vector<std::uint64_t>& progress) const {
  const auto trust = [&](const std::string& worker) {
    if (std::ranges::find(members, worker, &workers::Member::worker) == members.end())
      members.push_back({.worker = worker, .wanted = {}, .keeps_up = false});
  };
  const workers::CutBook& cuts = protocol_.cuts();
  for (workers::Member& member : members) member.wanted.clear();
  for (const workers::Place& place : cuts.last().places) trust(place.worker);
  for (workers::Slot slot = 0; slot < slots_; ++slot) {
    for (const std::string& worker : cuts.owing(slot, progress[slot])) trust(worker);
  }
}

std::optional<std::uint64_t> WorkerState::at() const {
  const std::scoped_lock lock(mutex_);
  return protocol_.at();
}

std::optional<std::uint64_t> WorkerState::confirmed() const {
  const std::scoped_lock lock(mutex_);
  return protocol_.confirmed();
}

std::uint64_t WorkerState::least_progress() const {
  const std::scoped_lock lock(mutex_);
  return protocol_.least_progress();
}

std::uint64_t WorkerState::newest_cut() const {
  const std::scoped_lock lock(mutex_);
  return protocol_.cuts().empty() ? 0 : protocol_.cuts().newest();
}

std::optional<CommitPoint> WorkerState::published_mark() const {
  const std::scoped_lock lock(mutex_);
  const workers::CutBook& cuts = protocol_.cuts();
  const std::uint64_t batch = protocol_.least_progress();
  return cuts.holds(batch) ? std::optional(cuts.at(batch).mark) : std::nullopt;
}

std::pair<std::uint64_t, std::size_t> WorkerState::backlog() const {
  const std::scoped_lock lock(mutex_);
  const std::uint64_t at = protocol_.at().value_or(0);
  const std::uint64_t published = protocol_.least_progress();
  return {at > published ? at - published : 0, bytes_};
}

bool WorkerState::may_leave(Clock::time_point now) const {
  const std::scoped_lock lock(mutex_);
  const workers::CutBook& cuts = protocol_.cuts();
  if (cuts.empty()) return true;
  if (roll_.all_leave(now)) return protocol_.at() == cuts.newest() && protocol_.least_progress() == cuts.newest();
  if (!protocol_.own().empty()) return false;
  for (workers::Slot slot = 0; slot < slots_; ++slot) {
    const std::vector<std::string> owing = cuts.owing(slot, protocol_.progress_of(slot));
    if (std::ranges::find(owing, worker_) != owing.end()) return false;
  }
  return true;
}

std::vector<SlotStatus> WorkerState::slots() const {
  const std::scoped_lock lock(mutex_);
  std::vector<SlotStatus> slots;
  for (workers::Slot slot = 0; slot < slots_; ++slot) {
    slots.push_back({slot, protocol_.cuts().empty() ? std::string() : protocol_.cuts().last().places[slot].worker,
                     protocol_.progress_of(slot)});
  }
  return slots;
}

/// Whether a batch is cut and not published. The caller holds the mutex.
bool WorkerState::waits() const { return !protocol_.cuts().empty() && protocol_.cuts().newest() > protocol_.least_progress(); }

std::optional<WorkerState::Clock::duration> WorkerState::waiting_for(Clock::time_point now) const {
  const std::scoped_lock lock(mutex_);
  return waits() ? std::optional(now - moved_) : std::nullopt;
}

double WorkerState::gate_seconds() const {
  const std::scoped_lock lock(mutex_);
  return gate_seconds_;
}

std::uint64_t WorkerState::wrong_digests() const {
  const std::scoped_lock lock(mutex_);
  return wrong_digests_;
}

}  // namespace deltamatch::ingest

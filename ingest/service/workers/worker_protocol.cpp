#include "ingest/service/workers/worker_protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest::workers {
namespace {

auto numbers(std::size_t slots) { return std::views::iota(Slot{0}, static_cast<Slot>(slots)); }

}  // namespace

WorkerProtocol::WorkerProtocol(std::string worker, std::uint32_t slots) : worker_(std::move(worker)), slots_(slots) {}

void WorkerProtocol::lead(bool leads) {
  leads_ = leads;
  if (!leads && !unconfirmed_.empty()) restart();
}

std::optional<Step> WorkerProtocol::next() {
  if (!why_exit_.empty()) return Step{.kind = Step::Kind::exit, .why = why_exit_};
  if (!known_) {
    if (std::exchange(asked_, true)) return std::nullopt;
    return Step{.kind = Step::Kind::read_all};
  }
  if (cuts_.empty()) return std::nullopt;
  if (!at_) {
    if (std::exchange(asked_, true)) return std::nullopt;
    return Step{.kind = Step::Kind::restart, .batch = least_progress()};
  }
  for (const Slot slot : numbers(slots_.size())) {
    if (std::optional<Step> step = next_of(slot)) return step;
    if (!at_) return next();
  }
  return std::nullopt;
}

std::optional<Step> WorkerProtocol::next_of(Slot slot) {
  State& state = slots_[slot];
  const std::uint64_t batch = progress_of(slot) + 1;
  const bool mine = publishes(slot, batch);
  const auto give = [&](Step::Kind kind, Phase phase) {
    state.phase = phase;
    return Step{.kind = kind, .slot = slot, .batch = batch};
  };
  switch (state.phase) {
    case Phase::idle:
      if (!mine) return std::nullopt;
      return give(Step::Kind::read_cuts, Phase::cuts_asked);
    case Phase::cuts_known:
      if (!mine) {
        state.phase = Phase::idle;
        return std::nullopt;
      }
      return give(Step::Kind::initialise, Phase::initialising);
    case Phase::initialised:
      return give(Step::Kind::read_slot, Phase::reading);
    case Phase::ready:
      if (!cuts_.holds(batch)) return std::nullopt;
      if (!mine) {
        state.phase = Phase::idle;
        return std::nullopt;
      }
      if (lacks_next_part(slot)) {
        restart();
        return std::nullopt;
      }
      if (!state.matched.contains(batch) || !gate_is_open(batch)) return std::nullopt;
      return give(Step::Kind::publish, Phase::publishing);
    default:
      return std::nullopt;
  }
}

std::optional<Apply> WorkerProtocol::next_batch() const {
  if (!at_ || !why_exit_.empty() || !cuts_.holds(*at_ + 1)) return std::nullopt;
  Apply apply{.batch = *at_ + 1};
  bool works = leads_ || !own().empty();
  for (const Slot slot : numbers(slots_.size())) {
    if (progress_of(slot) >= apply.batch || !publishes(slot, apply.batch)) continue;
    apply.slots.push_back(slot);
    works = true;
  }
  if (!works && apply.batch > least_progress()) return std::nullopt;
  return apply;
}

void WorkerProtocol::cut(const Cut& cut) {
  cuts_.add(cut);
  compare(cut.batch());
  if (at_) cuts_.forget_before(std::min(least_progress(), *at_));  // a restart reads on from an older batch
}

void WorkerProtocol::progress(Slot slot, std::uint64_t batch) {
  State& state = slots_[slot];
  state.progress = std::max(state.progress, batch);
  state.matched.erase(state.matched.begin(), state.matched.upper_bound(batch));
}

void WorkerProtocol::all_read() {
  known_ = true;
  asked_ = false;
}

void WorkerProtocol::cuts_read(Slot slot) { slots_[slot].phase = Phase::cuts_known; }

void WorkerProtocol::initialised(Slot slot) { slots_[slot].phase = Phase::initialised; }

void WorkerProtocol::slot_read(Slot slot) { slots_[slot].phase = Phase::ready; }

void WorkerProtocol::restarted(std::uint64_t batch, CutBook cuts) {
  if (batch > least_progress()) {
    throw Error(fmt::format("graph after batch {}", batch),
                fmt::format("a slot is published up to batch {} only", least_progress()), "an older snapshot is needed");
  }
  cuts_ = std::move(cuts);
  asked_ = false;
  at_ = batch;
}

void WorkerProtocol::published(Slot slot, std::uint64_t batch) {
  slots_[slot].phase = Phase::ready;
  progress(slot, batch);
}

void WorkerProtocol::uncertain(Slot slot) { slots_[slot].phase = Phase::idle; }

void WorkerProtocol::fenced(Slot slot) { slots_[slot].phase = Phase::idle; }

void WorkerProtocol::applied(const Apply& batch, const RunningDigest& digest) {
  if (!at_ || *at_ + 1 != batch.batch) return;  // a restart was wanted meanwhile
  at_ = batch.batch;
  for (const Slot slot : batch.slots) slots_[slot].matched.insert(batch.batch);
  const std::optional<RunningDigest>& leader = cuts_.at(batch.batch).mark.digest;
  if (leader && leader->contradicts(digest)) {
    why_exit_ = fmt::format("the graph after batch {} has the digest {}, and that of the leader {}", batch.batch,
                            to_string(digest.now), to_string(leader->now));
    restart();  // nothing may use this graph any more
  }
}

void WorkerProtocol::applied_ahead(const Cut& cut, const std::vector<Slot>& matched) {
  at_ = cut.batch();
  for (const Slot slot : matched) slots_[slot].matched.insert(cut.batch());
  unconfirmed_.emplace(cut.batch(), cut.mark);
  compare(cut.batch());
}

/// What the engine took as a leader counts once its cut is read. If another leader cut otherwise, its graph is of no use.
void WorkerProtocol::compare(std::uint64_t batch) {
  const auto found = unconfirmed_.find(batch);
  if (found == unconfirmed_.end() || !cuts_.holds(batch)) return;
  const bool same = found->second == cuts_.at(batch).mark;
  unconfirmed_.erase(found);
  if (!same) restart();
}

void WorkerProtocol::restart() {
  at_.reset();
  asked_ = false;
  unconfirmed_.clear();
  for (State& state : slots_) state.matched.clear();
}

std::uint64_t WorkerProtocol::progress_of(Slot slot) const {
  if (cuts_.empty()) return slots_[slot].progress;
  return std::max(slots_[slot].progress, cuts_.last().first - 1);
}

std::uint64_t WorkerProtocol::least_progress() const {
  if (cuts_.empty()) return 0;
  return std::ranges::min(numbers(slots_.size()) | std::views::transform([&](Slot slot) { return progress_of(slot); }));
}

std::vector<Slot> WorkerProtocol::own() const {
  std::vector<Slot> own;
  if (cuts_.empty()) return own;
  for (const Slot slot : numbers(slots_.size())) {
    if (cuts_.last().places[slot].worker == worker_) own.push_back(slot);
  }
  return own;
}

bool WorkerProtocol::publishes(Slot slot, std::uint64_t batch) const {
  return cuts_.holds(batch) && cuts_.publisher(slot, batch) == worker_;
}

/// The engine is past the next part of the slot and has not matched it.
bool WorkerProtocol::lacks_next_part(Slot slot) const {
  const std::uint64_t batch = progress_of(slot) + 1;
  return *at_ >= batch && !slots_[slot].matched.contains(batch);
}

bool WorkerProtocol::gate_is_open(std::uint64_t batch) const { return least_progress() + 1 >= batch; }

}  // namespace deltamatch::ingest::workers

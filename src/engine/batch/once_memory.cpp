#include "engine/batch/once_memory.hpp"

#include <algorithm>
#include <ranges>

namespace deltamatch::engine {
namespace {

constexpr std::size_t least_sweep = 1024;  // fewer entries than this may be out of date at any time

Timestamp sum(Timestamp a, Timestamp b) noexcept {
  Timestamp result = 0;
  if (!__builtin_add_overflow(a, b, &result)) return result;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

}  // namespace

bool OnceMemory::past(Timestamp report, std::optional<Timestamp> watermark) const noexcept {
  return watermark && sum(sum(report, every_), lateness_) <= *watermark;
}

bool OnceMemory::vanish(const MatchId& id) {
  const auto found = reported_.find(id);
  if (found == reported_.end() || (watermark_ && found->second < *watermark_)) return false;
  vanished_.push_back(id);
  return true;
}

std::vector<MatchId> OnceMemory::decide(std::vector<OnceCandidate>& candidates) {
  std::ranges::sort(candidates);
  std::vector<MatchId> chosen;
  for (const OnceCandidate& match : candidates) {
    const auto [last, fresh] = last_.try_emplace(match.binding, match.time);
    const bool known = !fresh && !past(last->second, watermark_);
    if (known && match.time < sum(last->second, every_)) {
      if (reported_.contains(match.id)) vanished_.push_back(match.id);  // it has aged in between, without a word
      continue;
    }
    chosen.push_back(match.id);
    try {
      changed_.emplace_back(match.binding, fresh ? std::nullopt : std::optional(last->second));
    } catch (...) {
      if (fresh) last_.erase(last);
      throw;
    }
    last->second = match.time;
    if (match.until == INT64_MIN) continue;
    const auto [entry, added] = reported_.try_emplace(match.id, match.until);
    try {
      added_.emplace_back(match.id, added ? std::nullopt : std::optional(entry->second));
    } catch (...) {
      if (added) reported_.erase(entry);
      throw;
    }
    entry->second = match.until;
  }
  // A match that vanishes in the batch and appears again is reported anew, or no more.
  std::ranges::sort(chosen);
  std::erase_if(vanished_, [&](const MatchId& id) { return std::ranges::binary_search(chosen, id); });
  return chosen;
}

void OnceMemory::settle(std::optional<Timestamp> watermark) noexcept {
  for (const MatchId& id : vanished_) reported_.erase(id);
  changed_.clear();
  added_.clear();
  vanished_.clear();
  if (last_.size() + reported_.size() >= 2 * swept_ + least_sweep) sweep(watermark);
}

void OnceMemory::sweep(std::optional<Timestamp> watermark) noexcept {
  boost::unordered::erase_if(last_, [&](const auto& entry) { return past(entry.second, watermark); });
  boost::unordered::erase_if(reported_, [&](const auto& entry) { return watermark && entry.second < *watermark; });
  swept_ = last_.size() + reported_.size();
}

void OnceMemory::undo() noexcept {
  const auto put_back = [](auto& entries, const auto& changes) {
    for (const auto& [key, before] : std::views::reverse(changes)) {
      if (before) {
        entries.find(key)->second = *before;
      } else {
        entries.erase(key);
      }
    }
  };
  put_back(last_, changed_);
  put_back(reported_, added_);
  changed_.clear();
  added_.clear();
  vanished_.clear();
}

OnceState OnceMemory::state(std::optional<Timestamp> watermark) const {
  OnceState state;
  for (const auto& [binding, time] : last_) {
    if (!past(time, watermark)) state.last.emplace_back(binding, time);
  }
  for (const auto& [id, until] : reported_) {
    if (!watermark || until >= *watermark) state.reported.emplace_back(id, until);
  }
  std::ranges::sort(state.last);
  std::ranges::sort(state.reported);
  return state;
}

void OnceMemory::restore(const OnceState& state) {
  last_.insert(state.last.begin(), state.last.end());
  reported_.insert(state.reported.begin(), state.reported.end());
  swept_ = last_.size() + reported_.size();
}

std::size_t OnceMemory::bytes() const noexcept {
  return last_.bucket_count() * sizeof(std::pair<Hash128, Timestamp>) +
         reported_.bucket_count() * sizeof(std::pair<MatchId, Timestamp>);
}

}  // namespace deltamatch::engine

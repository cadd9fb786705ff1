#include "ingest/service/workers/roll.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace deltamatch::ingest::workers {

std::vector<std::vector<Slot>> balanced(const std::vector<Place>& places, const std::vector<std::string>& workers) {
  std::vector<std::vector<Slot>> slots(workers.size());
  if (workers.empty()) return slots;
  std::vector<Slot> free;
  for (Slot slot = 0; slot < places.size(); ++slot) {
    const auto owner = std::ranges::find(workers, places[slot].worker);
    auto& to = owner == workers.end() ? free : slots[static_cast<std::size_t>(owner - workers.begin())];
    to.push_back(slot);
  }
  // Those that have most may keep one more than the others.
  std::vector<std::size_t> order(workers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t w) { return slots[w].size(); });
  const std::size_t each = places.size() / workers.size();
  std::size_t more = places.size() % workers.size();
  for (const std::size_t w : order) {
    std::size_t most = each;
    if (more > 0 && slots[w].size() > each) {
      ++most;
      --more;
    }
    for (; slots[w].size() > most; slots[w].pop_back()) free.push_back(slots[w].back());
  }
  for (const Slot slot : free) std::ranges::min_element(slots, {}, &std::vector<Slot>::size)->push_back(slot);
  for (std::vector<Slot>& some : slots) std::ranges::sort(some);
  return slots;
}

void Roll::published(std::uint64_t least, Time now) {
  if (published_.empty() || published_.back().second != least) published_.emplace_back(now, least);
  while (published_.size() > 1 && published_[1].first + delay <= now) published_.pop_front();
}

void Roll::heard(const Claim& claim, Time now) {
  if (claim.gone) {
    workers_.erase(claim.worker);
  } else {
    workers_.insert_or_assign(claim.worker, Heard{claim, now});
  }
}

bool Roll::all_leave(Time now) const {
  return std::ranges::all_of(
      workers_, [&](const auto& worker) { return worker.second.claim.leaves || worker.second.at + patience < now; });
}

std::vector<Member> Roll::members(const std::vector<Place>& places, std::uint32_t slots, Time now) const {
  const std::uint64_t least = published_.empty() || published_.front().first + delay > now ? 0 : published_.front().second;
  std::vector<Member> members;
  std::vector<std::string> candidates;
  for (const auto& [name, heard] : workers_) {
    if (heard.at + patience < now) continue;
    const bool has_slots = std::ranges::find(places, name, &Place::worker) != places.end();
    const bool alike = heard.claim.semantics == semantics;
    const bool keeps_up = alike && !heard.claim.leaves && (has_slots || heard.claim.applied >= least);
    members.push_back({.worker = name, .wanted = {}, .keeps_up = keeps_up});
    if (keeps_up && !heard.claim.spare) candidates.push_back(name);
  }
  if (candidates.empty()) {  // better a spare than one that leaves
    for (const Member& member : members) {
      if (member.keeps_up) candidates.push_back(member.worker);
    }
  }
  const std::vector<std::vector<Slot>> wanted = balanced(places.empty() ? std::vector<Place>(slots) : places, candidates);
  for (std::size_t c = 0; c < candidates.size(); ++c)
    std::ranges::find(members, candidates[c], &Member::worker)->wanted = wanted[c];
  return members;
}

}  // namespace deltamatch::ingest::workers

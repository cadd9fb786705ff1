#include "ingest/service/workers/assignment.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace deltamatch::ingest::workers {
namespace {

bool is_member(std::span<const Member> members, std::string_view worker) {
  return std::ranges::find(members, worker, &Member::worker) != members.end();
}

/// Whether parts of the slot would never be published if it stayed, or moved.
bool is_orphan(const CutBook& cuts, Slot slot, std::uint64_t progress, std::span<const Member> members) {
  if (!is_member(members, cuts.last().places[slot].worker)) return true;
  return !std::ranges::all_of(cuts.owing(slot, progress),
                              [&](const std::string& worker) { return is_member(members, worker); });
}

/// The only member that wants the slot and keeps up.
const Member* wanting(std::span<const Member> members, Slot slot) {
  const Member* found = nullptr;
  for (const Member& member : members) {
    if (std::ranges::find(member.wanted, slot) == member.wanted.end()) continue;
    if (found != nullptr) return nullptr;
    found = &member;
  }
  return found != nullptr && found->keeps_up ? found : nullptr;
}

}  // namespace

bool needs_take_over(const CutBook& cuts, std::span<const std::uint64_t> progress, std::span<const Member> members) {
  if (cuts.empty() || members.empty()) return false;
  for (Slot slot = 0; slot < progress.size(); ++slot) {
    if (is_orphan(cuts, slot, progress[slot], members)) return true;
  }
  return false;
}

std::vector<Place> next_places(const CutBook& cuts, std::span<const std::uint64_t> progress, std::span<const Member> members) {
  std::vector<Place> places = cuts.empty() ? std::vector<Place>(progress.size()) : cuts.last().places;
  for (Place& place : places) place.change = Change::none;
  if (members.empty()) return places;

  std::map<std::string_view, std::size_t> load;
  for (const Member& member : members) load[member.worker] = 0;
  for (const Place& place : places) {
    if (const auto found = load.find(place.worker); found != load.end()) ++found->second;
  }
  const auto give = [&](Place& place, const std::string& worker, Change change) {
    if (const auto found = load.find(place.worker); found != load.end()) --found->second;
    place = {.worker = worker, .change = change};
    ++load[worker];
  };
  const auto heir = [&] {
    return std::ranges::min_element(members, {},
                                    [&](const Member& member) {
                                      return std::tuple{!member.keeps_up, load[member.worker], std::string_view(member.worker)};
                                    })
        ->worker;
  };
  for (Slot slot = 0; slot < places.size(); ++slot) {
    Place& place = places[slot];
    const Member* other = wanting(members, slot);
    if (cuts.empty()) {
      give(place, other != nullptr ? other->worker : heir(), Change::move);
    } else if (is_orphan(cuts, slot, progress[slot], members)) {
      give(place, is_member(members, place.worker) ? place.worker : heir(), Change::take_over);
    } else if (other != nullptr && other->worker != place.worker) {
      give(place, other->worker, Change::move);
    }
  }
  return places;
}

}  // namespace deltamatch::ingest::workers

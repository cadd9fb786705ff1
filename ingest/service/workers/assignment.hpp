// Which worker gets which slot: the next map, by what the members of the group of workers want.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ingest/service/workers/slot_map.hpp"

namespace deltamatch::ingest::workers {

/// A living worker, by its last claim.
struct Member {
  std::string worker;
  std::vector<Slot> wanted{};  ///< what the group assigned to it
  bool keeps_up = true;        ///< whether it lags less than two batches behind; it gets no slot before, unless nobody else can
};

/// The places from the next batch on, and how they came to be. `progress` is what each slot has published, as far as is known.
/// - A slot is taken over if its worker is no member, or if somebody who is no member still owes a part of it. The latter
/// happens
///   to a slot that has moved. Its worker keeps it, if that one is a member. Else it goes to the member with the fewest slots.
///   Of these, one that keeps up comes first, then the least name. So a spare, which has no slot, comes before all others.
/// - A slot that one other member wants moves there, if that one keeps up.
/// - Any other slot stays.
/// Without a cut, each slot goes to the member that wants it, or as if its worker were gone. These are moves, because nothing
/// was published before. Without members, nothing changes. O(slots × (members + cuts)).
[[nodiscard]] std::vector<Place> next_places(const CutBook& cuts, std::span<const std::uint64_t> progress,
                                             std::span<const Member> members);

/// Whether that would take a slot over.
[[nodiscard]] bool needs_take_over(const CutBook& cuts, std::span<const std::uint64_t> progress,
                                   std::span<const Member> members);

}  // namespace deltamatch::ingest::workers

// Which worker gets which slot: the next map, by what the living workers should have.
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
  std::vector<Slot> wanted{};  ///< what it should have (Roll)
  /// Whether it has about what all slots have published. If not, it gets no slot unless nobody does.
  bool keeps_up = true;
};

/// The places from the next batch on, and how they came to be. `progress` is what each slot has published, as far as is known.
/// - A slot is taken over if its worker is no member, or if somebody who is no member still owes a part of it. The latter
/// happens
///   to a slot that has moved. Its worker keeps it, if that one is a member. Else it goes to a member that keeps up; of these,
///   to the one with the fewest slots, then to the least name. So a spare, which has no slot, comes first.
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

// Who is there: the living workers, as a leader knows them by their claims, and which slots each of them should have.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ingest/service/workers/assignment.hpp"
#include "ingest/service/workers/records.hpp"
#include "ingest/service/workers/slot_map.hpp"

namespace deltamatch::ingest::workers {

/// The version of the rules by which workers match. Workers of another version get no slots.
inline constexpr std::uint32_t semantics = 1;

/// Which slots each of these workers should have, so that their numbers differ by one at most. A worker keeps what it has as
/// far as that goes. The result is ordered as `workers`, which must differ. O(slots × workers).
[[nodiscard]] std::vector<std::vector<Slot>> balanced(const std::vector<Place>& places,
                                                      const std::vector<std::string>& workers);

/// What is wrong here affects only how soon something is published. Not thread-safe.
class Roll {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// A worker that says nothing for so long is gone.
  static constexpr std::chrono::seconds patience{10};
  /// A worker keeps up if it has what all slots had published so long ago. So old is its claim at most.
  static constexpr std::chrono::seconds delay{3};

  /// Notes what all slots have published. Time must not go back.
  void published(std::uint64_t least, Time now);
  void heard(const Claim& claim, Time now);

  /// The living workers by name. They want slots as balanced() says. A spare wants none unless nobody else does. Neither does a
  /// worker that leaves, does not keep up or matches by other rules. `places` may be empty: nobody has a slot.
  [[nodiscard]] std::vector<Member> members(const std::vector<Place>& places, std::uint32_t slots, Time now) const;
  /// Whether all living workers leave.
  [[nodiscard]] bool all_leave(Time now) const;

 private:
  struct Heard {
    Claim claim;
    Time at;
  };
  std::map<std::string, Heard> workers_;
  std::deque<std::pair<Time, std::uint64_t>> published_;  // the first one is older than `delay`, if there is such a one
};

}  // namespace deltamatch::ingest::workers

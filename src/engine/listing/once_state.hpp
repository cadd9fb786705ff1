// What ALERT ONCE remembers of a query, as data: that of a query which was removed, or which a snapshot holds.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "deltamatch/digest.hpp"
#include "deltamatch/id.hpp"
#include "deltamatch/match.hpp"

namespace deltamatch::engine {

/// The contents of a memory, ascending.
struct OnceState {
  std::vector<std::pair<Hash128, Timestamp>> last;      ///< by binding: the time of the match that was reported last
  std::vector<std::pair<MatchId, Timestamp>> reported;  ///< matches that may vanish, and until when
  [[nodiscard]] bool empty() const noexcept { return last.empty() && reported.empty(); }
  friend bool operator==(const OnceState&, const OnceState&) = default;
};

/// The memory of a query that does not stand.
struct ParkedMemory {
  std::string name;         ///< of the query
  std::string fingerprint;  ///< query_fingerprint
  OnceState once;
};

}  // namespace deltamatch::engine

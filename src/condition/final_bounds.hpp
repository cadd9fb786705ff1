// When what the conditions of a query count can no longer change: the bounds that EMIT FINAL waits for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "deltamatch/query.hpp"

namespace deltamatch::condition {

/// No edge that is counted for a match is later than the time of this edge of the match plus `after`.
struct FinalBound {
  std::uint32_t edge = 0;  ///< an index into Query::edges
  std::int64_t after = 0;  ///< microseconds; not negative
  friend bool operator==(const FinalBound&, const FinalBound&) = default;
};

/// The bounds that follow from the conditions of counted patterns, one for each edge that has any, ascending. The greatest of
/// them holds for all that is counted. Requires a valid query. O(counts * edges^3).
[[nodiscard]] std::vector<FinalBound> final_bounds(const Query& query);

/// An edge that is counted and has no latest time, as it is named in messages; nullopt if there is none. A pattern whose times
/// contradict each other counts nothing.
[[nodiscard]] std::optional<std::string> unbounded_edge(const Query& query);

}  // namespace deltamatch::condition

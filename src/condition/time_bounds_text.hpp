// Bounds of times as text. What follows from other bounds is left out, by the usual reduction of a closed matrix. Times that
// have a fixed difference form a class. Between classes only their first members are compared. There, a bound is redundant if
// it is the sum of two others.
#pragma once

#include <string>
#include <vector>

#include "condition/time_bounds.hpp"

namespace deltamatch::condition {

/// The bounds as people read them, such as "t1.time < t2.time" or "t3.time - t1.time < 1d". Bounds that follow from others are
/// left out. `bounds` are those of the query. O(edges^3).
[[nodiscard]] std::vector<std::string> to_lines(const TimeBounds& bounds, const Query& query);

}  // namespace deltamatch::condition

// Conditions that read nothing, such as 3 >= 2. They arise where the length of a path is known.
#pragma once

#include <optional>

#include "condition/program.hpp"
#include "deltamatch/condition.hpp"

namespace deltamatch::condition {

/// The truth of a condition that reads no element. Nullopt if it reads one, or if its types do not fit.
[[nodiscard]] std::optional<Truth> constant_truth(const Expression& node);

}  // namespace deltamatch::condition

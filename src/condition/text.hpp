// Conditions as text.
#pragma once

#include <string>

#include "deltamatch/condition.hpp"
#include "deltamatch/query.hpp"

namespace deltamatch::condition {

/// Writes a condition of the query in the pattern language. If a pattern was parsed, reading the text gives the same condition.
[[nodiscard]] std::string to_text(const Expression& expression, const Query& query);

}  // namespace deltamatch::condition

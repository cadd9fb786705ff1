// What a pattern says of its alerts, behind its conditions:
//
//   alerts   = ["ALERT" "ONCE" "PER" vertices "EVERY" duration]
//   vertices = word {"," word} | "(" word {"," word} ")"
#pragma once

#include <optional>
#include <vector>

#include "deltamatch/condition.hpp"
#include "query/condition_parser.hpp"
#include "query/tokens.hpp"

namespace deltamatch::query {

/// The clauses as parsed. Vertices are mentions yet.
struct AlertClauses {
  std::vector<Mention> once_per;
  std::optional<Duration> every;

  [[nodiscard]] bool any() const noexcept { return every.has_value(); }
};

/// Parses all clauses from the present token on, each at most once. Throws Error(configuration).
[[nodiscard]] AlertClauses parse_alert_clauses(Tokens& tokens);

}  // namespace deltamatch::query

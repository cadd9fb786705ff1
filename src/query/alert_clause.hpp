// What a pattern says of its alerts, behind its conditions:
//
//   alerts   = ["EMIT" "FINAL"] ["ALERT" "ONCE" "PER" vertices "EVERY" duration], in any order
//   vertices = word {"," word} | "(" word {"," word} ")"
#pragma once

#include <cstddef>
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
  std::optional<std::size_t> emit_final;  ///< where EMIT FINAL stands

  [[nodiscard]] bool any() const noexcept { return every || emit_final; }
};

/// Parses all clauses from the present token on, each at most once. Throws Error(configuration).
[[nodiscard]] AlertClauses parse_alert_clauses(Tokens& tokens);

}  // namespace deltamatch::query

// What the text of a match depends on besides the match.
#pragma once

#include <cstdint>

#include "deltamatch/attribute.hpp"

namespace deltamatch::ingest {

/// How times are written.
enum class TimeForm : std::uint8_t {
  microseconds,  ///< a number: microseconds since the epoch
  iso,           ///< ISO 8601 in UTC: 2026-01-31T10:00:00Z
};

/// Which matches are written: those that appear, those that vanish, or both.
enum class Signs : std::uint8_t { both, added, removed };

[[nodiscard]] constexpr bool wants(Signs signs, bool added) noexcept {
  return signs == Signs::both || (signs == Signs::added) == added;
}

struct MatchForm {
  Schema schema{};  ///< that of the engine: it decides the version, and names the attributes of edges
  TimeForm times = TimeForm::microseconds;

  /// The version of the form, "v": 1 for graphs of the model `simple`, else 2.
  [[nodiscard]] int version() const noexcept { return schema.model == EdgeModel::simple ? 1 : 2; }
};

}  // namespace deltamatch::ingest

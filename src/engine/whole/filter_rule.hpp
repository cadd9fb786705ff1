// When `--filter auto` filters: before planning, before matching, or once matching has taken a while.
#pragma once

#include <cstdint>
#include <optional>

namespace deltamatch::engine {

/// What is known before a whole graph is matched.
struct FilterCase {
  bool labelled = false;          ///< query vertices bear labels, which are known to tell candidates apart
  bool far = false;               ///< the query is long: on sparse data, most walks along it lead nowhere
  bool limited = false;           ///< few matches may do
  bool launches = false;          ///< matching runs in launches, on a device
  std::optional<double> timeout;  ///< seconds for all
  double filtering = 0;           ///< seconds that it is expected to take
};

/// Whether to filter before anything is planned, since planning or the first launches take as long.
[[nodiscard]] bool filters_before_planning(const FilterCase& known) noexcept;

/// A query of so many vertices is long.
constexpr std::uint32_t long_query = 8;

/// Whether walks along such lists go far: `squares` of their lengths in all, and `entries`. If edges have a direction and
/// lists are short, walks soon end by themselves, and matching takes no longer than filtering.
[[nodiscard]] bool leads_on(bool directed, double squares, double entries) noexcept;

/// Whether to filter before matching, of which the planner expects to read so many entries of lists.
[[nodiscard]] bool filters_before_matching(const FilterCase& known, double entries) noexcept;

/// Seconds of matching after which to filter, where it was not done before.
[[nodiscard]] double patience(const FilterCase& known) noexcept;

}  // namespace deltamatch::engine

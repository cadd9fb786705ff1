// Decides when `--filter auto` filters: before planning, before matching, or after some time of matching.
#pragma once

#include <cstdint>
#include <optional>

namespace deltamatch::engine {

/// What is known before a whole graph is matched.
struct FilterCase {
  bool labelled = false;          ///< query vertices have labels, so labels tell candidates apart
  bool far = false;               ///< the query is long; on sparse data, most walks along it lead nowhere
  bool limited = false;           ///< a few matches may be enough
  bool launches = false;          ///< matching runs in launches, on a device
  std::optional<double> timeout;  ///< seconds for the whole run
  double filtering = 0;           ///< seconds that filtering is expected to take
};

/// Whether to filter before planning. That pays if planning or the first launches take as long as filtering.
[[nodiscard]] bool filters_before_planning(const FilterCase& known) noexcept;

/// A query with at least this many vertices is long.
constexpr std::uint32_t long_query = 8;

/// Whether walks along the lists go far. `squares` is the sum of squared list lengths, `entries` the sum of lengths. If edges
/// have a direction and lists are short, walks soon end by themselves. Then matching takes no longer than filtering.
[[nodiscard]] bool leads_on(bool directed, double squares, double entries) noexcept;

/// Whether to filter before matching. `entries`: the list entries that the planner expects matching to read.
[[nodiscard]] bool filters_before_matching(const FilterCase& known, double entries) noexcept;

/// Seconds of matching after which to filter, if that was not done before.
[[nodiscard]] double patience(const FilterCase& known) noexcept;

}  // namespace deltamatch::engine

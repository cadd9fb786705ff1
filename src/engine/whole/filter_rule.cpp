#include "engine/whole/filter_rule.hpp"

#include <algorithm>

namespace deltamatch::engine {

namespace {

// The cost is known; the benefit rarely is. So filtering may take this share of the time spent without it.
// The share is larger if labels tell candidates apart, because filtering then mostly saves much. It also saves much for long
// queries on sparse data, because it removes dead ends. On other data it ends after a step or two.
constexpr double filtering_share = 0.1;
constexpr double labelled_share = 1;
constexpr double entry_seconds = 1e-9;    // of matching, per list entry that the planner expects to read
constexpr double quick_filtering = 0.01;  // seconds; planning a large query takes about as long
constexpr double hasty_share = 0.25;      // of a time-out: the share that filtering may take before anything is matched
constexpr double least_patience = 0.005;  // seconds
constexpr double labelled_patience = 0.001;
// Mean length of lists, weighted by length. In random data a walk finds one entry less. At about one entry, walks die out.
constexpr double short_list = 2.125;
// For matching in launches on a device. The first launches take longer, and a small launch takes as long as a large one.
constexpr double launch_patience = 0.05;
constexpr double launch_speedup = 64;  // at least, compared with one thread

bool may_be_first(const FilterCase& known) noexcept {
  return !known.limited && (!known.timeout || known.filtering <= hasty_share * *known.timeout);
}

}  // namespace

bool filters_before_planning(const FilterCase& known) noexcept {
  return known.labelled && may_be_first(known) && known.filtering <= (known.launches ? launch_patience : quick_filtering);
}

bool leads_on(bool directed, double squares, double entries) noexcept { return !directed || squares > short_list * entries; }

bool filters_before_matching(const FilterCase& known, double entries) noexcept {
  if (!known.labelled && !known.far) return false;
  return may_be_first(known) && entry_seconds * entries / (known.launches ? launch_speedup : 1) > known.filtering;
}

double patience(const FilterCase& known) noexcept {
  const double least = known.launches ? launch_patience : known.labelled ? labelled_patience : least_patience;
  return std::max(least, known.filtering / (known.labelled ? labelled_share : filtering_share));
}

}  // namespace deltamatch::engine

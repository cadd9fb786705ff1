#include "engine/whole/filter_rule.hpp"

#include <algorithm>

namespace deltamatch::engine {

namespace {

// What filtering saves is seldom known beforehand, what it takes is: it may take this share of the time spent without it. Where
// labels tell candidates apart it mostly saves much. So it does for long queries on sparse data, whose dead ends go; on other
// data it ends after a step or two.
constexpr double filtering_share = 0.1;
constexpr double labelled_share = 1;
constexpr double entry_seconds = 1e-9;    // of matching, for an entry that the planner expects to be read
constexpr double quick_filtering = 0.01;  // seconds, about what planning for large queries takes
constexpr double hasty_share = 0.25;      // of a time-out: what filtering may take before anything is matched
constexpr double least_patience = 0.005;  // seconds
constexpr double labelled_patience = 0.001;
// Mean length of lists, weighted by length. In random data a walk finds one entry less: about one, at which it dies out.
constexpr double short_list = 2.125;
// Of what runs in launches, of which the first take longer, and small ones as long as large ones.
constexpr double launch_patience = 0.05;
constexpr double launch_speedup = 64;  // over one thread, at least

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

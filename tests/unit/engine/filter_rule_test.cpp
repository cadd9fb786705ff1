#include "engine/filter_rule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

namespace deltamatch::engine {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

struct Row {
  const char* name;
  FilterCase known;
  double entries;  // that matching is expected to read
  bool before_planning;
  bool before_matching;
  double patience;
};

TEST(FilterRule, SaysWhenByWhatIsKnown) {
  const auto known = [](bool labelled, double filtering, double timeout = none, bool limited = false, bool launches = false) {
    return FilterCase{labelled, limited, launches, std::isnan(timeout) ? std::nullopt : std::optional(timeout), filtering};
  };
  const Row rows[] = {
      {"labels, quick", known(true, 0.005), 0, true, false, 0.005},
      {"labels, as quick as planning", known(true, 0.01), 0, true, false, 0.01},
      {"labels, less than matching", known(true, 0.1), 2e8, false, true, 0.1},
      {"labels, more than matching", known(true, 0.1), 0.5e8, false, false, 0.1},
      {"labels, next to nothing", known(true, 0.0001), 1e9, true, true, 0.001},
      {"no labels, quick", known(false, 0.001), 1e12, false, false, 0.01},
      {"no labels, next to nothing", known(false, 0.0001), 1e12, false, false, 0.005},
      {"no labels, slow", known(false, 2), 1e12, false, false, 20},
      {"a limit", known(true, 0.005, none, true), 1e12, false, false, 0.005},
      {"a time-out that is long", known(true, 0.005, 0.02), 1e12, true, true, 0.005},
      {"a time-out that is short", known(true, 0.005, 0.019), 1e12, false, false, 0.005},
      {"launches, quick", known(true, 0.05, none, false, true), 0, true, false, 0.05},
      {"launches, slow", known(true, 0.06, none, false, true), 3e9, false, false, 0.06},
      {"launches, less than matching", known(true, 0.06, none, false, true), 5e9, false, true, 0.06},
      {"launches, a limit", known(true, 0.001, none, true, true), 5e9, false, false, 0.05},
      {"launches, no labels", known(false, 0.001, none, false, true), 5e9, false, false, 0.05},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(filters_before_planning(row.known), row.before_planning);
    EXPECT_EQ(filters_before_matching(row.known, row.entries), row.before_matching);
    EXPECT_DOUBLE_EQ(patience(row.known), row.patience);
  }
}

}  // namespace
}  // namespace deltamatch::engine

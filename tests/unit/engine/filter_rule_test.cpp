#include "engine/whole/filter_rule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "deltamatch/engine.hpp"
#include "unit/engine/patient_backend.hpp"

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
    return FilterCase{labelled, false, limited, launches, std::isnan(timeout) ? std::nullopt : std::optional(timeout),
                      filtering};
  };
  const auto far = [](FilterCase other) {
    other.far = true;
    return other;
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
      {"long, less than matching", far(known(false, 0.001)), 2e6, false, true, 0.01},
      {"long, more than matching", far(known(false, 0.001)), 0.5e6, false, false, 0.01},
      {"long, a limit", far(known(false, 0.001, none, true)), 1e12, false, false, 0.01},
      {"long, a time-out that is short", far(known(false, 0.001, 0.003)), 1e12, false, false, 0.01},
      {"long, launches, less than matching", far(known(false, 0.001, none, false, true)), 1e8, false, true, 0.05},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(filters_before_planning(row.known), row.before_planning);
    EXPECT_EQ(filters_before_matching(row.known, row.entries), row.before_matching);
    EXPECT_DOUBLE_EQ(patience(row.known), row.patience);
  }
}

// A long query is filtered before anything is matched, if its plan is expected to take longer than the filter. A short query is
// not.
TEST(FilterRule, FiltersLongQueriesAtOnce) {
  const auto backend = std::make_shared<test::PatientBackend>(nullptr, 64);
  Engine engine({.directed = false, .threads = 1, .backend = backend});
  UpdateBatch batch;
  const auto add = [&](int source, int target) {
    Update update;
    update.source = Id(std::int64_t{source});
    update.target = Id(std::int64_t{target});
    batch.add(update);
  };
  for (int v = 2; v < 1024; ++v) add(v / 2, v);  // a tree
  for (int v = 0; v < 16; ++v) add(2000 + v, 2000 + (v + 1) % 16);
  engine.load(batch, OnReject::stop);
  const auto ring = [](int vertices) {
    std::string text = "(v0)";
    for (int v = 1; v < vertices; ++v) text += "--(v" + std::to_string(v) + ")";
    return parse_pattern(text + "--(v0)", "q");
  };
  for (const bool list : {false, true}) {
    StaticOptions options;
    options.query.list = list;
    backend->patience = {};
    const StaticResult found = engine.match(ring(16), options);
    EXPECT_EQ(found.matches, 1);
    EXPECT_TRUE(found.filter.used);
    EXPECT_EQ(backend->patience.on_graph, 0);
    EXPECT_GE(backend->patience.among_candidates, 1);
    backend->patience = {};
    EXPECT_EQ(engine.match(ring(7), options).matches, 0);
    EXPECT_GE(backend->patience.on_graph, 1);
  }
}

// From each vertex two edges lead on, or none does. Along directed edges a walk ends by itself.
TEST(FilterRule, DoesNotFilterAtOnceIfWalksEndByThemselves) {
  EXPECT_TRUE(leads_on(false, 10, 10));
  EXPECT_FALSE(leads_on(true, 20, 10));
  EXPECT_TRUE(leads_on(true, 22.5, 10));
  const auto backend = std::make_shared<test::PatientBackend>(nullptr, 64);
  Engine engine({.directed = true, .threads = 1, .backend = backend});
  UpdateBatch batch;
  for (int v = 2; v < 1024; ++v) {
    Update update;
    update.source = Id(std::int64_t{v / 2});
    update.target = Id(std::int64_t{v});
    batch.add(update);
  }
  engine.load(batch, OnReject::stop);
  std::string ring = "(v0)";
  for (int v = 1; v < 20; ++v) ring += "-->(v" + std::to_string(v) + ")";
  EXPECT_EQ(engine.match(parse_pattern(ring + "-->(v0)", "q")).matches, 0);
  EXPECT_GE(backend->patience.on_graph, 1);
}

}  // namespace
}  // namespace deltamatch::engine

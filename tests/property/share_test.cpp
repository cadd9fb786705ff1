// Engines that share the slots report together what one engine reports that owns all, for all kinds of queries.
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>

#include "property/draw.hpp"
#include "property/draw_alerts.hpp"
#include "property/shares.hpp"

namespace deltamatch::property {
namespace {

void hold_on_threads(const Scenario& scenario, const SharedRun& run) {
  hold_shares(scenario, run, [](const Scenario& of, std::size_t part) { return Subject(of, part == 1 ? 3 : 1); });
}

void hold_on(const Traits& traits, int cases, const SharedRun& run = {}) {
  hold(cases, [&] {
    Scenario scenario = *scenarios(traits);
    if (run.by_record) {
      if (scenario.window == 0) scenario.window = 10;
      for (Record& record : scenario.stream) record.continues = false;
    }
    hold_on_threads(scenario, run);
  });
}

constexpr Traits simple{};
constexpr Traits counting{.counting = true};
constexpr Traits large{.counting = true, .large = true};
constexpr Traits restless{.restless = true};
constexpr Traits loops{.loops = true};
constexpr Traits vertices_with_values{.attributes = true};
constexpr Traits events{.edges = EdgeModel::events, .attributes = true};
constexpr Traits keyed{.edges = EdgeModel::keyed, .attributes = true};
constexpr Traits within{.windows = false, .edges = EdgeModel::events, .within = true};
constexpr Traits keyed_within{.windows = false, .edges = EdgeModel::keyed, .within = true};
constexpr Traits paths{.edges = EdgeModel::events, .paths = true};
constexpr Traits counts{.edges = EdgeModel::events, .counts = true};
constexpr Traits simple_counts{.counts = true};
constexpr Traits keyed_counts{.edges = EdgeModel::keyed, .attributes = true, .counts = true};
constexpr Traits counted_paths{.edges = EdgeModel::events, .paths = true, .counts = true};

TEST(Shares, OfSimpleEdgesAreTheWhole) { hold_on(simple, 200); }
TEST(Shares, OfSumsAreTheWhole) { hold_on(counting, 100); }
TEST(Shares, OfLargeQueriesAreTheWhole) { hold_on(large, 60); }
TEST(Shares, AreTheWholeIfLabelsChange) { hold_on(restless, 150); }
TEST(Shares, OfSelfLoopsAreTheWhole) { hold_on(loops, 80); }
TEST(Shares, AreTheWholeIfAttributesOfVerticesChange) { hold_on(vertices_with_values, 120); }
TEST(Shares, OfEventsAreTheWhole) { hold_on(events, 150); }
TEST(Shares, OfKeyedEdgesAreTheWhole) { hold_on(keyed, 200); }
TEST(Shares, AreTheWholeUnderWithin) { hold_on(within, 150); }
TEST(Shares, OfKeyedEdgesAreTheWholeUnderWithin) { hold_on(keyed_within, 150); }
TEST(Shares, OfPathsAreTheWhole) { hold_on(paths, 100); }
TEST(Shares, OfCountsAreTheWhole) { hold_on(counts, 150); }
TEST(Shares, OfCountsOfSimpleEdgesAreTheWhole) { hold_on(simple_counts, 150); }
TEST(Shares, OfCountsOfKeyedEdgesAreTheWhole) { hold_on(keyed_counts, 100); }
TEST(Shares, OfPathsThatCountAreTheWhole) { hold_on(counted_paths, 60); }

constexpr Traits stream{.vertex_records = false, .untidy = false, .insertions = true};
constexpr Traits stream_of_events{.vertex_records = false, .untidy = false, .edges = EdgeModel::events, .insertions = true};

TEST(Shares, OfWhatAppearsAndVanishesAreTheWhole) { hold_on(stream, 150, {.by_record = true}); }
TEST(Shares, OfEventsThatAppearAndVanishAreTheWhole) { hold_on(stream_of_events, 150, {.by_record = true}); }

TEST(Shares, OfWhatAppearsAndVanishesAreTheWholeIfLabelsChange) { hold_on(restless, 200, {.by_record = true}); }

TEST(Shares, MayBeTakenAnewBetweenBatches) { hold_on(simple, 100, {.moves = true}); }
TEST(Shares, OfKeyedEdgesMayBeTakenAnewBetweenBatches) { hold_on(keyed, 100, {.moves = true}); }

void hold_once(const Traits& traits, int cases, const SharedRun& run = {}) {
  hold(cases, [&] {
    Scenario scenario = *scenarios(traits);
    for (Standing& standing : scenario.queries) {
      if (*below(3) == 0) continue;  // some remember nothing
      draw_once(standing, traits.within);
    }
    if (run.by_record) {
      if (scenario.window == 0) scenario.window = 10;
      for (Record& record : scenario.stream) record.continues = false;
    }
    hold_on_threads(scenario, run);
  });
}

TEST(Shares, OfWhatAlertsOnceAreTheWhole) { hold_once({.windows = false}, 150); }
TEST(Shares, OfEventsThatAlertOnceAreTheWhole) { hold_once({.windows = false, .edges = EdgeModel::events}, 150); }
TEST(Shares, OfKeyedEdgesThatAlertOnceAreTheWhole) {
  hold_once({.windows = false, .edges = EdgeModel::keyed, .attributes = true}, 150);
}
TEST(Shares, OfCountsThatAlertOnceAreTheWhole) {
  hold_once({.windows = false, .edges = EdgeModel::events, .counts = true}, 100);
}
TEST(Shares, OfPathsThatAlertOnceAreTheWhole) { hold_once({.windows = false, .edges = EdgeModel::events, .paths = true}, 80); }
TEST(Shares, OfWhatAlertsOnceAndVanishesAreTheWhole) { hold_once(stream, 100, {.by_record = true}); }

void hold_final(const Traits& traits, int cases, const SharedRun& run, bool once) {
  hold(cases, [&] {
    std::optional<Waiting> waiting = draw_waiting(traits);
    if (!waiting) return;
    for (Standing& standing : waiting->scenario.queries) {
      if (once && *below(2) == 0) draw_once(standing, traits.within);
    }
    hold_on_threads(waiting->scenario, run);
  });
}

constexpr Traits final_events{.windows = false, .edges = EdgeModel::events, .counts = true};
constexpr Traits final_keyed{.windows = false, .edges = EdgeModel::keyed, .attributes = true, .counts = true};

TEST(Shares, OfWhatIsFinalAreTheWhole) { hold_final(final_events, 200, {}, false); }
TEST(Shares, OfKeyedEdgesThatAreFinalAreTheWhole) { hold_final(final_keyed, 300, {}, false); }
TEST(Shares, OfWhatIsFinalMayBeTakenAnew) { hold_final(final_events, 150, {.moves = true}, false); }
TEST(Shares, OfWhatIsFinalAndAlertsOnceAreTheWhole) { hold_final(final_events, 200, {}, true); }

}  // namespace
}  // namespace deltamatch::property

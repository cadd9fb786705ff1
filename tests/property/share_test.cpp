// Engines that share the slots report together what one engine reports that owns all: each match once, and nothing else.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "property/draw.hpp"
#include "property/draw_alerts.hpp"
#include "property/follow.hpp"

namespace deltamatch::property {
namespace {

/// A case with more matches would take minutes, and shows no more.
constexpr std::size_t most_listed = 20'000;

/// Shares of one to six slots among one to four engines. An engine may own none.
std::vector<Share> draw_shares(std::size_t engines) {
  const auto slots = static_cast<std::uint32_t>(1 + *below(6));
  std::vector<std::vector<std::uint32_t>> own(engines);
  for (std::uint32_t slot = 0; slot < slots; ++slot)
    own[static_cast<std::size_t>(*below(static_cast<int>(engines)))].push_back(slot);
  std::vector<Share> shares;
  for (const std::vector<std::uint32_t>& some : own) shares.emplace_back(slots, some);
  return shares;
}

struct Run {
  bool by_record = false;
  bool moves = false;  ///< slots are taken anew now and then
};

std::vector<Listed> sorted(std::vector<Listed> listed) {
  std::ranges::sort(listed, {},
                    [](const Listed& match) { return std::tuple(match.query, match.added, match.id, match.cause); });
  return listed;
}

/// Asserts that an engine took the batch as the one that owns all slots.
void same_batch(const BatchResult& one, const BatchResult& other) {
  RC_ASSERT(one.batch == other.batch);
  RC_ASSERT(one.consumed == other.consumed);
  RC_ASSERT(one.cut == other.cut);
  RC_ASSERT(one.inserted == other.inserted);
  RC_ASSERT(one.deleted == other.deleted);
  RC_ASSERT(one.watermark == other.watermark);
  RC_ASSERT(one.rejects.size() == other.rejects.size());
}

/// The union of what the engines report must be what the whole one does. Counts add up, so no match is reported twice.
void check_union(const Output& whole, const std::vector<Output>& parts) {
  std::vector<Listed> listed;
  for (const Output& part : parts) {
    same_batch(whole.result, part.result);
    listed.insert(listed.end(), part.matches.begin(), part.matches.end());
  }
  if (sorted(listed) != sorted(whole.matches)) {
    fail("batch " + std::to_string(whole.result.batch) + ": the shares list " + std::to_string(listed.size()) +
         " matches, not the " + std::to_string(whole.matches.size()) + " of the whole");
  }
  for (std::size_t q = 0; q < whole.result.queries.size(); ++q) {
    const QueryDelta& expected = whole.result.queries[q];
    QueryDelta sum;
    for (const Output& part : parts) {
      const QueryDelta& delta = part.result.queries[q];
      sum.added += delta.added;
      sum.removed += delta.removed;
      sum.suppressed += delta.suppressed;
      sum.added_digest = plus(sum.added_digest, delta.added_digest);
      sum.removed_digest = plus(sum.removed_digest, delta.removed_digest);
    }
    RC_ASSERT(sum.added == expected.added);
    RC_ASSERT(sum.removed == expected.removed);
    RC_ASSERT(sum.suppressed == expected.suppressed);
    RC_ASSERT(sum.added_digest == expected.added_digest);
    RC_ASSERT(sum.removed_digest == expected.removed_digest);
  }
}

void check_waiting(const Scenario& scenario, Subject& whole, std::deque<Subject>& parts) {
  for (std::size_t q = 0; q < scenario.queries.size(); ++q) {
    if (!scenario.queries[q].query.emit_final) continue;
    Count sum = 0;
    for (Subject& part : parts) sum += part.engine().waiting(part.ids()[q]);
    RC_ASSERT(sum == whole.engine().waiting(whole.ids()[q]));
  }
}

/// Whether the matches of a scenario can be listed in little time, suppressed and waiting ones included.
bool listable(Scenario scenario) {
  for (Standing& standing : scenario.queries) {
    standing.query.once.reset();
    standing.query.emit_final = false;
  }
  Judge judge(scenario);
  if (!judge.take(scenario.start)) return false;
  return std::ranges::all_of(scenario.batches(), [&](const auto& batch) { return judge.take(batch); });
}

/// The share that owns all slots of these.
Share whole_of(const std::vector<Share>& shares) {
  std::vector<std::uint32_t> all(shares.front().slots());
  std::iota(all.begin(), all.end(), 0U);
  return {shares.front().slots(), all};
}

/// What an engine lists lies in its slots. check_union compares the slots themselves.
void check_slots(const Share& share, const Output& output) {
  for (const Listed& match : output.matches) RC_ASSERT(share.owns(match.slot));
}

void hold_for(const Scenario& scenario, const Run& run) {
  std::optional<Subject> whole = consistent_subject(scenario, 1);
  if (!whole || !listable(scenario)) return;
  std::deque<Subject> parts;
  const auto engines = static_cast<std::size_t>(1 + *below(4));
  for (std::size_t e = 0; e < engines; ++e) parts.emplace_back(scenario, e == 1 ? 3 : 1);
  const auto take_shares = [&] {
    const std::vector<Share> shares = draw_shares(engines);
    for (std::size_t e = 0; e < engines; ++e) parts[e].engine().take_share(shares[e]);
    whole->engine().take_share(whole_of(shares));
  };
  take_shares();
  whole->load(scenario.start);
  for (Subject& part : parts) part.load(scenario.start);
  std::size_t matches = 0;
  for (const auto records : scenario.batches()) {
    UpdateBatch batch = batch_of(records);
    for (bool more = true; more;) {
      const Output expected = whole->process(batch, run.by_record);
      std::vector<Output> outputs;
      for (Subject& part : parts) outputs.push_back(part.process(batch, run.by_record));
      check_union(expected, outputs);
      for (std::size_t e = 0; e < engines; ++e) check_slots(parts[e].engine().share(), outputs[e]);
      for (Subject& part : parts) RC_ASSERT(part.engine().digest() == whole->engine().digest());
      check_waiting(scenario, *whole, parts);
      more = expected.result.cut;
      RC_ASSERT(!more || expected.result.consumed > 0U);
      if (more) batch.drop_first(expected.result.consumed);
      matches += expected.matches.size();
      if (matches > most_listed) return;
    }
    if (run.moves && *below(3) == 0) take_shares();
  }
}

void hold_on(const Traits& traits, int cases, const Run& run = {}) {
  hold(cases, [&] {
    Scenario scenario = *scenarios(traits);
    if (run.by_record) {
      if (scenario.window == 0) scenario.window = 10;
      for (Record& record : scenario.stream) record.continues = false;
    }
    hold_for(scenario, run);
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

void hold_once(const Traits& traits, int cases, const Run& run = {}) {
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
    hold_for(scenario, run);
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

void hold_final(const Traits& traits, int cases, const Run& run, bool once) {
  hold(cases, [&] {
    std::optional<Waiting> waiting = draw_waiting(traits);
    if (!waiting) return;
    for (Standing& standing : waiting->scenario.queries) {
      if (once && *below(2) == 0) draw_once(standing, traits.within);
    }
    hold_for(waiting->scenario, run);
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

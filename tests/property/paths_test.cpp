// Queries with paths, compared with the oracle, which reads them in its own way.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "property/draw.hpp"
#include "property/follow.hpp"

namespace deltamatch::property {
namespace {

constexpr Traits simple{.paths = true};
constexpr Traits events{.edges = EdgeModel::events, .attributes = true, .paths = true};
constexpr Traits keyed{.edges = EdgeModel::keyed, .attributes = true, .paths = true};
constexpr Traits tidy_keyed{.windows = false, .untidy = false, .edges = EdgeModel::keyed, .attributes = true, .paths = true};
constexpr Traits within{.windows = false, .edges = EdgeModel::events, .attributes = true, .within = true, .paths = true};
constexpr Traits relabelled{.restless = true, .paths = true};
constexpr Traits loops{.edges = EdgeModel::events, .attributes = true, .loops = true, .paths = true};

void hold_on(const Traits& traits, int cases, unsigned threads) {
  hold(cases, [&] {
    const Scenario scenario = *scenarios(traits);
    auto subject = consistent_subject(scenario, threads);
    if (subject) (void)judged_run(scenario, *subject, scenario.batches());
  });
}

TEST(Paths, EveryBatchGivesTheDifferenceOfTheAnswers) { hold_on(simple, 400, 1); }
TEST(Paths, ConditionsHoldOnEvents) { hold_on(events, 400, 1); }
TEST(Paths, ConditionsHoldOnKeyedEdges) { hold_on(keyed, 400, 1); }
TEST(Paths, ConditionsHoldOnTidyData) { hold_on(tidy_keyed, 400, 1); }
TEST(Paths, OnlyMatchesThatHaveNotAgedAreReported) { hold_on(within, 400, 1); }
TEST(Paths, LabelsOfVerticesChange) { hold_on(relabelled, 300, 1); }
TEST(Paths, SelfLoopsAreKept) { hold_on(loops, 400, 1); }
TEST(Paths, ThreadsDoNotMatter) { hold_on(keyed, 100, 3); }

/// Variants that begin alike are searched together, whatever the batches and threads.
TEST(Paths, LongPathsInOrderOfTimeAreFound) {
  hold(120, [] {
    Scenario scenario = *scenarios(*below(2) == 0 ? within : events);
    const std::string step = scenario.directed ? "]->{2,6}" : "]-{3,6}";
    for (Standing& standing : scenario.queries) {
      const std::string end = *below(3) != 0 ? "(a)" : "(b)";
      const std::string order = *below(3) != 0 ? " > " : " >= ";
      const std::string name = standing.query.name;
      standing.query = parse_pattern(
          "(a)-[t WHERE t.time" + order + "prev(t).time" + step + end + " WITHIN " + std::to_string(3 + *below(12)) + "us",
          name);
    }
    for (const std::size_t size : {std::size_t{1}, std::size_t{3}, scenario.stream.size() + 1}) {
      for (const unsigned threads : {1U, 3U}) {
        auto subject = consistent_subject(scenario, threads);
        if (subject) (void)judged_run(scenario, *subject, scenario.batches(size));
      }
    }
  });
}

/// After a stream, static matching agrees with the oracle, with every filter, and with limits.
void hold_static(const Traits& traits, int cases, unsigned threads) {
  hold(cases, [&] {
    const Scenario scenario = *scenarios(traits);
    auto subject = consistent_subject(scenario, threads);
    if (!subject) return;
    Judge judge(scenario);
    if (!judge.take(scenario.start)) return;
    subject->load(scenario.start);
    Engine& engine = subject->engine();
    judge.check_static(engine);
    for (std::size_t q = 0; q < scenario.queries.size(); ++q) {
      const auto& [query, options] = scenario.queries[q];
      const std::uint64_t expected = judge.answers()[q].size();
      StaticOptions how;
      how.query = options;
      for (const Filter filter : {Filter::none, Filter::degree, Filter::refine}) {
        how.filter = filter;
        for (const bool list : {false, true}) {
          how.query.list = list;
          RC_ASSERT(engine.match(query, how).matches == Count{expected});
        }
        for (const std::uint64_t limit : {std::uint64_t{1}, expected / 2, expected, expected + 1}) {
          how.limit = limit;
          const StaticResult some = engine.match(query, how);
          RC_ASSERT(some.matches == Count{std::min(limit, expected)});
          RC_ASSERT(some.shortfall == (limit < expected ? Shortfall::limit : Shortfall::none));
        }
        how.limit.reset();
      }
    }
  });
}

TEST(Paths, StaticMatchesAreThoseOfTheGraph) { hold_static(simple, 100, 1); }
TEST(Paths, StaticMatchesWithConditionsAreThoseOfTheGraph) { hold_static(keyed, 150, 1); }
TEST(Paths, StaticMatchesOnThreadsAreThoseOfTheGraph) { hold_static(within, 60, 3); }

TEST(Paths, InducedMatchesAreThoseOfTheGraph) {
  hold(300, [] {
    const Scenario scenario = *scenarios(keyed);
    auto subject = consistent_subject(scenario, 1);
    if (!subject) return;
    Judge judge(scenario);
    if (!judge.take(scenario.start)) return;
    subject->load(scenario.start);
    for (const auto& [query, options] : scenario.queries) {
      const oracle::Matcher oracle(query, options.mode, options.count, true);
      StaticOptions how;
      how.query = options;
      how.query.list = false;
      how.induced = true;
      RC_ASSERT(subject->engine().match(query, how).matches == Count{oracle.match(judge.model().graph(), enumerable).size()});
    }
  });
}

/// The new matches of a stream do not depend on how it is cut.
TEST(Paths, TheSameMatchesAppearForEveryBatchSize) {
  hold(200, [] {
    Scenario scenario = *scenarios({.vertex_records = false,
                                    .windows = false,
                                    .untidy = false,
                                    .edges = EdgeModel::events,
                                    .within = true,
                                    .insertions = true,
                                    .paths = true});
    for (Standing& standing : scenario.queries) standing.options.list = true;
    for (Record& record : scenario.stream) record.continues = false;  // a batch may end behind each
    if (!consistent_subject(scenario, 1)) return;
    Judge judge(scenario);
    if (!judge.take(scenario.start) || !judge.take(scenario.stream)) return;  // too many to list
    const auto digests = [&](std::size_t size) {
      Subject subject(scenario, 1);
      subject.load(scenario.start);
      std::vector<MatchDigest> sums(scenario.queries.size());
      for (const auto batch : scenario.batches(size)) {
        const Output output = subject.process(batch);
        for (std::size_t q = 0; q < sums.size(); ++q) sums[q].add_all(output.result.queries[q].added_digest);
      }
      return sums;
    };
    const std::vector<MatchDigest> one = digests(1);
    for (const std::size_t size : {std::size_t{2}, std::size_t{7}, scenario.stream.size() + 1}) RC_ASSERT(digests(size) == one);
  });
}

}  // namespace
}  // namespace deltamatch::property

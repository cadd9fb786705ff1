// Conditions that count, compared with the oracle: deletions that let matches appear, insertions that end them, and vertices
// that come and go.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "property/draw.hpp"
#include "property/follow.hpp"

namespace deltamatch::property {
namespace {

constexpr Traits simple{.counts = true};
constexpr Traits tidy{.windows = false, .untidy = false, .counts = true};
constexpr Traits vertex_attributes{.attributes = true, .counts = true};
constexpr Traits events{.edges = EdgeModel::events, .counts = true};
constexpr Traits relabelled{.restless = true, .counts = true};
constexpr Traits relabelled_keyed{.edges = EdgeModel::keyed, .attributes = true, .restless = true, .counts = true};
/// The graph keeps self-loops. The queries have none, and are matched by isomorphism.
constexpr Traits beside_loops{.edges = EdgeModel::events, .loops = true, .counts = true};
constexpr Traits keyed{.edges = EdgeModel::keyed, .attributes = true, .counts = true};

/// Runs random scenarios without WITHIN beside the oracle.
void hold_on(const Traits& traits, int cases, unsigned threads) {
  hold(cases, [&] {
    Scenario scenario = *scenarios(traits);
    for (Standing& standing : scenario.queries) {
      standing.query.within.reset();
      if (traits.loops) standing.options.mode = MatchMode::isomorphism;
    }
    auto subject = consistent_subject(scenario, threads);
    if (subject) (void)judged_run(scenario, *subject, scenario.batches());
  });
}

TEST(Counts, EveryBatchGivesTheDifferenceOfTheAnswers) { hold_on(simple, 1000, 1); }
TEST(Counts, EveryBatchGivesTheDifferenceOfTheAnswersOnTidyData) { hold_on(tidy, 1000, 1); }
TEST(Counts, AttributesOfVerticesCount) { hold_on(vertex_attributes, 600, 1); }
TEST(Counts, EventsCount) { hold_on(events, 1000, 1); }
TEST(Counts, EdgesWithKeysCount) { hold_on(keyed, 1000, 1); }
TEST(Counts, LabelsOfVerticesChange) { hold_on(relabelled, 600, 1); }
TEST(Counts, LabelsOfVerticesChangeBetweenEdgesWithKeys) { hold_on(relabelled_keyed, 600, 1); }
TEST(Counts, SelfLoopsAreNoImages) { hold_on(beside_loops, 600, 1); }
TEST(Counts, ThreadsDoNotMatter) { hold_on(keyed, 150, 3); }

/// Runs random scenarios of induced queries beside the oracle.
void hold_induced(const Traits& traits, int cases, unsigned threads) {
  hold(cases, [&] {
    Scenario scenario = *scenarios(traits);
    for (Standing& standing : scenario.queries) {
      standing.query.within.reset();
      standing.options.induced = standing.options.mode == MatchMode::isomorphism;
    }
    auto subject = consistent_subject(scenario, threads);
    if (subject) (void)judged_run(scenario, *subject, scenario.batches());
  });
}

TEST(Induced, EveryBatchGivesTheDifferenceOfTheAnswers) { hold_induced({}, 600, 1); }
TEST(Induced, EveryBatchGivesTheDifferenceOfTheAnswersIfEdgesHaveKeys) { hold_induced(keyed, 300, 1); }
TEST(Induced, ThreadsDoNotMatter) { hold_induced({}, 100, 3); }

/// The vertex records and late labels of other streams give vertices fresh numbers; here nothing but edges comes and goes.
constexpr Traits events_within{
    .vertex_records = false, .windows = false, .untidy = false, .edges = EdgeModel::events, .within = true, .counts = true};
constexpr Traits keyed_within{
    .vertex_records = false, .windows = false, .untidy = false, .edges = EdgeModel::keyed, .within = true, .counts = true};

constexpr Traits paths_within{.vertex_records = false,
                              .windows = false,
                              .untidy = false,
                              .edges = EdgeModel::events,
                              .attributes = true,
                              .within = true,
                              .paths = true,
                              .counts = true};

/// What a batch must report of a query that counts and has WITHIN.
class WithinJudge {
 public:
  WithinJudge(const Scenario& scenario)
      : scenario_(scenario), model_(scenario.directed, 0, scenario.schema, scenario.reads_vertices(), scenario.retained()) {
    for (const auto& [query, options] : scenario.queries) matchers_.emplace_back(query, options.mode, options.count);
  }

  void take(std::span<const Record> records) {
    before_ = model_.graph();
    watermark_ = outcome_.watermark;
    outcome_ = model_.apply(views(records), scenario_.on_reject);
  }

  /// Throws TooMany.
  std::pair<oracle::Answer, oracle::Answer> vanished_and_appeared(std::size_t query) const {
    const oracle::Matcher& matcher = matchers_[query];
    const Timestamp span = matcher.query().within->microseconds + scenario_.lateness;
    const auto aged = [&](std::optional<Timestamp> watermark) {
      return watermark ? std::optional(*watermark - span) : std::nullopt;
    };
    const oracle::Answer before = matcher.match(before_, enumerable, aged(watermark_));
    const oracle::Answer grown_old = matcher.match(before_, enumerable, aged(outcome_.watermark));
    const oracle::Answer after = matcher.match(model_.graph(), enumerable, aged(outcome_.watermark));
    oracle::Answer vanished;
    oracle::Answer appeared;
    for (const oracle::Embedding& match : before) {
      const bool held = grown_old.contains(match);
      if (held && (deleted(match, span) || (stays(match, span) && !after.contains(match)))) vanished.insert(match);
    }
    for (const oracle::Embedding& match : after) {
      const bool held = before.contains(match) || grown_old.contains(match);
      if ((match.edges.empty() && !before_.vertices.contains(match.vertices[0])) || (!held && stays(match, span)))
        appeared.insert(match);
    }
    std::set<Timestamp> marks;
    for (const auto& [edge, mark] : outcome_.inserted_at) marks.insert(mark);
    for (const Timestamp mark : marks) {  // a match with a new edge is tested with edges as old as they are when it is complete
      for (const oracle::Embedding& match : matcher.match(model_.graph(), enumerable, aged(mark))) {
        if (completed(match) == mark && young(match, span, mark)) appeared.insert(match);
      }
    }
    return {without(vanished, appeared), without(appeared, vanished)};
  }

 private:
  static oracle::Answer without(const oracle::Answer& a, const oracle::Answer& b) {
    oracle::Answer identities;
    for (const oracle::Embedding& match : b) identities.insert(oracle::identity(match));
    oracle::Answer result;
    for (const oracle::Embedding& match : a) {
      if (!identities.contains(oracle::identity(match))) result.insert(match);
    }
    return result;
  }

  /// Whether the batch leaves the match's own edges, or its only vertex, alone, and they are young.
  [[nodiscard]] bool stays(const oracle::Embedding& match, Timestamp span) const {
    const auto there = [&](const oracle::DataGraph& graph) { return graph.vertices.contains(match.vertices[0]); };
    if (match.edges.empty()) return there(before_) && there(model_.graph());
    return std::ranges::all_of(match.edges, [&](const oracle::DataEdge& edge) {
      return !outcome_.inserted.contains(edge) && !outcome_.deleted.contains(edge) &&
             (!outcome_.watermark || (edge.time && *edge.time > *outcome_.watermark - span));
    });
  }

  /// The watermark at the record that inserts the last of its new edges; nothing if it has none.
  [[nodiscard]] std::optional<Timestamp> completed(const oracle::Embedding& match) const {
    std::optional<Timestamp> mark;
    for (const oracle::DataEdge& edge : match.edges) {
      const auto at = outcome_.inserted_at.find(edge);
      if (at != outcome_.inserted_at.end() && outcome_.inserted.contains(edge))
        mark = std::max(mark, std::optional(at->second));
    }
    return mark;
  }

  /// Whether a record deletes one of its edges, and it had not aged then; or an edge of its only vertex, which ceases.
  [[nodiscard]] bool deleted(const oracle::Embedding& match, Timestamp span) const {
    const auto by_record = [&](const oracle::DataEdge& edge) {
      return outcome_.deleted.contains(edge) && outcome_.deleted_at.contains(edge);
    };
    if (match.edges.empty()) {
      const oracle::ExternalId& vertex = match.vertices[0];
      return !model_.graph().vertices.contains(vertex) && std::ranges::any_of(before_.edges, [&](const oracle::DataEdge& edge) {
        return (edge.source == vertex || edge.target == vertex) && by_record(edge);
      });
    }
    std::optional<Timestamp> mark;
    for (const oracle::DataEdge& edge : match.edges) {
      if (by_record(edge)) mark = std::min(mark.value_or(INT64_MAX), outcome_.deleted_at.at(edge));
    }
    return mark && young(match, span, *mark);
  }

  static bool young(const oracle::Embedding& match, Timestamp span, Timestamp mark) {
    return std::ranges::all_of(match.edges,
                               [&](const oracle::DataEdge& edge) { return edge.time && *edge.time + span > mark; });
  }

  const Scenario& scenario_;
  oracle::Model model_;
  std::vector<oracle::Matcher> matchers_;
  oracle::DataGraph before_;
  std::optional<Timestamp> watermark_;
  oracle::Outcome outcome_;
};

std::string text(const oracle::Answer& answer) {
  std::string result;
  for (const oracle::Embedding& match : answer) result += "\n    " + oracle::to_string(match);
  return result;
}

void hold_within(const Traits& traits, int cases, unsigned threads) {
  hold(cases, [&] {
    Scenario scenario = *scenarios(traits);
    for (Standing& standing : scenario.queries) standing.options.list = true;
    auto subject = consistent_subject(scenario, threads);
    if (!subject) return;
    WithinJudge judge(scenario);
    judge.take(scenario.start);
    subject->load(scenario.start);
    for (const auto batch : scenario.batches()) {
      judge.take(batch);
      const Output output = subject->process(batch);
      for (std::size_t q = 0; q < scenario.queries.size(); ++q) {
        oracle::Answer listed[2];
        for (const Listed& match : output.matches) {
          if (match.query == scenario.queries[q].query.name)
            RC_ASSERT(listed[match.added ? 1 : 0].insert(match.embedding).second);
        }
        std::pair<oracle::Answer, oracle::Answer> expected;
        try {
          expected = judge.vanished_and_appeared(q);
        } catch (const oracle::TooMany&) {
          return;
        }
        const std::string where = "batch " + std::to_string(output.result.batch) + ", query " + std::to_string(q);
        if (listed[0] != expected.first) fail(where + ", vanished:" + text(listed[0]) + "\n  expected:" + text(expected.first));
        if (listed[1] != expected.second)
          fail(where + ", appeared:" + text(listed[1]) + "\n  expected:" + text(expected.second));
        RC_ASSERT(output.result.queries[q].removed == Count{listed[0].size()});
        RC_ASSERT(output.result.queries[q].added == Count{listed[1].size()});
      }
    }
  });
}

TEST(CountsWithin, OnlyRecordsTurnConditionsAndEdgesAge) { hold_within(events_within, 1000, 1); }
TEST(CountsWithin, OnlyRecordsTurnConditionsAndEdgesAgeIfEdgesHaveKeys) { hold_within(keyed_within, 1000, 1); }
TEST(CountsWithin, ThreadsDoNotMatter) { hold_within(events_within, 150, 3); }
TEST(CountsWithin, OnlyRecordsTurnConditionsBesidePaths) { hold_within(paths_within, 100, 1); }

/// After a stream, static matching agrees with the oracle.
void hold_static(const Traits& traits, int cases, unsigned threads) {
  hold(cases, [&] {
    Scenario scenario = *scenarios(traits);
    for (Standing& standing : scenario.queries) standing.query.within.reset();
    auto subject = consistent_subject(scenario, threads);
    Judge judge(scenario);
    if (!subject || !judge.take(scenario.start)) return;
    subject->load(scenario.start);
    for (const auto batch : scenario.batches()) {
      if (!judge.take(batch)) return;
      (void)subject->process(batch);
    }
    judge.check_static(subject->engine());
  });
}

TEST(Counts, StaticMatchesAreThoseOfTheGraph) { hold_static(simple, 400, 1); }
TEST(Counts, StaticMatchesOnThreadsAreThoseOfTheGraph) { hold_static(keyed, 150, 3); }

}  // namespace
}  // namespace deltamatch::property

// Under a window, batches of any size report what batches of one record each report, if they go record by record.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "property/draw.hpp"
#include "property/follow.hpp"

namespace deltamatch::property {
namespace {

/// What a run reports.
struct Reported {
  std::multiset<std::tuple<std::string, bool, MatchId>> matches;  // by query and sign
  std::map<std::size_t, std::pair<Count, Count>> counts;          // by query: those that appeared, those that vanished
  std::multiset<std::string> graph;                               // at the end
  friend bool operator==(const Reported&, const Reported&) = default;
};

/// The sign of each match in the order in which it was reported must alternate.
void check_order(std::map<std::pair<std::string, MatchId>, bool>& present, const Listed& match) {
  const auto [at, fresh] = present.emplace(std::pair(match.query, match.id), match.added);
  if (!fresh) {
    RC_ASSERT(at->second != match.added);
    at->second = match.added;
  }
}

Reported report(const Scenario& scenario, std::size_t batch_size, bool by_record, unsigned threads) {
  Subject subject(scenario, threads);
  subject.load(scenario.start);
  Reported reported;
  std::map<std::pair<std::string, MatchId>, bool> present;
  for (const auto records : scenario.batches(batch_size)) {
    UpdateBatch batch = batch_of(records);
    for (bool more = true; more;) {
      Recorder recorder;
      BatchOptions options;
      options.on_reject = OnReject::skip;
      options.record_by_record = by_record;
      if (scenario.lists()) options.sink = &recorder;
      const BatchResult result = subject.engine().process(batch, options).value();
      for (const Listed& match : recorder.finish(result.batch)) {
        reported.matches.emplace(match.query, match.added, match.id);
        check_order(present, match);
      }
      for (std::size_t q = 0; q < result.queries.size(); ++q) {
        reported.counts[q].first += result.queries[q].added;
        reported.counts[q].second += result.queries[q].removed;
      }
      more = result.cut;
      RC_ASSERT(by_record || !more);
      if (!more) break;
      RC_ASSERT(result.consumed > 0U && result.consumed < batch.size());
      batch.drop_first(result.consumed);
    }
  }
  subject.engine().for_each([&](const Update& update) {
    const auto text = [](const Id& id) { return id.is_text() ? std::string(id.text()) : std::to_string(id.number()); };
    reported.graph.insert(text(update.source) + '|' + text(update.target) + '|' + std::string(update.label) + '|' +
                          std::string(update.source_label.value_or("")) + '|' + std::to_string(update.time.value_or(0)));
  });
  return reported;
}

// A case with more matches would take minutes, and shows no more.
constexpr Count most_listed = 20'000;

/// How many matches appear and vanish. They are counted, so that it takes little time however many there are.
Count matches_of(Scenario scenario) {
  for (Standing& standing : scenario.queries) standing.options.list = false;
  Count sum = 0;
  for (const auto& [query, counts] : report(scenario, 1, false, 1).counts) sum += counts.first + counts.second;
  return sum;
}

void hold_window(const Traits& traits, bool lists, int cases, unsigned threads) {
  hold(cases, [=] {
    Scenario scenario = *scenarios(traits);
    if (scenario.window == 0) scenario.window = 10;
    for (Standing& standing : scenario.queries) standing.options.list = lists;
    for (Record& record : scenario.stream) record.continues = false;  // a batch may end behind each
    try {
      const Subject subject(scenario, 1);
    } catch (const Error&) {  // a condition contradicts itself
      return;
    }
    Judge judge(scenario);
    if (!judge.take(scenario.start) || !judge.take(scenario.stream)) return;  // too many to list
    if (lists && matches_of(scenario) > most_listed) return;
    const Reported one = report(scenario, 1, false, 1);
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{7}, scenario.stream.size() + 1}) {
      const Reported other = report(scenario, size, true, threads);
      RC_ASSERT(other.matches == one.matches);
      RC_ASSERT(other.counts == one.counts);
      RC_ASSERT(other.graph == one.graph);
    }
  });
}

constexpr Traits simple{.vertex_records = false, .untidy = false, .insertions = true};
constexpr Traits counting{.vertex_records = false, .untidy = false, .counting = true, .insertions = true};
constexpr Traits events{.vertex_records = false, .untidy = false, .edges = EdgeModel::events, .insertions = true};
constexpr Traits loops{.vertex_records = false, .untidy = false, .insertions = true, .loops = true};

TEST(Window, TheSameMatchesAreReportedForEveryBatchSize) { hold_window(simple, true, 600, 1); }
TEST(Window, TheSameMatchesAreCountedForEveryBatchSize) { hold_window(simple, false, 400, 1); }
TEST(Window, TheSameMatchesAreSummedForEveryBatchSize) { hold_window(counting, false, 400, 1); }
TEST(Window, TheSameMatchesOfEventsAreReportedForEveryBatchSize) { hold_window(events, true, 400, 1); }
TEST(Window, TheSameMatchesOfSelfLoopsAreReportedForEveryBatchSize) { hold_window(loops, true, 400, 1); }
TEST(Window, ThreadsDoNotMatter) { hold_window(simple, true, 60, 3); }

}  // namespace
}  // namespace deltamatch::property

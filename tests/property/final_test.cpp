// EMIT FINAL, compared with the oracle: a match is reported once, in the batch that makes it final, if its condition holds.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "property/draw.hpp"
#include "property/draw_alerts.hpp"
#include "property/follow.hpp"

namespace deltamatch::property {
namespace {

using Kind = Expression::Kind;

Expression node(Kind kind, std::vector<Expression> operands) { return {kind, {}, {}, {}, std::move(operands)}; }

/// The most matches of a query before the condition is tested. The oracle counts anew for each of them.
constexpr std::size_t listed_at_most = 200;

/// A subject, unless a query's condition contradicts itself, or counts nothing any more.
std::optional<Subject> subject_of(const Scenario& scenario, unsigned threads) {
  try {
    return std::optional<Subject>(std::in_place, scenario, threads);
  } catch (const Error& error) {
    if (std::string(error.what()).find("no times satisfy") == std::string::npos) throw;
    return std::nullopt;
  }
}

/// The query without the parts of its condition that count.
Query outside(Query query) {
  const auto counts = [](const auto& self, const Expression& part) -> bool {
    return part.kind == Kind::count ||
           std::ranges::any_of(part.operands, [&](const Expression& each) { return self(self, each); });
  };
  std::vector<Expression> kept;
  std::vector<Expression> parts = query.where->kind == Kind::logical_and ? query.where->operands : std::vector{*query.where};
  for (Expression& part : parts) {
    if (!counts(counts, part)) kept.push_back(std::move(part));
  }
  query.where.reset();
  if (kept.size() == 1) query.where = kept[0];
  if (kept.size() > 1) query.where = node(Kind::logical_and, std::move(kept));
  query.emit_final = false;
  return query;
}

/// What a batch must report, in a graph without a window.
class FinalJudge {
 public:
  FinalJudge(const Waiting& waiting)
      : waiting_(waiting), model_(waiting.scenario.directed, 0, waiting.scenario.schema, waiting.scenario.reads_vertices(), 0) {
    for (const auto& [query, options] : waiting.scenario.queries) {
      Query plain = query;
      plain.emit_final = false;
      matchers_.emplace_back(plain, options.mode, options.count);
      // The symmetries are those of the whole condition, so embeddings are compared.
      outside_.emplace_back(outside(query), options.mode, CountMode::embeddings);
    }
  }

  void take(std::span<const Record> records) {
    before_ = model_.graph();
    watermark_ = outcome_.watermark;
    outcome_ = model_.apply(views(records), waiting_.scenario.on_reject);
  }

  /// Throws TooMany.
  [[nodiscard]] oracle::Answer reported(std::size_t query) const {
    std::map<oracle::Embedding, bool> decided;  // by identity
    for (const oracle::Embedding& match : outside_[query].match(before_, listed_at_most))
      decided[oracle::identity(match)] = passed(moment(query, match), watermark_);
    (void)outside_[query].match(model_.graph(), listed_at_most);  // the engine enumerates them, too
    oracle::Answer answer;
    for (const oracle::Embedding& match : matchers_[query].match(model_.graph(), listed_at_most)) {
      const std::optional<Timestamp> at = moment(query, match);
      if (!passed(at, outcome_.watermark)) continue;
      const bool inserted =
          std::ranges::any_of(match.edges, [&](const oracle::DataEdge& edge) { return outcome_.inserted.contains(edge); });
      const auto was = decided.find(oracle::identity(match));
      if (inserted ? was == decided.end() || !was->second : !passed(at, watermark_)) answer.insert(match);
    }
    return answer;
  }

  /// How many matches are not final.
  [[nodiscard]] std::size_t waiting(std::size_t query) const {
    const oracle::Answer all = matchers_[query].match(model_.graph(), listed_at_most);
    return static_cast<std::size_t>(
        std::ranges::count_if(all, [&](const auto& match) { return !passed(moment(query, match), outcome_.watermark); }));
  }

 private:
  [[nodiscard]] std::optional<Timestamp> moment(std::size_t query, const oracle::Embedding& match) const {
    std::optional<Timestamp> latest;
    for (const auto& [edge, after] : waiting_.bounds[query]) {
      if (match.edges[edge].time) latest = std::max(latest, std::optional(*match.edges[edge].time + after));
    }
    return latest;
  }
  [[nodiscard]] bool passed(std::optional<Timestamp> moment, std::optional<Timestamp> watermark) const {
    return !moment || (watermark && *moment + waiting_.scenario.lateness < *watermark);
  }

  const Waiting& waiting_;
  oracle::Model model_;
  std::vector<oracle::Matcher> matchers_;
  std::vector<oracle::Matcher> outside_;
  oracle::DataGraph before_;
  std::optional<Timestamp> watermark_;
  oracle::Outcome outcome_;
};

std::string text(const oracle::Answer& answer) {
  std::string result;
  for (const oracle::Embedding& match : answer) result += "\n    " + oracle::to_string(match);
  return result;
}

void hold_on(const Traits& traits, int cases, unsigned threads) {
  hold(cases, [&] {
    const std::optional<Waiting> waiting = draw_waiting(traits);
    if (!waiting) return;
    const Scenario& scenario = waiting->scenario;
    auto subject = subject_of(scenario, threads);
    if (!subject) return;
    FinalJudge judge(*waiting);
    judge.take(scenario.start);
    subject->load(scenario.start);
    const std::vector<QueryId> ids = subject->ids();
    for (const auto batch : scenario.batches()) {
      judge.take(batch);
      std::vector<oracle::Answer> expected;
      std::vector<std::size_t> waits;
      try {
        for (std::size_t q = 0; q < scenario.queries.size(); ++q) {
          expected.push_back(judge.reported(q));
          waits.push_back(judge.waiting(q));
        }
      } catch (const oracle::TooMany&) {
        return;
      }
      const Output output = subject->process(batch);
      for (std::size_t q = 0; q < scenario.queries.size(); ++q) {
        oracle::Answer listed;
        for (const Listed& match : output.matches) {
          if (match.query != scenario.queries[q].query.name) continue;
          RC_ASSERT(match.added);
          RC_ASSERT(listed.insert(match.embedding).second);
        }
        const std::string where = "batch " + std::to_string(output.result.batch) + ", query " + std::to_string(q);
        if (listed != expected[q]) fail(where + ", reported:" + text(listed) + "\n  expected:" + text(expected[q]));
        RC_ASSERT(output.result.queries[q].added == Count{listed.size()});
        RC_ASSERT(output.result.queries[q].removed == Count{0});
        RC_ASSERT(subject->engine().waiting(ids[q]) == Count{waits[q]});
      }
    }
  });
}

constexpr Traits events{.windows = false, .edges = EdgeModel::events, .counts = true};
constexpr Traits keyed{.windows = false, .edges = EdgeModel::keyed, .attributes = true, .counts = true};
constexpr Traits windows{
    .vertex_records = false, .untidy = false, .edges = EdgeModel::events, .insertions = true, .counts = true};
constexpr Traits within{.vertex_records = false,
                        .windows = false,
                        .untidy = false,
                        .edges = EdgeModel::events,
                        .within = true,
                        .insertions = true,
                        .counts = true};

TEST(Final, EventsAreReportedWhenNothingCanChangeThem) { hold_on(events, 300, 1); }
TEST(Final, KeyedEdgesAreReportedWhenNothingCanChangeThem) { hold_on(keyed, 600, 1); }
TEST(Final, ThreadsDoNotMatter) { hold_on(keyed, 150, 3); }

std::vector<Listed> sorted(std::vector<Listed> listed) {
  std::ranges::sort(listed, {}, [](const Listed& match) { return std::tuple(match.query, match.added, match.id); });
  return listed;
}

/// What a whole run reports.
std::vector<Listed> reported(const Scenario& scenario, std::size_t batch_size, unsigned threads) {
  Subject subject(scenario, threads);
  std::vector<Listed> all;
  for (const auto records : scenario.batches(batch_size)) {
    UpdateBatch batch = batch_of(records);
    for (bool more = true; more;) {
      Recorder recorder;
      BatchOptions options;
      options.on_reject = OnReject::skip;
      options.record_by_record = true;
      options.sink = &recorder;
      const BatchResult result = subject.engine().process(batch, options).value();
      for (Listed& match : recorder.finish(result.batch)) {
        match.time.reset();
        match.cause.clear();
        all.push_back(std::move(match));
      }
      more = result.cut;
      if (more) batch.drop_first(result.consumed);
    }
  }
  return sorted(std::move(all));
}

oracle::Answer answer_of(const std::vector<Listed>& listed) {
  oracle::Answer answer;
  for (const Listed& match : listed) answer.insert(match.embedding);
  return answer;
}

/// On a stream in order of time without deletions, where batches end does not matter, however time jumps.
void hold_cuts(const Traits& traits, int cases) {
  hold(cases, [&] {
    std::optional<Waiting> waiting = draw_waiting(traits);
    if (!waiting) return;
    Scenario& scenario = waiting->scenario;
    scenario.start.clear();
    Timestamp now = 0;
    for (Record& record : scenario.stream) {
      now += *below(4) == 0 ? *below(30) : *below(3);
      record.time = now;
      record.continues = false;
      record.ahead = *below(8) == 0;  // its time does not move the watermark
    }
    scenario.window = traits.windows ? longest_wait + scenario.lateness + 1 + *below(10) : 0;
    if (!subject_of(scenario, 1)) return;
    Scenario plain = scenario;
    for (Standing& standing : plain.queries) standing.query.emit_final = false;
    plain.window = 0;
    Judge judge(plain);
    if (!judge.take(plain.stream)) return;
    const std::vector<Listed> one = reported(scenario, 1, 1);
    for (const std::size_t size : {std::size_t{2}, std::size_t{7}, scenario.stream.size() + 1}) {
      const std::vector<Listed> other = reported(scenario, size, 1);
      if (other == one) continue;
      fail(rc::toString(scenario) + "\nbatches of 1 report" + text(answer_of(one)) + "\nbatches of " + std::to_string(size) +
           " report" + text(answer_of(other)));
    }
  });
}

constexpr Traits insertions{
    .vertex_records = false, .windows = false, .untidy = false, .edges = EdgeModel::events, .insertions = true, .counts = true};

TEST(Final, WhereBatchesEndDoesNotMatter) { hold_cuts(insertions, 200); }
TEST(Final, WhereBatchesEndDoesNotMatterUnderAWindow) { hold_cuts(windows, 200); }
TEST(Final, WhereBatchesEndDoesNotMatterUnderWithin) { hold_cuts(within, 200); }

/// Whether the oracle can list all matches of a scenario, be they final or not. Lists of others would take very long.
bool listable(const Scenario& scenario) {
  Scenario plain = scenario;
  for (Standing& standing : plain.queries) standing.query.emit_final = false;
  Judge judge(plain);
  if (!judge.take(plain.start)) return false;
  return std::ranges::all_of(plain.batches(), [&](const auto& batch) { return judge.take(batch); });
}

/// A run that goes on from a snapshot reports what an uninterrupted one does.
void hold_interrupted(const Traits& traits, int cases) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / ("final-" + std::to_string(::getpid()) + ".dms");
  hold(cases, [&] {
    const std::optional<Waiting> waiting = draw_waiting(traits);
    if (!waiting) return;
    const Scenario& scenario = waiting->scenario;
    auto whole = subject_of(scenario, 1);
    auto first = subject_of(scenario, 2);
    if (!whole || !first || !listable(scenario)) return;
    for (Subject* subject : {&*whole, &*first}) subject->load(scenario.start);
    const auto batches = scenario.batches();
    const auto at = static_cast<std::size_t>(*below(static_cast<int>(batches.size()) + 1));
    for (std::size_t i = 0; i < at; ++i) RC_ASSERT(first->process(batches[i]).matches == whole->process(batches[i]).matches);
    first->engine().save(path);
    Subject second(scenario, Engine::restore(path, 1));
    for (std::size_t i = at; i < batches.size(); ++i)
      RC_ASSERT(second.process(batches[i]).matches == whole->process(batches[i]).matches);
  });
  std::filesystem::remove(path);
}

TEST(Final, ARestoredEngineGoesOnAsIfItHadNeverStopped) { hold_interrupted(events, 150); }
TEST(Final, ARestoredEngineGoesOnUnderWithin) { hold_interrupted(within, 150); }

}  // namespace
}  // namespace deltamatch::property

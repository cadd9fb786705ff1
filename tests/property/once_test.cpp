// ALERT ONCE, compared with a simulation on top of what the same query reports without it.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
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

using Binding = std::vector<oracle::ExternalId>;

/// What ALERT ONCE lets through of one query.
class Simulation {
 public:
  Simulation(const Standing& standing, Timestamp lateness) : once_(*standing.query.once), lateness_(lateness) {
    std::vector<std::size_t> part_of(standing.query.vertices.size());
    for (std::size_t v = 0; v < part_of.size(); ++v) part_of[v] = v;
    if (standing.options.count == CountMode::subgraphs) {
      Query plain = standing.query;
      plain.once.reset();
      for (const oracle::Automorphism& symmetry : oracle::automorphisms(plain)) {
        for (std::size_t v = 0; v < part_of.size(); ++v) part_of[v] = std::min(part_of[v], symmetry.vertices[v]);
      }
    }
    std::map<std::size_t, std::vector<std::uint32_t>> parts;
    for (const std::uint32_t v : once_.vertices) parts[part_of[v]].push_back(v);
    for (auto& [first, part] : parts) parts_.push_back(std::move(part));
  }

  struct Reported {
    oracle::Answer removed;
    oracle::Answer added;
    std::uint64_t suppressed = 0;
  };

  /// `found`: what the query reports without ALERT ONCE. `ids`: those of the matches under it.
  Reported take(const std::vector<Listed>& found, const std::map<oracle::Embedding, MatchId>& ids,
                std::optional<Timestamp> watermark) {
    Reported result;
    std::vector<std::tuple<Timestamp, MatchId, const Listed*>> candidates;
    for (const Listed& match : found) {
      if (match.added) {
        candidates.emplace_back(time_of(match, watermark), ids.at(match.embedding), &match);
      } else if (reported_.erase(oracle::identity(match.embedding)) > 0) {
        result.removed.insert(match.embedding);
      }
    }
    std::ranges::sort(candidates);
    for (const auto& [time, id, match] : candidates) {
      const auto [last, fresh] = last_.try_emplace(binding_of(match->embedding), time);
      const bool past = !fresh && before_ && last->second + once_.every.microseconds + lateness_ <= *before_;
      if (!fresh && !past && time < last->second + once_.every.microseconds) {
        reported_.erase(oracle::identity(match->embedding));
        ++result.suppressed;
        continue;
      }
      last->second = time;
      reported_.insert(oracle::identity(match->embedding));
      result.added.insert(match->embedding);
    }
    before_ = watermark;
    return result;
  }

  void begin(std::optional<Timestamp> watermark) { before_ = watermark; }

 private:
  [[nodiscard]] Binding binding_of(const oracle::Embedding& match) const {
    Binding binding;
    for (const std::vector<std::uint32_t>& part : parts_) {
      Binding images;
      for (const std::uint32_t v : part) images.push_back(match.vertices[v]);
      std::ranges::sort(images);
      binding.insert(binding.end(), images.begin(), images.end());
    }
    return binding;
  }

  [[nodiscard]] Timestamp time_of(const Listed& match, std::optional<Timestamp> watermark) const {
    std::optional<Timestamp> newest;
    for (const oracle::DataEdge& edge : match.embedding.edges) newest = std::max(newest, edge.time);
    if (!match.cause.empty() && newest) return std::max(*newest, before_.value_or(INT64_MIN / 2));
    return watermark.value_or(INT64_MIN / 2);
  }

  AlertOnce once_;
  Timestamp lateness_;
  std::vector<std::vector<std::uint32_t>> parts_;
  std::optional<Timestamp> before_;
  std::map<Binding, Timestamp> last_;
  std::set<oracle::Embedding> reported_;  // identities
};

oracle::Answer answer_of(const std::vector<Listed>& listed, const std::string& query, bool added) {
  oracle::Answer answer;
  for (const Listed& match : listed) {
    if (match.query == query && match.added == added) answer.insert(match.embedding);
  }
  return answer;
}

/// The ids of all matches of a query in the engine's graph.
std::map<oracle::Embedding, MatchId> ids_of(Engine& engine, const Standing& standing) {
  Recorder recorder;
  StaticOptions options;
  options.query = standing.options;
  (void)engine.match(standing.query, options, &recorder);
  std::map<oracle::Embedding, MatchId> ids;
  for (const Listed& match : recorder.finish(0)) ids.emplace(match.embedding, match.id);
  return ids;
}

Scenario draw(const Traits& traits) {
  Scenario scenario = *scenarios(traits);
  for (Standing& standing : scenario.queries) {
    draw_once(standing, traits.within);
  }
  return scenario;
}

/// A subject, unless a query's condition contradicts itself.
std::optional<Subject> subject_of(const Scenario& scenario, unsigned threads) {
  try {
    return std::optional<Subject>(std::in_place, scenario, threads);
  } catch (const Error& error) {
    if (std::string(error.what()).find("no times satisfy") == std::string::npos) throw;
    return std::nullopt;
  }
}

bool too_many(const Scenario& scenario) {
  Judge judge(scenario);
  if (!judge.take(scenario.start)) return true;
  return std::ranges::any_of(scenario.batches(), [&](const auto batch) { return !judge.take(batch); });
}

void hold_on(const Traits& traits, int cases, unsigned threads) {
  hold(cases, [&] {
    const Scenario scenario = draw(traits);
    Scenario plain = scenario;
    for (Standing& standing : plain.queries) standing.query.once.reset();
    auto subject = subject_of(scenario, threads);
    auto other = subject_of(plain, 1);
    if (!subject || !other || too_many(plain)) return;
    subject->load(scenario.start);
    other->load(scenario.start);
    std::vector<Simulation> simulations;
    for (const Standing& standing : scenario.queries)
      simulations.emplace_back(standing, scenario.lateness).begin(subject->engine().watermark());
    for (const auto batch : scenario.batches()) {
      const Output output = subject->process(batch);
      const Output all = other->process(batch);
      for (std::size_t q = 0; q < scenario.queries.size(); ++q) {
        const std::string& name = scenario.queries[q].query.name;
        std::vector<Listed> found;
        std::ranges::copy_if(all.matches, std::back_inserter(found), [&](const Listed& match) { return match.query == name; });
        const auto expected =
            simulations[q].take(found, ids_of(subject->engine(), scenario.queries[q]), output.result.watermark);
        RC_ASSERT(answer_of(output.matches, name, false) == expected.removed);
        RC_ASSERT(answer_of(output.matches, name, true) == expected.added);
        RC_ASSERT(output.result.queries[q].suppressed == Count{expected.suppressed});
        RC_ASSERT(output.result.queries[q].added == Count{expected.added.size()});
        RC_ASSERT(output.result.queries[q].removed == Count{expected.removed.size()});
      }
    }
  });
}

constexpr Traits simple{.windows = false};
constexpr Traits events{.windows = false, .edges = EdgeModel::events};
constexpr Traits keyed{.windows = false, .edges = EdgeModel::keyed, .attributes = true};
constexpr Traits counted{.windows = false, .edges = EdgeModel::events, .counts = true};
constexpr Traits within{.vertex_records = false, .windows = false, .untidy = false, .edges = EdgeModel::events, .within = true};

TEST(Once, AlertsAreThoseOfTheSimulation) { hold_on(simple, 200, 1); }
TEST(Once, AlertsOfEventsAreThoseOfTheSimulation) { hold_on(events, 200, 1); }
TEST(Once, AlertsOfKeyedEdgesAreThoseOfTheSimulation) { hold_on(keyed, 200, 1); }
TEST(Once, AlertsOfCountsAreThoseOfTheSimulation) { hold_on(counted, 200, 1); }
TEST(Once, ThreadsDoNotMatter) { hold_on(keyed, 60, 3); }

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("once-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::filesystem::path file() const { return path_ / "snapshot.dms"; }

 private:
  std::filesystem::path path_;
};

std::vector<Listed> sorted(std::vector<Listed> listed) {
  std::ranges::sort(listed, {}, [](const Listed& match) { return std::tuple(match.query, match.added, match.id); });
  return listed;
}

/// A run that goes on from a snapshot, or after absorbing, reports what an uninterrupted one does.
void hold_interrupted(const Traits& traits, int cases) {
  const Folder folder;
  hold(cases, [&] {
    const Scenario scenario = draw(traits);
    auto whole = subject_of(scenario, 1);
    auto first = subject_of(scenario, 2);
    auto absorbing = subject_of(scenario, 1);
    Scenario plain = scenario;
    for (Standing& standing : plain.queries) standing.query.once.reset();
    if (!whole || !first || too_many(plain)) return;
    for (Subject* subject : {&*whole, &*first, &*absorbing}) subject->load(scenario.start);
    const auto batches = scenario.batches();
    const std::size_t at = static_cast<std::size_t>(*below(static_cast<int>(batches.size()) + 1));
    std::vector<std::vector<Listed>> expected;
    for (const auto batch : batches) expected.push_back(whole->process(batch).matches);
    for (std::size_t i = 0; i < at; ++i) {
      (void)first->process(batches[i]);
      absorbing->engine().absorb(batch_of(batches[i]));
    }
    first->engine().save(folder.file());
    Subject second(scenario, Engine::restore(folder.file(), 1));
    second.engine().save(folder.file());
    Subject third(scenario, Engine::restore(folder.file(), 1));
    for (std::size_t i = at; i < batches.size(); ++i) {
      RC_ASSERT(third.process(batches[i]).matches == expected[i]);
      if (scenario.on_reject == OnReject::skip) RC_ASSERT(absorbing->process(batches[i]).matches == expected[i]);
    }
  });
}

TEST(Once, ARestoredEngineGoesOnAsIfItHadNeverStopped) { hold_interrupted(events, 150); }
TEST(Once, ARestoredEngineGoesOnUnderWithin) { hold_interrupted(within, 100); }
TEST(Once, ARestoredEngineGoesOnWithKeys) { hold_interrupted(keyed, 100); }

/// What a whole run reports.
std::vector<Listed> reported(const Scenario& scenario, std::size_t batch_size, unsigned threads) {
  Subject subject(scenario, threads);
  std::vector<Listed> all;
  for (const auto batch : scenario.batches(batch_size)) {
    for (Listed& match : subject.process(batch).matches) {
      match.time.reset();
      match.cause.clear();
      all.push_back(std::move(match));
    }
  }
  return sorted(std::move(all));
}

/// On a stream in order of time without deletions, where batches end does not matter.
TEST(Once, TheSameAlertsComeForEveryBatchSize) {
  hold(200, [] {
    Scenario scenario =
        draw({.vertex_records = false, .windows = false, .untidy = false, .edges = EdgeModel::events, .insertions = true});
    scenario.start.clear();
    for (std::size_t i = 0; i < scenario.stream.size(); ++i) {
      scenario.stream[i].time = 3 * static_cast<Timestamp>(i);
      scenario.stream[i].continues = false;
    }
    Scenario plain = scenario;
    for (Standing& standing : plain.queries) standing.query.once.reset();
    if (!subject_of(scenario, 1) || too_many(plain)) return;
    const std::vector<Listed> one = reported(scenario, 1, 1);
    for (const std::size_t size : {std::size_t{2}, std::size_t{7}, scenario.stream.size() + 1})
      RC_ASSERT(reported(scenario, size, size == 2 ? 3 : 1) == one);
  });
}

}  // namespace
}  // namespace deltamatch::property

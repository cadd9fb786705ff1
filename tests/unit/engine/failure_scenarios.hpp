// What the tests of failures do to an engine: streams of every kind, with one batch that fails.
#pragma once

#include <string>
#include <vector>

#include "deltamatch/engine.hpp"

namespace deltamatch::test {

using Updates = std::vector<Update>;

UpdateBatch batch_of(const Updates& updates);

struct StandingQuery {
  const char* pattern;
  QueryOptions options;
};

struct Scenario {
  const char* name;
  EngineOptions options;
  std::vector<StandingQuery> queries;
  Updates start;  // loaded in bulk
  std::vector<Updates> before;
  Updates batch;  // the one that fails
  Updates after;  // shows hidden state of the graph, such as the window's entries

  [[nodiscard]] Engine engine() const { return engine(options); }
  [[nodiscard]] Engine engine(const EngineOptions& wanted) const {
    Engine engine(wanted);
    for (std::size_t q = 0; q < queries.size(); ++q)
      engine.add_query(parse_pattern(queries[q].pattern, "q" + std::to_string(q)), queries[q].options);
    engine.load(batch_of(start));
    for (const Updates& updates : before) engine.process(batch_of(updates));
    return engine;
  }
};

inline constexpr QueryOptions counting{};
inline constexpr QueryOptions listing{MatchMode::isomorphism, CountMode::subgraphs, true};
inline constexpr QueryOptions homomorphisms{MatchMode::homomorphism, CountMode::embeddings, false};
inline constexpr const char* triangle = "(a)-->(b)-->(c)-->(a)";

Scenario directed_scenario();
Scenario undirected_scenario();
/// These, and scenarios of windows, relations, labels, vertices, keys and events.
std::vector<Scenario> failure_scenarios();

}  // namespace deltamatch::test

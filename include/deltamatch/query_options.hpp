// What a standing query asks for, and what it may use.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "deltamatch/match.hpp"
#include "deltamatch/query.hpp"

namespace deltamatch {

class Planner;

struct QueryOptions {
  MatchMode mode = MatchMode::isomorphism;
  CountMode count = CountMode::subgraphs;
  bool list = false;  ///< report matches to the sink and digest them; otherwise they are only counted
  /// Of a standing query, with isomorphism: no edges but those of the match join its vertices. Matches keep their ids. Whole
  /// graphs have an option of their own, StaticOptions::induced.
  bool induced = false;
  /// Chooses the order in which the query's vertices are matched (deltamatch/planner.hpp). Null: default_planner. It must
  /// outlive whatever uses the query. It does not change results, so it is not part of the fingerprint.
  const Planner* planner = nullptr;
  friend bool operator==(const QueryOptions&, const QueryOptions&) = default;
};

/// A query that is to be registered.
struct NewQuery {
  Query query{};
  QueryOptions options{};
};

/// Identifies a standing query. Ids are never reused within one engine.
enum class QueryId : std::uint32_t {};

/// Limits what one standing query may use of a batch's matching. Both limits are per batch.
struct QueryBudget {
  /// The query's share of the time in which the batch is matched. If half of the threads match the query, half of the time
  /// counts. It is measured by sampling the threads every few milliseconds, so it depends on the machine.
  std::optional<std::chrono::nanoseconds> time{};
  /// New and removed matches together. Whether a query exceeds this does not depend on the machine. Which of its matches were
  /// found by then does.
  std::optional<std::uint64_t> matches{};
  [[nodiscard]] bool any() const noexcept { return time || matches; }
  friend bool operator==(const QueryBudget&, const QueryBudget&) = default;
};

/// 32 lower-case hexadecimal digits that identify a query. They are equal for two queries iff these find the same matches in
/// all graphs, under equal ids. Names do not matter.
[[nodiscard]] std::string query_fingerprint(const Query& query, const QueryOptions& options);

}  // namespace deltamatch

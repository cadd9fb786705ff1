// Lets queries stand while batches are repeated, so that what they remember is as it was after each batch.
//
// Only queries with ALERT ONCE remember anything, so only these stand. A batch that is repeated names the queries that stood in
// it. Their definitions come from the configuration. One that is no longer configured is removed by the next change of queries,
// and what it remembered is forgotten then.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/commit_point.hpp"

namespace deltamatch::ingest {

/// The definitions of the queries that remember. Any thread may call the members.
class KnownQueries {
 public:
  KnownQueries() = default;
  explicit KnownQueries(std::span<const ServiceQuery> queries) { add(queries); }

  /// Adds those that remember and are not known yet.
  void add(std::span<const ServiceQuery> queries);

  struct Known {
    ActiveQuery active;
    NewQuery query;
  };
  /// Those of the queries that are known, in their order.
  [[nodiscard]] std::vector<Known> among(std::span<const ActiveQuery> active) const;

 private:
  mutable std::mutex mutex_;
  std::vector<Known> known_;
};

/// Not thread-safe.
class RepeatedQueries {
 public:
  /// The engine must outlive it, and no query may stand in it. So must `known`, which may be null: no query remembers.
  RepeatedQueries(Engine& engine, const KnownQueries* known) : engine_(&engine), known_(known) {}

  /// Lets exactly those known queries stand that stood in this batch, and sets what else its mark says of the engine.
  void stand(const CommitPoint& mark);
  [[nodiscard]] bool any() const noexcept { return !standing_.empty(); }
  /// Removes the queries. What they remember passes to the queries that stand in the next batch.
  void leave();

 private:
  Engine* engine_;
  const KnownQueries* known_;
  std::vector<ActiveQuery> standing_;
  std::vector<QueryId> ids_;
};

}  // namespace deltamatch::ingest

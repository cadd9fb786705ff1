// The standing queries: which of them the engine has, and what a configuration changes about them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "ingest/service/alert/router.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/commit_point.hpp"

namespace deltamatch::ingest {

struct QueryChange {
  std::vector<ServiceQuery> added;   ///< a query with an old name but another definition is both removed and added
  std::vector<std::string> removed;  ///< names
  std::uint64_t batch = 0;           ///< that committed the change; if nothing changed, the last one before
  [[nodiscard]] bool empty() const noexcept { return added.empty() && removed.empty(); }
};

/// Not thread-safe: only the engine's thread may call it.
class StandingQueries {
 public:
  /// Writes alerts of matches that exist already to the router. What it throws refuses the change.
  using ListExisting = std::function<void(std::span<const ServiceQuery> queries)>;

  /// Both must outlive it. No query stands yet.
  StandingQueries(Engine& engine, RoutedSink& router) : engine_(&engine), router_(&router) {}

  /// Makes exactly these queries stand from the next batch on, each with its sinks and budget. Returns the changes compared
  /// with `before`. Those of the added queries that report existing matches are first given to `list`, if
  /// there is one. Its alerts are part of the next batch. Throws Error, and changes nothing, if a query does not fit the graph
  /// or the sinks.
  QueryChange replace(std::vector<ServiceQuery> wanted, std::span<const ActiveQuery> before, const ListExisting& list = {});

  /// Removes queries from the next batch on, until replace() is called with them again.
  void suspend(std::span<const QueryId> queries);

  struct Named {
    QueryId id;
    const ServiceQuery* query;
    std::string_view fingerprint;
  };
  /// The standing queries, in order of registration. Valid until the next change.
  [[nodiscard]] std::vector<Named> standing() const;

  /// Processes a batch as Engine::process does, with the router as the sink. If no query lists, the router still reports what
  /// it suppressed before.
  [[nodiscard]] std::optional<BatchResult> process(const UpdateBatch& batch, BatchOptions options) const;

  /// The standing queries by name, in the form for marks.
  [[nodiscard]] std::vector<ActiveQuery> active() const;
  /// The names, in the order in which the engine reports the queries.
  [[nodiscard]] std::shared_ptr<const std::vector<std::string>> names() const noexcept { return names_; }

 private:
  struct Standing {
    ServiceQuery query;
    std::string fingerprint;
    QueryId id{};
  };

  [[nodiscard]] static QueryChange changes(std::span<const ActiveQuery> before, std::span<const Standing> next);

  Engine* engine_;
  RoutedSink* router_;
  std::vector<Standing> standing_;  // in order of registration
  std::shared_ptr<const std::vector<std::string>> names_ = std::make_shared<std::vector<std::string>>();
};

}  // namespace deltamatch::ingest

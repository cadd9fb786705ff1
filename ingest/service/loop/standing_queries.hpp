// The queries that stand: which the engine has, and what a configuration changes about them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "deltamatch/engine.hpp"
#include "ingest/service/alert/router.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/mark.hpp"

namespace deltamatch::ingest {

struct QueryChange {
  std::vector<ServiceQuery> added;   ///< a query that asks for something else under an old name is removed and added
  std::vector<std::string> removed;  ///< names
  [[nodiscard]] bool empty() const noexcept { return added.empty() && removed.empty(); }
};

/// Not thread-safe: the engine's thread calls it.
class StandingQueries {
 public:
  /// Both outlive it. No query stands yet.
  StandingQueries(Engine& engine, AlertRouter& router) : engine_(&engine), router_(&router) {}

  /// Lets exactly these stand from the next batch on, routed to their sinks, each with its budget. Gives what that changes
  /// beside `before`. Throws Error and leaves everything as it was where a query fits neither graph nor sinks.
  QueryChange replace(std::vector<ServiceQuery> wanted, std::span<const ActiveQuery> before);

  /// Takes queries away until replace is called with them again. From the next batch on.
  void suspend(std::span<const QueryId> queries);

  struct Named {
    QueryId id;
    const ServiceQuery* query;
    std::string_view fingerprint;
  };
  /// Those that stand, in order of registration; valid until the next change.
  [[nodiscard]] std::vector<Named> standing() const;

  /// By name, as marks hold them.
  [[nodiscard]] std::vector<ActiveQuery> active() const;
  /// Names in the order in which the engine reports them.
  [[nodiscard]] std::shared_ptr<const std::vector<std::string>> names() const noexcept { return names_; }

 private:
  struct Standing {
    ServiceQuery query;
    std::string fingerprint;
    QueryId id{};
  };

  Engine* engine_;
  AlertRouter* router_;
  std::vector<Standing> standing_;  // in order of registration
  std::shared_ptr<const std::vector<std::string>> names_ = std::make_shared<std::vector<std::string>>();
};

}  // namespace deltamatch::ingest

// Lists the matches that exist already when a query is added.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "deltamatch/engine.hpp"
#include "ingest/service/alert/router.hpp"
#include "ingest/service/loop/batch_monitor.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

/// What bounds a listing of existing matches, and who watches it.
struct ExistingWatch {
  ExistingOptions limits;
  BatchMonitor* monitor = nullptr;
};

/// Writes what matches these queries in the engine's graph to the router, as alerts of the next batch without causes. Those of
/// a query come in the order of their ids, so an engine in the same state writes the same. With a watch, each query keeps
/// within its own budget, and all of them within the limits. Throws Error(configuration) if they would not. Returns nothing if
/// the monitor's service stops. In both cases, the router has got a part of the alerts. Else it returns the number of matches
/// by query.
[[nodiscard]] std::optional<std::map<std::string, Count>> list_existing(Engine& engine, AlertRouter& router,
                                                                        std::span<const ServiceQuery> queries,
                                                                        const std::optional<ExistingWatch>& watch);

}  // namespace deltamatch::ingest

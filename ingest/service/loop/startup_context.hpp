// What a start and a standby need of the service.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "ingest/service/journal.hpp"
#include "ingest/service/kafka/client.hpp"
#include "ingest/service/loop/schema_waits.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/directory.hpp"
#include "ingest/service/state/repeated_queries.hpp"
#include "ingest/service/state/share.hpp"

namespace deltamatch::ingest {

/// A change of a query that was made over HTTP.
struct MadeQuery {
  std::string name;
  std::uint64_t batch = 0;            ///< from this batch on
  std::optional<ServiceQuery> query;  ///< nothing if it was deleted, or no longer fits the configuration
};

struct StartupContext {
  const ServiceOptions& options;
  const kafka::Cluster& cluster;
  const StateDirectory& directory;
  Journal& journal;
  std::function<void(std::string)> progress;  ///< gets one line of text regularly
  std::stop_token stop;
  const KnownQueries* known;  ///< the queries that remember; null: none does
  SchemaWaits& schemas;
  SnapshotShare* share = nullptr;     ///< null: nothing is shared
  std::span<const MadeQuery> made{};  ///< in the order in which the changes took effect
  std::function<void()> waits{};      ///< called again and again while brokers are waited for
};

/// Calls `attempt` until it throws no kafka::Unreachable, and tells the journal each time. Throws what a stop requires:
/// StartupCancelled.
void until_answered(const StartupContext& context, const std::function<void()>& attempt);

}  // namespace deltamatch::ingest

// What a start and a standby need of the service.
#pragma once

#include <functional>
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

struct StartupContext {
  const ServiceOptions& options;
  const kafka::Cluster& cluster;
  const StateDirectory& directory;
  Journal& journal;
  std::function<void(std::string)> progress;  ///< gets one line of text regularly
  std::stop_token stop;
  const KnownQueries* known;  ///< the queries that remember; null: none does
  SchemaWaits& schemas;
  SnapshotShare* share = nullptr;  ///< null: nothing is shared
};

}  // namespace deltamatch::ingest

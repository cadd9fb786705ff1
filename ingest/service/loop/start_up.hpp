// Takes a new owner to an engine at the last commit record.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "ingest/service/journal.hpp"
#include "ingest/service/kafka/commit_log.hpp"
#include "ingest/service/kafka/input.hpp"
#include "ingest/service/kafka/transactions.hpp"
#include "ingest/service/loop/schema_waits.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/directory.hpp"
#include "ingest/service/state/recovery.hpp"
#include "ingest/service/state/repeated_queries.hpp"

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
};

/// An engine at the application's last commit record, and the log after it. Without commit record and state, this is the first
/// start. Then the start graph is loaded, and the input's first offsets are fixed. Both are written as batch 0 before anything
/// is read. Lost state is rebuilt from the input, with the batches of the commit records.
///
/// Throws Error if state and commit records do not belong together, or if needed input is no longer retained. So an empty graph
/// never replaces a lost one. Throws StartupCancelled.
[[nodiscard]] Recovered start_up(const StartupContext& context, kafka::Input& input, kafka::Transactions& transactions);

/// A stop was requested in the meantime.
class StartupCancelled : public Error {
 public:
  StartupCancelled() : Error("service", "stopped") {}
};

/// The entry of the input's topics that says how a topic is read. It is the first entry with the topic's name, else the first
/// whose expression matches. Throws Error if there is none.
[[nodiscard]] std::size_t entry_of(const std::vector<InputTopics>& topics, const std::string& topic);

}  // namespace deltamatch::ingest

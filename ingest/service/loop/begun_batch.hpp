// Completes a batch whose owner left after publishing only a part of its alerts.
#pragma once

#include <functional>
#include <string>

#include "ingest/service/journal.hpp"
#include "ingest/service/kafka/transactions.hpp"
#include "ingest/service/loop/assembler.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/directory.hpp"
#include "ingest/service/state/publish_progress.hpp"
#include "ingest/service/state/recovery.hpp"

namespace deltamatch::ingest {

struct BegunBatch {
  const ServiceOptions& options;
  const StateDirectory& directory;
  Journal& journal;
  const BatchProgress& progress;
};

/// Restores the log's entry for the batch, if another instance cut the batch or its log is lost. Matches the batch again, with
/// the queries that were standing then. `recovered` is at the state before the batch, and at the state after it on return.
/// `batch` is the input that the batch's mark cuts out. Throws Error(configuration) if its queries are no longer configured.
void match_again(const BegunBatch& begun, Recovered& recovered, InputBatch batch);

/// Publishes the rest of the batch, which the log must hold, and commits it. `progress` gets a line of text regularly. Throws
/// Error(configuration) if one of its sinks is no longer configured. Otherwise throws as LargeBatch::publish.
void publish_rest(const BegunBatch& begun, kafka::Transactions& transactions, const std::function<void(std::string)>& progress);

}  // namespace deltamatch::ingest

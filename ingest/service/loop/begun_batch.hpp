// A batch whose alerts were published in part when its owner went.
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

/// Makes the log hold the batch, which another instance cut, or whose log is lost: matches it again, with the queries that
/// stood then. `recovered` stands before the batch, and behind it afterwards. `batch`: what its mark cuts out of the input.
/// Throws Error(configuration) if the queries are configured no more, or the order of the alerts cannot be told again because a
/// query was added that reports existing matches.
void match_again(const BegunBatch& begun, Recovered& recovered, InputBatch batch);

/// Publishes what is missing of the batch, which the log holds, and commits it. Throws Error(configuration) if one of its sinks
/// is configured no more; else as LargeBatch::publish. `progress` is told one line now and then.
void publish_rest(const BegunBatch& begun, kafka::Transactions& transactions, const std::function<void(std::string)>& progress);

}  // namespace deltamatch::ingest

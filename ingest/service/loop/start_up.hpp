// Takes a new owner to an engine at the last commit record.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>

#include "ingest/service/journal.hpp"
#include "ingest/service/kafka/commit_log.hpp"
#include "ingest/service/kafka/input.hpp"
#include "ingest/service/kafka/transactions.hpp"
#include "ingest/service/loop/recutter.hpp"
#include "ingest/service/loop/startup_context.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/directory.hpp"
#include "ingest/service/state/recovery.hpp"
#include "ingest/service/state/repeated_queries.hpp"
#include "ingest/service/state/share.hpp"

namespace deltamatch::ingest {

/// An engine at the application's last commit record, and the log after it. Without commit record and state, this is the first
/// start. Then the start graph is loaded, and the input's first offsets are fixed. Both are written as batch 0 before anything
/// is read. Lost state is rebuilt from the newest shared snapshot, if there is one, and the input, with the batches of the
/// commit records. `warm` is what a standby holds; it takes the place of the state directory.
///
/// Throws Error if state and commit records do not belong together, or if needed input is no longer retained. So an empty graph
/// never replaces a lost one. A share that cannot be reached is waited for, if the input does not suffice without it. Throws
/// StartupCancelled.
[[nodiscard]] Recovered start_up(const StartupContext& context, kafka::Input& input, kafka::Transactions& transactions,
                                 std::optional<Warm> warm = {});

/// Throws Error(configuration) if workers share the application, as the last record says that `commits` has read.
void must_work_alone(const kafka::CommitLog& commits);

/// Makes batch 0 and commits its mark: the start graph, and the starts of the input. There must be no commit record.
[[nodiscard]] Recovered first_start(const StartupContext& context, kafka::Input& input, kafka::Transactions& transactions);

/// Makes the newest shared snapshot after `after` and up to `up_to` one of the state directory. `committed` is the last
/// committed batch. Returns false if there is none; broken ones are passed over. Uses the position of `commits`. Throws as
/// SnapshotShare and CommitLog do.
[[nodiscard]] bool fetch_newer(const StartupContext& context, kafka::CommitLog& commits, std::optional<std::uint64_t> after,
                               std::uint64_t committed, std::uint64_t up_to = std::numeric_limits<std::uint64_t>::max());

/// Why the batches after this mark cannot be read from the input: the first partition that lost records of them, with offsets.
/// Empty if they can. With `up_to`, batches after that mark do not count. Throws Error if a partition is gone, Unreachable.
[[nodiscard]] std::string not_retained(kafka::Input& input, const CommitPoint& mark, kafka::Deadline deadline,
                                       const CommitPoint* up_to = nullptr);

}  // namespace deltamatch::ingest

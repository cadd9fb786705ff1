// Restores the engine of the last commit record from the state directory.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "deltamatch/engine.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/state/commit_point.hpp"
#include "ingest/service/state/directory.hpp"
#include "ingest/service/state/log.hpp"
#include "ingest/service/state/log_replay.hpp"
#include "ingest/service/state/repeated_queries.hpp"

namespace deltamatch::ingest {

struct RecoveryProgress {
  std::uint64_t batches = 0;        ///< batches replayed
  std::uint64_t batches_total = 0;  ///< batches to replay
  std::uint64_t updates = 0;        ///< updates in the replayed batches
};

struct RecoveryInput {
  std::optional<CommitPoint> committed;  ///< the last commit record; empty if nothing was ever committed
  /// The commit record of an earlier batch, if it is still known. If the log has a different batch, that batch was never
  /// committed, because another owner committed its own. The log then ends before it. Called for ascending batches. May be
  /// null. `committed` itself is always compared with the log.
  std::function<std::optional<CommitPoint>(std::uint64_t batch)> record;
  /// The mark of the batch after `committed`, if its alerts are partly published. If the log has that batch, it stays there,
  /// and the engine absorbs it.
  std::optional<CommitPoint> begun;
  EngineOptions engine;
  std::function<Engine()> begin;                          ///< creates the engine before the first batch
  std::function<void(const RecoveryProgress&)> progress;  ///< called after each batch; may be null
  const KnownQueries* queries = nullptr;                  ///< those that remember; null: none does
  /// Recovers no batch after this one, although more may be committed. The log then ends there.
  std::uint64_t up_to = std::numeric_limits<std::uint64_t>::max();
};

struct Recovered {
  Engine engine;
  CommitPoint reached;  ///< the state of the engine: its commit record, or input.begun. If it is before input.committed, the
                        ///< log is lost from batch reached.batch + 1 on
  /// Continues after the last committed batch, even if the batches that `reached` lacks are lost in it. It knows the positions
  /// of the sinks and what they wait for. If another owner committed a different version of one of its batches, it ends before
  /// that one.
  std::unique_ptr<Log> log;
  bool logged = true;  ///< whether the snapshots and the log lead to this engine, as far as it goes
};

/// An engine that was held in memory.
struct Warm {
  Base base;
  bool logged = false;  ///< whether the state directory alone leads to it
};

/// Restores the newest sound snapshot of a committed batch; others are set aside. Without a snapshot it starts with the state
/// before the first batch. Then it replays the log up to the last committed batch, and drops what follows.
///
/// Throws Error, and leaves the directory unchanged, if no commit record covers a snapshot. The same holds for a log without
/// any commit record. The records were then lost, or belong to another cluster. Throws Error, too, if its files cannot be read
/// at all.
///
/// `warm` takes the place of the snapshots, if its batch was committed.
[[nodiscard]] Recovered recover(const StateDirectory& directory, const RecoveryInput& input, Journal& journal,
                                std::optional<Warm> warm = {});

/// The first part of recover(), which leaves the log as it is. Takes the newest sound snapshot, or the state before the first
/// batch. Then it replays the log up to the last committed batch.
[[nodiscard]] Base restore_committed(const StateDirectory& directory, const RecoveryInput& input, Journal& journal);

}  // namespace deltamatch::ingest

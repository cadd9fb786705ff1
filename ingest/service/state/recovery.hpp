// From the state directory to an engine that stands where the last commit record says.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "deltamatch/engine.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/state/directory.hpp"
#include "ingest/service/state/log.hpp"
#include "ingest/service/state/mark.hpp"

namespace deltamatch::ingest {

struct RecoveryProgress {
  std::uint64_t batches = 0;        ///< replayed
  std::uint64_t batches_total = 0;  ///< to replay
  std::uint64_t updates = 0;        ///< in them
};

struct RecoveryInput {
  std::optional<Mark> committed;  ///< the last commit record; empty: nothing was ever committed
  /// The commit record of an earlier batch, where it is still known. A batch that the log tells otherwise was never committed
  /// as it stands there (another owner committed its own): the log ends before it. Asked for ascending batches. May be null;
  /// `committed` itself is always held against the log.
  std::function<std::optional<Mark>(std::uint64_t batch)> record;
  /// Of the batch behind `committed`, if its alerts are published in part: where the log has that batch it stays, and the
  /// engine takes it.
  std::optional<Mark> begun;
  EngineOptions engine;
  std::function<Engine()> begin;                          ///< makes the engine before the first batch
  std::function<void(const RecoveryProgress&)> progress;  ///< called after each batch; may be null
};

struct Recovered {
  Engine engine;
  Mark reached;  ///< where it stands, as its commit record tells it, or input.begun. Before input.committed: the log is lost
                 ///< from batch reached.batch + 1 on
  /// Goes on behind the last committed batch, also if what `reached` lacks is lost in it: it knows where the sinks stand and
  /// what they wait for. If another owner committed one of its batches otherwise it ends before that one.
  std::unique_ptr<Log> log;
};

/// Takes the newest sound snapshot of a committed batch (others are set aside), or where there is none what was before the
/// first batch, and replays the log up to the last committed batch. What lies beyond in the log is dropped. Throws Error, and
/// leaves the directory as it is, where it holds a snapshot that no commit record covers, or a log although there is no commit
/// record at all: the records were lost, or are of another cluster. Throws Error, too, where its files cannot be read at all.
[[nodiscard]] Recovered recover(const StateDirectory& directory, const RecoveryInput& input, Journal& journal);

}  // namespace deltamatch::ingest

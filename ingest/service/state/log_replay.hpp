// From a snapshot and the log to a later engine: what recovery and the snapshotter have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "deltamatch/engine.hpp"
#include "ingest/service/state/directory.hpp"
#include "ingest/service/state/log.hpp"
#include "ingest/service/state/mark.hpp"

namespace deltamatch::ingest {

struct Base {
  Engine engine;
  Mark mark;  ///< where it stands
};

/// The engine of the newest sound snapshot of a batch up to `latest`; nothing where there is none. `options` says of which kind
/// it has to be, and how it runs. Snapshots that cannot be restored are set aside.
[[nodiscard]] std::optional<Base> restore_newest(const StateDirectory& directory, std::uint64_t latest,
                                                 const EngineOptions& options);

struct ReplayHooks {
  std::function<bool(const LoggedBatch&)> before;  ///< a batch is absorbed; false ends the replay. May be null
  std::function<void(const LoggedBatch&)> after;   ///< likewise
};

/// Absorbs the log's batches behind base.mark up to `latest`. Gives why it ended before; empty where it did not. Throws Error
/// where a batch does not lead to what its mark says.
std::string replay(const StateDirectory& directory, Base& base, std::uint64_t latest, const ReplayHooks& hooks);

}  // namespace deltamatch::ingest

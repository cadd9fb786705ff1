// Replays the log on top of a snapshot. Recovery and the snapshotter share this.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "deltamatch/engine.hpp"
#include "ingest/service/state/commit_point.hpp"
#include "ingest/service/state/directory.hpp"
#include "ingest/service/state/log.hpp"
#include "ingest/service/state/repeated_queries.hpp"

namespace deltamatch::ingest {

struct Base {
  Engine engine;
  CommitPoint mark;  ///< the state of the engine
};

/// The engine of the newest sound snapshot of a batch up to `latest`, or nothing if there is none. `options` says what kind of
/// engine it must be and how it runs. Snapshots that cannot be restored are set aside.
[[nodiscard]] std::optional<Base> restore_newest(const StateDirectory& directory, std::uint64_t latest,
                                                 const EngineOptions& options);

struct ReplayHooks {
  std::function<bool(const LoggedBatch&)> before;  ///< called before a batch is absorbed; false ends the replay. May be null
  std::function<void(const LoggedBatch&)> after;   ///< called after it. May be null
  const KnownQueries* queries = nullptr;           ///< those that remember; null: none does
};

struct ReplayEnd {
  std::string why;       ///< why it ended before the latest batch; otherwise empty
  bool damaged = false;  ///< because the log is torn or damaged there, and not because it lacks batches
};

/// Absorbs the log's batches after base.mark, up to `latest`. Throws Error if a batch does not lead to the state that its mark
/// describes.
ReplayEnd replay(const StateDirectory& directory, Base& base, std::uint64_t latest, const ReplayHooks& hooks);

}  // namespace deltamatch::ingest

// What an instance does while another one owns the application: it follows the owner, and knows whether it could take over.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ingest/service/loop/start_up.hpp"
#include "ingest/service/state/recovery.hpp"

namespace deltamatch::ingest {

struct StandbyStatus {
  bool warm = false;                       ///< whether it holds a graph now
  bool could_take_over = false;            ///< without losing anything, as far as is known now
  std::string why_not;                     ///< the reason and the remedy; empty if it could
  std::string doing;                       ///< in words
  std::optional<std::uint64_t> batch;      ///< that it holds, or would begin with
  std::optional<std::uint64_t> committed;  ///< the last batch of the application
  std::uint64_t behind_batches = 0;        ///< it would have to repeat so many
  double behind_seconds = 0;               ///< age of the first batch that it lacks, by the commit record's time
  std::string from;                        ///< where its graph came from: "share", "directory" or "input"
  std::uint64_t share_failures = 0;        ///< number of failed looks at the share
  std::string share_error;                 ///< of the last look; empty if it succeeded
  std::vector<std::string> refused;        ///< shared snapshots that were passed over, with the reasons
};

/// With options.standby.warm it holds the graph. It loads the newest snapshot, its own or a shared one. Then it repeats each
/// batch that the owner commits, as its commit record cuts it. It loads a newer shared snapshot, once there is one, in two
/// cases:
/// - The input no longer has the next batch.
/// - A batch leads to another digest than its record says.
///
/// Every StateOptions::snapshot_every it saves its graph in the state directory. It leaves the log alone: before it owns the
/// application, it cannot know which of the log's batches count.
///
/// Without `warm`, it only looks: at the state directory, the share, and what the input retains.
///
/// Nothing that fails ends it. It says so, and tries again.
class Standby {
 public:
  /// Starts its threads. What the context refers to must outlive it. `queries_change` is called before a
  /// graph is loaded, and when the standing queries of the application have changed. It adds to context.known what the
  /// configuration and the topic of queries say of them now. If it throws, that is told, and it is called again.
  /// `must_fit` gets the last commit record every few seconds. It throws Error if this instance could not begin with the
  /// queries of the application.
  Standby(const StartupContext& context, std::function<void()> queries_change,
          std::function<void(const CommitPoint& last)> must_fit);
  ~Standby();
  Standby(const Standby&) = delete;
  Standby& operator=(const Standby&) = delete;

  /// Any thread may call it.
  [[nodiscard]] StandbyStatus status() const;

  /// Ends what it does, and hands over the graph that it holds, if any. It is at a committed batch. Waits for a batch, a
  /// snapshot or a request to the share that is under way; a copy from or to the share is ended.
  [[nodiscard]] std::optional<Warm> take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deltamatch::ingest

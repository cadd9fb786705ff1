// Alerts of committed batches that sinks still have to get, although the log that held them is lost.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ingest/service/alert/router.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/loop/assembler.hpp"
#include "ingest/service/loop/standing_queries.hpp"
#include "ingest/service/loop/startup_context.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/delivery_note.hpp"
#include "ingest/service/state/directory.hpp"
#include "ingest/service/state/recovery.hpp"

namespace deltamatch::ingest {

/// Which alerts are lost with a log. Only sinks count that get the same alerts whichever instance works.
struct LostAlerts {
  static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t from = none;                       ///< the first batch whose alerts may be lost
  std::map<std::string, std::uint64_t> delivered;  ///< by sink: it has the alerts of all batches up to this one

  [[nodiscard]] bool any() const noexcept { return from != none; }
};

/// Compares what the sinks have, as the commit topic says it, with what the log holds up to `committed`. Without a note nothing
/// is known, and nothing is lost as far as that goes. `log` is open in the directory.
[[nodiscard]] LostAlerts find_lost_alerts(const ServiceOptions& options, const StateDirectory& directory, const Log& log,
                                          const std::optional<DeliveryNote>& note, std::uint64_t committed);

/// Makes lost alerts again, batch by batch, and writes the batches to a new log as they were. The alerts have the same ids.
/// - Queries are those that the marks name: as they stood if they were made over HTTP, else as they are configured now. Alerts
///   of a configured one that has changed are not made, and that is reported.
/// - So are dead letters for a file.
/// - Rate limits run by the times at which the batches were committed.
/// Not thread-safe.
class AlertMaker {
 public:
  /// `recovered` is at the batch before lost.from; its log begins anew there. All arguments must outlive it. Makes a snapshot,
  /// so that the log has one to stand on. Throws Error.
  AlertMaker(const StartupContext& context, Recovered& recovered, const LostAlerts& lost);

  /// Matches the batch after the engine's. `time` is when its mark was written, in milliseconds since the epoch; `last` says
  /// that none follows. Advances the engine, but not recovered.reached.
  void make(const CommitPoint& mark, InputBatch& batch, std::int64_t time, bool last);
  /// Removes the queries from the engine. Reports what was made.
  void finish();

 private:
  [[nodiscard]] std::vector<ServiceQuery> queries_of(const CommitPoint& mark);
  void report_suspended(const CommitPoint& mark);

  const ServiceOptions& options_;
  std::span<const MadeQuery> made_;
  Journal& journal_;
  Recovered& recovered_;
  const LostAlerts& lost_;
  std::int64_t time_ = 0;
  AlertRouter router_;
  StandingQueries standing_;
  std::optional<std::vector<ActiveQuery>> active_;  // those that stand; nothing if they have to be set
  std::map<std::string, std::uint64_t> changed_;    // queries whose alerts cannot be made, and since which batch
  std::uint64_t alerts_ = 0;
};

}  // namespace deltamatch::ingest

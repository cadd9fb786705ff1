// Finds what the log holds that sinks still have to get.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/service/alert/deliverer.hpp"
#include "ingest/service/alert/router.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/delivery_note.hpp"
#include "ingest/service/state/directory.hpp"
#include "ingest/service/state/log.hpp"

namespace deltamatch::ingest {

/// Called for each gap in the log: batches in [from, next) are missing. If a file is damaged, `why` names it.
using LogGap = std::function<void(std::uint64_t from, std::uint64_t next, const std::string& why)>;

/// The batches of [from, up_to] with alerts for the sink, ascending. Returns as many as fit into `bytes`, but at least one if
/// there is any. The batches must be committed. Gaps in the log are skipped and reported to `gap`. Takes time linear in the log
/// from there on.
[[nodiscard]] std::vector<Delivery> read_back(const StateDirectory& directory, std::string_view sink, std::uint64_t from,
                                              std::uint64_t up_to, std::size_t bytes, const LogGap& gap);

/// The `alerts` streamed alerts of a batch for a sink. They are read from the log each time.
[[nodiscard]] AlertList logged_stream(const StateDirectory& directory, std::uint64_t batch, std::string_view sink,
                                      std::uint64_t alerts);

/// Returns a LogGap that reports the lost alerts of the sink.
[[nodiscard]] LogGap report_lost(const std::string& sink, Journal& journal);

/// Spills alerts to the state directory, because there is disk space for the log anyway.
[[nodiscard]] inline AlertMemory alert_memory(const StateDirectory& directory) {
  AlertMemory memory;
  memory.folder = directory.path();
  return memory;
}

/// The sinks that get their alerts from the log, including dead letters for a file.
[[nodiscard]] std::vector<SinkOptions> logged_sinks(const ServiceOptions& options);

/// Whether the log has all batches of [from, up_to], which may be empty. Takes time linear in the log from there on.
[[nodiscard]] bool is_logged(const StateDirectory& directory, std::uint64_t from, std::uint64_t up_to);

/// The position of a file that may hold more than its log says: its own lines show what it has.
inline constexpr std::string_view unsure_position = "?";

/// Settles sinks for which the log is incomplete up to the last committed batch, because it is damaged, cut or lost. `note`
/// says what sinks that send requests have, if it is known; the log takes that over where it knows less. A file keeps all that
/// it holds, except lines of batches after `committed` and a torn line at its end. Its own lines show up to which batch it has
/// alerts. It gets what the log still has of later ones, and its position is noted at `committed`. What cannot be known is
/// reported to the journal, with place and remedy. Sinks for which the log is complete stay unchanged, unless their position is
/// unsure_position. After a crash in between it is repeated, with the same result. Throws Error.
void settle_sinks(const ServiceOptions& options, const StateDirectory& directory, Log& log, std::uint64_t committed,
                  Journal& journal, const std::optional<DeliveryNote>& note = std::nullopt);

/// The backlog up to `committed` and the position of each sink. Alerts for a sink that is no longer configured are given up,
/// and that is reported. Throws Error.
[[nodiscard]] std::vector<DeliveryTarget> delivery_targets(const ServiceOptions& options, const StateDirectory& directory,
                                                           Log& log, std::uint64_t committed, Journal& journal);

/// How a deliverer reads the log and notes deliveries in it. All arguments must outlive the hooks.
[[nodiscard]] DeliveryHooks delivery_hooks(const StateDirectory& directory, Log& log, Journal& journal);

}  // namespace deltamatch::ingest

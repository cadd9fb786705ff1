// What lies in the log and has still to be delivered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/service/alert/deliverer.hpp"
#include "ingest/service/alert/router.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/directory.hpp"
#include "ingest/service/state/log.hpp"

namespace deltamatch::ingest {

/// Called where the log lacks batches: all from `from` up to, and without, `next`. `why` names the file, where one is damaged.
using LogGap = std::function<void(std::uint64_t from, std::uint64_t next, const std::string& why)>;

/// Batches of [from, up_to] with alerts for the sink, ascending: as many as fit into `bytes`, but at least one if there is any.
/// The batches are committed. What the log lacks is passed over and told to `gap`. O(the log from there on).
[[nodiscard]] std::vector<Delivery> read_back(const StateDirectory& directory, std::string_view sink, std::uint64_t from,
                                              std::uint64_t up_to, std::size_t bytes, const LogGap& gap);

/// A sink's streamed alerts of a batch, so many, that are read from the log each time.
[[nodiscard]] AlertList logged_stream(const StateDirectory& directory, std::uint64_t batch, std::string_view sink,
                                      std::uint64_t alerts);

/// Says that the sink lost alerts.
[[nodiscard]] LogGap report_lost(const std::string& sink, Journal& journal);

/// What is too much for memory lies where the log does, for which there is room.
[[nodiscard]] inline AlertMemory alert_memory(const StateDirectory& directory) {
  AlertMemory memory;
  memory.folder = directory.path();
  return memory;
}

/// The sinks that are delivered to from the log, dead letters for a file among them.
[[nodiscard]] std::vector<SinkOptions> logged_sinks(const ServiceOptions& options);

/// Decides what happens to sinks of which the log does not tell all up to the last committed batch, because it is damaged, cut
/// or lost. Nothing that a file holds is taken back, other than lines of batches behind `committed` and a torn line at its end.
/// Its own lines tell up to which batch it holds alerts; it gets now what the log still has of those behind, and it is noted
/// that it stands at `committed`. What no one can know is told to the journal, with place and remedy. Sinks of which the log
/// tells all are left as they are. After a crash on the way it is done again, with the same result. Throws Error.
void settle_sinks(const ServiceOptions& options, const StateDirectory& directory, Log& log, std::uint64_t committed,
                  Journal& journal);

/// What each sink has still to be given of the batches up to `committed`, and where it stands. What a sink that is configured
/// no more was to be given is told and given up. Throws Error.
[[nodiscard]] std::vector<DeliveryTarget> delivery_targets(const ServiceOptions& options, const StateDirectory& directory,
                                                           Log& log, std::uint64_t committed, Journal& journal);

/// How a deliverer asks the log, and tells it what is delivered. All outlive the hooks.
[[nodiscard]] DeliveryHooks delivery_hooks(const StateDirectory& directory, Log& log, Journal& journal);

}  // namespace deltamatch::ingest

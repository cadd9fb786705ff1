// What lies in the log and has still to be delivered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/alert/deliverer.hpp"
#include "ingest/journal.hpp"
#include "ingest/service/options.hpp"
#include "ingest/state/directory.hpp"
#include "ingest/state/log.hpp"

namespace deltamatch::ingest {

/// Called where the log lacks batches: all from `from` up to, and without, `next`. `why` names the file, where one is damaged.
using LogGap = std::function<void(std::uint64_t from, std::uint64_t next, const std::string& why)>;

/// Batches of [from, up_to] with alerts for the sink, ascending: as many as fit into `bytes`, but at least one if there is any.
/// The batches are committed. What the log lacks is passed over and told to `gap`. O(the log from there on).
[[nodiscard]] std::vector<Delivery> read_back(const StateDirectory& directory, std::string_view sink, std::uint64_t from,
                                              std::uint64_t up_to, std::size_t bytes, const LogGap& gap);

/// Says that the sink lost alerts.
[[nodiscard]] LogGap tell_lost(const std::string& sink, Journal& journal);

/// The sinks that are delivered to from the log, dead letters for a file among them.
[[nodiscard]] std::vector<SinkOptions> logged_sinks(const ServiceOptions& options);

/// For a log that ends before the last committed batch: what files hold of the batches between cannot come again, so they keep
/// all that they hold and get now what they lack of the batches before; then it is noted that they stand at the log's end. What
/// sinks may have lost is told. After a crash on the way it is done again, with the same result. Throws Error.
void settle_sinks(const ServiceOptions& options, const StateDirectory& directory, Log& log, std::uint64_t committed,
                  Journal& journal);

}  // namespace deltamatch::ingest

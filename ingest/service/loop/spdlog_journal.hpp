// The service's log on standard error: text for people, or JSON lines.
#pragma once

#include <memory>
#include <ostream>

#include "ingest/service/journal.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

/// Writes one line per event, with times in UTC:
///
///     2026-11-21T19:00:00.000Z info  batch committed batch=17 updates=800
///     {"time":"2026-11-21T19:00:00.000Z","level":"info","event":"batch committed","batch":"17","updates":"800"}
///
/// In text, values with blanks, quotes or control characters are quoted as in JSON, so an event never spans lines. Repeats of
/// warnings and errors are left out (RepeatFilter), unless the level is trace or debug. What is told after some were left out
/// has their number in the field `left_out`. If it does not come any more, `repeats were left out` has that number.
/// Thread-safe. Throws Error(configuration) if the level is unknown.
[[nodiscard]] std::unique_ptr<Journal> make_journal(const LoggingOptions& options);

/// Writes to a stream instead, which must outlive it.
[[nodiscard]] std::unique_ptr<Journal> make_journal(const LoggingOptions& options, std::ostream& out);

}  // namespace deltamatch::ingest

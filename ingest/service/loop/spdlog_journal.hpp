// The service's log on standard error: text for people, or JSON lines.
#pragma once

#include <memory>
#include <ostream>

#include "ingest/service/journal.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

/// One line per event, times in UTC:
///   2026-11-21T19:00:00.000Z info  batch committed batch=17 updates=800
///   {"time":"2026-11-21T19:00:00.000Z","level":"info","event":"batch committed","batch":"17","updates":"800"}
/// Values with blanks, quotes or control characters are quoted in text as in JSON, so an event never spans lines. Thread-safe.
/// Throws Error(configuration) where the level is unknown.
[[nodiscard]] std::unique_ptr<Journal> make_journal(const LoggingOptions& options);

/// The same, to a stream that outlives it.
[[nodiscard]] std::unique_ptr<Journal> make_journal(const LoggingOptions& options, std::ostream& out);

}  // namespace deltamatch::ingest

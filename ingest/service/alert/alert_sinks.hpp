// The sinks that take committed alerts out of the log. (Alerts for Kafka go with the batch's own transaction.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "ingest/service/alert/alert_sink.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

/// JSON lines in `path`, exactly once. Once a file is `rotate_bytes` long (0: never) the next batch begins a new one:
/// alerts.jsonl, alerts-000001.jsonl, alerts-000002.jsonl … (FileSeries). No file is ever renamed and no batch is split, and
/// `keep_files` (0: all) stay beside the newest one. A position is "number:length", number 0 being `path` itself: recover()
/// cuts that file to that length and removes those of the sink's own with a higher number; where it made room for them already,
/// they are emptied. Where no position was noted it goes on behind what the newest file holds, on a line of its own.
///
/// The file is opened by recover(), which comes before begin() and throws Error where the file is shorter than the position
/// says, or another process holds it. Commit syncs file and folder; abort cuts the file back.
[[nodiscard]] std::unique_ptr<AlertSink> make_file_sink(std::string_view name, const std::filesystem::path& path,
                                                        std::uint64_t rotate_bytes, std::size_t keep_files);

/// JSON lines on a descriptor that belongs to the caller, by default standard output: at least once. A batch that was being
/// written when the process crashed, or when writing failed, comes again as a whole.
[[nodiscard]] std::unique_ptr<AlertSink> make_console_sink(std::string_view name, int descriptor = 1);

/// POSTs a batch's alerts to options.url, at least once, in requests of up to 1 MiB:
///   {"v":1,"batch":17,"part":0,"alerts":[…]}
/// with the headers Deltamatch-Batch: 17 and Idempotency-Key: <application>/<sink>/<batch>/<part>, the same for every try and
/// after a restart. A part that was answered with 2xx is not sent again while the process lives.
///
/// What is not 2xx, or no answer within the timeout, is an Error with the answer's first bytes (TryLater where it has a
/// Retry-After), and comes again. A part is given up once it has failed `max_tries` times or for `give_up_after`, or once it
/// was refused (3xx and 4xx other than 408, 425 and 429) `refused_tries` times. While a server takes nothing, its failures
/// count for all batches that wait: they are given up with those before them, and none is held for longer. What is given up is
/// written to `dead_letters` (docs/reference/formats.md), told and counted; the position is that of the file. Throws
/// Error(configuration) for a URL that is no http or https URL, or that holds a user or password. Neither headers nor the URL's
/// path are in any message.
[[nodiscard]] std::unique_ptr<AlertSink> make_webhook_sink(std::string_view application, const SinkOptions& options,
                                                           Journal& journal);

/// The sink that options describe: file, console or webhook. `journal` outlives it.
[[nodiscard]] std::unique_ptr<AlertSink> make_alert_sink(std::string_view application, const SinkOptions& options,
                                                         Journal& journal);

}  // namespace deltamatch::ingest

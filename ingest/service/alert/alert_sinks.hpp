// The table of sinks, and those that deliver committed alerts from the log. Alerts for Kafka are part of the batch's own
// transaction instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ingest/service/alert/alert_sink.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

/// Writes JSON lines to `path`, exactly once. When a file has `rotate_bytes` (0: never), the next batch begins a new file:
/// alerts.jsonl, alerts-000001.jsonl, alerts-000002.jsonl … (FileSeries). No file is ever renamed, and no batch is split.
/// Beside the newest file, `keep_files` others stay (0: all).
///
/// A position is "number:length"; number 0 is `path` itself. recover() cuts that file to that length, and removes the sink's
/// own files with higher numbers. If rotation has already removed that file, the next one is emptied instead. If no position
/// was noted, the sink continues after the contents of the newest file, on a new line.
///
/// recover() opens the file and must be called before begin(). It throws Error if the file is shorter than the position says,
/// or if another process holds it. Commit syncs file and folder; abort cuts the file back.
[[nodiscard]] std::unique_ptr<AlertSink> make_file_sink(std::string_view name, const std::filesystem::path& path,
                                                        std::uint64_t rotate_bytes, std::size_t keep_files);

/// Writes JSON lines to a descriptor that the caller owns, by default standard output. Delivers at least once. A batch is
/// written again completely if the process crashed, or writing failed, in the middle of it.
[[nodiscard]] std::unique_ptr<AlertSink> make_console_sink(std::string_view name, int descriptor = 1);

/// POSTs a batch's alerts to options.url, at least once, in requests of up to 1 MiB.
///   {"v":1,"batch":17,"part":0,"alerts":[…]}
/// With a template (options.body), and for Slack, Teams and PagerDuty, the bodies are those of make_messages. It also says how
/// many alerts a request has at most.
///
/// The headers are Deltamatch-Batch: 17 and Idempotency-Key: <application>/<sink>/<batch>/<part>. They are the same for every
/// try and after a restart. A part that was answered with 2xx is not sent again while the process lives.
///
/// Any other answer, or none within the timeout, is an Error with the answer's first bytes, and the part is sent again. The
/// Error is a TryLater if the answer has a Retry-After.
///
/// A part is given up in these cases:
/// - It has failed `max_tries` times.
/// - It has failed for `give_up_after`.
/// - It was refused `refused_tries` times. A refusal is a 3xx or a 4xx other than 408, 425 and 429.
/// - Slack, Teams or PagerDuty call it invalid (400, 413).
/// - The batch has had `max_messages` messages. One more then says how many alerts of each query are left out, and in
///   which file they are.
///
/// While a server accepts nothing, its failures count for all waiting batches. They are given up with those before them, and
/// none is held for longer. What is given up is written to `dead_letters` (docs/reference/formats.md), logged and counted. The
/// position is that of this file.
///
/// Throws Error(configuration) if the URL is neither http nor https, or contains a user or password. No message contains
/// headers or the URL's path.
[[nodiscard]] std::unique_ptr<AlertSink> make_webhook_sink(std::string_view application, const SinkOptions& options,
                                                           Journal& journal);

/// A kind of sink.
struct SinkTraits {
  SinkOptions::Kind kind{};
  std::string_view name;                           ///< its type in the configuration
  std::string (*target)(const SinkOptions& sink);  ///< where alerts go, in words, without secrets
  /// Null: alerts are a part of the batch's transaction.
  std::unique_ptr<AlertSink> (*make)(std::string_view application, const SinkOptions& options, Journal& journal);
};

/// All kinds, in the order of SinkOptions::Kind.
[[nodiscard]] std::span<const SinkTraits> sink_kinds() noexcept;
[[nodiscard]] const SinkTraits& traits_of(SinkOptions::Kind kind) noexcept;

/// Creates the sink that the options describe. `journal` must outlive it.
[[nodiscard]] std::unique_ptr<AlertSink> make_alert_sink(std::string_view application, const SinkOptions& options,
                                                         Journal& journal);

}  // namespace deltamatch::ingest

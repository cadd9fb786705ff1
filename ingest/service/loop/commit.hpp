// A processed batch, and the parts of it that go to the log and the brokers.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/result.hpp"
#include "ingest/service/alert/alert_feed.hpp"
#include "ingest/service/alert/alert_list.hpp"
#include "ingest/service/kafka/transactions.hpp"
#include "ingest/service/loop/assembler.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/commit_point.hpp"
#include "ingest/service/state/log.hpp"
#include "ingest/service/state/query_record.hpp"

namespace deltamatch::ingest {

/// The name under which the log keeps dead letters for a file. No sink may have it.
inline constexpr std::string_view dead_letter_sink = "(dead letters)";

/// What codec and engine refused of a batch, in the order of the input. Without dead letters, that is what the batch kept.
[[nodiscard]] std::vector<BadRecord> letters_of(const InputBatch& batch, const BatchResult& result, OnError on_error);

/// Dead letters in the form for files, one JSON object each.
[[nodiscard]] AlertList dead_letter_list(std::span<const BadRecord> letters);

/// A batch that the engine has settled, but nobody has seen.
/// Bytes that these take while they wait to be published. Alerts in a file count as many, so that only a few of these wait.
[[nodiscard]] std::size_t waiting_bytes(std::span<const AlertList> alerts, std::span<const BadRecord> letters) noexcept;

struct Commit {
  CommitPoint mark;
  InputBatch input;
  std::size_t consumed = 0;            ///< number of updates that the engine took, including refused ones
  std::vector<AlertList> alerts;       ///< by number of the sink
  SeenAlerts seen;                     ///< for those who look on; empty if nobody can
  std::vector<BadRecord> letters;      ///< in the order of (topic, partition, offset)
  std::vector<QueryRecord> changes{};  ///< of queries that were made over HTTP
  BatchResult result;
  std::shared_ptr<const std::vector<std::string>> queries;  ///< names, in the order of result.queries

  /// Whether its alerts are too many for memory, so they are streamed.
  [[nodiscard]] bool is_large() const noexcept;
  /// Whether the batch has anything visible: alerts, dead letters or changes of queries.
  [[nodiscard]] bool visible() const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept;
};

/// Appends the batch to the log, with the alerts of sinks outside Kafka. If it is large, or `as_large` is set, the log gets the
/// alerts of all sinks.
void append_to_log(const ServiceOptions& options, Log& log, const Commit& commit, bool as_large = false);

/// The memory for a batch's matches in bytes. More matches wait in a file until they become alerts.
inline constexpr std::uint64_t match_memory = std::uint64_t{32} << 20;

/// The memory that the views of records point to.
struct RecordMemory {
  std::deque<std::string> texts;
  std::deque<std::vector<kafka::RecordHeader>> headers;
  void clear() {
    texts.clear();
    headers.clear();
  }
};

/// The record of a change for the topic of queries.
[[nodiscard]] kafka::OutputRecord query_record(const std::string& topic, const QueryRecord& change, RecordMemory& memory);

/// A dead letter for the topic, with at most `most` bytes of its key and of its value.
[[nodiscard]] kafka::OutputRecord letter_record(const ServiceOptions& options, const BadRecord& letter, std::size_t most,
                                                RecordMemory& memory);
/// The limit for a dead letter that is too large.
inline constexpr std::size_t shortened_bytes = 4096;

/// The headers of all alerts of a batch.
[[nodiscard]] std::span<const kafka::RecordHeader> alert_headers(const CommitPoint& mark, RecordMemory& memory);

}  // namespace deltamatch::ingest

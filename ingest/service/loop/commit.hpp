// A batch on its way out, and what of it the log and the brokers get.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/engine.hpp"
#include "ingest/service/alert/alert_list.hpp"
#include "ingest/service/kafka/transactions.hpp"
#include "ingest/service/loop/assembler.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/log.hpp"
#include "ingest/service/state/mark.hpp"

namespace deltamatch::ingest {

/// The name under which the log keeps dead letters for a file. No sink may bear it.
inline constexpr std::string_view dead_letter_sink = "(dead letters)";

/// Dead letters as a file holds them, one JSON object each.
[[nodiscard]] AlertList dead_letter_list(std::span<const BadRecord> letters);

/// A batch that the engine has settled and nobody has seen.
struct Commit {
  Mark mark;
  InputBatch input;
  std::size_t consumed = 0;        ///< updates of it that the engine took, refused ones among them
  std::vector<AlertList> alerts;   ///< by number of the sink
  std::vector<BadRecord> letters;  ///< in the order of (topic, partition, offset)
  BatchResult result;
  std::shared_ptr<const std::vector<std::string>> queries;  ///< names, in the order of result.queries

  /// Whether its alerts are too many for memory: they are streamed.
  [[nodiscard]] bool is_large() const noexcept;
  /// Whether anyone will see anything of it.
  [[nodiscard]] bool visible() const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept;
};

/// Appends the batch with what sinks get from the log: those that are not Kafka, and all of them if it is large, or taken to
/// be.
void append_to_log(const ServiceOptions& options, Log& log, const Commit& commit, bool as_large = false);

/// Bytes of a batch's matches in memory; more wait in a file until they are alerts.
inline constexpr std::uint64_t match_memory = std::uint64_t{32} << 20;

/// What records' views point to.
struct RecordMemory {
  std::deque<std::string> texts;
  std::deque<std::vector<kafka::RecordHeader>> headers;
  void clear() {
    texts.clear();
    headers.clear();
  }
};

/// A dead letter for the topic, with at most so many bytes of key and of value.
[[nodiscard]] kafka::OutputRecord letter_record(const ServiceOptions& options, const BadRecord& letter, std::size_t most,
                                                RecordMemory& memory);
/// Of a dead letter that is too large.
inline constexpr std::size_t shortened_bytes = 4096;

/// The headers of all alerts of a batch.
[[nodiscard]] std::span<const kafka::RecordHeader> alert_headers(const Mark& mark, RecordMemory& memory);

}  // namespace deltamatch::ingest

// Dead letters of the service: refused records, for a topic or a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deltamatch/update.hpp"
#include "ingest/service/state/mark.hpp"

namespace deltamatch::ingest {

/// A record of Kafka that was refused. The views hold as long as their maker says.
struct RefusedRecord {
  TopicPartition partition;
  std::int64_t offset = 0;
  RejectReason reason{};
  std::string_view message;
  std::optional<std::string_view> key;
  std::string_view value;    ///< its bytes, or the first of them
  std::uint64_t length = 0;  ///< of the value in Kafka
};

/// Names and values of a Kafka record's headers.
using HeaderList = std::vector<std::pair<std::string, std::string>>;

/// The headers of a dead letter in Kafka, named as Kafka Connect names them: __connect.errors.topic, .partition, .offset,
/// .exception.class.name (the reason's name) and .exception.message. The letter's key and value are the record's own.
/// Where `value` is not all of the record's, deltamatch.length tells how long that is.
[[nodiscard]] HeaderList dead_letter_headers(const RefusedRecord& record);

/// A dead letter in a file, one JSON object without a line end: make_dead_letter_file's, source, part and position being the
/// partition's name, its number and the offset, and behind them topic, partition, offset and key (null where there is none).
void append_dead_letter(std::string& out, const RefusedRecord& record);

}  // namespace deltamatch::ingest

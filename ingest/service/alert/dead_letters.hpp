// Dead letters of the service: refused records, written to a topic or a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deltamatch/update.hpp"
#include "ingest/service/state/commit_point.hpp"

namespace deltamatch::ingest {

/// A refused Kafka record. The views are valid as long as whoever makes it says.
struct RefusedRecord {
  TopicPartition partition;
  std::int64_t offset = 0;
  RejectReason reason{};
  std::string_view message;
  std::optional<std::string_view> key;
  std::string_view value;    ///< the bytes of the value, or the first of them
  std::uint64_t length = 0;  ///< length of the value in Kafka
};

/// Names and values of a Kafka record's headers.
using HeaderList = std::vector<std::pair<std::string, std::string>>;

/// The headers of a dead letter in Kafka, with the names of Kafka Connect: __connect.errors.topic, .partition, .offset,
/// .exception.class.name (the reason's name) and .exception.message. The letter has the key and value of the record. If `value`
/// is only a part of the record's value, deltamatch.length gives the full length.
[[nodiscard]] HeaderList dead_letter_headers(const RefusedRecord& record);

/// Appends a dead letter for a file: one JSON object without a line end, in the form of make_dead_letter_file. Its source, part
/// and position are the partition's name, the partition's number and the offset. They are followed by topic, partition, offset
/// and key (null if there is none).
void append_dead_letter(std::string& out, const RefusedRecord& record);

}  // namespace deltamatch::ingest

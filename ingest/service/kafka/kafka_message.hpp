// A record received from Kafka.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "ingest/codec/codec.hpp"
#include "ingest/service/state/commit_point.hpp"

struct rd_kafka_message_s;  // NOLINT(readability-identifier-naming): librdkafka's

namespace deltamatch::ingest::kafka {

/// Owns its bytes, so the views stay valid as long as the message, even if it is moved. It must be destroyed before its reader.
/// While any message of a fetch lives, the memory of the whole fetch does.
class Message {
 public:
  struct Free {
    void operator()(rd_kafka_message_s* message) const noexcept;
  };
  using Handle = std::unique_ptr<rd_kafka_message_s, Free>;

  Message(Handle handle, std::uint32_t partition);

  std::uint32_t partition = 0;  ///< an index into the reader's partitions()
  std::int64_t offset = 0;
  std::int64_t timestamp = -1;            ///< milliseconds since the epoch, set by its producer or broker; -1 if none
  std::optional<std::string_view> key;    ///< nothing if null
  std::optional<std::string_view> value;  ///< nothing for a tombstone

  /// Sets `headers` to those of the message. They are views of it.
  void headers(std::vector<MessageHeader>& headers) const;

 private:
  Handle handle_;
};

/// A partition of the input, and the entry of InputOptions::topics that says how to read it.
struct InputPartition {
  TopicPartition id;
  std::size_t topics = 0;
};

}  // namespace deltamatch::ingest::kafka

// What can become of a transaction besides being committed: what librdkafka's answers and reports mean for it. Inside
// ingest/kafka only.
#pragma once

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafkacpp.h>

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace deltamatch::ingest::kafka {

/// Something is larger than the topic or the configuration takes.
[[nodiscard]] bool is_size(RdKafka::ErrorCode code) noexcept;
/// There is no such topic or partition, as far as is known.
[[nodiscard]] bool is_unknown(RdKafka::ErrorCode code) noexcept;
/// A newer producer of the same transactional.id has begun.
[[nodiscard]] bool is_fencing(RdKafka::ErrorCode code) noexcept;
/// Trying again does not help against these.
[[nodiscard]] bool is_refusal(RdKafka::ErrorCode code) noexcept;

/// Thrown within: this transaction has to be aborted.
struct Setback {
  RdKafka::ErrorCode code;
  std::string what;
  std::string topic;
  std::vector<std::size_t> too_large = {};  ///< those of the records that were refused for that
};

[[nodiscard]] Setback setback_of(const rd_kafka_error_t& error, std::string topic = {});

/// The first record that could not be delivered, as librdkafka reports it while it is polled, and all that were too large. Any
/// thread.
class Deliveries {
 public:
  /// librdkafka's callback for the fate of a record that was given to it with a ticket.
  static void report(rd_kafka_t* client, const rd_kafka_message_t* message, void* opaque);

  /// What tells whose report it is, given to librdkafka with the record. Lives as long as this object. By one thread.
  [[nodiscard]] void* ticket(std::size_t record);
  /// What has been reported since the last call.
  [[nodiscard]] std::optional<Setback> take();

 private:
  struct Ticket {
    Deliveries* deliveries;
    std::size_t record;
  };

  void note(const rd_kafka_message_t& message, std::size_t record);

  std::mutex mutex_;
  std::optional<Setback> first_;
  std::deque<Ticket> tickets_;
};

}  // namespace deltamatch::ingest::kafka

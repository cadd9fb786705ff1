// What can become of a transaction besides being committed: what librdkafka's answers and reports mean for it. Inside
// ingest/service/kafka only.
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
struct TransactionFailure {
  RdKafka::ErrorCode code;
  std::string what;
  std::string topic;
  struct Refused {
    std::size_t record;
    std::size_t bytes;  ///< of key and value
  };
  std::vector<Refused> too_large = {};  ///< those of the records that were refused for that; at most so many as travel together
};

[[nodiscard]] TransactionFailure failure_of(const rd_kafka_error_t& error, std::string topic = {});

/// The first record that could not be delivered, as librdkafka reports it while it is polled, and all that were too large. Any
/// thread.
class Deliveries {
 public:
  /// librdkafka's callback for the fate of a record that was given to it with a ticket.
  static void report(rd_kafka_t* client, const rd_kafka_message_t* message, void* opaque);

  /// What tells whose report it is, given to librdkafka with the record. It is used again once the record's fate is known.
  [[nodiscard]] void* ticket(std::size_t record, std::size_t bytes);
  /// Of a record that librdkafka did not take.
  void give_back(void* ticket);
  /// Bytes of records that librdkafka has and whose fate is not known.
  [[nodiscard]] std::size_t under_way() const;
  /// What has been reported since the last call.
  [[nodiscard]] std::optional<TransactionFailure> take();

 private:
  struct Ticket {
    Deliveries* deliveries;
    std::size_t record;
    std::size_t bytes;
  };

  void settle(const rd_kafka_message_t& message, Ticket& ticket);

  mutable std::mutex mutex_;
  std::optional<TransactionFailure> first_;
  std::deque<Ticket> tickets_;  // as many as records were ever under way at once
  std::vector<Ticket*> free_;
  std::size_t under_way_ = 0;
};

}  // namespace deltamatch::ingest::kafka

// How a transaction can fail: what librdkafka's answers and reports mean for it. Only for ingest/service/kafka.
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

/// A record or request is larger than the topic or the configuration allows.
[[nodiscard]] bool is_size(RdKafka::ErrorCode code) noexcept;
/// The brokers do not know the topic or partition.
[[nodiscard]] bool is_unknown(RdKafka::ErrorCode code) noexcept;
/// A newer producer with the same transactional.id has started.
[[nodiscard]] bool is_fencing(RdKafka::ErrorCode code) noexcept;
/// Retrying does not help.
[[nodiscard]] bool is_refusal(RdKafka::ErrorCode code) noexcept;

/// An internal exception: this transaction must be aborted.
struct TransactionFailure {
  RdKafka::ErrorCode code;
  std::string what;
  std::string topic;
  struct Refused {
    std::size_t record;
    std::size_t bytes;  ///< of key and value
  };
  std::vector<Refused> too_large = {};  ///< records refused for their size; at most as many as were sent together
};

[[nodiscard]] TransactionFailure failure_of(const rd_kafka_error_t& error, std::string topic = {});

/// Collects the delivery reports of librdkafka, which arrive while it is polled. Keeps the first record that could not be
/// delivered, and all that were too large. Any thread may use it.
class Deliveries {
 public:
  /// The librdkafka callback for the result of a record that was produced with a ticket.
  static void report(rd_kafka_t* client, const rd_kafka_message_t* message, void* opaque);

  /// Identifies the report of a record; it is given to librdkafka with the record. A ticket is reused once the result is known.
  [[nodiscard]] void* ticket(std::size_t record, std::size_t bytes);
  /// Returns the ticket of a record that librdkafka did not accept.
  void give_back(void* ticket);
  /// The bytes of records that librdkafka holds without a known result.
  [[nodiscard]] std::size_t under_way() const;
  /// What was reported since the last call.
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
  std::deque<Ticket> tickets_;  // as many as there ever were records in flight at once
  std::vector<Ticket*> free_;
  std::size_t under_way_ = 0;
};

}  // namespace deltamatch::ingest::kafka

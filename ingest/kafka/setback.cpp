#include "ingest/kafka/setback.hpp"

#include <utility>

namespace deltamatch::ingest::kafka {

bool is_size(RdKafka::ErrorCode code) noexcept {
  return code == RdKafka::ERR_MSG_SIZE_TOO_LARGE || code == RdKafka::ERR_RECORD_LIST_TOO_LARGE;
}

bool is_unknown(RdKafka::ErrorCode code) noexcept {
  return code == RdKafka::ERR_UNKNOWN_TOPIC_OR_PART || code == RdKafka::ERR__UNKNOWN_TOPIC ||
         code == RdKafka::ERR__UNKNOWN_PARTITION;
}

bool is_fencing(RdKafka::ErrorCode code) noexcept {
  return code == RdKafka::ERR__FENCED || code == RdKafka::ERR_PRODUCER_FENCED || code == RdKafka::ERR_INVALID_PRODUCER_EPOCH ||
         code == RdKafka::ERR_TRANSACTION_COORDINATOR_FENCED;
}

bool is_refusal(RdKafka::ErrorCode code) noexcept {
  switch (code) {
    case RdKafka::ERR_MSG_SIZE_TOO_LARGE:
    case RdKafka::ERR_RECORD_LIST_TOO_LARGE:
    case RdKafka::ERR_INVALID_RECORD:
    case RdKafka::ERR_INVALID_TIMESTAMP:
    case RdKafka::ERR_POLICY_VIOLATION:
    case RdKafka::ERR_TOPIC_EXCEPTION:
    case RdKafka::ERR_UNKNOWN_TOPIC_OR_PART:
    case RdKafka::ERR__UNKNOWN_TOPIC:
    case RdKafka::ERR__UNKNOWN_PARTITION:
    case RdKafka::ERR_TOPIC_AUTHORIZATION_FAILED:
    case RdKafka::ERR_GROUP_AUTHORIZATION_FAILED:
    case RdKafka::ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RdKafka::ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
    case RdKafka::ERR_OFFSET_METADATA_TOO_LARGE:
    case RdKafka::ERR__INVALID_ARG:
      return true;
    default:
      return false;
  }
}

Setback setback_of(const rd_kafka_error_t& error, std::string topic) {
  return {static_cast<RdKafka::ErrorCode>(rd_kafka_error_code(&error)), rd_kafka_error_string(&error), std::move(topic)};
}

void Deliveries::report(rd_kafka_t* /*client*/, const rd_kafka_message_t* message, void* /*opaque*/) {
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) return;
  const auto* ticket = static_cast<const Ticket*>(message->_private);
  ticket->deliveries->note(*message, ticket->record);
}

void* Deliveries::ticket(std::size_t record) {
  while (tickets_.size() <= record) tickets_.push_back({this, tickets_.size()});
  return &tickets_[record];
}

std::optional<Setback> Deliveries::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(first_, std::nullopt);
}

void Deliveries::note(const rd_kafka_message_t& message, std::size_t record) {
  const auto code = static_cast<RdKafka::ErrorCode>(message.err);
  if (code == RdKafka::ERR__PURGE_QUEUE || code == RdKafka::ERR__PURGE_INFLIGHT) return;  // by our own abort
  const std::scoped_lock lock(mutex_);
  if (!first_) first_ = Setback{code, RdKafka::err2str(code), message.rkt == nullptr ? "" : rd_kafka_topic_name(message.rkt)};
  if (is_size(code)) first_->too_large.push_back(record);
}

}  // namespace deltamatch::ingest::kafka

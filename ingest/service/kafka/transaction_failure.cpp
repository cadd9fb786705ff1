#include "ingest/service/kafka/transaction_failure.hpp"

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

TransactionFailure failure_of(const rd_kafka_error_t& error, std::string topic) {
  return {static_cast<RdKafka::ErrorCode>(rd_kafka_error_code(&error)), rd_kafka_error_string(&error), std::move(topic)};
}

void Deliveries::report(rd_kafka_t* /*client*/, const rd_kafka_message_t* message, void* /*opaque*/) {
  auto* ticket = static_cast<Ticket*>(message->_private);
  ticket->deliveries->settle(*message, *ticket);
}

void* Deliveries::ticket(std::size_t record, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (free_.empty()) {
    free_.reserve(tickets_.size() + 1);  // so that a report needs no memory
    free_.push_back(&tickets_.emplace_back());
  }
  Ticket* const ticket = free_.back();
  free_.pop_back();
  *ticket = {this, record, bytes};
  under_way_ += bytes;
  return ticket;
}

void Deliveries::give_back(void* ticket) {
  const std::scoped_lock lock(mutex_);
  under_way_ -= static_cast<Ticket*>(ticket)->bytes;
  free_.push_back(static_cast<Ticket*>(ticket));
}

std::size_t Deliveries::under_way() const {
  const std::scoped_lock lock(mutex_);
  return under_way_;
}

std::optional<TransactionFailure> Deliveries::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(first_, std::nullopt);
}

void Deliveries::settle(const rd_kafka_message_t& message, Ticket& ticket) {
  const auto code = static_cast<RdKafka::ErrorCode>(message.err);
  const std::scoped_lock lock(mutex_);
  under_way_ -= ticket.bytes;
  free_.push_back(&ticket);
  if (code == RdKafka::ERR_NO_ERROR) return;
  if (code == RdKafka::ERR__PURGE_QUEUE || code == RdKafka::ERR__PURGE_INFLIGHT) return;  // caused by our own abort
  if (!first_)
    first_ = TransactionFailure{code, RdKafka::err2str(code), message.rkt == nullptr ? "" : rd_kafka_topic_name(message.rkt)};
  if (is_size(code)) first_->too_large.push_back({ticket.record, ticket.bytes});
}

}  // namespace deltamatch::ingest::kafka

#include "ingest/service/kafka/partition_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ingest/service/kafka/metadata.hpp"

namespace deltamatch::ingest::kafka {
namespace {

std::unique_ptr<RdKafka::Conf> configuration(const Cluster& cluster, FetchLimits limits) {
  // One answer of a broker may exceed the limits, because librdkafka checks them before the request.
  const std::size_t answer = std::clamp<std::size_t>(limits.bytes / 4, 1 << 20, 50 << 20);
  const std::size_t kilobytes = std::clamp<std::size_t>(limits.bytes / 1024, 1, 2'097'151);
  return reader_configuration(cluster,
                              {{"queued.min.messages", std::to_string(std::clamp<std::size_t>(limits.records, 1, 10'000'000))},
                               {"queued.max.messages.kbytes", std::to_string(kilobytes)},
                               {"fetch.max.bytes", std::to_string(answer)},
                               {"max.partition.fetch.bytes", std::to_string(std::min<std::size_t>(limits.bytes, 1 << 20))}});
}

TopicPartition name_of(const rd_kafka_message_t& message) {
  return {message.rkt == nullptr ? "" : rd_kafka_topic_name(message.rkt), message.partition};
}

}  // namespace

void Message::Free::operator()(rd_kafka_message_s* message) const noexcept { rd_kafka_message_destroy(message); }

Message::Message(Handle handle, std::uint32_t index) : partition(index), offset(handle->offset), handle_(std::move(handle)) {
  rd_kafka_timestamp_type_t type{};
  timestamp = rd_kafka_message_timestamp(handle_.get(), &type);
  if (handle_->key != nullptr) key.emplace(static_cast<const char*>(handle_->key), handle_->key_len);
  if (handle_->payload != nullptr) value.emplace(static_cast<const char*>(handle_->payload), handle_->len);
}

void Message::headers(std::vector<MessageHeader>& headers) const {
  headers.clear();
  rd_kafka_headers_t* all = nullptr;
  if (rd_kafka_message_headers(handle_.get(), &all) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
  const char* name = nullptr;
  const void* bytes = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0; rd_kafka_header_get_all(all, i, &name, &bytes, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; ++i) {
    MessageHeader& header = headers.emplace_back();
    header.name = name;
    if (bytes != nullptr) header.value.emplace(static_cast<const char*>(bytes), size);
  }
}

Reader::Reader(const Cluster& cluster, std::string_view name, FetchLimits limits)
    : client_(cluster, name, configuration(cluster, limits)), limits_(limits) {}

std::uint32_t Reader::add(const TopicPartition& partition, std::int64_t offset) {
  partitions_.push_back(partition);
  seen_.emplace_back(offset);
  taken_.emplace_back(0);
  return static_cast<std::uint32_t>(partitions_.size() - 1);
}

void Reader::leave(std::uint32_t partition) {
  std::vector<RdKafka::TopicPartition*> left{
      RdKafka::TopicPartition::create(partitions_[partition].topic, partitions_[partition].partition)};
  const std::unique_ptr<RdKafka::Error> error(client_->incremental_unassign(left));
  RdKafka::TopicPartition::destroy(left);
  if (error) throw Error("kafka", "a partition could not be unassigned: " + error->str());
}

void Reader::resume(std::uint32_t partition) {
  std::vector<RdKafka::TopicPartition*> back{
      RdKafka::TopicPartition::create(partitions_[partition].topic, partitions_[partition].partition, seen(partition))};
  const std::unique_ptr<RdKafka::Error> error(client_->incremental_assign(back));
  RdKafka::TopicPartition::destroy(back);
  if (error) throw Error("kafka", "partitions could not be assigned: " + error->str());
}

void Reader::fetch_added() {
  std::vector<RdKafka::TopicPartition*> added;
  for (; fetching_ < partitions_.size(); ++fetching_) {
    added.push_back(RdKafka::TopicPartition::create(partitions_[fetching_].topic, partitions_[fetching_].partition,
                                                    seen_[fetching_].load()));
  }
  if (added.empty()) return;
  const std::unique_ptr<RdKafka::Error> error(client_->incremental_assign(added));
  RdKafka::TopicPartition::destroy(added);
  if (error) throw Error("kafka", "partitions could not be assigned: " + error->str());
}

std::uint32_t Reader::index_of(const rd_kafka_message_t& message) {
  // librdkafka keeps one topic object while any partition of the topic is assigned.
  const std::pair<const void*, std::int32_t> key{message.rkt, message.partition};
  if (key == last_) return last_index_;
  auto found = indices_.find(key);
  if (found == indices_.end()) {
    const auto at = std::ranges::find(partitions_, name_of(message));
    found = indices_.emplace(key, static_cast<std::uint32_t>(at - partitions_.begin())).first;
  }
  last_ = key;
  return last_index_ = found->second;
}

std::optional<Message> Reader::take(Message::Handle message) {
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    const std::uint32_t partition = index_of(*message);
    Message record(std::move(message), partition);
    taken_[record.partition].store(record.offset + 1, std::memory_order_relaxed);
    seen_[record.partition].store(record.offset + 1, std::memory_order_relaxed);
    bytes_since_wake_ += record.value.value_or("").size() + record.key.value_or("").size();
    ++records_since_wake_;
    return record;
  }
  if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    // The offset is that of the next record: after the last record, and after entries that are none.
    std::atomic<std::int64_t>& seen = seen_[index_of(*message)];
    seen.store(std::max(seen.load(), message->offset), std::memory_order_relaxed);
  } else {
    refuse(*message);
  }
  return std::nullopt;
}

// If a broker thread of librdkafka 2.0 finds the queue full, it waits for a second, even if there is room earlier. A request
// wakes it. The smallest one asks for the end of a partition, and nobody has to wait for its answer.
void Reader::wake_fetchers() {
  if (records_since_wake_ < limits_.records / 4 && bytes_since_wake_ < limits_.bytes / 4) return;
  bytes_since_wake_ = records_since_wake_ = 0;
  const std::unique_ptr<rd_kafka_topic_partition_list_t, decltype(&rd_kafka_topic_partition_list_destroy)> list(
      rd_kafka_topic_partition_list_new(static_cast<int>(partitions_.size())), &rd_kafka_topic_partition_list_destroy);
  for (const auto& [topic, number] : partitions_) {
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), number)->offset = RD_KAFKA_OFFSET_END;
  }
  rd_kafka_offsets_for_times(client_.c(), list.get(), 0);
}

void Reader::refuse(const rd_kafka_message_t& message) {
  const auto code = static_cast<RdKafka::ErrorCode>(message.err);
  const TopicPartition partition = name_of(message);
  const std::string text = client_.client_log().blot(rd_kafka_message_errstr(&message));
  switch (code) {
    case RdKafka::ERR__AUTO_OFFSET_RESET:
    case RdKafka::ERR_OFFSET_OUT_OF_RANGE:
      refuse_offset(index_of(message));
    case RdKafka::ERR_UNKNOWN_TOPIC_OR_PART:
    case RdKafka::ERR__UNKNOWN_TOPIC:
    case RdKafka::ERR__UNKNOWN_PARTITION:
      throw PartitionGone(index_of(message), to_string(partition));
    case RdKafka::ERR_TOPIC_AUTHORIZATION_FAILED:
      throw Error(partition.topic, "the brokers do not allow reading this topic", "allow READ and DESCRIBE on it");
    default:
      break;
  }
  if (code != RdKafka::ERR__FATAL && passes(code)) {
    client_.client_log().tell(Level::warn, "kafka_waits", {{"partition", to_string(partition)}, {"message", text}});
    return;
  }
  throw Error(partition.topic.empty() ? "kafka" : to_string(partition), text);
}

void Reader::refuse_offset(std::uint32_t partition) {
  const TopicPartition& name = partitions_[partition];
  const auto [low, high] = watermarks(client_, name, Clock::now() + std::chrono::seconds(10));
  const std::int64_t needed = seen(partition);
  if (needed > high) {
    throw Error(
        to_string(name),
        fmt::format(
            "the partition ends at offset {}, but offset {} is needed next: records were lost, or the topic was created anew",
            high, needed),
        "restore the topic, or choose an empty state directory and another application name");
  }
  throw Error(to_string(name),
              fmt::format("offset {} is needed next, but the topic no longer retains it: its lowest offset is {}", needed, low),
              "restore the records or the state directory, or choose an empty state directory and another application name");
}

std::int64_t Reader::end(const TopicPartition& partition) {
  std::int64_t low = -1, high = -1;
  client_->get_watermark_offsets(partition.topic, partition.partition, &low, &high);
  return std::max<std::int64_t>(high, -1);
}

}  // namespace deltamatch::ingest::kafka

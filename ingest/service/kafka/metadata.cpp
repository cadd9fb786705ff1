#include "ingest/service/kafka/metadata.hpp"

#include <chrono>
#include <thread>

namespace deltamatch::ingest::kafka {
namespace {

[[noreturn]] void refuse(const std::string& topic, RdKafka::ErrorCode code) {
  throw Error(topic.empty() ? "kafka" : "\"" + topic + "\"", RdKafka::err2str(code),
              "allow DESCRIBE on it, or correct its name");
}

template <class T>
std::unique_ptr<RdKafka::Metadata> metadata(Client<T>& client, const RdKafka::Topic* only, const std::string& what,
                                            Deadline deadline) {
  RdKafka::Metadata* answer = nullptr;
  const auto code = ask(client.client_log(), deadline, what,
                        [&](int timeout_ms) { return client->metadata(only == nullptr, only, &answer, timeout_ms); });
  if (code != RdKafka::ERR_NO_ERROR) refuse(only == nullptr ? "" : only->name(), code);
  return std::unique_ptr<RdKafka::Metadata>(answer);
}

}  // namespace

template <class T>
std::map<std::string, int> all_topics(Client<T>& client, Deadline deadline) {
  std::map<std::string, int> counts;
  const auto answer = metadata(client, nullptr, "the topics", deadline);
  for (const RdKafka::TopicMetadata* topic : *answer->topics()) {
    if (topic->err() != RdKafka::ERR_NO_ERROR && !passes(topic->err())) continue;
    counts.emplace(topic->topic(), static_cast<int>(topic->partitions()->size()));
  }
  return counts;
}

template std::map<std::string, int> all_topics(Consumer& client, Deadline deadline);
template std::map<std::string, int> all_topics(Producer& client, Deadline deadline);

int count_partitions(Consumer& client, const std::string& topic, Deadline deadline) {
  std::string reason;
  const std::unique_ptr<RdKafka::Topic> only(RdKafka::Topic::create(client.inner()->handle.get(), topic, nullptr, reason));
  if (only == nullptr) throw Error("\"" + topic + "\"", reason, "correct the name of the topic");
  int count = 0;
  const std::string what = "topic \"" + topic + "\"";
  const auto code = ask(client.client_log(), deadline, what, [&](int) {
    const auto answer = metadata(client, only.get(), what, deadline);
    if (answer->topics()->empty()) return RdKafka::ERR_UNKNOWN_TOPIC_OR_PART;
    count = static_cast<int>(answer->topics()->front()->partitions()->size());
    return answer->topics()->front()->err();
  });
  if (code == RdKafka::ERR_NO_ERROR) return count;
  if (code == RdKafka::ERR_UNKNOWN_TOPIC_OR_PART || code == RdKafka::ERR__UNKNOWN_TOPIC) return 0;
  refuse(topic, code);
}

namespace {

/// Asks about a partition. A client that has not reached a broker yet takes every partition for unknown. So one that the
/// brokers know is asked about again.
template <class Request>
void ask_about(Consumer& client, const TopicPartition& partition, Deadline deadline, Request request) {
  for (;;) {
    const RdKafka::ErrorCode code = ask(client.client_log(), deadline, to_string(partition), request);
    if (code == RdKafka::ERR_NO_ERROR) return;
    if (code != RdKafka::ERR__UNKNOWN_PARTITION || count_partitions(client, partition.topic, deadline) <= partition.partition)
      refuse(to_string(partition), code);
    if (Clock::now() >= deadline) throw Unreachable(to_string(partition), RdKafka::err2str(code));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

std::pair<std::int64_t, std::int64_t> watermarks(Consumer& client, const TopicPartition& partition, Deadline deadline) {
  std::int64_t low = 0, high = 0;
  ask_about(client, partition, deadline, [&](int timeout_ms) {
    return client->query_watermark_offsets(partition.topic, partition.partition, &low, &high, timeout_ms);
  });
  return {low, high};
}

std::optional<std::int64_t> offset_at(Consumer& client, const TopicPartition& partition, std::int64_t time, Deadline deadline) {
  std::int64_t offset = 0;
  ask_about(client, partition, deadline, [&](int timeout_ms) {
    std::vector<RdKafka::TopicPartition*> query{RdKafka::TopicPartition::create(partition.topic, partition.partition, time)};
    const auto result = client->offsetsForTimes(query, timeout_ms);
    const auto code = result == RdKafka::ERR_NO_ERROR ? query[0]->err() : result;
    offset = query[0]->offset();
    RdKafka::TopicPartition::destroy(query);
    return code;
  });
  return offset < 0 ? std::nullopt : std::optional(offset);  // a negative offset means the end
}

}  // namespace deltamatch::ingest::kafka

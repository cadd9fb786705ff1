#include "ingest/service/kafka/query_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "ingest/service/kafka/metadata.hpp"
#include "ingest/service/kafka/partition_reader.hpp"

namespace deltamatch::ingest::kafka {
namespace {

/// The first retained offset, and the end of all records. Nothing if there is no topic.
std::optional<std::pair<std::int64_t, std::int64_t>> bounds(const Cluster& cluster, const TopicPartition& topic,
                                                            Deadline deadline) {
  Consumer client(cluster, "queries",
                  configure(cluster, {}, {{"group.id", cluster.application}, {"isolation.level", "read_uncommitted"}}));
  if (count_partitions(client, topic.topic, deadline) == 0) return std::nullopt;
  return watermarks(client, topic, deadline);
}

}  // namespace

std::vector<QueryRecord> read_query_log(const Cluster& cluster, Deadline deadline) {
  const TopicPartition topic{query_topic(cluster.application), 0};
  std::vector<QueryRecord> records;
  const auto range = bounds(cluster, topic, deadline);
  if (!range || range->first >= range->second) return records;
  const std::int64_t end = range->second;
  Reader reader(cluster, "queries", {});
  reader.add(topic, range->first);
  reader.fetch_added();
  while (reader.seen(0) < end) {
    Message::Handle message(rd_kafka_consumer_poll(reader.client().c(), std::min(remaining_ms(deadline), 100)));
    if (message == nullptr) {
      if (Clock::now() < deadline) continue;
      throw Unreachable(to_string(topic), fmt::format("only read to offset {} of {} in the time allowed", reader.seen(0), end),
                        "check that the brokers are up");
    }
    const auto taken = reader.take(std::move(message));
    if (!taken) continue;
    if (taken->offset >= end) break;
    auto record =
        parse_query_record(taken->value.value_or(""), fmt::format("{} at offset {}", to_string(topic), taken->offset));
    if (record) {
      records.push_back(std::move(*record));
    } else {
      reader.client().client_log().tell(
          Level::warn, "stray_query_record",
          {{"topic", topic.topic},
           {"offset", std::to_string(taken->offset)},
           {"effect", "it is passed over"},
           {"remedy",
            "find out who writes to this topic, and allow only the service to write to it (by an ACL of the brokers)"}});
    }
  }
  return records;
}

}  // namespace deltamatch::ingest::kafka

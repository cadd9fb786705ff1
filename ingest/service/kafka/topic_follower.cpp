#include "ingest/service/kafka/topic_follower.hpp"

#include "ingest/service/kafka/metadata.hpp"
#include "ingest/service/kafka/partition_reader.hpp"

namespace deltamatch::ingest::kafka {

struct TopicFollower::State {
  explicit State(const Cluster& cluster) : reader(cluster, "workers", {}) {}
  Reader reader;
};

TopicFollower::TopicFollower(const Cluster& cluster, const std::vector<std::pair<TopicPartition, std::int64_t>>& from)
    : state_(std::make_unique<State>(cluster)) {
  for (const auto& [partition, offset] : from) state_->reader.add(partition, offset);
  state_->reader.fetch_added();
}

TopicFollower::~TopicFollower() = default;

std::optional<Message> TopicFollower::poll(std::chrono::milliseconds wait) {
  Reader& reader = state_->reader;
  Message::Handle message(rd_kafka_consumer_poll(reader.client().c(), static_cast<int>(wait.count())));
  return message == nullptr ? std::nullopt : reader.take(std::move(message));
}

std::int64_t TopicFollower::seen(std::size_t index) const { return state_->reader.seen(static_cast<std::uint32_t>(index)); }

std::vector<std::pair<std::int64_t, std::int64_t>> bounds_of(const Cluster& cluster,
                                                             const std::vector<TopicPartition>& partitions, Deadline deadline) {
  Consumer client(cluster, "workers",
                  configure(cluster, {}, {{"group.id", cluster.application}, {"isolation.level", "read_uncommitted"}}));
  std::vector<std::pair<std::int64_t, std::int64_t>> bounds;
  bounds.reserve(partitions.size());
  for (const TopicPartition& partition : partitions) bounds.push_back(watermarks(client, partition, deadline));
  return bounds;
}

}  // namespace deltamatch::ingest::kafka

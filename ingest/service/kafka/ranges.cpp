#include "ingest/service/kafka/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ingest/service/kafka/partition_reader.hpp"
#include "ingest/service/kafka/topic_follower.hpp"

namespace deltamatch::ingest::kafka {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t least_bytes = 256 << 10;  // the minimum for one partition's queue, however many there are
constexpr auto report_after = 10s;
constexpr auto ask_after = 1s;             // without a record; then twice as long each time
constexpr auto longest_between = 60s;      // two questions
constexpr auto ask_patience = 2s;          // for the answer
constexpr std::size_t record_bytes = 512;  // approximate memory of librdkafka for a record, without its payload

FetchLimits share_of(std::size_t queue_bytes, std::size_t partitions) {
  const std::size_t bytes = std::max(queue_bytes / std::max<std::size_t>(partitions, 1), least_bytes);
  return {bytes, bytes / record_bytes};
}

}  // namespace

struct RangeReader::State {
  State(const Cluster& of, const Offsets& start, std::size_t queue_bytes)
      : cluster(of), reader(cluster, "range", share_of(queue_bytes, start.size())) {
    add(start);
  }

  /// Adds the new ones among them. Their queues are separated from the common one, so each can be read alone.
  void add(const Offsets& offsets) {
    for (const auto& [partition, offset] : offsets) {
      if (indices.contains(partition)) continue;
      indices.emplace(partition, reader.add(partition, offset));
      queues.emplace_back(rd_kafka_queue_get_partition(reader.client().c(), partition.topic.c_str(), partition.partition),
                          &rd_kafka_queue_destroy);
      rd_kafka_queue_forward(queues.back().get(), nullptr);
    }
    reader.fetch_added();
  }

  /// The next record of the partition before `end`, or nothing if there is none left. A record at or after `end` is held back.
  std::optional<Message> next(std::uint32_t partition, std::int64_t end, const std::stop_token& stop) {
    auto& held = held_back[partition];
    if (held) return held->offset < end ? std::exchange(held, std::nullopt) : std::nullopt;
    while (reader.seen(partition) < end && !stop.stop_requested()) {
      Message::Handle message(rd_kafka_consume_queue(queues[partition].get(), 0));
      if (message == nullptr) {
        reader.wake_fetchers();
        message.reset(rd_kafka_consume_queue(queues[partition].get(), 100));
      }
      std::optional<Message> record;
      if (message != nullptr) record = reader.take(std::move(message));
      if (record && record->offset < end) return record;
      if (record) {
        held = std::move(record);
        return std::nullopt;
      }
      heed_the_rest(partition, end);
    }
    return std::nullopt;
  }

  void heed_the_rest(std::uint32_t partition, std::int64_t end);
  void must_reach(const TopicPartition& name, std::int64_t end);

  const Cluster cluster;
  Reader reader;
  std::map<TopicPartition, std::uint32_t> indices;
  std::vector<std::unique_ptr<rd_kafka_queue_t, decltype(&rd_kafka_queue_destroy)>> queues;
  std::map<std::uint32_t, std::optional<Message>> held_back;
  std::function<void()> waits;
  std::pair<std::uint32_t, std::int64_t> waiting_at{0, -1};
  Clock::time_point waiting_since;
  Clock::duration ask_again{};
  Clock::time_point next_ask;
};

// Called while no record comes. The brokers may be away, or another producer's transaction may be open. Errors that concern no
// partition arrive in the common queue. A partition that ends before the range would never reach its end.
void RangeReader::State::heed_the_rest(std::uint32_t partition, std::int64_t end) {
  if (waits) waits();
  Message::Handle message(rd_kafka_consumer_poll(reader.client().c(), 0));
  const TopicPartition& name = reader.partitions()[partition];
  if (message != nullptr && reader.take(std::move(message)))
    throw Error(to_string(name), "a record came in the queue of errors", "start the service again, and report this");
  const std::pair place{partition, reader.seen(partition)};
  const auto now = Clock::now();
  if (place != waiting_at) {
    waiting_at = place;
    waiting_since = now;
    ask_again = ask_after;
    next_ask = now + ask_again;
  } else if (now >= waiting_since + report_after) {
    reader.client().client_log().tell(
        Level::warn, "kafka_range_waits",
        {{"partition", to_string(name)}, {"read_to", std::to_string(reader.seen(partition))}, {"until", std::to_string(end)}});
    waiting_since = now;
  }
  if (now < next_ask) return;
  ask_again = std::min<Clock::duration>(2 * ask_again, longest_between);
  next_ask = now + ask_again;
  must_reach(name, end);
}

/// Throws Error if the partition ends before `end`. The brokers are asked, because what the last fetch told may be old.
void RangeReader::State::must_reach(const TopicPartition& name, std::int64_t end) {
  std::int64_t high = 0;
  try {
    high = bounds_of(cluster, {name}, Clock::now() + ask_patience).front().second;
  } catch (const Error&) {
    return;  // the records come once the brokers are back; and what is wrong with the partition, its reader says
  }
  if (high >= end) return;
  throw Error(
      to_string(name),
      fmt::format("the partition ends at offset {}, but was read to offset {} before: records were lost, or the topic was "
                  "created anew",
                  high, end),
      "restore the topic, or choose an empty state directory and another application name");
}

RangeReader::RangeReader(const Cluster& cluster, const Offsets& start, std::size_t queue_bytes)
    : state_(std::make_unique<State>(cluster, start, queue_bytes)) {}
RangeReader::~RangeReader() = default;

const std::vector<TopicPartition>& RangeReader::partitions() const noexcept { return state_->reader.partitions(); }

bool RangeReader::read(const Offsets& ends, const std::function<void(Message&&)>& take, const std::stop_token& stop,
                       const std::function<void()>& waits) {
  State& s = *state_;
  s.waits = waits;
  s.add(ends);
  for (const auto& [name, end] : ends) {  // ascending, like the records
    const std::uint32_t partition = s.indices.at(name);
    while (auto record = s.next(partition, end, stop)) take(std::move(*record));
    if (stop.stop_requested()) return false;
  }
  return true;
}

}  // namespace deltamatch::ingest::kafka

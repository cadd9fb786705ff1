#include "ingest/service/kafka/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <utility>

#include "ingest/service/kafka/metadata.hpp"
#include "ingest/service/kafka/partition_reader.hpp"
#include "ingest/service/kafka/topic_expression.hpp"
#include "ingest/service/kafka/topics.hpp"

namespace deltamatch::ingest::kafka {
namespace {

bool is_expression(const InputTopics& topics) { return TopicExpression::is_one(topics.name); }

std::vector<std::optional<TopicExpression>> compile(const std::vector<InputTopics>& topics) {
  std::vector<std::optional<TopicExpression>> expressions(topics.size());
  for (std::size_t i = 0; i < topics.size(); ++i) {
    if (is_expression(topics[i])) expressions[i].emplace(topics[i].name);
  }
  return expressions;
}

}  // namespace

/// Messages that librdkafka hands over together. A call for each of them would cost it locks and looks at the clock.
class Input::Portion {
 public:
  explicit Portion(rd_kafka_t* consumer) : queue_(rd_kafka_queue_get_consumer(consumer), &rd_kafka_queue_destroy) {
    messages_.reserve(size);
  }

  /// The next message, in order. Null if none is there at present.
  Message::Handle next() {
    if (next_ == messages_.size()) take();
    return next_ == messages_.size() ? nullptr : std::move(messages_[next_++]);
  }
  /// Drops the messages of a partition. They are fetched again if it is assigned again.
  void drop(const TopicPartition& partition) {
    const auto is_of = [&](const Message::Handle& message) {
      return message != nullptr && message->partition == partition.partition && message->rkt != nullptr &&
             rd_kafka_topic_name(message->rkt) == partition.topic;
    };
    messages_.erase(messages_.begin(), messages_.begin() + static_cast<std::ptrdiff_t>(std::exchange(next_, 0)));
    std::erase_if(messages_, is_of);
  }

 private:
  // As few as bring most of what can be saved: beyond the queue's limits, this many records are held.
  static constexpr std::size_t size = 32;

  void take() {
    messages_.clear();
    next_ = 0;
    std::array<rd_kafka_message_t*, size> taken{};
    const ssize_t count = rd_kafka_consume_batch_queue(queue_.get(), 0, taken.data(), taken.size());  // waits for nothing
    for (ssize_t i = 0; i < count; ++i) messages_.emplace_back(taken[static_cast<std::size_t>(i)]);
  }

  std::unique_ptr<rd_kafka_queue_t, decltype(&rd_kafka_queue_destroy)> queue_;
  std::vector<Message::Handle> messages_;
  std::size_t next_ = 0;  // those before it are taken
};

struct Input::State {
  State(const Cluster& cluster, const InputOptions& input, std::vector<std::string> own, bool again)
      : options(input),
        expressions(compile(input.topics)),
        never(own.begin(), own.end()),
        read_again(again),
        reader(cluster, "input", {input.queue_bytes, input.queue_records}),
        portion(reader.client().c()) {
    const ShardOptions& shard = input.shard;
    if (!shard.divided()) never_own(cluster.application);
    for (std::uint32_t number = 0; number < shard.count; ++number) never_own(shard.application(number));
  }

  /// An expression does not match the topics of the service itself.
  void never_own(const std::string& application) {
    never.insert(commit_topic(application));
    never.insert(query_topic(application));
    never.insert(progress_topic(application));
    never.insert(claims_topic(application));
  }

  /// The entry that says how to read a topic, or nothing if the topic is no input.
  [[nodiscard]] std::optional<std::size_t> entry_of(const std::string& topic) const {
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      if (!expressions[i] && options.topics[i].name == topic) return i;
    }
    if (topic.starts_with("__") || never.contains(topic)) return std::nullopt;
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      if (expressions[i] && expressions[i]->matches(topic)) return i;
    }
    return std::nullopt;
  }

  const InputOptions options;
  const std::vector<std::optional<TopicExpression>> expressions;  // nothing for entries that are names
  std::set<std::string> never;
  const bool read_again;
  std::set<std::string> kept;  // topics that are not compacted
  Reader reader;
  Portion portion;
  std::mutex mutex;  // held to add partitions, or to read them from another thread
  std::vector<InputPartition> partitions;
  std::set<std::uint32_t> left;         // guarded by mutex
  std::vector<std::int64_t> told_ends;  // guarded by mutex; answers to ends() by partition, -1 if none
  bool disowned = false;
};

Input::Input(const Cluster& cluster, const InputOptions& options, std::vector<std::string> never, bool read_again)
    : state_(std::make_unique<State>(cluster, options, std::move(never), read_again)) {}
Input::~Input() = default;

void must_not_be_gone(const std::vector<std::string>& absent, const Offsets& known) {
  for (const std::string& topic : absent) {
    if (std::ranges::none_of(known, [&](const auto& read) { return read.first.topic == topic; })) continue;
    throw Error("\"" + topic + "\"", "the topic does not exist, although it was read before",
                "restore it; do not create another one of its name");
  }
}

void must_divide(const ShardOptions& shard, const std::string& topic, int partitions) {
  if (!shard.divided() || static_cast<std::uint32_t>(partitions) % shard.count == 0) return;
  throw Error(
      ErrorKind::configuration, "\"" + topic + "\"",
      fmt::format("the topic has {} partition{}, which is no multiple of the {} shards. So a key may lead to another shard "
                  "than in other topics, or than before partitions were added",
                  partitions, partitions == 1 ? "" : "s", shard.count),
      fmt::format(
          "give the topic {} partitions before anything is produced. What was produced meanwhile may be in other shards; "
          "then produce all into a new topic, under another application name",
          (static_cast<std::uint32_t>(partitions) / shard.count + 1) * shard.count));
}

Discovery Input::discover(Deadline deadline) {
  State& s = *state_;
  Discovery found;
  std::map<std::string, int> counts;
  if (std::ranges::any_of(s.options.topics, is_expression)) counts = all_topics(s.reader.client(), deadline);
  for (const InputTopics& topics : s.options.topics) {
    if (is_expression(topics) || counts.contains(topics.name)) continue;
    counts[topics.name] = count_partitions(s.reader.client(), topics.name, deadline);
    if (counts[topics.name] == 0) found.absent.push_back(topics.name);
  }
  for (const auto& [topic, count] : counts) {
    const auto entry = s.entry_of(topic);
    if (!entry) continue;
    must_divide(s.options.shard, topic, count);
    if (s.read_again && count > 0 && !s.kept.contains(topic)) {
      must_not_be_compacted(s.reader.client(), topic, deadline);
      s.kept.insert(topic);
    }
    for (std::int32_t number = 0; number < count; ++number) {
      if (s.options.shard.reads(number)) found.partitions.push_back({{topic, number}, *entry});
    }
  }
  return found;
}

Offsets Input::first_offsets(const std::vector<InputPartition>& partitions, const Offsets& known, Deadline deadline) {
  State& s = *state_;
  std::set<std::string_view> known_topics;
  for (const auto& [partition, offset] : known) known_topics.insert(partition.topic);
  Offsets first;
  for (const auto& [id, topics] : partitions) {
    if (known.contains(id)) continue;
    const auto kind = known_topics.contains(id.topic) ? StartAt::Kind::earliest : s.options.start.kind;
    const auto [low, high] = watermarks(s.reader.client(), id, deadline);
    std::int64_t offset = kind == StartAt::Kind::earliest ? low : high;
    if (kind == StartAt::Kind::timestamp) {
      offset = offset_at(s.reader.client(), id, s.options.start.since_epoch.count(), deadline).value_or(high);
    }
    first.emplace(id, offset);
  }
  return first;
}

std::int64_t Input::low(const TopicPartition& partition, Deadline deadline) {
  return watermarks(state_->reader.client(), partition, deadline).first;
}

void Input::add(const std::vector<InputPartition>& partitions, const Offsets& from) {
  State& s = *state_;
  {
    const std::scoped_lock lock(s.mutex);
    for (const InputPartition& partition : partitions) {
      s.reader.add(partition.id, from.at(partition.id));
      s.partitions.push_back(partition);
    }
  }
  s.reader.fetch_added();
}

std::vector<std::int64_t> Input::ends(Deadline deadline) {
  State& s = *state_;
  const std::unique_ptr<rd_kafka_topic_partition_list_t, decltype(&rd_kafka_topic_partition_list_destroy)> list(
      rd_kafka_topic_partition_list_new(0), &rd_kafka_topic_partition_list_destroy);
  std::vector<std::int64_t> ends;
  std::vector<std::uint32_t> asked;  // by position in the list
  {
    const std::scoped_lock lock(s.mutex);
    ends.assign(s.partitions.size(), -1);
    for (std::uint32_t i = 0; i < s.partitions.size(); ++i) {
      if (s.left.contains(i)) continue;
      const TopicPartition& id = s.partitions[i].id;
      rd_kafka_topic_partition_list_add(list.get(), id.topic.c_str(), id.partition)->offset = RD_KAFKA_OFFSET_END;
      asked.push_back(i);
    }
  }
  if (asked.empty()) return ends;
  if (rd_kafka_offsets_for_times(s.reader.client().c(), list.get(), remaining_ms(deadline)) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return ends;
  const std::scoped_lock lock(s.mutex);
  s.told_ends.resize(s.partitions.size(), -1);
  for (std::size_t k = 0; k < asked.size(); ++k) {
    const rd_kafka_topic_partition_t& answer = list->elems[k];
    if (answer.err == RD_KAFKA_RESP_ERR_NO_ERROR && answer.offset >= 0) s.told_ends[asked[k]] = ends[asked[k]] = answer.offset;
  }
  return ends;
}

void Input::leave(std::uint32_t partition) {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->left.insert(partition);
  }
  state_->reader.leave(partition);
  state_->portion.drop(state_->partitions[partition].id);
}

void Input::resume(std::uint32_t partition) {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->left.erase(partition);
  }
  state_->reader.resume(partition);
}

// librdkafka reports it in a message or in an event.
bool Input::disowned() noexcept {
  const bool told = state_->reader.client().client_log().take_gone();
  return std::exchange(state_->disowned, false) || told;
}

const std::vector<InputPartition>& Input::partitions() const noexcept { return state_->partitions; }

std::optional<Message> Input::poll(std::chrono::milliseconds timeout) {
  State& s = *state_;
  // The clock is read only if no record is ready.
  for (Deadline deadline{};;) {
    const int wait = deadline == Deadline{} ? 0 : remaining_ms(deadline);
    Message::Handle message = s.portion.next();
    if (message == nullptr && wait > 0) message.reset(rd_kafka_consumer_poll(s.reader.client().c(), wait));
    if (message != nullptr) {
      s.reader.wake_fetchers();
      try {
        if (auto record = s.reader.take(std::move(message))) return record;
      } catch (const PartitionGone& gone) {
        if (gone.partition >= s.partitions.size() || !is_expression(s.options.topics[s.partitions[gone.partition].topics]))
          throw;
        s.disowned = true;
        return std::nullopt;
      }
    } else if (deadline == Deadline{}) {
      deadline = Clock::now() + timeout;
    } else if (wait == 0) {
      return std::nullopt;
    }
  }
}

std::int64_t Input::seen(std::uint32_t partition) const { return state_->reader.seen(partition); }

std::vector<Progress> Input::progress() const {
  State& s = *state_;
  const std::scoped_lock lock(s.mutex);
  std::vector<Progress> result;
  result.reserve(s.partitions.size());
  for (std::uint32_t i = 0; i < s.partitions.size(); ++i) {
    // While fetching pauses, only the answers to ends() grow.
    const std::int64_t told = i < s.told_ends.size() ? s.told_ends[i] : -1;
    const TopicPartition& id = s.partitions[i].id;
    result.push_back({id, s.reader.seen(i), s.reader.taken(i), std::max(told, s.reader.end(id))});
  }
  return result;
}

}  // namespace deltamatch::ingest::kafka

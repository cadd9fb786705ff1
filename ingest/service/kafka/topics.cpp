#include "ingest/service/kafka/topics.hpp"

#include <fmt/format.h>

#include <thread>
#include <utility>
#include <vector>

#include "ingest/service/kafka/metadata.hpp"

namespace deltamatch::ingest::kafka {
namespace {

template <class T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

/// The brokers' answer to a request of the Admin API, which exists only in C.
Owned<rd_kafka_event_t> answer_to(Consumer& client, Deadline deadline, const std::function<void(rd_kafka_queue_t*)>& request) {
  const Owned<rd_kafka_queue_t> queue(rd_kafka_queue_new(client.c()), &rd_kafka_queue_destroy);
  request(queue.get());
  return {rd_kafka_queue_poll(queue.get(), remaining_ms(deadline)), &rd_kafka_event_destroy};
}

/// What a topic must be like.
struct Layout {
  int partitions = 1;
  std::vector<std::pair<const char*, const char*>> settings;
};

const Layout& kept_for_ever() {
  static const Layout layout{1, {{"cleanup.policy", "delete"}, {"retention.ms", "-1"}, {"retention.bytes", "-1"}}};
  return layout;
}

RdKafka::ErrorCode create_topic(Consumer& client, const std::string& name, const Layout& layout, Deadline deadline) {
  char reason[512] = "";
  const Owned<rd_kafka_NewTopic_t> topic(rd_kafka_NewTopic_new(name.c_str(), layout.partitions, -1, reason, sizeof reason),
                                         &rd_kafka_NewTopic_destroy);
  if (topic == nullptr) throw Error("\"" + name + "\"", reason, "choose another name for the application");
  for (const auto& [key, value] : layout.settings) rd_kafka_NewTopic_set_config(topic.get(), key, value);
  const auto event = answer_to(client, deadline, [&](rd_kafka_queue_t* queue) {
    rd_kafka_NewTopic_t* topics[]{topic.get()};
    rd_kafka_CreateTopics(client.c(), topics, 1, nullptr, queue);
  });
  if (event == nullptr) return RdKafka::ERR__TIMED_OUT;
  if (const auto error = rd_kafka_event_error(event.get())) return static_cast<RdKafka::ErrorCode>(error);
  std::size_t count = 0;
  const auto* results = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count);
  return count == 0 ? RdKafka::ERR_UNKNOWN : static_cast<RdKafka::ErrorCode>(rd_kafka_topic_result_error(results[0]));
}

/// The value of a topic's setting according to the brokers. Empty if they refuse to say, nothing if they do not answer.
std::optional<std::string> setting_of(Consumer& client, const std::string& topic, std::string_view key, Deadline deadline) {
  const Owned<rd_kafka_ConfigResource_t> resource(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()),
                                                  &rd_kafka_ConfigResource_destroy);
  const auto event = answer_to(client, deadline, [&](rd_kafka_queue_t* queue) {
    rd_kafka_ConfigResource_t* resources[]{resource.get()};
    rd_kafka_DescribeConfigs(client.c(), resources, 1, nullptr, queue);
  });
  if (event == nullptr) return std::nullopt;
  const auto code = static_cast<RdKafka::ErrorCode>(rd_kafka_event_error(event.get()));
  if (code != RdKafka::ERR_NO_ERROR) return passes(code) ? std::nullopt : std::optional<std::string>("");
  std::size_t count = 0;
  const auto* resources = rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event.get()), &count);
  if (count == 0 || rd_kafka_ConfigResource_error(resources[0]) != RD_KAFKA_RESP_ERR_NO_ERROR) return "";
  const auto* entries = rd_kafka_ConfigResource_configs(resources[0], &count);
  for (std::size_t i = 0; i < count; ++i) {
    const char* value = rd_kafka_ConfigEntry_value(entries[i]);
    if (key == rd_kafka_ConfigEntry_name(entries[i])) return value == nullptr ? "" : value;
  }
  return "";
}

/// What the messages and events call a topic.
struct Purpose {
  const char* of;     // "the topic of …"
  const char* event;  // the beginning of its events' names
  const char* remedy = "choose another name for the application, or delete the topic if nothing was committed yet";
  const char* lost = nullptr;  // what follows if the brokers clean up its records: then such a topic is refused
};

/// The command that creates the topic.
std::string creation(const Cluster& cluster, const std::string& name, const Layout& layout) {
  std::string command =
      fmt::format("create it: {} --topic {} --partitions {}", topic_creation(cluster.properties), name, layout.partitions);
  for (const auto& [key, value] : layout.settings) {
    if (std::string_view(key) != "retention.bytes") command += fmt::format(" --config {}={}", key, value);
  }
  return command;
}

void ensure_topic(const Cluster& cluster, const std::string& name, Purpose purpose, const Layout& layout, Deadline deadline) {
  Consumer client(cluster, "topics", reader_configuration(cluster, {}));
  int count = count_partitions(client, name, deadline);
  if (count == 0) {
    const auto code = ask(client.client_log(), deadline, "topic \"" + name + "\"",
                          [&](int) { return create_topic(client, name, layout, deadline); });
    if (code == RdKafka::ERR_NO_ERROR) {
      client.client_log().tell(Level::info, fmt::format("{}_topic_made", purpose.event), {{"topic", name}});
    } else if (code != RdKafka::ERR_TOPIC_ALREADY_EXISTS) {
      throw Error("\"" + name + "\"",
                  fmt::format("the topic of {} could not be created: {}", purpose.of, RdKafka::err2str(code)),
                  creation(cluster, name, layout));
    }
    while ((count = count_partitions(client, name, deadline)) == 0) {
      if (Clock::now() >= deadline)
        throw Unreachable("\"" + name + "\"", "the topic was created, but the brokers do not show it yet");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  if (count != layout.partitions) {
    throw Error("\"" + name + "\"",
                fmt::format("the topic of {} has {} partition{}, but needs {}", purpose.of, count, count == 1 ? "" : "s",
                            layout.partitions == 1 ? "one" : std::to_string(layout.partitions)),
                purpose.remedy);
  }
  for (const auto& [key, kept] : layout.settings) {
    if (std::string_view(key) == "retention.bytes") continue;
    const std::string value = setting_of(client, name, key, deadline).value_or("");
    if (value.empty() || value == kept) continue;
    if (purpose.lost != nullptr) {
      throw Error(ErrorKind::configuration, "\"" + name + "\"", fmt::format("its {} is {}, so {}", key, value, purpose.lost),
                  fmt::format("set its {} to {}", key, kept));
    }
    client.client_log().tell(Level::warn, fmt::format("{}_topic_may_be_cleaned", purpose.event),
                             {{"topic", name}, {"setting", key}, {"value", value}, {"needed", kept}});
  }
}

}  // namespace

void ensure_commit_topic(const Cluster& cluster, Deadline deadline) {
  ensure_topic(cluster, commit_topic(cluster.application), {"commit records", "commit"}, kept_for_ever(), deadline);
}

void ensure_query_topic(const Cluster& cluster, Deadline deadline) {
  ensure_topic(cluster, query_topic(cluster.application), {"queries made over HTTP", "query"}, kept_for_ever(), deadline);
}

void ensure_progress_topic(const Cluster& cluster, std::uint32_t slots, Deadline deadline) {
  ensure_topic(cluster, progress_topic(cluster.application),
               {"what slots have published", "progress", "set workers.slots to its number of partitions",
                "alerts could be published again once its records are gone"},
               {static_cast<int>(slots), {{"cleanup.policy", "compact"}}}, deadline);
}

void ensure_claims_topic(const Cluster& cluster, Deadline deadline) {
  ensure_topic(cluster, claims_topic(cluster.application), {"what workers say of themselves", "claims"},
               {1, {{"cleanup.policy", "delete"}, {"retention.ms", "3600000"}}}, deadline);
}

std::string topic_creation(const KafkaProperties& properties) {
  std::string servers = "HOST:PORT";
  for (const char* key : {"bootstrap.servers", "metadata.broker.list"}) {
    const auto at = properties.find(key);
    if (at == properties.end() || at->second.empty()) continue;
    servers = at->second;
    break;
  }
  return "kafka-topics.sh --bootstrap-server " + servers + " --create";
}

void must_not_be_compacted(Consumer& client, const std::string& topic, Deadline deadline) {
  const std::optional<std::string> value = setting_of(client, topic, "cleanup.policy", deadline);
  if (!value) throw Unreachable("\"" + topic + "\"", "the brokers do not tell its cleanup.policy");
  if (value->empty()) {
    client.client_log().tell(Level::warn, "input_topic_may_be_compacted",
                             {{"topic", topic},
                              {"why", "the brokers do not allow to ask for its cleanup.policy"},
                              {"remedy", "allow DESCRIBE_CONFIGS on it"}});
  } else if (value->find("compact") != std::string::npos) {
    throw Error(
        ErrorKind::configuration, "\"" + topic + "\"",
        fmt::format("its cleanup.policy is {}, but workers may have to read each of its records again", *value),
        "set its cleanup.policy to delete, or leave it out of the input; an application that has no workers yet may stay "
        "without workers.slots");
  }
}

}  // namespace deltamatch::ingest::kafka

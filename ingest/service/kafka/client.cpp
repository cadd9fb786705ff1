#include "ingest/service/kafka/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ingest/service/kafka/handle.hpp"

namespace deltamatch::ingest::kafka {
namespace {

struct Reserved {
  std::string_view key;
  std::string_view reason;
};

constexpr std::string_view by_name = "the service derives it from the application's name";
constexpr std::string_view by_protocol = "exactly-once delivery depends on the value that the service sets";
constexpr std::array<Reserved, 19> reserved{{
    {"transactional.id", by_name},
    {"group.id", by_name},
    {"group.instance.id", by_name},
    {"group.protocol.type", by_protocol},
    {"partition.assignment.strategy", by_protocol},
    {"enable.auto.commit", by_protocol},
    {"auto.commit.enable", by_protocol},
    {"enable.auto.offset.store", by_protocol},
    {"isolation.level", by_protocol},
    {"auto.offset.reset", by_protocol},
    {"enable.partition.eof", by_protocol},
    {"enable.idempotence", by_protocol},
    {"enable.gapless.guarantee", by_protocol},
    {"delivery.report.only.error", by_protocol},
    {"allow.auto.create.topics", "a misspelt topic must not be created"},
    {"transaction.timeout.ms", "the key transaction_timeout of the service sets it"},
    {"log.queue", "the service writes the log lines itself"},
    {"topic.blacklist", "input.topics lists the topics to read"},
    {"group.protocol", by_protocol},
}};

bool blank(const KafkaProperties& properties, const char* key) {
  const auto found = properties.find(key);
  return found == properties.end() || found->second.empty();
}

[[noreturn]] void refuse(std::string_view where, std::string_view what, std::string_view remedy) {
  throw Error(ErrorKind::configuration, where, what, remedy);
}

void refuse_reserved(const KafkaProperties& properties, std::string_view where) {
  for (const auto& [key, reason] : reserved) {
    if (properties.contains(std::string(key)))
      refuse(where, fmt::format("\"{}\" may not be set: {}", key, reason), "remove it");
  }
}

void set(RdKafka::Conf& configuration, const std::string& key, const std::string& value, std::string_view where,
         const Secrets& secrets) {
  std::string reason;
  const auto result = configuration.set(key, value, reason);
  if (result == RdKafka::Conf::CONF_OK) return;
  if (is_secret(key)) reason = fmt::format("the value of \"{}\" is not accepted", key);
  refuse(where, secrets.blot(reason), "see librdkafka's list of properties");
}

/// Whether the client would contact a ticket or token server as soon as it exists.
bool contacts_others(const KafkaProperties& properties) {
  return std::ranges::any_of(std::array{"sasl.mechanism", "sasl.mechanisms"}, [&](const char* key) {
    const auto found = properties.find(key);
    return found != properties.end() && (found->second == "GSSAPI" || found->second == "OAUTHBEARER");
  });
}

}  // namespace

std::string commit_topic(std::string_view application) { return fmt::format("{}.commits", application); }
std::string query_topic(std::string_view application) { return fmt::format("{}.queries", application); }
std::string owner_group(std::string_view application) { return fmt::format("{}.owner", application); }
std::string progress_topic(std::string_view application) { return std::string(application) + ".progress"; }
std::string claims_topic(std::string_view application) { return std::string(application) + ".claims"; }
std::string slot_id(std::string_view application, std::uint32_t slot) { return fmt::format("{}.slot-{}", application, slot); }

bool is_secret(std::string_view property) {
  std::string lower(property);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower.ends_with(".location") || lower == "enable.sasl.oauthbearer.unsecure.jwt" || lower == "sasl.oauthbearer.method")
    return false;
  constexpr std::array marks{"password",   "passwd",  "secret",  ".pem",   "sasl.oauthbearer.", "jaas", "token",
                             "credential", "ssl.key", "ssl_key", "private"};
  return std::ranges::any_of(marks, [&](const char* mark) { return lower.find(mark) != std::string::npos; });
}

void check_properties(const KafkaProperties& properties, std::string_view where) {
  refuse_reserved(properties, where);
  if (blank(properties, "bootstrap.servers") && blank(properties, "metadata.broker.list") &&
      blank(properties, "test.mock.num.brokers")) {
    refuse(where, "no broker is named", "set bootstrap.servers to host:port of one or more of them");
  }
  const Secrets secrets(properties);
  const std::unique_ptr<RdKafka::Conf> configuration(RdKafka::Conf::create(RdKafka::Conf::CONF_GLOBAL));
  for (const auto& [key, value] : properties) set(*configuration, key, value, where, secrets);
  if (contacts_others(properties)) return;

  // Contradictions and unreadable files show only when a client is created. A client without brokers contacts none.
  KafkaProperties alone = properties;
  for (const char* key : {"bootstrap.servers", "metadata.broker.list", "test.mock.num.brokers", "debug"}) alone.erase(key);
  const Cluster cluster{"check", alone, nullptr};
  try {
    Consumer consumer(cluster, "check", reader_configuration(cluster, {}));
    Producer producer(cluster, "check", configure(cluster, {}, {{"transactional.id", "check"}}));
  } catch (const Error& error) {
    std::string_view what = error.what();
    if (what.starts_with("kafka: ")) what.remove_prefix(7);
    refuse(where, what, {});
  }
}

std::unique_ptr<RdKafka::Conf> configure(const Cluster& cluster, const Settings& defaults, const Settings& fixed) {
  refuse_reserved(cluster.properties, "kafka");
  const Secrets secrets(cluster.properties);
  std::unique_ptr<RdKafka::Conf> configuration(RdKafka::Conf::create(RdKafka::Conf::CONF_GLOBAL));
  const auto apply = [&](const Settings& settings) {
    for (const auto& [key, value] : settings) set(*configuration, key, value, "kafka", secrets);
  };
  apply({{"client.id", cluster.application}});
  apply(defaults);
  for (const auto& [key, value] : cluster.properties) set(*configuration, key, value, "kafka", secrets);
  apply(fixed);
  return configuration;
}

std::unique_ptr<RdKafka::Conf> reader_configuration(const Cluster& cluster, const Settings& more) {
  Settings defaults{{"fetch.error.backoff.ms", "50"}};
  defaults.insert(defaults.end(), more.begin(), more.end());
  return configure(cluster, defaults,
                   {{"group.id", cluster.application},
                    {"enable.auto.commit", "false"},
                    {"enable.auto.offset.store", "false"},
                    {"isolation.level", "read_committed"},
                    {"auto.offset.reset", "error"},
                    {"enable.partition.eof", "true"}});
}

}  // namespace deltamatch::ingest::kafka

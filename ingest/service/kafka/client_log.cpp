#include "ingest/service/kafka/client_log.hpp"

#include <algorithm>
#include <array>

#include "ingest/service/kafka/handle.hpp"

namespace deltamatch::ingest::kafka {
namespace {

Level level_of(RdKafka::Event::Severity severity) {
  switch (severity) {
    case RdKafka::Event::EVENT_SEVERITY_EMERG:
    case RdKafka::Event::EVENT_SEVERITY_ALERT:
    case RdKafka::Event::EVENT_SEVERITY_CRITICAL:
    case RdKafka::Event::EVENT_SEVERITY_ERROR:
      return Level::error;
    case RdKafka::Event::EVENT_SEVERITY_WARNING:
    case RdKafka::Event::EVENT_SEVERITY_NOTICE:
      return Level::warn;
    case RdKafka::Event::EVENT_SEVERITY_INFO:
      return Level::info;
    default:
      return Level::debug;
  }
}

std::string_view name_of(const RdKafka::Event& error) {
  if (error.fatal()) return "kafka_fatal";
  switch (error.err()) {
    case RdKafka::ERR__ALL_BROKERS_DOWN:
      return "kafka_unreachable";
    case RdKafka::ERR__AUTHENTICATION:
      return "kafka_authentication_failed";
    default:
      return "kafka_error";
  }
}

}  // namespace

Secrets::Secrets(const KafkaProperties& properties) {
  for (const auto& [key, value] : properties) {
    if (is_secret(key) && !value.empty()) values_.push_back(value);
  }
  // The longest first. If one secret is a prefix of another, the longer one is masked completely.
  std::ranges::sort(values_, [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

std::string Secrets::blot(std::string text) const {
  for (const std::string& secret : values_) {
    for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos; at += 3) text.replace(at, secret.size(), "***");
  }
  return text;
}

ClientLog::ClientLog(const Cluster& cluster, std::string_view client)
    : client_(client), secrets_(cluster.properties), journal_(cluster.journal) {}

void ClientLog::event_cb(RdKafka::Event& event) {
  const std::string text = blot(event.str());
  if (event.type() == RdKafka::Event::EVENT_LOG) {
    // All clients get the same properties. A producer ignores those for consumers, which is no news.
    const bool idle = event.fac() == "CONFWARN" && text.find("will be ignored by") != std::string::npos;
    const Level level = idle ? Level::debug : level_of(event.severity());
    if (level == Level::error || event.fac() == "FAIL") note_problem(text);
    tell(level, "kafka_client", {{"client", client_}, {"kind", event.fac()}, {"message", text}});
  } else if (event.type() == RdKafka::Event::EVENT_ERROR) {
    if (event.err() != RdKafka::ERR__ALL_BROKERS_DOWN) note_problem(text);  // a mere consequence of other problems
    if (event.err() == RdKafka::ERR__UNKNOWN_PARTITION || event.err() == RdKafka::ERR__UNKNOWN_TOPIC ||
        event.err() == RdKafka::ERR_UNKNOWN_TOPIC_OR_PART) {
      gone_ = true;
    }
    const bool waited_out = passes(event.err()) && event.err() != RdKafka::ERR__AUTHENTICATION;
    // A lost connection comes as a message (FAIL) too, by more clients and with the same text.
    const Level level = event.err() == RdKafka::ERR__TRANSPORT ? Level::debug : waited_out ? Level::warn : Level::error;
    tell(level, name_of(event), {{"client", client_}, {"error", RdKafka::err2str(event.err())}, {"message", text}});
  }
}

void ClientLog::tell(Level level, std::string_view event, std::initializer_list<Field> fields) {
  const std::scoped_lock lock(mutex_);
  if (journal_ != nullptr) journal_->tell(level, event, fields);
}

void ClientLog::silence() {
  const std::scoped_lock lock(mutex_);
  journal_ = nullptr;
}

void ClientLog::note_problem(const std::string& text) {
  const std::scoped_lock lock(mutex_);
  last_problem_ = text;
}

std::string ClientLog::last_problem() const {
  const std::scoped_lock lock(mutex_);
  return last_problem_;
}

std::string_view ClientLog::remedy() const {
  // If a client cannot connect, librdkafka tells the reason only in words. The first entry whose word occurs counts.
  struct Cure {
    std::string_view word;
    std::string_view remedy;
  };
  constexpr std::array cures{
      Cure{"security.protocol", "check security.protocol, and that bootstrap.servers names the port that goes with it"},
      Cure{"SASL", "check sasl.username, sasl.password and sasl.mechanism, and that the brokers know the user"},
      Cure{"SSL",
           "check ssl.ca.location, which has to trust the brokers' certificates, the names in those, and security.protocol"}};
  const std::string problem = last_problem();
  const auto* const cure =
      std::ranges::find_if(cures, [&](const Cure& one) { return problem.find(one.word) != std::string::npos; });
  return cure == cures.end() ? "check bootstrap.servers and that the brokers are up" : cure->remedy;
}

}  // namespace deltamatch::ingest::kafka

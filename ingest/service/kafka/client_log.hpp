// Logs what librdkafka reports to the journal, without secrets. Only for ingest/service/kafka.
#pragma once

#include <librdkafka/rdkafkacpp.h>

#include <atomic>
#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/service/kafka/client.hpp"

namespace deltamatch::ingest::kafka {

/// The secret values among some properties.
class Secrets {
 public:
  explicit Secrets(const KafkaProperties& properties);
  /// Returns the text with every secret replaced by "***".
  [[nodiscard]] std::string blot(std::string text) const;

 private:
  std::vector<std::string> values_;
};

/// Logs the messages and errors of one client. Any thread may call it, and the threads of librdkafka do.
class ClientLog final : public RdKafka::EventCb {
 public:
  ClientLog(const Cluster& cluster, std::string_view client);
  void event_cb(RdKafka::Event& event) override;
  void tell(Level level, std::string_view event, std::initializer_list<Field> fields);

  /// After this call nothing reaches the journal, not even from a thread that was left behind.
  void silence();

  [[nodiscard]] std::string blot(std::string text) const { return secrets_.blot(std::move(text)); }

  /// Whether a topic or partition was reported as gone since the last call.
  [[nodiscard]] bool take_gone() noexcept { return gone_.exchange(false); }

  /// The last problem, to explain why no broker answers. Empty if there was none.
  [[nodiscard]] std::string last_problem() const;
  /// The remedy for the last problem. Without a known problem, the remedy for brokers that do not answer.
  [[nodiscard]] std::string_view remedy() const;

 private:
  void note_problem(const std::string& text);

  const std::string client_;
  const Secrets secrets_;
  std::atomic<bool> gone_ = false;
  mutable std::mutex mutex_;
  Journal* journal_;          // guarded by mutex_
  std::string last_problem_;  // guarded by mutex_
};

}  // namespace deltamatch::ingest::kafka

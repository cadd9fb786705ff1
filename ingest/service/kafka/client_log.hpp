// What librdkafka says goes to the journal, without secrets. Inside ingest/service/kafka only.
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

/// The values of the secret ones among some properties.
class Secrets {
 public:
  explicit Secrets(const KafkaProperties& properties);
  /// The text with "***" in the place of every secret.
  [[nodiscard]] std::string blot(std::string text) const;

 private:
  std::vector<std::string> values_;
};

/// Takes log lines and errors of one client to the journal. Any thread may call it; librdkafka's own do.
class ClientLog final : public RdKafka::EventCb {
 public:
  ClientLog(const Cluster& cluster, std::string_view client);
  void event_cb(RdKafka::Event& event) override;
  void tell(Level level, std::string_view event, std::initializer_list<Field> fields);

  /// After this nothing reaches the journal any more, also not from a thread that was left behind.
  void silence();

  [[nodiscard]] std::string blot(std::string text) const { return secrets_.blot(std::move(text)); }

  /// Whether a topic or partition was said to be gone since the last call.
  [[nodiscard]] bool take_gone() noexcept { return gone_.exchange(false); }

  /// What went wrong last, to explain why nothing answers; empty: nothing did.
  [[nodiscard]] std::string last_problem() const;
  /// What to do about it, or about brokers that do not answer where nothing is known to be wrong.
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

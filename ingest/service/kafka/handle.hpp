// Makes librdkafka's consumers and producers, and ends them. Inside ingest/service/kafka only.
#pragma once

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafkacpp.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/service/kafka/client.hpp"
#include "ingest/service/kafka/client_log.hpp"

namespace deltamatch::ingest::kafka {

/// Milliseconds until the deadline, not below 0, as librdkafka takes them.
[[nodiscard]] int remaining_ms(Deadline deadline);

/// Runs `work`, which owns all that it uses, in a thread of its own. False if it has not ended by the deadline: the thread then
/// goes on alone until it ends or the process does. For calls that may hang: closing a client, and in 2.0.2
/// send_offsets_to_transaction, which takes a timeout and does not keep it.
[[nodiscard]] bool finish_by(Deadline deadline, std::function<void()> work);

struct Setting {
  const char* key;
  std::string value;
};
using Settings = std::vector<Setting>;

/// A configuration of `defaults`, over them the user's properties, over them what is `fixed`. Throws as check_properties does.
[[nodiscard]] std::unique_ptr<RdKafka::Conf> configure(const Cluster& cluster, const Settings& defaults, const Settings& fixed);

/// A consumer that reads what it is assigned, committed records only, and commits nothing.
[[nodiscard]] std::unique_ptr<RdKafka::Conf> reader_configuration(const Cluster& cluster, const Settings& more);

/// A librdkafka client with its client_log. `callbacks` keeps alive what the configuration refers to.
template <class T>
class Client {
 public:
  /// Throws Error if librdkafka refuses the configuration. Contacts nobody yet.
  Client(const Cluster& cluster, std::string_view name, std::unique_ptr<RdKafka::Conf> configuration,
         std::shared_ptr<void> callbacks = {});
  ~Client() { static_cast<void>(close(Clock::now() + std::chrono::seconds(5))); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  [[nodiscard]] T* operator->() const noexcept { return inner_->handle.get(); }
  [[nodiscard]] rd_kafka_t* c() const noexcept { return inner_->handle->c_ptr(); }
  [[nodiscard]] ClientLog& client_log() const noexcept { return *inner_->client_log; }

  /// What a call that may be left behind has to hold.
  struct Inner {
    std::shared_ptr<ClientLog> client_log;
    std::shared_ptr<void> callbacks;
    std::unique_ptr<T> handle;
  };
  [[nodiscard]] const std::shared_ptr<Inner>& inner() const noexcept { return inner_; }

  /// False if the client could not be closed by the deadline; it is left to its own thread. Nothing may be called afterwards.
  bool close(Deadline deadline);

 private:
  std::shared_ptr<Inner> inner_;
};

using Consumer = Client<RdKafka::KafkaConsumer>;
using Producer = Client<RdKafka::Producer>;

/// Whether the same request may succeed later without anybody doing anything but waiting.
[[nodiscard]] bool passes(RdKafka::ErrorCode code) noexcept;

/// Calls `request` until it gives no error or one that does not pass, and gives that back; throws Unreachable at the deadline,
/// naming `what` was asked for.
RdKafka::ErrorCode ask(ClientLog& client_log, Deadline deadline, std::string_view what,
                       const std::function<RdKafka::ErrorCode(int timeout_ms)>& request);

}  // namespace deltamatch::ingest::kafka

// Creates librdkafka's consumers and producers, and closes them. Only for ingest/service/kafka.
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

/// Milliseconds until the deadline, at least 0, as librdkafka expects them.
[[nodiscard]] int remaining_ms(Deadline deadline);

/// Runs `work` in a thread of its own. `work` must own all that it uses. Returns false if it has not ended by the deadline. The
/// thread then continues alone until it or the process ends. This is for calls that may hang: closing a client, and
/// send_offsets_to_transaction, whose timeout has no effect in 2.0.2.
[[nodiscard]] bool finish_by(Deadline deadline, std::function<void()> work);

struct Setting {
  const char* key;
  std::string value;
};
using Settings = std::vector<Setting>;

/// A configuration. The user's properties override `defaults`, and `fixed` overrides both. Throws as check_properties does.
[[nodiscard]] std::unique_ptr<RdKafka::Conf> configure(const Cluster& cluster, const Settings& defaults, const Settings& fixed);

/// The configuration of a consumer that reads its assigned partitions, committed records only, and commits nothing.
[[nodiscard]] std::unique_ptr<RdKafka::Conf> reader_configuration(const Cluster& cluster, const Settings& more);

/// A librdkafka client with its client_log. `callbacks` keeps the objects alive that the configuration refers to.
template <class T>
class Client {
 public:
  /// Throws Error if librdkafka refuses the configuration. Contacts no broker yet.
  Client(const Cluster& cluster, std::string_view name, std::unique_ptr<RdKafka::Conf> configuration,
         std::shared_ptr<void> callbacks = {});
  ~Client() { static_cast<void>(close(Clock::now() + std::chrono::seconds(5))); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  [[nodiscard]] T* operator->() const noexcept { return inner_->handle.get(); }
  [[nodiscard]] rd_kafka_t* c() const noexcept { return inner_->handle->c_ptr(); }
  [[nodiscard]] ClientLog& client_log() const noexcept { return *inner_->client_log; }

  /// What a call has to keep alive if it may be left behind.
  struct Inner {
    std::shared_ptr<ClientLog> client_log;
    std::shared_ptr<void> callbacks;
    std::unique_ptr<T> handle;
  };
  [[nodiscard]] const std::shared_ptr<Inner>& inner() const noexcept { return inner_; }

  /// Closes the client. Returns false if it could not be closed by the deadline; a thread of its own then closes it. No other
  /// call is allowed afterwards.
  bool close(Deadline deadline);

 private:
  std::shared_ptr<Inner> inner_;
};

using Consumer = Client<RdKafka::KafkaConsumer>;
using Producer = Client<RdKafka::Producer>;

/// Whether the same request may succeed later, without anything but waiting.
[[nodiscard]] bool passes(RdKafka::ErrorCode code) noexcept;

/// Calls `request` until it returns no error or a permanent one, and returns that. Throws Unreachable at the deadline; the
/// message names `what` was requested.
RdKafka::ErrorCode ask(ClientLog& client_log, Deadline deadline, std::string_view what,
                       const std::function<RdKafka::ErrorCode(int timeout_ms)>& request);

}  // namespace deltamatch::ingest::kafka

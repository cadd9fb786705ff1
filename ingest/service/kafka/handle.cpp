#include "ingest/service/kafka/handle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <thread>

#include "ingest/service/kafka/steady_waits.hpp"

namespace deltamatch::ingest::kafka {

using namespace std::chrono_literals;

int remaining_ms(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, 3'600'000));
}

bool finish_by(Deadline deadline, std::function<void()> work) {
  struct Done {
    std::mutex mutex;
    std::condition_variable changed;
    bool yes = false;
  };
  const auto done = std::make_shared<Done>();
  std::thread thread([done, work = std::move(work)]() mutable {
    work();
    work = nullptr;  // frees what it holds before the result is known
    const std::scoped_lock lock(done->mutex);
    done->yes = true;
    done->changed.notify_all();
  });
  std::unique_lock lock(done->mutex);
  const bool finished = done->changed.wait_until(lock, deadline, [&] { return done->yes; });
  lock.unlock();
  finished ? thread.join() : thread.detach();
  return finished;
}

template <class T>
Client<T>::Client(const Cluster& cluster, std::string_view name, std::unique_ptr<RdKafka::Conf> configuration,
                  std::shared_ptr<void> callbacks)
    : inner_(std::make_shared<Inner>()) {
  inner_->client_log = std::make_shared<ClientLog>(cluster, name);
  inner_->callbacks = std::move(callbacks);
  if (!waits_are_steady()) {
    inner_->client_log->tell(Level::warn, "kafka_waits_by_the_wall_clock",
                             {{"effect", "nothing is committed while the system's clock steps back"}});
  }
  std::string reason;
  if (configuration->set("event_cb", inner_->client_log.get(), reason) == RdKafka::Conf::CONF_OK) {
    inner_->handle.reset(T::create(configuration.get(), reason));
  }
  if (inner_->handle == nullptr) {
    throw Error(ErrorKind::configuration, "kafka", inner_->client_log->blot(reason), "see librdkafka's list of properties");
  }
}

template <class T>
bool Client<T>::close(Deadline deadline) {
  if (inner_ == nullptr || inner_->handle == nullptr) return true;
  const std::shared_ptr<ClientLog> client_log = inner_->client_log;
  // A call that was left behind still uses the client. The client ends with that call.
  const bool closed = inner_.use_count() == 1 && finish_by(deadline, [inner = inner_] {
                        if constexpr (std::is_same_v<T, RdKafka::KafkaConsumer>) inner->handle->close();
                        inner->handle.reset();
                      });
  if (!closed) client_log->tell(Level::warn, "kafka_client_left_behind", {{"reason", "it did not close in time"}});
  client_log->silence();
  inner_ = nullptr;
  return closed;
}

template class Client<RdKafka::KafkaConsumer>;
template class Client<RdKafka::Producer>;

bool passes(RdKafka::ErrorCode code) noexcept {
  switch (code) {
    case RdKafka::ERR__TRANSPORT:
    case RdKafka::ERR__RESOLVE:
    case RdKafka::ERR__ALL_BROKERS_DOWN:
    case RdKafka::ERR__TIMED_OUT:
    case RdKafka::ERR__TIMED_OUT_QUEUE:
    case RdKafka::ERR__WAIT_COORD:
    case RdKafka::ERR__WAIT_CACHE:
    case RdKafka::ERR__IN_PROGRESS:
    case RdKafka::ERR__NODE_UPDATE:
    case RdKafka::ERR__AUTHENTICATION:  // librdkafka itself retries, with credentials that may have been renewed
    case RdKafka::ERR__SSL:
    case RdKafka::ERR_LEADER_NOT_AVAILABLE:
    case RdKafka::ERR_NOT_LEADER_FOR_PARTITION:
    case RdKafka::ERR_REQUEST_TIMED_OUT:
    case RdKafka::ERR_BROKER_NOT_AVAILABLE:
    case RdKafka::ERR_REPLICA_NOT_AVAILABLE:
    case RdKafka::ERR_NETWORK_EXCEPTION:
    case RdKafka::ERR_COORDINATOR_LOAD_IN_PROGRESS:
    case RdKafka::ERR_COORDINATOR_NOT_AVAILABLE:
    case RdKafka::ERR_NOT_COORDINATOR:
    case RdKafka::ERR_NOT_CONTROLLER:
    case RdKafka::ERR_NOT_ENOUGH_REPLICAS:
    case RdKafka::ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND:
    case RdKafka::ERR_KAFKA_STORAGE_ERROR:
    case RdKafka::ERR_FENCED_LEADER_EPOCH:
    case RdKafka::ERR_UNKNOWN_LEADER_EPOCH:
    case RdKafka::ERR_OFFSET_NOT_AVAILABLE:
    case RdKafka::ERR_PREFERRED_LEADER_NOT_AVAILABLE:
    case RdKafka::ERR_THROTTLING_QUOTA_EXCEEDED:
      return true;
    default:
      return false;
  }
}

RdKafka::ErrorCode ask(ClientLog& client_log, Deadline deadline, std::string_view what,
                       const std::function<RdKafka::ErrorCode(int timeout_ms)>& request) {
  for (auto pause = 20ms;; pause = std::min(2 * pause, 1000ms)) {
    const RdKafka::ErrorCode code = request(std::clamp(remaining_ms(deadline), 1, 10'000));
    if (!passes(code)) return code;
    if (Clock::now() + pause >= deadline) {
      const std::string problem = client_log.last_problem();
      throw Unreachable(
          "kafka",
          fmt::format("no answer about {}: {}{}", what, RdKafka::err2str(code), problem.empty() ? "" : " (" + problem + ")"),
          client_log.remedy());
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace deltamatch::ingest::kafka

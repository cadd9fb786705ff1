#include "ingest/service/kafka/ownership.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "ingest/service/kafka/handle.hpp"
#include "ingest/service/kafka/topics.hpp"

namespace deltamatch::ingest::kafka {
namespace {

/// What the group reported. A client that was left behind may still call it.
class Membership final : public RdKafka::RebalanceCb {
 public:
  explicit Membership(std::function<void()> on_loss) : on_loss_(std::move(on_loss)) {}

  // The partition is owned but not read, so fetching is paused as soon as it is assigned.
  void rebalance_cb(RdKafka::KafkaConsumer* consumer, RdKafka::ErrorCode code,
                    std::vector<RdKafka::TopicPartition*>& partitions) override {
    if (code == RdKafka::ERR__ASSIGN_PARTITIONS) {
      for (RdKafka::TopicPartition* partition : partitions) partition->set_offset(RdKafka::Topic::OFFSET_END);
      const std::unique_ptr<RdKafka::Error> error(consumer->incremental_assign(partitions));
      consumer->pause(partitions);
      if (!partitions.empty() && !error) gain();
      join();
    } else {
      if (!partitions.empty()) lose();
      const std::unique_ptr<RdKafka::Error> error(consumer->incremental_unassign(partitions));
    }
  }

  void fail(std::string what) {
    const std::scoped_lock lock(mutex_);
    failure_ = std::move(what);
    changed_.notify_all();
  }

  bool wait_until_joined(const std::stop_token& stop, Deadline deadline) {
    std::unique_lock lock(mutex_);
    return wait(lock, stop, deadline, joined_);
  }

  bool wait_until_owned(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    return wait(lock, stop, Deadline::max(), owned_);
  }

  /// From now on, losing the partition is not reported, because it was given up.
  void part() {
    const std::scoped_lock lock(mutex_);
    on_loss_ = nullptr;
    owned_ = false;
  }

  void check() {
    const std::scoped_lock lock(mutex_);
    throw_failure();
  }

  [[nodiscard]] bool owned() const noexcept { return owned_; }
  [[nodiscard]] std::uint64_t term() const noexcept { return term_; }

 private:
  bool wait(std::unique_lock<std::mutex>& lock, const std::stop_token& stop, Deadline deadline, const std::atomic<bool>& flag) {
    static_cast<void>(changed_.wait_until(lock, stop, deadline, [&] { return flag || failure_; }));
    if (!flag) throw_failure();
    return flag;
  }

  /// The caller holds mutex_.
  void throw_failure() const {
    if (!failure_) return;
    throw Error("kafka", *failure_, "see docs/guide/kafka-service.md for the rights that the service needs");
  }

  void join() {
    const std::scoped_lock lock(mutex_);
    joined_ = true;
    changed_.notify_all();
  }

  void gain() {
    const std::scoped_lock lock(mutex_);
    owned_ = true;
    ++term_;
    changed_.notify_all();
  }

  void lose() {
    std::function<void()> tell;
    {
      const std::scoped_lock lock(mutex_);
      if (owned_) tell = on_loss_;
      owned_ = false;
    }
    if (tell) tell();
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::function<void()> on_loss_;  // guarded by mutex_, as are writes to the members below
  std::atomic<bool> joined_ = false;
  std::atomic<bool> owned_ = false;
  std::atomic<std::uint64_t> term_ = 0;
  std::optional<std::string> failure_;
};

std::unique_ptr<RdKafka::Conf> configuration(const Cluster& cluster, Membership& membership) {
  auto result = configure(cluster, {{"session.timeout.ms", "10000"}, {"heartbeat.interval.ms", "500"}},
                          {{"group.id", owner_group(cluster.application)},
                           {"partition.assignment.strategy", "cooperative-sticky"},
                           {"enable.auto.commit", "false"},
                           {"auto.offset.reset", "latest"}});
  std::string reason;
  if (result->set("rebalance_cb", &membership, reason) != RdKafka::Conf::CONF_OK) throw Error("kafka", reason);
  return result;
}

bool lasts(RdKafka::ErrorCode code) {
  return code == RdKafka::ERR__FATAL || code == RdKafka::ERR_GROUP_AUTHORIZATION_FAILED ||
         code == RdKafka::ERR_TOPIC_AUTHORIZATION_FAILED;
}

}  // namespace

struct Ownership::State {
  State(const Cluster& cluster, std::shared_ptr<Membership> of)
      : membership(std::move(of)), client(cluster, "owner", configuration(cluster, *membership), membership) {}

  void serve(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const std::unique_ptr<RdKafka::Message> message(client->consume(100));
      const RdKafka::ErrorCode code = message->err();
      if (code == RdKafka::ERR_NO_ERROR || code == RdKafka::ERR__TIMED_OUT) continue;
      const std::string text = client.client_log().blot(message->errstr());
      client.client_log().tell(Level::warn, "ownership_error", {{"error", RdKafka::err2str(code)}, {"message", text}});
      if (lasts(code)) membership->fail("this instance cannot join the group of owners: " + text);
    }
  }

  std::shared_ptr<Membership> membership;
  Consumer client;
  std::jthread thread;
};

Ownership::Ownership(const Cluster& cluster, Deadline deadline, std::function<void()> on_loss) {
  ensure_commit_topic(cluster, deadline);
  state_ = std::make_unique<State>(cluster, std::make_shared<Membership>(std::move(on_loss)));
  const RdKafka::ErrorCode code = state_->client->subscribe({commit_topic(cluster.application)});
  if (code != RdKafka::ERR_NO_ERROR) throw Error("kafka", "the group of owners cannot be joined: " + RdKafka::err2str(code));
  state_->thread = std::jthread([state = state_.get()](const std::stop_token& stop) { state->serve(stop); });
}

Ownership::~Ownership() { static_cast<void>(release(Clock::now() + std::chrono::seconds(5))); }

bool Ownership::wait_until_joined(const std::stop_token& stop, Deadline deadline) {
  return state_->membership->wait_until_joined(stop, deadline);
}
bool Ownership::wait_until_owned(const std::stop_token& stop) { return state_->membership->wait_until_owned(stop); }
void Ownership::check() const { state_->membership->check(); }
bool Ownership::owned() const noexcept { return state_->membership->owned(); }
std::uint64_t Ownership::term() const noexcept { return state_->membership->term(); }

bool Ownership::release(Deadline deadline) {
  state_->membership->part();
  state_->thread.request_stop();
  if (state_->thread.joinable()) state_->thread.join();
  return state_->client.close(deadline);
}

}  // namespace deltamatch::ingest::kafka

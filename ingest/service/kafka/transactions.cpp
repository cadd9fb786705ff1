#include "ingest/service/kafka/transactions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "ingest/service/kafka/handle.hpp"
#include "ingest/service/kafka/metadata.hpp"
#include "ingest/service/kafka/transaction_failure.hpp"

namespace deltamatch::ingest::kafka {
namespace {

using namespace std::chrono_literals;

constexpr int most_tries = 10;
constexpr std::size_t most_under_way = std::size_t{16} << 20;  // bytes
constexpr std::size_t looked_at_every = 1000;                  // records; how often earlier results are checked
constexpr auto offsets_patience = 3s;  // at the first try; after that it checks whether the partitions exist

std::unique_ptr<RdKafka::Conf> configuration(const Cluster& cluster, std::chrono::milliseconds timeout) {
  // If the brokers are still ending a transaction, the next one must wait for this back-off and ask again. With 1 ms,
  // transactions take half the time that they take with 5 ms. Each topic limits the size of its records.
  auto result = configure(cluster, {{"retry.backoff.ms", "1"}, {"linger.ms", "1"}, {"message.max.bytes", "1000000000"}},
                          {{"transactional.id", cluster.application},
                           {"enable.idempotence", "true"},
                           {"transaction.timeout.ms", std::to_string(timeout.count())}});
  rd_kafka_conf_set_dr_msg_cb(result->c_ptr_global(), &Deliveries::report);
  return result;
}

void destroy(rd_kafka_headers_t* headers) { rd_kafka_headers_destroy(headers); }
void destroy(rd_kafka_error_t* error) { rd_kafka_error_destroy(error); }
void destroy(rd_kafka_topic_partition_list_t* list) { rd_kafka_topic_partition_list_destroy(list); }
void destroy(rd_kafka_consumer_group_metadata_t* group) { rd_kafka_consumer_group_metadata_destroy(group); }

struct Destroy {
  template <class T>
  void operator()(T* object) const {
    destroy(object);
  }
};
template <class T>
using Owned = std::unique_ptr<T, Destroy>;
using Answer = Owned<rd_kafka_error_t>;  // null if there was no error

/// The approximate size of a record in a batch.
std::size_t size_of(const OutputRecord& record) {
  std::size_t size = record.key.value_or("").size() + record.value.value_or("").size();
  for (const auto& [key, value] : record.headers) size += key.size() + value.size();
  return size;
}

Owned<rd_kafka_headers_t> headers_of(const OutputRecord& record) {
  if (record.headers.empty()) return {};
  Owned<rd_kafka_headers_t> headers(rd_kafka_headers_new(record.headers.size()));
  for (const auto& [key, value] : record.headers) {
    rd_kafka_header_add(headers.get(), key.data(), static_cast<ssize_t>(key.size()), value.data(),
                        static_cast<ssize_t>(value.size()));
  }
  return headers;
}

rd_kafka_vu_t field(rd_kafka_vtype_t type, const std::optional<std::string_view>& bytes) {
  rd_kafka_vu_t field{};
  field.vtype = type;
  if (bytes) field.u.mem = {const_cast<char*>(bytes->empty() ? "" : bytes->data()), bytes->size()};
  return field;
}

}  // namespace

struct Transactions::State {
  class Taker;
  State(const Cluster& cluster, std::chrono::milliseconds limit)
      : application(cluster.application),
        shared(cluster.shared),
        timeout(limit),
        deliveries(std::make_shared<Deliveries>()),
        producer(cluster, "transactions", configuration(cluster, limit), deliveries) {}

  /// The time limit of an attempt. The rest of the brokers' limit is for aborting it.
  [[nodiscard]] std::chrono::milliseconds allowed() const { return timeout * 3 / 4; }

  void init(Deadline deadline);
  void commit(const PutRecords& put, const Offsets& offsets, bool offsets_first, Deadline deadline,
              const std::function<void()>& before_end);
  void attempt(const PutRecords& put, const Offsets& offsets, bool offsets_first, Deadline deadline,
               const std::function<void()>& before_end);
  void produce(const OutputRecord& record, std::size_t number, Deadline deadline);
  void make_room(Deadline deadline);
  bool part(const TransactionFailure& failure);
  bool leave_out_gone(const TransactionFailure& failure, const Offsets& offsets, Deadline deadline);
  [[nodiscard]] RdKafka::ErrorCode learn(const std::string& name, Deadline deadline) const;
  void send_offsets(const Offsets& offsets, Deadline deadline);
  void flush(Deadline deadline);
  void end(Deadline deadline);
  void abort(Deadline deadline);
  void drop(Deadline deadline) noexcept;

  /// Repeats a call of the transaction API until its answer is final. At the deadline, `late` throws the fitting error.
  void settle(Deadline deadline, const std::function<Answer(int timeout_ms)>& call, const std::function<void()>& late);
  [[noreturn]] void die_of(const rd_kafka_error_t& fatal);
  template <class E>
  [[noreturn]] void die(const E& error) {
    dead = std::make_exception_ptr(error);
    throw error;
  }
  [[noreturn]] void undecided(std::string_view during);
  [[noreturn]] void refuse(const TransactionFailure& failure) const;

  const std::string application;
  const bool shared;
  const std::chrono::milliseconds timeout;
  const std::shared_ptr<Deliveries> deliveries;
  Producer producer;
  Clock::time_point begun;
  std::string topic;  // of the last record; ends in 0, as librdkafka requires
  std::set<std::string> known_topics;
  std::map<std::string, std::size_t> most_bytes;    // limits for bytes sent together, for topics that refused more
  std::map<std::string, std::size_t> under_way;     // bytes in flight for these topics in this attempt
  std::set<TopicPartition> gone;                    // partitions of the input
  Clock::duration offsets_time = offsets_patience;  // time limit of one call that sends offsets
  unsigned aborted = 0;                             // number of transactions
  std::exception_ptr dead;                          // why nothing more can be committed
};

Transactions::Transactions(const Cluster& cluster, std::chrono::milliseconds timeout, Deadline deadline)
    : state_(std::make_unique<State>(cluster, timeout)) {
  state_->init(deadline);
}

Transactions::~Transactions() = default;

void Transactions::must_be_there(std::span<const std::string> topics, Deadline deadline) {
  State& s = *state_;
  for (const std::string& name : topics) {
    const RdKafka::ErrorCode code = s.learn(name, deadline);
    if (code == RdKafka::ERR_NO_ERROR) {
      s.known_topics.insert(name);
    } else if (passes(code)) {
      throw Unreachable("\"" + name + "\"", "no answer about the topic: " + RdKafka::err2str(code),
                        "check that the brokers are up");
    } else {
      s.refuse({code, RdKafka::err2str(code), name});
    }
  }
}

/// Numbers the records of an attempt.
class Transactions::State::Taker final : public RecordTaker {
 public:
  Taker(State& state, Deadline limit) : state_(state), limit_(limit) {}
  void put(const OutputRecord& record) override { state_.produce(record, number_++, limit_); }
  [[nodiscard]] bool late() const override { return Clock::now() >= state_.begun + state_.allowed() / 3; }

 private:
  State& state_;
  Deadline limit_;
  std::size_t number_ = 0;
};

void Transactions::commit(std::span<const OutputRecord> records, const Offsets& offsets, Deadline deadline,
                          const std::function<void()>& before_end) {
  const auto put = [&](RecordTaker& taker) {
    for (const OutputRecord& record : records) taker.put(record);
    return true;
  };
  // Offsets go first. While the brokers still end the previous transaction, librdkafka repeats a request for offsets after
  // retry.backoff.ms. It repeats a request for the partitions of records only after 20 ms.
  state_->commit(put, offsets, true, deadline, before_end);
}

void Transactions::commit_streamed(const PutRecords& put, const Offsets& offsets, Deadline deadline) {
  state_->commit(put, offsets, false, deadline, [] {});
}

void Transactions::State::commit(const PutRecords& put, const Offsets& offsets, bool offsets_first, Deadline deadline,
                                 const std::function<void()>& before_end) {
  if (dead) std::rethrow_exception(dead);
  offsets_time = offsets_patience;
  for (int tries = 1;;) {
    try {
      return attempt(put, offsets, offsets_first, deadline, before_end);
    } catch (const TransactionFailure& failure) {
      abort(std::max(deadline, Clock::now() + 1s));
      if (Clock::now() < deadline && (part(failure) || leave_out_gone(failure, offsets, deadline))) continue;
      if (is_refusal(failure.code)) refuse(failure);
      offsets_time *= 2;
      const std::string text = producer.client_log().blot(failure.what);
      producer.client_log().tell(
          Level::warn, "transaction_aborted",
          {{"try", std::to_string(tries)}, {"error", RdKafka::err2str(failure.code)}, {"message", text}});
      const auto pause = std::min(10ms * (1 << tries), 1000ms);
      if (tries == most_tries || Clock::now() + pause >= deadline) {
        throw GivenUp("kafka", fmt::format("no transaction could be committed in {} tries: {}", tries, text),
                      "start the service again; nothing of the transaction is visible");
      }
      std::this_thread::sleep_for(pause);
      ++tries;
    } catch (...) {
      if (!dead) drop(std::max(deadline, Clock::now() + 1s));
      throw;
    }
  }
}

unsigned Transactions::aborted() const noexcept { return state_->aborted; }

void Transactions::State::init(Deadline deadline) {
  const auto late = [&] {
    const std::string problem = producer.client_log().last_problem();
    throw Unreachable("kafka", "no transaction could be begun yet" + (problem.empty() ? "" : ": " + problem),
                      producer.client_log().remedy());
  };
  try {
    settle(deadline, [&](int timeout_ms) { return Answer(rd_kafka_init_transactions(producer.c(), timeout_ms)); }, late);
  } catch (const TransactionFailure& failure) {
    refuse(failure);
  }
}

void Transactions::State::attempt(const PutRecords& put, const Offsets& offsets, bool offsets_first, Deadline deadline,
                                  const std::function<void()>& before_end) {
  begun = Clock::now();
  under_way.clear();
  const Deadline limit = std::min(deadline, begun + allowed());
  static_cast<void>(deliveries->take());
  settle(
      limit, [&](int) { return Answer(rd_kafka_begin_transaction(producer.c())); },
      [&] { undecided("the begin of a transaction"); });
  if (offsets_first) send_offsets(offsets, limit);
  Taker taker(*this, limit);
  if (put(taker) && !offsets_first) send_offsets(offsets, limit);
  flush(limit);
  before_end();
  end(deadline);
}

/// Waits until librdkafka holds at most most_under_way bytes, and throws if a record failed meanwhile.
void Transactions::State::make_room(Deadline deadline) {
  producer->poll(0);
  while (deliveries->under_way() > most_under_way && Clock::now() < deadline) producer->poll(10);
  if (auto failure = deliveries->take()) throw *failure;
}

void Transactions::State::produce(const OutputRecord& record, std::size_t number, Deadline deadline) {
  if (topic != record.topic) {
    topic = record.topic;
    // The broker that answers may not know a new topic yet, or the topic may have no leader yet.
    if (known_topics.insert(topic).second) static_cast<void>(learn(topic, std::min(deadline, Clock::now() + 5s)));
  }
  if (number % looked_at_every == 0 || deliveries->under_way() > most_under_way) make_room(deadline);
  if (const auto most = most_bytes.find(topic); most != most_bytes.end()) {
    const std::size_t before = under_way[topic];
    if (before != 0 && before + size_of(record) > most->second) flush(deadline);
    under_way[topic] += size_of(record);
  }
  Owned<rd_kafka_headers_t> headers = headers_of(record);
  std::array<rd_kafka_vu_t, 7> fields{};
  fields[0].vtype = RD_KAFKA_VTYPE_TOPIC;
  fields[0].u.cstr = topic.c_str();
  fields[1] = field(RD_KAFKA_VTYPE_VALUE, record.value);
  fields[2] = field(RD_KAFKA_VTYPE_KEY, record.key);
  fields[3].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  fields[3].u.i = RD_KAFKA_MSG_F_COPY;  // copies into memory that librdkafka allocates for every record anyway
  fields[4].vtype = RD_KAFKA_VTYPE_OPAQUE;
  const std::size_t bytes = record.key.value_or("").size() + record.value.value_or("").size();
  void* const ticket = deliveries->ticket(number, bytes);
  fields[4].u.ptr = ticket;
  fields[5].vtype = RD_KAFKA_VTYPE_PARTITION;
  fields[5].u.i32 = record.partition.value_or(RD_KAFKA_PARTITION_UA);
  fields[6].vtype = RD_KAFKA_VTYPE_HEADERS;
  fields[6].u.headers = headers.get();
  while (const Answer error{rd_kafka_produceva(producer.c(), fields.data(), headers == nullptr ? 6 : 7)}) {
    const bool full = rd_kafka_error_code(error.get()) == RD_KAFKA_RESP_ERR__QUEUE_FULL;
    if (!full || Clock::now() >= deadline) {
      TransactionFailure failure = failure_of(*error, topic);
      deliveries->give_back(ticket);
      if (is_size(failure.code)) throw TransactionFailure{failure.code, failure.what, topic, {{number, bytes}}};
      producer->poll(100);  // an earlier record may be the cause
      if (auto earlier = deliveries->take()) throw *earlier;
      // Another attempt would end the same way.
      if (full) {
        throw Error(
            "kafka",
            fmt::format(
                "the records of one transaction did not reach the brokers within {} ms: {} are queued, and the queue is full",
                std::chrono::duration_cast<std::chrono::milliseconds>(allowed()).count(), number),
            "raise transaction_timeout, lower batch.max_updates, or set a sink's rate_limit");
      }
      throw failure;
    }
    producer->poll(10);
  }
  static_cast<void>(headers.release());  // the record owns them now
}

// librdkafka 2.0 looks up unknown topics only once a second, and their records wait for that.
RdKafka::ErrorCode Transactions::State::learn(const std::string& name, Deadline deadline) const {
  std::string reason;
  const std::unique_ptr<RdKafka::Topic> handle(RdKafka::Topic::create(producer.inner()->handle.get(), name, nullptr, reason));
  if (handle == nullptr) throw TransactionFailure{RdKafka::ERR__INVALID_ARG, reason, name};
  for (RdKafka::ErrorCode told = RdKafka::ERR__TIMED_OUT;;) {
    RdKafka::Metadata* raw = nullptr;
    RdKafka::ErrorCode code = producer->metadata(false, handle.get(), &raw, remaining_ms(deadline));
    const std::unique_ptr<RdKafka::Metadata> answer(raw);
    if (code == RdKafka::ERR_NO_ERROR)
      code = answer == nullptr || answer->topics()->empty() ? RdKafka::ERR_UNKNOWN_TOPIC_OR_PART
                                                            : answer->topics()->front()->err();
    if (code == RdKafka::ERR_NO_ERROR || !(passes(code) || is_unknown(code))) return code;
    if (code != RdKafka::ERR__TIMED_OUT) told = code;
    if (Clock::now() >= deadline) return told;
    std::this_thread::sleep_for(20ms);
  }
}

/// Lowers the limit for a topic, because records that were refused together may fit apart. Returns false if there is nothing to
/// separate.
bool Transactions::State::part(const TransactionFailure& failure) {
  if (failure.too_large.size() < 2) return false;
  std::size_t bytes = 0;
  for (const TransactionFailure::Refused& refused : failure.too_large) bytes += refused.bytes;
  const auto [most, fresh] = most_bytes.try_emplace(failure.topic, bytes);
  most->second = std::max<std::size_t>(1, std::min(most->second, bytes) / 2);
  if (fresh) {
    producer.client_log().tell(Level::warn, "records_travel_apart",
                               {{"topic", failure.topic},
                                {"reason", "together they are larger than the topic's max.message.bytes"},
                                {"remedy", "set batch.size below that"}});
  }
  return true;
}

/// Leaves out the offsets of missing partitions. Returns whether they explain the failure, as far as is known now.
bool Transactions::State::leave_out_gone(const TransactionFailure& failure, const Offsets& offsets, Deadline deadline) {
  if (!failure.topic.empty() || !(is_unknown(failure.code) || failure.code == RdKafka::ERR__TIMED_OUT)) return false;
  std::map<std::string, int> there;
  try {
    // Asks for all topics. If a producer asks for one topic, brokers may create it.
    there = all_topics(producer, std::min(deadline, Clock::now() + 5s));
  } catch (const Error&) {  // it cannot be known now
    return false;
  }
  const std::size_t before = gone.size();
  for (const auto& [partition, offset] : offsets) {
    const auto found = there.find(partition.topic);
    if ((found != there.end() && partition.partition < found->second) || !gone.insert(partition).second) continue;
    producer.client_log().tell(Level::error, "input_partition_gone",
                               {{"partition", to_string(partition)},
                                {"offset", std::to_string(offset)},
                                {"effect", "its offset is not committed to the group any more; the commit records keep it"}});
  }
  return gone.size() != before;
}

void Transactions::State::send_offsets(const Offsets& all, Deadline deadline) {
  Offsets offsets = all;
  for (const TopicPartition& partition : gone) offsets.erase(partition);
  if (offsets.empty()) return;
  struct Call {
    std::shared_ptr<Producer::Inner> client;
    Owned<rd_kafka_topic_partition_list_t> list;
    Owned<rd_kafka_consumer_group_metadata_t> group;
    Answer answer;
  };
  const auto send = [&](int remaining) {
    // If a partition is gone, librdkafka requests its offsets until its time limit ends.
    const int timeout_ms =
        std::min(remaining, static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(offsets_time).count()));
    const auto call = std::make_shared<Call>();
    call->client = producer.inner();
    call->list.reset(rd_kafka_topic_partition_list_new(static_cast<int>(offsets.size())));
    call->group.reset(rd_kafka_consumer_group_metadata_new(application.c_str()));
    for (const auto& [partition, offset] : offsets) {
      rd_kafka_topic_partition_list_add(call->list.get(), partition.topic.c_str(), partition.partition)->offset = offset;
    }
    const bool returned = finish_by(deadline + 200ms, [call, timeout_ms] {
      call->answer.reset(
          rd_kafka_send_offsets_to_transaction(call->client->handle->c_ptr(), call->list.get(), call->group.get(), timeout_ms));
    });
    if (!returned) undecided("the input's offsets");
    return std::move(call->answer);
  };
  settle(deadline, send,
         [&] { throw TransactionFailure{RdKafka::ERR__TIMED_OUT, "the offsets of the input could not be sent in time", {}}; });
}

void Transactions::State::flush(Deadline deadline) {
  const RdKafka::ErrorCode code = producer->flush(remaining_ms(deadline));
  if (const auto failure = deliveries->take()) throw *failure;
  under_way.clear();
  if (code != RdKafka::ERR_NO_ERROR) throw TransactionFailure{code, "the records could not be delivered in time", {}};
}

void Transactions::State::end(Deadline deadline) {
  if (Clock::now() >= begun + allowed())
    throw TransactionFailure{RdKafka::ERR__TIMED_OUT, "the transaction was open for too long", {}};
  settle(
      deadline, [&](int timeout_ms) { return Answer(rd_kafka_commit_transaction(producer.c(), timeout_ms)); },
      [&] { undecided("a commit"); });
}

void Transactions::State::abort(Deadline deadline) {
  try {
    settle(
        deadline, [&](int timeout_ms) { return Answer(rd_kafka_abort_transaction(producer.c(), timeout_ms)); },
        [&] { undecided("an abort"); });
    ++aborted;
  } catch (const TransactionFailure& failure) {
    die(Error("kafka", "a transaction could neither be committed nor aborted: " + producer.client_log().blot(failure.what),
              "start the service again"));
  }
}

/// Aborts while another error is thrown. If the abort fails, the next call throws `dead`.
void Transactions::State::drop(Deadline deadline) noexcept {
  try {
    abort(deadline);
  } catch (...) {
    static_cast<void>(std::current_exception());
  }
}

void Transactions::State::settle(Deadline deadline, const std::function<Answer(int timeout_ms)>& call,
                                 const std::function<void()>& late) {
  for (auto pause = 5ms;; pause = std::min(2 * pause, 500ms)) {
    const Answer error = call(remaining_ms(deadline));
    if (error == nullptr) return;
    if (rd_kafka_error_is_fatal(error.get()) != 0) die_of(*error);
    if (rd_kafka_error_txn_requires_abort(error.get()) != 0 || rd_kafka_error_is_retriable(error.get()) == 0)
      throw failure_of(*error);
    if (Clock::now() + pause >= deadline) late();
    std::this_thread::sleep_for(pause);
  }
}

void Transactions::State::die_of(const rd_kafka_error_t& fatal) {
  const TransactionFailure reason = failure_of(fatal);
  const std::string text = producer.client_log().blot(reason.what);
  if (reason.code == RdKafka::ERR_INVALID_TRANSACTION_TIMEOUT) {
    die(Error(ErrorKind::configuration, "transaction_timeout",
              fmt::format("the brokers do not accept {} ms: {}", timeout.count(), text),
              "lower transaction_timeout, or raise transaction.max.timeout.ms of the brokers"));
  }
  if (!is_fencing(reason.code))
    die(Error("kafka", "the producer can commit no more transactions: " + text, "start the service again"));
  if (Clock::now() - begun >= timeout && begun != Clock::time_point{}) {
    die(Fenced("kafka",
               fmt::format("the brokers ended a transaction that was open for longer than {} ms, or another {} took over: {}",
                           timeout.count(), shared ? "worker" : "instance", text),
               "start the service again"));
  }
  if (shared) {
    die(Fenced("kafka", "another worker took \"" + application + "\" over: " + text,
               "leave it to that one; if the process ends, start it again, and it follows"));
  }
  die(Fenced("kafka", "another instance of \"" + application + "\" took over: " + text,
             "leave the work to it, or stop it and start this instance again"));
}

void Transactions::State::undecided(std::string_view during) {
  const std::string problem = producer.client_log().last_problem();
  die(OutcomeUnknown("kafka",
                     fmt::format("the brokers did not answer in time to {}{}{}", during, problem.empty() ? "" : ": ", problem),
                     "start the service again; it finds out whether the batch was committed"));
}

void Transactions::State::refuse(const TransactionFailure& failure) const {
  const std::string where = failure.topic.empty() ? "kafka" : "\"" + failure.topic + "\"";
  const std::string text = producer.client_log().blot(failure.what);
  switch (failure.code) {
    case RdKafka::ERR_MSG_SIZE_TOO_LARGE:
    case RdKafka::ERR_RECORD_LIST_TOO_LARGE: {
      char limit[32] = "";
      std::size_t size = sizeof limit;
      rd_kafka_conf_get(rd_kafka_conf(producer.c()), "message.max.bytes", limit, &size);
      const TransactionFailure::Refused first =
          failure.too_large.empty() ? TransactionFailure::Refused{0, 0} : failure.too_large.front();
      throw TooLarge(
          first.record, first.bytes, failure.topic, where,
          fmt::format("a record is too large: {} (message.max.bytes is {} here; the topic has its own)", text, limit),
          "raise max.message.bytes of the topic, and kafka.message.max.bytes if it is set");
    }
    case RdKafka::ERR_UNKNOWN_TOPIC_OR_PART:
    case RdKafka::ERR__UNKNOWN_TOPIC:
    case RdKafka::ERR__UNKNOWN_PARTITION:
      if (failure.topic.empty())
        throw Error(where, "the brokers refused the offsets of the input: " + text, "check that all of its topics still exist");
      throw Error(where, "the topic to write to does not exist", "create it");
    default:
      throw Error(where, text, "nothing of the transaction is visible");
  }
}

}  // namespace deltamatch::ingest::kafka

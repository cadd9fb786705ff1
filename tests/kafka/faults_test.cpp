// The effect of each broker error on a transaction. librdkafka's mock brokers return the errors. The test does not read from
// them, because they show aborted records, too.
#include <gmock/gmock.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <array>

#include "ingest/service/kafka/transactions.hpp"
#include "kafka/support.hpp"

namespace deltamatch::ingest::kafka::testing {
namespace {

using namespace std::chrono_literals;

enum class Request : std::int16_t {
  produce = 0,
  init = 22,
  add_partitions = 24,
  add_offsets = 25,
  end = 26,
  send_offsets = 28
};

enum class Outcome { committed, committed_again, refused, misconfigured, fenced, ended };

/// The next `times` answers to a request are this error.
struct Fault {
  const char* name;
  Request request;
  rd_kafka_resp_err_t error;
  int times;
  Outcome outcome;
};

std::ostream& operator<<(std::ostream& out, const Fault& fault) { return out << fault.name; }

/// One mock broker, with a topic.
class Brokers {
 public:
  Brokers() : host_(rd_kafka_new(RD_KAFKA_PRODUCER, quiet(), nullptr, 0)), brokers_(rd_kafka_mock_cluster_new(host_, 1)) {
    rd_kafka_mock_topic_create(brokers_, "t", 1, 1);
  }
  ~Brokers() {
    rd_kafka_mock_cluster_destroy(brokers_);
    rd_kafka_destroy(host_);
  }
  Brokers(const Brokers&) = delete;
  Brokers& operator=(const Brokers&) = delete;

  [[nodiscard]] std::string address() const { return rd_kafka_mock_cluster_bootstraps(brokers_); }

  void slow_down(std::chrono::milliseconds answer) {
    rd_kafka_mock_broker_set_rtt(brokers_, 1, static_cast<int>(answer.count()));
  }

  void fail(Request request, rd_kafka_resp_err_t error, int times) {
    const std::vector<rd_kafka_resp_err_t> errors(static_cast<std::size_t>(times), error);
    rd_kafka_mock_push_request_errors_array(brokers_, static_cast<std::int16_t>(request), errors.size(), errors.data());
  }

 private:
  static rd_kafka_conf_t* quiet() {
    rd_kafka_conf_t* configuration = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(configuration, nullptr);
    return configuration;
  }

  rd_kafka_t* host_;
  rd_kafka_mock_cluster_t* brokers_;
};

class MockedBrokers : public ::testing::Test {
 protected:
  Brokers brokers;
  Notes notes;
  Cluster cluster{"app", {{"bootstrap.servers", brokers.address()}}, &notes};

  static Outcome outcome_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const Fenced&) {
      return Outcome::fenced;
    } catch (const OutcomeUnknown&) {
      return Outcome::ended;
    } catch (const deltamatch::Error& error) {
      return error.kind() == ErrorKind::configuration ? Outcome::misconfigured : Outcome::refused;
    }
    return Outcome::committed;
  }

  static void commit(Transactions& transactions) {
    transactions.commit(std::array{OutputRecord{"t", "key", "value", {}}}, {{{"t", 0}, 1}}, in(20));
  }
};

class Faults : public MockedBrokers, public ::testing::WithParamInterface<Fault> {};

TEST_P(Faults, EndAsTheyShould) {
  const Fault& fault = GetParam();
  Transactions transactions(cluster, 10s, in(20));
  commit(transactions);
  brokers.fail(fault.request, fault.error, fault.times);
  const Outcome outcome = outcome_of([&] { commit(transactions); });
  const bool again = notes.has("transaction_aborted");
  const Outcome expected = fault.outcome == Outcome::committed_again ? Outcome::committed
                           : fault.outcome == Outcome::ended         ? Outcome::refused
                                                                     : fault.outcome;
  EXPECT_EQ(outcome, expected) << notes.all();
  EXPECT_EQ(again, fault.outcome == Outcome::committed_again) << notes.all();
  const bool alive = fault.outcome != Outcome::fenced && fault.outcome != Outcome::ended;
  EXPECT_EQ(outcome_of([&] { commit(transactions); }), alive ? Outcome::committed : expected);
}

INSTANTIATE_TEST_SUITE_P(
    OfTransactions, Faults,
    ::testing::Values(
        Fault{"LeaderMoves", Request::produce, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, 2, Outcome::committed},
        Fault{"TooFewReplicas", Request::produce, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, 3, Outcome::committed},
        Fault{"RecordTooLarge", Request::produce, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, 1, Outcome::refused},
        Fault{"RecordInvalid", Request::produce, RD_KAFKA_RESP_ERR_INVALID_RECORD, 1, Outcome::refused},
        Fault{"ProducerFencedAtProduce", Request::produce, RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, 1, Outcome::fenced},
        Fault{"UnknownProducer", Request::produce, RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID, 1, Outcome::committed_again},
        Fault{"SequenceLost", Request::produce, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, 1, Outcome::ended},
        Fault{"CoordinatorMoves", Request::add_partitions, RD_KAFKA_RESP_ERR_NOT_COORDINATOR, 2, Outcome::committed},
        Fault{"EarlierOneStillEnding", Request::add_partitions, RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS, 3,
              Outcome::committed},
        Fault{"TopicForbidden", Request::add_partitions, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 1, Outcome::refused},
        Fault{"FencedAtAddPartitions", Request::add_partitions, RD_KAFKA_RESP_ERR_PRODUCER_FENCED, 1, Outcome::fenced},
        Fault{"CoordinatorLoads", Request::add_offsets, RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, 3, Outcome::committed},
        Fault{"GroupForbidden", Request::add_offsets, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, 1, Outcome::refused},
        Fault{"GroupCoordinatorMoves", Request::send_offsets, RD_KAFKA_RESP_ERR_NOT_COORDINATOR, 2, Outcome::committed},
        Fault{"MemberUnknown", Request::send_offsets, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, 1, Outcome::committed_again},
        Fault{"GenerationIllegal", Request::send_offsets, RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, 1, Outcome::committed_again},
        Fault{"CoordinatorAwayAtEnd", Request::end, RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE, 3, Outcome::committed},
        Fault{"FencedAtEnd", Request::end, RD_KAFKA_RESP_ERR_PRODUCER_FENCED, 1, Outcome::fenced},
        Fault{"EpochBumpedAtEnd", Request::end, RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, 1, Outcome::fenced},
        Fault{"StateInvalidAtEnd", Request::end, RD_KAFKA_RESP_ERR_INVALID_TXN_STATE, 1, Outcome::ended}),
    [](const auto& fault) { return std::string(fault.param.name); });

// Brokers that accept requests and answer none. At the deadline the result is unknown, nothing more is accepted, and closing
// does not hang.
TEST_F(MockedBrokers, SilenceIsUndecidedAtTheDeadline) {
  auto transactions = std::make_unique<Transactions>(cluster, 20s, in(20));
  commit(*transactions);
  brokers.slow_down(60s);
  auto start = Clock::now();
  EXPECT_THAT(thrown<OutcomeUnknown>(
                  [&] { transactions->commit(std::array{OutputRecord{"t", {}, "never", {}}}, {{{"t", 0}, 2}}, in(1)); }),
              ::testing::HasSubstr("did not answer"));
  EXPECT_LT(Clock::now() - start, 8s);
  EXPECT_FALSE(thrown<OutcomeUnknown>([&] { commit(*transactions); }).empty());
  start = Clock::now();
  transactions.reset();
  EXPECT_LT(Clock::now() - start, 7s);
}

class Beginnings : public Faults {};

TEST_P(Beginnings, EndAsTheyShould) {
  brokers.fail(GetParam().request, GetParam().error, GetParam().times);
  EXPECT_EQ(outcome_of([&] { Transactions transactions(cluster, 10s, in(20)); }), GetParam().outcome) << notes.all();
}

INSTANTIATE_TEST_SUITE_P(
    OfTransactions, Beginnings,
    ::testing::Values(
        Fault{"CoordinatorAway", Request::init, RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE, 2, Outcome::committed},
        Fault{"EarlierOneStillEnding", Request::init, RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS, 2, Outcome::committed},
        Fault{"IdForbidden", Request::init, RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED, 1, Outcome::refused},
        Fault{"TimeoutTooLong", Request::init, RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT, 1, Outcome::misconfigured},
        Fault{"Fenced", Request::init, RD_KAFKA_RESP_ERR_PRODUCER_FENCED, 1, Outcome::fenced}),
    [](const auto& fault) { return std::string(fault.param.name); });

}  // namespace
}  // namespace deltamatch::ingest::kafka::testing

// Properties: which are passed on, which are refused, and that secrets are never shown. Needs no broker.
#include "ingest/service/kafka/client.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "ingest/service/kafka/handle.hpp"
#include "kafka/support.hpp"

namespace deltamatch::ingest::kafka::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal(KafkaProperties properties) {
  properties.insert({"bootstrap.servers", "localhost:9092"});
  try {
    check_properties(properties, "service.yaml:3");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::configuration);
    EXPECT_THAT(error.what(), ::testing::StartsWith("service.yaml:3: "));
    return error.what();
  }
  return {};
}

TEST(Properties, WhatTheServiceSetsItselfIsRefusedWithTheReason) {
  for (const char* key :
       {"transactional.id", "group.id", "group.instance.id", "enable.auto.commit", "auto.commit.enable", "isolation.level",
        "auto.offset.reset", "enable.idempotence", "partition.assignment.strategy", "enable.partition.eof",
        "enable.auto.offset.store", "transaction.timeout.ms", "delivery.report.only.error"}) {
    EXPECT_THAT(refusal({{key, "x"}}), AllOf(HasSubstr(key), HasSubstr("may not be set"), HasSubstr("remove it")));
  }
}

TEST(Properties, UnknownOnesAndBadValuesAreRefusedInLibrdkafkasWords) {
  EXPECT_THAT(refusal({{"fetch.wait.max.msec", "5"}}), HasSubstr("No such configuration property: \"fetch.wait.max.msec\""));
  EXPECT_THAT(refusal({{"fetch.wait.max.ms", "soon"}}),
              HasSubstr("Invalid value for configuration property \"fetch.wait.max.ms\""));
  EXPECT_THAT(refusal({{"acks", "1"}}), HasSubstr("acks"))
      << "contradicts idempotence, which shows only when a producer is made";
  EXPECT_THAT(refusal({{"ssl.ca.location", "/no/such/file.pem"}, {"security.protocol", "ssl"}}), HasSubstr("ssl.ca.location"));
  EXPECT_THAT(thrown([] { check_properties({}, "here"); }), HasSubstr("bootstrap.servers"));
}

TEST(Properties, TheRestIsPassedOn) {
  EXPECT_EQ(
      refusal(
          {{"fetch.wait.max.ms", "5"}, {"compression.type", "zstd"}, {"linger.ms", "2"}, {"socket.keepalive.enable", "true"}}),
      "");
  EXPECT_EQ(
      refusal({{"security.protocol", "SASL_SSL"}, {"sasl.mechanism", "PLAIN"}, {"sasl.username", "u"}, {"sasl.password", "p"}}),
      "");
  const Cluster cluster{"app", {{"retry.backoff.ms", "77"}}, nullptr};
  std::string value;
  configure(cluster, {{"retry.backoff.ms", "5"}, {"linger.ms", "1"}}, {{"group.id", "app"}})->get("retry.backoff.ms", value);
  EXPECT_EQ(value, "77") << "what the user says goes before a default";
}

TEST(Properties, SecretsAreNeverTold) {
  for (const char* key : {"sasl.password", "ssl.key.password", "ssl.keystore.password", "ssl.key.pem", "ssl.certificate.pem",
                          "ssl.ca.pem", "sasl.oauthbearer.client.secret", "sasl.oauthbearer.config"}) {
    EXPECT_TRUE(is_secret(key)) << key;
    EXPECT_THAT(refusal({{key, "hunter2\001"}, {"fetch.wait.max.ms", "hunter2\001"}}), Not(HasSubstr("hunter2"))) << key;
  }
  for (const char* key : {"bootstrap.servers", "ssl.ca.location", "ssl.key.location", "security.protocol", "sasl.mechanism"}) {
    EXPECT_FALSE(is_secret(key)) << key;
  }
  EXPECT_THAT(refusal({{"sasl.pasword", "hunter2"}}), AllOf(HasSubstr("sasl.pasword"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(refusal({{"ssl.key.pem", "hunter2"}, {"security.protocol", "ssl"}}),
              AllOf(HasSubstr("ssl.key.pem"), Not(HasSubstr("hunter2"))));
}

TEST(Properties, NoLogLineHoldsASecret) {
  Notes notes;
  const Cluster cluster{"app",
                        {{"bootstrap.servers", "127.0.0.1:1"},
                         {"security.protocol", "sasl_plaintext"},
                         {"sasl.mechanism", "PLAIN"},
                         {"sasl.username", "hunter"},
                         {"sasl.password", "hunter2"},
                         {"client.rack", "hunter2"},
                         {"debug", "all"}},
                        &notes};
  Consumer consumer(cluster, "test", reader_configuration(cluster, {}));
  std::this_thread::sleep_for(300ms);
  EXPECT_TRUE(notes.has("sasl.password")) << "the configuration is told with debug=all";
  EXPECT_FALSE(notes.has("hunter2"));
  EXPECT_TRUE(consumer.close(in(5)));
  const std::string told = notes.all();
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(notes.all(), told) << "a closed client is silent";
}

TEST(Close, AWorkThatHangsIsLeftBehindAtTheDeadline) {
  const auto gate = std::make_shared<std::atomic<bool>>(false);
  const auto start = Clock::now();
  EXPECT_FALSE(finish_by(Clock::now() + 100ms, [gate] { gate->wait(false); }));
  EXPECT_LT(Clock::now() - start, 20s);
  gate->store(true);
  gate->notify_all();
  EXPECT_TRUE(finish_by(in(5), [] {}));
}

TEST(Close, AClientThatIsStillInACallIsLeftBehind) {
  Notes notes;
  const Cluster cluster{"app", {{"bootstrap.servers", "127.0.0.1:1"}}, &notes};
  auto consumer = std::make_unique<Consumer>(cluster, "test", reader_configuration(cluster, {}));
  auto held = consumer->inner();
  EXPECT_FALSE(consumer->close(in(5)));
  EXPECT_TRUE(notes.has("kafka_client_left_behind"));
  EXPECT_NE(held->handle, nullptr);
}

}  // namespace
}  // namespace deltamatch::ingest::kafka::testing

// Reading the topic of the queries that were made over HTTP.
#include "ingest/service/kafka/query_log.hpp"

#include <gmock/gmock.h>

#include <array>

#include "ingest/service/kafka/topics.hpp"
#include "ingest/service/kafka/transactions.hpp"
#include "kafka/support.hpp"

namespace deltamatch::ingest::kafka::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class QueryLogTest : public KafkaTest {
 protected:
  void commit(const std::vector<QueryRecord>& changes) {
    Transactions transactions(cluster, 10s, in(20));
    const std::string topic = query_topic(cluster.application);
    for (const QueryRecord& change : changes) {
      const std::string value = to_json(change);
      transactions.commit(std::array{OutputRecord{topic, change.name, value, {}}}, {}, in(20));
    }
  }
  void write(const std::string& value, bool committed) {
    Writer writer(cluster.application);
    writer.begin();
    writer.write(query_topic(cluster.application), 0, value);
    if (committed) {
      writer.commit();
    } else {
      writer.abort();
    }
  }
};

TEST_F(QueryLogTest, NoTopicHasNoQueries) { EXPECT_TRUE(read_query_log(cluster, in(20)).empty()); }

TEST_F(QueryLogTest, CommittedChangesAreReadInOrder) {
  ensure_query_topic(cluster, in(20));
  EXPECT_TRUE(read_query_log(cluster, in(20)).empty());
  const std::vector<QueryRecord> changes{{"ring", 1, R"({"name":"ring"})"}, {"hub", 2, R"({"name":"hub"})"}, {"ring", 3, {}}};
  commit(changes);
  EXPECT_EQ(read_query_log(cluster, in(20)), changes);
  write(to_json(QueryRecord{"never", 4, R"({"name":"never"})"}), false);
  EXPECT_EQ(read_query_log(cluster, in(20)), changes) << "what was aborted does not count";
}

TEST_F(QueryLogTest, WhatAnotherProgramWroteIsPassedOverAndDamageIsNot) {
  ensure_query_topic(cluster, in(20));
  commit({{"ring", 1, R"({"name":"ring"})"}});
  write("hello", true);
  EXPECT_EQ(read_query_log(cluster, in(20)).size(), 1u);
  write(R"({"v":2,"batch":1,"name":"x","definition":null})", true);
  EXPECT_THAT(thrown([&] { static_cast<void>(read_query_log(cluster, in(20))); }), HasSubstr("it has another version"));
}

}  // namespace
}  // namespace deltamatch::ingest::kafka::testing

// A broker to test against, topics with names of their own, and plain clients that share no code with what is tested.
#pragma once

#include <gtest/gtest.h>
#include <librdkafka/rdkafkacpp.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ingest/service/kafka/client.hpp"
#include "ingest/service/kafka/message.hpp"

namespace deltamatch::ingest::kafka::testing {

/// Takes down what it is told.
class Notes final : public Journal {
 public:
  void tell(Level level, std::string_view event, std::initializer_list<Field> fields) noexcept override;
  [[nodiscard]] bool has(std::string_view text) const;
  [[nodiscard]] std::string all() const;

 private:
  mutable std::mutex mutex_;
  std::string text_;  // an event a line, guarded by mutex_
};

/// From now on `broker` gives this address.
void use_broker(const std::string& address);
/// HOST:PORT in $DELTAMATCH_KAFKA, or in the file that $DELTAMATCH_KAFKA_FILE names; empty: there is none.
[[nodiscard]] std::string broker();

/// `seconds` from now.
[[nodiscard]] Deadline in(int seconds);

/// Skips without a broker.
class KafkaTest : public ::testing::Test {
 protected:
  void SetUp() override;

  /// A name that no other test and no other run uses.
  [[nodiscard]] std::string unique(const std::string& stem) const;

  Notes notes;
  Cluster cluster;  // an application of its own
};

void make_topic(const std::string& name, int partitions, const std::map<std::string, std::string>& settings = {});
void delete_topic(const std::string& name);
void grow_topic(const std::string& name, int partitions);
/// 0: there is no such topic; asking makes none.
[[nodiscard]] int partition_count(const std::string& topic);
/// The partition begins at this offset from now on.
void delete_records_before(const std::string& topic, int partition, std::int64_t offset);

/// A producer of the test's, in transactions if it has an id.
class Writer {
 public:
  explicit Writer(const std::string& transactional_id = {}, const KafkaProperties& more = {});
  ~Writer();
  void begin();
  void write(const std::string& topic, int partition, const std::string& value, std::int64_t timestamp = 0);
  void write_null(const std::string& topic, int partition, const std::string& key);
  void flush();
  void commit();
  void abort();

 private:
  std::unique_ptr<RdKafka::Producer> producer_;
};

struct Seen {
  std::string topic;
  int partition;
  std::int64_t offset;
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::map<std::string, std::string> headers;
};
/// All records of a topic that a reader of committed ones sees.
[[nodiscard]] std::vector<Seen> committed(const std::string& topic);
/// The group's committed offset; -1: none.
[[nodiscard]] std::int64_t group_offset(const std::string& group, const TopicPartition& partition);

/// Waits until the condition holds; false after 20 s.
[[nodiscard]] bool eventually(const std::function<bool()>& condition);

/// What the call throws of type E, as text; empty if it throws nothing. Anything else goes through.
template <class E = deltamatch::Error>
[[nodiscard]] std::string thrown(const std::function<void()>& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return {};
}

}  // namespace deltamatch::ingest::kafka::testing

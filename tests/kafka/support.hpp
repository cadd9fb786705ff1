// A broker to test against, topics with unique names, and plain clients that share no code with the tested ones.
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
#include "ingest/service/kafka/kafka_message.hpp"

namespace deltamatch::ingest::kafka::testing {

/// A journal that stores its events.
class Notes final : public Journal {
 public:
  void tell(Level level, std::string_view event, std::initializer_list<Field> fields) noexcept override;
  [[nodiscard]] bool has(std::string_view text) const;
  [[nodiscard]] std::string all() const;

 private:
  mutable std::mutex mutex_;
  std::string text_;  // one event per line, guarded by mutex_
};

/// Makes broker() return this address from now on.
void use_broker(const std::string& address);
/// The broker's address, HOST:PORT, from $DELTAMATCH_KAFKA or the file that $DELTAMATCH_KAFKA_FILE names. Empty if there is
/// none.
[[nodiscard]] std::string broker();

/// The time `seconds` from now.
[[nodiscard]] Deadline in(int seconds);

/// A test that is skipped without a broker.
class KafkaTest : public ::testing::Test {
 protected:
  void SetUp() override;

  /// A name that no other test and no other run uses.
  [[nodiscard]] std::string unique(const std::string& stem) const;

  Notes notes;
  Cluster cluster;  // with an application name of its own
};

void make_topic(const std::string& name, int partitions, const std::map<std::string, std::string>& settings = {});
void delete_topic(const std::string& name);
void grow_topic(const std::string& name, int partitions);
/// The number of partitions, or 0 if there is no such topic. Asking does not create it.
[[nodiscard]] int partition_count(const std::string& topic);
/// Deletes the records before this offset, so the partition begins there.
void delete_records_before(const std::string& topic, int partition, std::int64_t offset);

/// A producer for tests. It uses transactions if it has an id.
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
/// All committed records of a topic.
[[nodiscard]] std::vector<Seen> committed(const std::string& topic);
/// The group's committed offset, or -1 if there is none.
[[nodiscard]] std::int64_t group_offset(const std::string& group, const TopicPartition& partition);

/// Waits until the condition holds. Returns false after 20 s.
[[nodiscard]] bool eventually(const std::function<bool()>& condition);

/// The text of an exception of type E that the call throws, or an empty text if it throws nothing. Other exceptions pass
/// through.
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

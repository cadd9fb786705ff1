#include "kafka/support.hpp"

#include <librdkafka/rdkafka.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace deltamatch::ingest::kafka::testing {
namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("test broker: " + what);
}

std::unique_ptr<RdKafka::Conf> configuration(const KafkaProperties& properties) {
  std::unique_ptr<RdKafka::Conf> result(RdKafka::Conf::create(RdKafka::Conf::CONF_GLOBAL));
  std::string reason;
  require(result->set("bootstrap.servers", broker(), reason) == RdKafka::Conf::CONF_OK, reason);
  for (const auto& [key, value] : properties) require(result->set(key, value, reason) == RdKafka::Conf::CONF_OK, reason);
  return result;
}

std::unique_ptr<RdKafka::Producer> producer(const KafkaProperties& properties = {}) {
  std::string reason;
  std::unique_ptr<RdKafka::Producer> result(RdKafka::Producer::create(configuration(properties).get(), reason));
  require(result != nullptr, reason);
  return result;
}

std::unique_ptr<RdKafka::KafkaConsumer> consumer(const std::string& group, const std::string& isolation = "read_committed") {
  std::string reason;
  std::unique_ptr<RdKafka::KafkaConsumer> result(
      RdKafka::KafkaConsumer::create(configuration({{"group.id", group},
                                                    {"enable.auto.commit", "false"},
                                                    {"isolation.level", isolation},
                                                    {"enable.partition.eof", "true"}})
                                         .get(),
                                     reason));
  require(result != nullptr, reason);
  return result;
}

void ask(const std::function<void(rd_kafka_t*, rd_kafka_queue_t*)>& request,
         const std::function<rd_kafka_resp_err_t(rd_kafka_event_t*)>& verdict) {
  const auto client = producer();
  rd_kafka_queue_t* queue = rd_kafka_queue_new(client->c_ptr());
  request(client->c_ptr(), queue);
  rd_kafka_event_t* event = rd_kafka_queue_poll(queue, 20'000);
  require(event != nullptr, "no answer");
  const auto error = rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR ? rd_kafka_event_error(event) : verdict(event);
  rd_kafka_event_destroy(event);
  rd_kafka_queue_destroy(queue);
  require(error == RD_KAFKA_RESP_ERR_NO_ERROR, rd_kafka_err2str(error));
}

std::unique_ptr<RdKafka::Metadata> metadata_of(const std::string& topic, RdKafka::KafkaConsumer& reader) {
  std::string reason;
  const std::unique_ptr<RdKafka::Topic> handle(RdKafka::Topic::create(&reader, topic, nullptr, reason));
  RdKafka::Metadata* metadata = nullptr;
  require(reader.metadata(false, handle.get(), &metadata, 20'000) == RdKafka::ERR_NO_ERROR, "no metadata");
  return std::unique_ptr<RdKafka::Metadata>(metadata);
}

void check(RdKafka::Error* error) {
  const std::unique_ptr<RdKafka::Error> owned(error);
  require(error == nullptr, error == nullptr ? "" : error->str());
}

}  // namespace

void Notes::tell(Level /*level*/, std::string_view event, std::initializer_list<Field> fields) noexcept {
  const std::scoped_lock lock(mutex_);
  text_ += event;
  for (const auto& [key, value] : fields) text_.append(" ").append(key).append("=").append(value);
  text_ += '\n';
}

bool Notes::has(std::string_view text) const { return all().find(text) != std::string::npos; }

std::string Notes::all() const {
  const std::scoped_lock lock(mutex_);
  return text_;
}

void use_broker(const std::string& address) { setenv("DELTAMATCH_KAFKA", address.c_str(), 1); }

std::string broker() {
  if (const char* address = std::getenv("DELTAMATCH_KAFKA")) return address;
  std::string address;
  if (const char* file = std::getenv("DELTAMATCH_KAFKA_FILE")) std::getline(std::ifstream(file) >> std::ws, address);
  return address;
}

Deadline in(int seconds) { return Clock::now() + std::chrono::seconds(seconds); }

void KafkaTest::SetUp() {
  if (broker().empty())
    GTEST_SKIP() << "no broker: scripts/kafka start, then set DELTAMATCH_KAFKA to the address that it prints";
  cluster = {unique("app"), {{"bootstrap.servers", broker()}}, &notes};
}

std::string KafkaTest::unique(const std::string& stem) const {
  static std::atomic<int> count = 0;
  static const auto start = std::chrono::system_clock::now().time_since_epoch().count() % 1'000'000'000;
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  return std::string(test->name()) + "." + stem + "." + std::to_string(getpid()) + "." + std::to_string(start) + "." +
         std::to_string(++count);
}

void make_topic(const std::string& name, int partitions, const std::map<std::string, std::string>& settings) {
  char reason[256];
  rd_kafka_NewTopic_t* topic = rd_kafka_NewTopic_new(name.c_str(), partitions, 1, reason, sizeof reason);
  for (const auto& [key, value] : settings) rd_kafka_NewTopic_set_config(topic, key.c_str(), value.c_str());
  ask([&](rd_kafka_t* client, rd_kafka_queue_t* queue) { rd_kafka_CreateTopics(client, &topic, 1, nullptr, queue); },
      [](rd_kafka_event_t* event) {
        std::size_t count = 0;
        return rd_kafka_topic_result_error(
            rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count)[0]);
      });
  rd_kafka_NewTopic_destroy(topic);
}

void delete_topic(const std::string& name) {
  rd_kafka_DeleteTopic_t* topic = rd_kafka_DeleteTopic_new(name.c_str());
  ask([&](rd_kafka_t* client, rd_kafka_queue_t* queue) { rd_kafka_DeleteTopics(client, &topic, 1, nullptr, queue); },
      [](rd_kafka_event_t* event) {
        std::size_t count = 0;
        return rd_kafka_topic_result_error(
            rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &count)[0]);
      });
  rd_kafka_DeleteTopic_destroy(topic);
}

void grow_topic(const std::string& name, int partitions) {
  char reason[256];
  rd_kafka_NewPartitions_t* request =
      rd_kafka_NewPartitions_new(name.c_str(), static_cast<std::size_t>(partitions), reason, sizeof reason);
  ask([&](rd_kafka_t* client, rd_kafka_queue_t* queue) { rd_kafka_CreatePartitions(client, &request, 1, nullptr, queue); },
      [](rd_kafka_event_t* event) {
        std::size_t count = 0;
        return rd_kafka_topic_result_error(
            rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result(event), &count)[0]);
      });
  rd_kafka_NewPartitions_destroy(request);
}

int partition_count(const std::string& topic) {
  const auto reader = consumer("test");
  return static_cast<int>(metadata_of(topic, *reader)->topics()->front()->partitions()->size());
}

void delete_records_before(const std::string& topic, int partition, std::int64_t offset) {
  rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, topic.c_str(), partition)->offset = offset;
  rd_kafka_DeleteRecords_t* request = rd_kafka_DeleteRecords_new(list);
  ask([&](rd_kafka_t* client, rd_kafka_queue_t* queue) { rd_kafka_DeleteRecords(client, &request, 1, nullptr, queue); },
      [](rd_kafka_event_t* event) {
        return rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event))->elems[0].err;
      });
  rd_kafka_DeleteRecords_destroy(request);
  rd_kafka_topic_partition_list_destroy(list);
}

Writer::Writer(const std::string& transactional_id, const KafkaProperties& more) {
  KafkaProperties properties = more;
  if (!transactional_id.empty()) properties["transactional.id"] = transactional_id;
  producer_ = producer(properties);
  if (!transactional_id.empty()) check(producer_->init_transactions(20'000));
}
Writer::~Writer() = default;

void Writer::begin() { check(producer_->begin_transaction()); }

void Writer::write(const std::string& topic, int partition, const std::string& value, std::int64_t timestamp) {
  RdKafka::ErrorCode code;
  while ((code = producer_->produce(topic, partition, RdKafka::Producer::RK_MSG_COPY, const_cast<char*>(value.data()),
                                    value.size(), nullptr, 0, timestamp, nullptr)) == RdKafka::ERR__QUEUE_FULL) {
    producer_->poll(10);
  }
  require(code == RdKafka::ERR_NO_ERROR, RdKafka::err2str(code));
}

void Writer::write_null(const std::string& topic, int partition, const std::string& key) {
  const auto code =
      producer_->produce(topic, partition, RdKafka::Producer::RK_MSG_COPY, nullptr, 0, key.data(), key.size(), 0, nullptr);
  require(code == RdKafka::ERR_NO_ERROR, RdKafka::err2str(code));
}

void Writer::flush() { require(producer_->flush(60'000) == RdKafka::ERR_NO_ERROR, "records were not delivered"); }
void Writer::commit() { check(producer_->commit_transaction(20'000)); }
void Writer::abort() {
  flush();  // so that the broker has something to abort
  check(producer_->abort_transaction(20'000));
}

std::vector<Seen> committed(const std::string& topic) {
  const auto reader = consumer("test");
  const auto metadata = metadata_of(topic, *reader);
  // Uses the ends of all records. Just after a transaction, the ends of the committed records are lower.
  const auto uncommitted = consumer("test", "read_uncommitted");
  std::map<int, std::int64_t> ends;
  std::vector<RdKafka::TopicPartition*> all;
  for (const auto* partition : *metadata->topics()->front()->partitions()) {
    std::int64_t low = 0;
    require(uncommitted->query_watermark_offsets(topic, partition->id(), &low, &ends[partition->id()], 20'000) ==
                RdKafka::ERR_NO_ERROR,
            "no end");
    all.push_back(RdKafka::TopicPartition::create(topic, partition->id(), RdKafka::Topic::OFFSET_BEGINNING));
  }
  std::size_t open = all.size();
  reader->assign(all);
  RdKafka::TopicPartition::destroy(all);
  std::vector<Seen> seen;
  const auto begin = Clock::now();
  while (open > 0) {
    require(Clock::now() - begin < std::chrono::seconds(60), "a topic could not be read to its end");
    const std::unique_ptr<RdKafka::Message> message(reader->consume(1000));
    if (message->err() == RdKafka::ERR__PARTITION_EOF && message->offset() >= ends[message->partition()]) --open;
    if (message->err() != RdKafka::ERR_NO_ERROR) continue;
    Seen record{topic, message->partition(), message->offset(), {}, {}, {}};
    if (message->key_pointer() != nullptr)
      record.key.emplace(static_cast<const char*>(message->key_pointer()), message->key_len());
    if (message->payload() != nullptr) record.value.emplace(static_cast<const char*>(message->payload()), message->len());
    if (message->headers() != nullptr) {
      for (const auto& header : message->headers()->get_all()) {
        record.headers[header.key()] = std::string(header.value_string(), header.value_size());
      }
    }
    seen.push_back(std::move(record));
  }
  reader->close();
  uncommitted->close();
  return seen;
}

std::int64_t group_offset(const std::string& group, const TopicPartition& partition) {
  const auto reader = consumer(group);
  std::vector<RdKafka::TopicPartition*> query{RdKafka::TopicPartition::create(partition.topic, partition.partition)};
  const auto code = reader->committed(query, 20'000);
  const std::int64_t offset = query[0]->offset();
  RdKafka::TopicPartition::destroy(query);
  reader->close();
  require(code == RdKafka::ERR_NO_ERROR, RdKafka::err2str(code));
  return offset < 0 ? -1 : offset;
}

bool eventually(const std::function<bool()>& condition) {
  for (const Deadline deadline = in(20); Clock::now() < deadline; std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
    if (condition()) return true;
  }
  return condition();
}

}  // namespace deltamatch::ingest::kafka::testing

// What do the Kafka clients cost with a real broker? Measures records polled a second from one partition by one thread, and the
// time of a transaction. Every run checks what it read or wrote.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "ingest/service/kafka/input.hpp"
#include "ingest/service/kafka/topics.hpp"
#include "ingest/service/kafka/transactions.hpp"

namespace {

using namespace deltamatch::ingest;
using namespace deltamatch::ingest::kafka;
using namespace std::chrono_literals;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

Deadline soon() { return Clock::now() + 120s; }

/// The application's commit topic: the only topic of one partition that the clients make themselves.
std::string fill(const Cluster& cluster, std::size_t records, std::size_t bytes) {
  ensure_commit_topic(cluster, soon());
  const std::string topic = commit_topic(cluster.application), value(bytes, 'x');
  Transactions transactions(cluster, 60s, soon());
  const std::vector<OutputRecord> some(std::min<std::size_t>(records, 100'000), OutputRecord{topic, {}, value, {}});
  const auto begin = Clock::now();
  for (std::size_t done = 0; done < records; done += some.size()) {
    transactions.commit(std::span(some).first(std::min(some.size(), records - done)), {}, soon());
  }
  std::printf("written  %.0f records/s\n", static_cast<double>(records) / seconds_since(begin));
  return topic;
}

void consume(const Cluster& cluster, std::size_t records, std::size_t bytes, InputOptions options, int runs) {
  const std::string topic = fill(cluster, records, bytes);
  options.topics = {{topic, Format::jsonl, {}}};
  for (int run = 0; run < runs; ++run) {
    Cluster reading = cluster;
    reading.application += ".reader";  // whose own commit topic is another
    Input input(reading, options);
    const auto partitions = input.discover(soon()).partitions;
    input.add(partitions, input.first_offsets(partitions, {}, soon()));
    std::size_t count = 0, size = 0;
    const auto begin = Clock::now();
    while (count < records) {
      const auto message = input.poll(30s);
      if (!message) break;
      ++count;
      size += message->value->size();
    }
    const double seconds = seconds_since(begin);
    if (count != records || size != records * bytes) throw std::runtime_error("not all records came back");
    std::printf("polled   %.0f records/s, %.1f MB/s\n", static_cast<double>(count) / seconds,
                static_cast<double>(size) / seconds / 1e6);
  }
}

void commit(const Cluster& cluster, std::size_t transactions, std::size_t records, std::size_t bytes,
            std::chrono::milliseconds pause) {
  ensure_commit_topic(cluster, soon());
  const std::string topic = commit_topic(cluster.application), value(bytes, 'x');
  Transactions producer(cluster, 60s, soon());
  const std::vector<OutputRecord> batch(records, OutputRecord{topic, "0123456789abcdef", value, {}});
  std::vector<double> milliseconds;
  const auto start = Clock::now();
  for (std::size_t i = 0; i < transactions; ++i) {
    const auto begin = Clock::now();
    producer.commit(batch, {{{topic, 0}, static_cast<std::int64_t>(i)}}, soon());
    milliseconds.push_back(seconds_since(begin) * 1e3);
    std::this_thread::sleep_for(pause);
  }
  const double seconds = seconds_since(start);
  std::printf("first %.1f ms; ", milliseconds.front());
  milliseconds.erase(milliseconds.begin());
  std::ranges::sort(milliseconds);
  const auto at = [&](double q) {
    return milliseconds[static_cast<std::size_t>(q * static_cast<double>(milliseconds.size() - 1))];
  };
  std::printf("median %.1f ms, p99 %.1f ms, most %.1f ms; %.0f records/s\n", at(0.5), at(0.99), at(1.0),
              static_cast<double>(transactions * records) / seconds);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Kafka clients against a broker (scripts/kafka start)");
  std::string broker;
  std::vector<std::string> settings;
  std::size_t records = 2'000'000, bytes = 150, transactions = 500;
  int runs = 3, pause = 0;
  InputOptions options;
  app.add_option("--broker", broker, "host:port")->required();
  app.add_option("--set", settings, "property=value of librdkafka");
  app.add_option("--bytes", bytes, "of each record");
  app.require_subcommand(1);
  auto* reading = app.add_subcommand("consume", "polls all records of one partition");
  reading->add_option("--records", records);
  reading->add_option("--runs", runs);
  reading->add_option("--queue-bytes", options.queue_bytes);
  reading->add_option("--queue-records", options.queue_records);
  auto* writing = app.add_subcommand("commit", "one transaction after the other");
  writing->add_option("--transactions", transactions);
  writing->add_option("--records", records, "of each transaction");
  writing->add_option("--pause", pause, "milliseconds between transactions");
  CLI11_PARSE(app, argc, argv);
  Cluster cluster{"bench-" + std::to_string(std::random_device()()), {{"bootstrap.servers", broker}}, nullptr};
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    cluster.properties[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  try {
    reading->parsed() ? consume(cluster, records, bytes, options, runs)
                      : commit(cluster, transactions, records, bytes, std::chrono::milliseconds(pause));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_kafka: %s\n", error.what());
    return 1;
  }
}

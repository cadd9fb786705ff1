// Load for the service. It fills a topic with updates, or sends them at a rate and measures how late alerts are. The delay of
// an alert runs from sending the update that causes it until the alert can be read.
//
// bench/programs/service_load.py runs it beside a broker and a service.
#include <fmt/format.h>
#include <librdkafka/rdkafkacpp.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string brokers;
  std::string topic;
  std::string alerts;
  std::uint64_t count = 1'000'000;
  std::uint64_t vertices = 1'000'000;
  std::uint64_t rate = 50'000;
  double seconds = 30;
  double warm_up = 3;
  std::uint64_t rings = 100;
};

std::unique_ptr<RdKafka::Conf> configuration(const Options& options,
                                             std::initializer_list<std::pair<const char*, const char*>> more) {
  std::unique_ptr<RdKafka::Conf> conf(RdKafka::Conf::create(RdKafka::Conf::CONF_GLOBAL));
  std::string error;
  const auto set = [&](const std::string& key, const std::string& value) {
    if (conf->set(key, value, error) != RdKafka::Conf::CONF_OK) throw std::runtime_error(error);
  };
  set("bootstrap.servers", options.brokers);
  for (const auto& [key, value] : more) set(key, value);
  return conf;
}

class Producer {
 public:
  explicit Producer(const Options& options, const char* linger) : topic_(options.topic) {
    const auto conf =
        configuration(options, {{"linger.ms", linger}, {"queue.buffering.max.messages", "1000000"}, {"acks", "1"}});
    std::string error;
    producer_.reset(RdKafka::Producer::create(conf.get(), error));
    if (!producer_) throw std::runtime_error(error);
  }

  void send(std::string text) {
    for (;;) {
      const RdKafka::ErrorCode code = producer_->produce(topic_, RdKafka::Topic::PARTITION_UA, RdKafka::Producer::RK_MSG_COPY,
                                                         text.data(), text.size(), nullptr, 0, 0, nullptr);
      if (code == RdKafka::ERR_NO_ERROR) return;
      if (code != RdKafka::ERR__QUEUE_FULL) throw std::runtime_error(RdKafka::err2str(code));
      producer_->poll(10);
    }
  }
  void poll() { producer_->poll(0); }
  void flush() {
    if (producer_->flush(60'000) != RdKafka::ERR_NO_ERROR) throw std::runtime_error("not everything was sent within 60 s");
  }

 private:
  std::string topic_;
  std::unique_ptr<RdKafka::Producer> producer_;
};

std::string update(std::uint64_t source, std::uint64_t target, std::uint64_t time) {
  return fmt::format(R"({{"op":"+","source":"acct-{}","target":"acct-{}","label":"TRANSFER","time":{}}})", source, target,
                     time);
}

std::string random_update(const Options& options, std::mt19937_64& draw, std::uint64_t time) {
  const std::uint64_t source = draw() % options.vertices;
  const std::uint64_t step = 1 + draw() % (options.vertices - 1);
  return update(source, (source + step) % options.vertices, time);
}

void fill(const Options& options) {
  Producer producer(options, "20");
  std::mt19937_64 draw(1);
  for (std::uint64_t i = 0; i < options.count; ++i) {
    producer.send(random_update(options, draw, 1'700'000'000'000'000 + i));
    if (i % 1000 == 0) producer.poll();
  }
  producer.flush();
}

/// When the producer got the edge that closes ring i, and when its alert was read.
struct Times {
  std::mutex mutex;
  std::vector<Clock::time_point> sent;
  std::vector<double> seconds;
  std::uint64_t read = 0;
};

constexpr std::string_view ring_prefix = "ring-";

void read_alerts(const Options& options, Times& times, const std::atomic<bool>& done, Clock::time_point count_from) {
  const auto conf = configuration(options, {{"group.id", "service-load"},
                                            {"isolation.level", "read_committed"},
                                            {"enable.auto.commit", "false"},
                                            {"auto.offset.reset", "earliest"},
                                            {"fetch.wait.max.ms", "100"}});
  std::string error;
  const std::unique_ptr<RdKafka::KafkaConsumer> consumer(RdKafka::KafkaConsumer::create(conf.get(), error));
  if (!consumer) throw std::runtime_error(error);
  const std::unique_ptr<RdKafka::TopicPartition> at(
      RdKafka::TopicPartition::create(options.alerts, 0, RdKafka::Topic::OFFSET_BEGINNING));
  consumer->assign({at.get()});
  while (!done) {
    const std::unique_ptr<RdKafka::Message> message(consumer->consume(50));
    if (message->err() != RdKafka::ERR_NO_ERROR) continue;
    const auto now = Clock::now();
    const std::string_view text(static_cast<const char*>(message->payload()), message->len());
    const std::size_t found = text.find(ring_prefix);
    if (found == std::string_view::npos) continue;
    const std::uint64_t ring = std::stoull(std::string(text.substr(found + ring_prefix.size(), 20)));
    const std::scoped_lock lock(times.mutex);
    ++times.read;
    const Clock::time_point sent = times.sent.at(ring);
    if (sent >= count_from) times.seconds.push_back(std::chrono::duration<double>(now - sent).count());
  }
  consumer->close();
}

/// The next ring. Its last edge closes it.
void send_ring(Producer& producer, Times& times, std::uint64_t time) {
  const auto edge = [&](std::uint64_t ring, int from, int to) {
    producer.send(fmt::format(R"({{"op":"+","source":"{}{}.{}","target":"{}{}.{}","label":"TRANSFER","time":{}}})", ring_prefix,
                              ring, from, ring_prefix, ring, to, time));
  };
  const std::scoped_lock lock(times.mutex);
  const std::uint64_t ring = times.sent.size();
  edge(ring, 0, 1);
  edge(ring, 1, 2);
  times.sent.push_back(Clock::now());
  edge(ring, 2, 0);
}

/// Sends updates at the rate that is asked for, with rings among them. Returns by how many seconds the latest one was late.
double send_at_rate(const Options& options, Producer& producer, Times& times, Clock::time_point start) {
  std::mt19937_64 draw(2);
  const auto total = static_cast<std::uint64_t>(static_cast<double>(options.rate) * options.seconds);
  const std::uint64_t every = options.rate / options.rings;
  double late = 0;
  for (std::uint64_t i = 0; i < total;) {
    const double now = std::chrono::duration<double>(Clock::now() - start).count();
    const auto due = std::min(total, static_cast<std::uint64_t>(now * static_cast<double>(options.rate)));
    late = std::max(late, static_cast<double>(due - i) / static_cast<double>(options.rate));
    for (; i < due; ++i) {
      const std::uint64_t time = 1'700'000'000'000'000 + i;
      if (i % every != 0) {
        producer.send(random_update(options, draw, time));
      } else {
        send_ring(producer, times, time);
      }
    }
    producer.poll();
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  producer.flush();
  return late;
}

void wait_for_alerts(Times& times) {
  for (int i = 0; i < 100; ++i) {
    {
      const std::scoped_lock lock(times.mutex);
      if (times.read >= times.sent.size()) break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

/// Prints one line of JSON. The reader has ended.
void print_latency(const Options& options, Times& times, double late) {
  std::vector<double>& seconds = times.seconds;
  std::string slow;  // the second, and the delay of its first slow alert: a stall shows as a cluster
  for (std::size_t i = 0, last = 0; i < seconds.size(); ++i) {
    const auto second = 1 + static_cast<std::size_t>(static_cast<double>(i) / static_cast<double>(options.rings));
    if (seconds[i] < 0.05 || second == last) continue;
    slow += fmt::format("{}[{},{:.0f}]", slow.empty() ? "" : ",", second, 1000 * seconds[i]);
    last = second;
  }
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](double share) {
    return seconds.empty() ? 0 : 1000 * seconds[static_cast<std::size_t>(share * static_cast<double>(seconds.size() - 1))];
  };
  fmt::print(
      R"({{"rings":{},"alerts":{},"measured":{},"p50_ms":{:.1f},"p90_ms":{:.1f},"p99_ms":{:.1f},"max_ms":{:.1f},"late_ms":{:.1f},"slow":[{}]}})"
      "\n",
      times.sent.size(), times.read, seconds.size(), at(0.5), at(0.9), at(0.99), at(1), 1000 * late, slow);
}

int measure_latency(const Options& options) {
  Producer producer(options, "1");
  Times times;
  std::atomic<bool> done = false;
  const auto start = Clock::now();
  const auto warm = start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.warm_up));
  std::thread reader([&] { read_alerts(options, times, done, warm); });
  const double late = send_at_rate(options, producer, times, start);
  wait_for_alerts(times);
  done = true;
  reader.join();
  print_latency(options, times, late);
  return times.read == times.sent.size() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  Options options;
  CLI::App program("Load for the service");
  program.require_subcommand(1);
  program.add_option("--brokers", options.brokers)->required();
  program.add_option("--topic", options.topic)->required();
  program.add_option("--vertices", options.vertices);
  CLI::App* filling = program.add_subcommand("fill", "Random updates as fast as they go");
  filling->add_option("--count", options.count);
  filling->add_option("--vertices", options.vertices);
  CLI::App* latency =
      program.add_subcommand("latency", "Updates at a rate, among them rings; from the closing edge to the alert");
  latency->add_option("--alerts", options.alerts)->required();
  latency->add_option("--rate", options.rate);
  latency->add_option("--seconds", options.seconds);
  latency->add_option("--warm-up", options.warm_up);
  latency->add_option("--rings", options.rings, "a second");
  CLI11_PARSE(program, argc, argv);
  if (filling->parsed()) {
    fill(options);
    return 0;
  }
  return measure_latency(options);
} catch (const std::exception& error) {
  fmt::print(stderr, "service_load: {}\n", error.what());
  return 1;
}

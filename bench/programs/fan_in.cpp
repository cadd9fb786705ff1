// How fast is a fan-in: vertices that at least ten others pay within an hour?
//
// Generates payments to few vertices that very many pay, to some that about ten pay in an hour, and to many that hardly anybody
// pays. Runs the query with batches of several sizes on one thread. Before it prints a speed, it checks all alerts against a
// plain counter, which shares no code with the library.
//
//   bench_fan_in [PAYMENTS]    prints one line for each way to limit the hour and each batch size
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "deltamatch/engine.hpp"

namespace {

using namespace deltamatch;

constexpr Timestamp second = 1'000'000;
constexpr Timestamp hour = 3600 * second;
constexpr std::size_t enough = 10;
constexpr const char* pattern = "(hub:Account) WHERE COUNT { DISTINCT s | (s)-[t:TRANSFER]->(hub) } >= 10";

struct Payment {
  std::int64_t sender;
  std::int64_t hub;
  Timestamp time;
};

/// Ten hubs get half of all payments, and a hundred about ten an hour each.
std::vector<Payment> make_payments(std::size_t count) {
  std::mt19937_64 random(1);
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  std::vector<Payment> payments;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t kind = below(200);
    const std::int64_t hub = kind < 100 ? below(10) : kind < 155 ? 10 + below(100) : 110 + below(1800);
    payments.push_back({10'000 + below(100'000), hub, static_cast<Timestamp>(i) * second});
  }
  return payments;
}

/// (batch, hub, whether it appears)
using Alerts = std::multiset<std::tuple<std::size_t, std::int64_t, bool>>;

/// The senders of the last hour, by hub. They are counted at the ends of batches.
class PlainCounter {
 public:
  explicit PlainCounter(bool vanishes) : vanishes_(vanishes) {}

  void take(std::size_t batch, const std::vector<Payment>& payments, std::size_t begin, std::size_t end, Alerts& alerts) {
    std::set<std::int64_t> touched;
    for (std::size_t i = begin; i < end; ++i) touched.insert(payments[i].hub);
    std::map<std::int64_t, bool> before;
    for (auto& [hub, recent] : recent_) {
      if (vanishes_ || touched.contains(hub)) before[hub] = holds(recent, begin == 0 ? 0 : payments[begin - 1].time);
    }
    for (std::size_t i = begin; i < end; ++i) recent_[payments[i].hub].push_back(payments[i]);
    for (auto& [hub, recent] : recent_) {
      if (!vanishes_ && !touched.contains(hub)) continue;
      const bool after = holds(recent, payments[end - 1].time);
      if (after != before[hub] && (after || vanishes_)) alerts.emplace(batch, hub, after);
    }
  }

 private:
  static bool holds(std::deque<Payment>& recent, Timestamp watermark) {
    while (!recent.empty() && recent.front().time + hour <= watermark) recent.pop_front();
    std::set<std::int64_t> senders;
    for (auto at = recent.rbegin(); at != recent.rend() && senders.size() < enough; ++at) senders.insert(at->sender);
    return senders.size() >= enough;
  }

  bool vanishes_;  // counts that fall as payments leave the window are reported, too
  std::map<std::int64_t, std::deque<Payment>> recent_;
};

class AlertSink final : public MatchSink {
 public:
  void begin(std::uint64_t /*batch*/) override {}
  void write(const Match& match) override { alerts.emplace(match.batch, match.vertices[0].number(), match.added); }
  void commit() override {}
  void abort() noexcept override {}
  Alerts alerts;
};

void measure(const std::vector<Payment>& payments, bool window, std::size_t size) {
  Schema schema;
  schema.model = EdgeModel::events;
  Engine engine({.threads = 1, .window = window ? hour : 0, .schema = schema});
  engine.add_query(parse_pattern(std::string(pattern) + (window ? "" : " WITHIN 1h"), "fan_in"), {.list = true});
  PlainCounter counter(window);
  AlertSink sink;
  Alerts expected;
  double seconds = 0;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < payments.size(); begin += size) {
    const std::size_t end = std::min(payments.size(), begin + size);
    UpdateBatch batch;
    for (std::size_t i = begin; i < end; ++i) {
      Update update{.source = Id(payments[i].sender), .target = Id(payments[i].hub), .label = "TRANSFER"};
      update.source_label = "Account";
      update.target_label = "Account";
      update.time = payments[i].time;
      batch.add(update);
    }
    const auto start = std::chrono::steady_clock::now();
    engine.process(batch, OnReject::stop, &sink);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    counter.take(++number, payments, begin, end, expected);
  }
  if (sink.alerts != expected) {
    throw std::runtime_error(fmt::format("{} alerts, but the plain counter has {}", sink.alerts.size(), expected.size()));
  }
  fmt::print("{}, batches of {}: {} updates, {} alerts as expected, {:.0f} updates/s\n", window ? "--window 1h" : "WITHIN 1h",
             size, payments.size(), expected.size(), static_cast<double>(payments.size()) / seconds);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<Payment> payments = make_payments(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200'000);
  for (const bool window : {false, true}) {
    for (const std::size_t size : {std::size_t{64}, std::size_t{1024}, std::size_t{8192}}) measure(payments, window, size);
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_fan_in: {}\n", error.what());
  return 1;
}

#include "ingest/service/alert/deliverer.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "ingest/service/alert/delivery_worker.hpp"

namespace deltamatch::ingest {
namespace {

/// The time that a cancelled sink may take.
constexpr std::chrono::seconds grace(1);

}  // namespace

Deliverer::Deliverer(std::vector<DeliveryTarget> targets, DeliveryHooks hooks, Journal& journal,
                     const DelivererOptions& options)
    : journal_(journal) {
  const DeliveryService service{std::move(hooks), &journal};
  for (DeliveryTarget& target : targets) workers_.push_back(std::make_shared<Worker>(std::move(target), service, options));
  try {
    for (const auto& worker : workers_) {
      Worker::start(worker);
      ++started_;
    }
  } catch (...) {
    stop(std::chrono::steady_clock::now());
    throw;
  }
}

Deliverer::~Deliverer() { stop(std::chrono::steady_clock::now()); }

void Deliverer::submit(std::string_view sink, std::uint64_t batch, AlertList alerts) {
  const auto found = std::ranges::find(workers_, sink, [](const auto& worker) -> std::string_view { return worker->name(); });
  if (found == workers_.end()) throw Error("sink '" + std::string(sink) + "'", "does not get alerts by delivery");
  (*found)->submit(batch, std::move(alerts));
}

bool Deliverer::stop(std::chrono::steady_clock::time_point deadline) {
  const std::lock_guard lock(stopping_);
  for (; started_ != 0; started_ = 0) {
    const std::span running(workers_.data(), started_);
    for (const auto& worker : running) worker->begin_stop(deadline);
    for (const auto& worker : running) {
      if (!worker->wait_done(deadline)) worker->cancel();
    }
    const auto last = std::chrono::steady_clock::now() + grace;
    for (const auto& worker : running) {
      worker->wait_done(last);
      if (!worker->join()) journal_.tell(Level::error, "a sink did not stop", {{"sink", worker->name()}});
    }
  }
  return std::ranges::all_of(workers_, [](const auto& worker) { return worker->statistics().undelivered == 0; });
}

std::map<std::string, DeliveryStatistics, std::less<>> Deliverer::statistics() const {
  std::map<std::string, DeliveryStatistics, std::less<>> all;
  for (const auto& worker : workers_) all.emplace(worker->name(), worker->statistics());
  return all;
}

}  // namespace deltamatch::ingest

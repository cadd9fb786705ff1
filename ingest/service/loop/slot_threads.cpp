#include "ingest/service/loop/slot_threads.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/alert/alert_text.hpp"
#include "ingest/service/kafka/transactions.hpp"
#include "ingest/service/loop/transaction_records.hpp"
#include "ingest/service/signals_blocked.hpp"
#include "ingest/service/workers/records.hpp"

namespace deltamatch::ingest {

using namespace std::chrono_literals;
using workers::Step;

/// The work of one slot.
class SlotThreads::Worker {
 public:
  Worker(const ServiceOptions& options, const kafka::Cluster& cluster, workers::Slot slot, WorkerState& state,
         const WorkerReaders& readers, Metrics& metrics, Journal& journal)
      : options_(options),
        cluster_{kafka::slot_id(cluster.application, slot), cluster.properties, cluster.journal, cluster.shared},
        slot_(slot),
        state_(state),
        readers_(readers),
        metrics_(metrics),
        journal_(journal),
        progress_topic_(kafka::progress_topic(cluster.application)),
        records_(options, metrics, journal) {}

  void run(const std::stop_token& stop) {
    try {
      while (const std::optional<Step> step = state_.next_step(slot_, stop)) try_out(*step, stop);
    } catch (...) {
      state_.fail(std::current_exception());
    }
  }

 private:
  /// Carries the step out once the brokers answer.
  void try_out(const Step& step, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      try {
        return carry_out(step, stop);
      } catch (const kafka::Unreachable& error) {
        journal_.tell(Level::warn, "waiting for the brokers", {{"why", error.what()}});
      }
    }
  }

  void carry_out(const Step& step, const std::stop_token& stop) {
    switch (step.kind) {
      case Step::Kind::read_cuts:
        if (readers_.read_cuts(stop)) state_.cuts_read(slot_);
        break;
      case Step::Kind::initialise:
        if (initialise(stop)) state_.initialised(slot_);
        break;
      case Step::Kind::read_slot:
        if (readers_.read_progress(slot_, stop)) state_.slot_read(slot_);
        break;
      case Step::Kind::publish:
        publish(step.batch);
        break;
      default:
        break;
    }
  }

  bool initialise(const std::stop_token& stop) {
    transactions_.reset();
    while (!stop.stop_requested()) {
      try {
        transactions_.emplace(cluster_, options_.transaction_timeout, kafka::Clock::now() + 4s);
        return true;
      } catch (const kafka::Unreachable& error) {
        journal_.tell(Level::warn, "waiting for the brokers", {{"why", error.what()}});
      } catch (const kafka::Fenced&) {  // another worker was faster
        state_.fenced(slot_);
        return false;
      }
    }
    return false;
  }

  void publish(std::uint64_t batch) {
    const std::shared_ptr<const SlotPart> part = state_.part(slot_, batch);
    if (part == nullptr || !transactions_) return state_.uncertain(slot_);
    try {
      const bool streamed = std::ranges::any_of(part->alerts, [](const AlertList& list) { return list.streamed(); });
      streamed ? commit_streamed(*part, batch) : commit(*part, batch);
    } catch (const kafka::Fenced&) {
      transactions_.reset();
      return state_.fenced(slot_);
    } catch (const kafka::OutcomeUnknown&) {
      transactions_.reset();
      return state_.uncertain(slot_);
    } catch (const kafka::GivenUp& error) {
      journal_.tell(Level::warn, "waiting for the brokers", {{"why", error.what()}});
      return state_.uncertain(slot_);
    }
    for (std::size_t s = 0; s < part->alerts.size(); ++s) {
      if (!part->alerts[s].empty()) metrics_.alerts_delivered(options_.sinks[s].name, part->alerts[s].size());
    }
    for (const BadRecord& letter : part->letters) metrics_.dead_letters(letter.reason);
    state_.published(slot_, batch);
  }

  [[nodiscard]] std::string progress_text(const SlotPart& part, std::uint64_t batch) const {
    return to_json(workers::SlotProgress{.slot = slot_, .batch = batch, .digest = part.mark.digest});
  }

  void commit(const SlotPart& part, std::uint64_t batch) {
    records_.clear();
    records_.add_alerts(part.mark, part.alerts);
    records_.add_letters(part.letters);
    records_.add_mark(progress_topic_, progress_text(part, batch), std::to_string(slot_), static_cast<std::int32_t>(slot_));
    records_.commit(*transactions_, {}, options_.transaction_timeout);
  }

  /// Alerts that are too many for memory go in one transaction all the same, so they must reach the brokers within its time.
  void commit_streamed(const SlotPart& part, std::uint64_t batch) {
    const auto deadline = kafka::Clock::now() + options_.transaction_timeout;
    std::set<std::size_t> too_large;
    RecordMemory memory;
    const std::span<const kafka::RecordHeader> headers = alert_headers(part.mark, memory);
    const std::string key = std::to_string(slot_);
    const std::string progress = progress_text(part, batch);
    const auto put = [&](kafka::RecordTaker& taker) {
      std::size_t number = 0;
      std::string stub;
      for (std::size_t s = 0; s < part.alerts.size(); ++s) {
        part.alerts[s].for_each([&](std::string_view alert) {
          kafka::OutputRecord record{options_.sinks[s].topic, {}, alert, headers};
          if (const std::string_view id = alert_id(alert); !id.empty()) record.key = id;
          if (too_large.contains(number++)) {
            stub.clear();
            append_alert_stub(stub, alert);
            record.value = stub;
          }
          taker.put(record);
        });
      }
      for (const BadRecord& letter : part.letters) {
        const std::size_t most = too_large.contains(number++) ? shortened_bytes : std::string::npos;
        if (!options_.input.dead_letter_topic.empty()) taker.put(letter_record(options_, letter, most, memory));
      }
      taker.put({progress_topic_, key, progress, {}, static_cast<std::int32_t>(slot_)});
      return true;
    };
    count_transaction(*transactions_, &metrics_, [&] {
      for (;;) {
        try {
          return transactions_->commit_streamed(put, {}, deadline);
        } catch (const kafka::TooLarge& refusal) {
          if (kafka::Clock::now() >= deadline || !too_large.insert(refusal.record).second) throw;
          metrics_.record_shortened(refusal.topic);
          journal_.tell(Level::warn, "alert_shortened",
                        {{"topic", refusal.topic},
                         {"bytes", std::to_string(refusal.bytes)},
                         {"remedy", "raise max.message.bytes of the topic"}});
        }
      }
    });
  }

  const ServiceOptions& options_;
  const kafka::Cluster cluster_;  // named as the slot's transactional id
  const workers::Slot slot_;
  WorkerState& state_;
  const WorkerReaders& readers_;
  Metrics& metrics_;
  Journal& journal_;
  const std::string progress_topic_;
  TransactionRecords records_;
  std::optional<kafka::Transactions> transactions_;
};

SlotThreads::SlotThreads(const ServiceOptions& options, const kafka::Cluster& cluster, std::uint32_t slots, WorkerState& state,
                         const WorkerReaders& readers, Metrics& metrics, Journal& journal) {
  const SignalsBlocked for_the_threads;
  for (workers::Slot slot = 0; slot < slots; ++slot) {
    auto worker = std::make_shared<Worker>(options, cluster, slot, state, readers, metrics, journal);
    threads_.emplace_back([worker](const std::stop_token& stop) { worker->run(stop); });
  }
}

SlotThreads::~SlotThreads() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

}  // namespace deltamatch::ingest

#include "ingest/service/loop/transaction_records.hpp"

#include <utility>

#include "ingest/service/alert/alert_text.hpp"

namespace deltamatch::ingest {

using Clock = std::chrono::steady_clock;

void TransactionRecords::clear() {
  records_.clear();
  sources_.clear();
  memory_.clear();
}

void TransactionRecords::add_alerts(const CommitPoint& mark, std::span<const AlertList> alerts) {
  std::span<const kafka::RecordHeader> headers;
  for (std::size_t s = 0; s < alerts.size(); ++s) {
    const AlertList& list = alerts[s];
    if (options_.sinks[s].kind != SinkOptions::Kind::kafka || list.empty()) continue;
    if (headers.empty()) headers = alert_headers(mark, memory_);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string_view id = alert_id(list[i]);
      kafka::OutputRecord& record = records_.emplace_back(kafka::OutputRecord{options_.sinks[s].topic, {}, list[i], headers});
      if (!id.empty()) record.key = id;
      sources_.push_back({Source::Kind::alert, nullptr, false});
    }
  }
}

void TransactionRecords::add_letters(std::span<const BadRecord> letters) {
  if (options_.input.dead_letter_topic.empty()) return;
  for (const BadRecord& letter : letters) {
    records_.push_back(letter_record(options_, letter, std::string::npos, memory_));
    sources_.push_back({Source::Kind::letter, &letter, false});
  }
}

void TransactionRecords::add_change(const std::string& topic, const QueryRecord& change) {
  records_.push_back(query_record(topic, change, memory_));
  sources_.push_back({Source::Kind::mark, nullptr, false});
}

void TransactionRecords::add_mark(const std::string& topic, std::string text, std::optional<std::string> key,
                                  std::optional<std::int32_t> partition) {
  kafka::OutputRecord& record =
      records_.emplace_back(kafka::OutputRecord{topic, {}, memory_.texts.emplace_back(std::move(text)), {}, partition});
  if (key) record.key = memory_.texts.emplace_back(std::move(*key));
  sources_.push_back({Source::Kind::mark, nullptr, false});
}

void TransactionRecords::commit(kafka::Transactions& transactions, const Offsets& ends, std::chrono::milliseconds give_up_after,
                                const std::function<void()>& before_end) {
  const auto deadline = Clock::now() + give_up_after;
  count_transaction(transactions, &metrics_, [&] {
    for (;;) {
      try {
        return transactions.commit(records_, ends, deadline, before_end);
      } catch (const kafka::TooLarge& refusal) {
        if (Clock::now() >= deadline || !shorten(refusal.record)) throw;
      }
    }
  });
}

/// Shortens the refused record, and all records of its topic that are at least as long. Returns false if that is not possible
/// any more.
bool TransactionRecords::shorten(std::size_t refused) {
  if (sources_[refused].kind == Source::Kind::mark || sources_[refused].shortened) return false;
  const auto length = [](const kafka::OutputRecord& record) {
    return record.key.value_or("").size() + record.value.value_or("").size();
  };
  const std::string_view topic = records_[refused].topic;
  const std::size_t least = length(records_[refused]);
  for (std::size_t i = 0; i < records_.size(); ++i) {
    kafka::OutputRecord& record = records_[i];
    Source& source = sources_[i];
    if (record.topic != topic || source.kind == Source::Kind::mark || source.shortened || length(record) < least) continue;
    source.shortened = true;
    journal_.tell(Level::warn, source.kind == Source::Kind::alert ? "alert_shortened" : "dead_letter_shortened",
                  {{"topic", std::string(topic)},
                   {"bytes", std::to_string(length(record))},
                   {"id", source.kind == Source::Kind::alert ? std::string(record.key.value_or("")) : std::string()},
                   {"remedy", "raise max.message.bytes of the topic"}});
    metrics_.record_shortened(topic);
    if (source.kind == Source::Kind::alert) {
      std::string& stub = memory_.texts.emplace_back();
      append_alert_stub(stub, *record.value);
      record.value = stub;
    } else {
      record = letter_record(options_, *source.letter, shortened_bytes, memory_);
    }
  }
  return true;
}

void count_transaction(const kafka::Transactions& transactions, Metrics* metrics, const std::function<void()>& commit) {
  const auto start = Clock::now();
  const unsigned aborted = transactions.aborted();
  const auto count = [&](Metrics::Outcome outcome) {
    if (metrics == nullptr) return;
    metrics->transaction(outcome, std::chrono::duration<double>(Clock::now() - start).count(),
                         transactions.aborted() - aborted);
  };
  try {
    commit();
  } catch (const kafka::Fenced&) {
    count(Metrics::Outcome::fenced);
    throw;
  } catch (...) {
    count(Metrics::Outcome::failed);
    throw;
  }
  count(Metrics::Outcome::committed);
}

}  // namespace deltamatch::ingest

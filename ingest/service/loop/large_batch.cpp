#include "ingest/service/loop/large_batch.hpp"

#include <algorithm>
#include <utility>

#include "ingest/service/alert/alert_text.hpp"
#include "ingest/service/loop/transaction_records.hpp"
#include "ingest/service/state/publish_progress.hpp"

namespace deltamatch::ingest {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t least_limit = 1024;  // a refused record of at most this size cannot be shortened

}  // namespace

LargeBatch::LargeBatch(const ServiceOptions& options, const CommitPoint& mark, std::vector<TopicAlerts> alerts,
                       const std::vector<std::string>& queries, const FirstRecords& first, Metrics* metrics, Journal& journal)
    : options_(options),
      mark_(mark),
      queries_(queries),
      first_(first),
      metrics_(metrics),
      journal_(journal),
      commit_topic_(kafka::commit_topic(options.application)) {
  if (options.input.dead_letter_topic.empty()) first_.letters = {};
  for (TopicAlerts& each : alerts) sinks_.push_back({std::move(each), {}, 0});
}

void LargeBatch::publish(kafka::Transactions& transactions, std::chrono::milliseconds give_up_after,
                         const std::function<void()>& progressed) {
  pass_published();
  for (bool complete = false; !complete;) {
    count_transaction(transactions, metrics_, [&] {
      for (bool done = false; !done;) {
        try {
          transactions.commit_streamed([&](kafka::RecordTaker& taker) { return complete = put(taker); }, mark_.ends,
                                       Clock::now() + give_up_after);
          done = true;
        } catch (const kafka::TooLarge& refusal) {
          complete = false;
          shorten(refusal);
        }
      }
    });
    settle();
    progressed();
  }
}

/// Skips what is published. Done before a transaction begins, because reading millions of alerts takes a while.
void LargeBatch::pass_published() {
  for (Sink& sink : sinks_) {
    sink.alerts.alerts.read(sink.cursor, [&](std::string_view alert) {
      if (sink.ids >= sink.alerts.published) return false;
      sink.ids += alert_id(alert).empty() ? 0 : 1;
      return true;
    });
  }
}

/// Records that the transaction has published what was put.
void LargeBatch::settle() {
  first_are_out_ = true;
  for (std::size_t s = 0; s < sinks_.size(); ++s) {
    sinks_[s].cursor = reached_[s].cursor;
    sinks_[s].ids = reached_[s].ids;
  }
  for (const auto& [topic, records] : shortened_) {
    journal_.tell(Level::warn, "records_shortened",
                  {{"topic", topic},
                   {"batch", std::to_string(mark_.batch)},
                   {"records", std::to_string(records)},
                   {"remedy", "raise max.message.bytes of the topic"}});
    for (std::uint64_t i = 0; metrics_ != nullptr && i < records; ++i) metrics_->record_shortened(topic);
  }
}

/// Returns true if the transaction ends the batch.
bool LargeBatch::put(kafka::RecordTaker& taker) {
  memory_.clear();
  shortened_.clear();
  records_ = 0;
  headers_ = alert_headers(mark_, memory_);
  reached_.clear();
  for (const Sink& sink : sinks_) reached_.push_back({sink.cursor, sink.ids});
  if (!first_are_out_) put_first(taker);
  const bool complete = put_alerts(taker);
  if (complete) {
    text_ = to_json(mark_);
  } else {
    BatchProgress progress{mark_, {}, queries_};
    for (std::size_t s = 0; s < sinks_.size(); ++s) {
      progress.published[sinks_[s].alerts.sink] = std::max(reached_[s].ids, sinks_[s].alerts.published);
    }
    text_ = to_json(progress);
    journal_.tell(Level::info, "a part of a batch is published",
                  {{"batch", std::to_string(mark_.batch)}, {"alerts", std::to_string(records_)}});
  }
  taker.put({commit_topic_, std::nullopt, text_, {}});
  if (complete && last_record_) last_text_ = last_record_();
  if (complete && !last_text_.empty()) taker.put({commit_topic_, std::nullopt, last_text_, {}});
  return complete;
}

void LargeBatch::put_first(kafka::RecordTaker& taker) {
  const std::string query_topic = kafka::query_topic(options_.application);
  for (const QueryRecord& change : first_.changes) {
    RecordMemory memory;
    taker.put(query_record(query_topic, change, memory));
  }
  for (const BadRecord& letter : first_.letters) {
    RecordMemory memory;
    kafka::OutputRecord record = letter_record(options_, letter, std::string::npos, memory);
    if (too_large(options_.input.dead_letter_topic, record.key.value_or("").size() + record.value.value_or("").size())) {
      record = letter_record(options_, letter, shortened_bytes, memory);
      ++shortened_[options_.input.dead_letter_topic];
    }
    taker.put(record);
  }
}

/// Returns true if all alerts were put.
bool LargeBatch::put_alerts(kafka::RecordTaker& taker) {
  bool late = false;
  for (std::size_t s = 0; s < sinks_.size() && !late; ++s) {
    const TopicAlerts& sink = sinks_[s].alerts;
    Reached& reached = reached_[s];
    sink.alerts.read(reached.cursor, [&](std::string_view alert) {
      const std::string_view id = alert_id(alert);
      late = records_ != 0 && taker.late();
      if (late) return false;
      put_alert(taker, sink.topic, id, alert);
      reached.ids += id.empty() ? 0 : 1;
      return true;
    });
  }
  return !late;
}

void LargeBatch::put_alert(kafka::RecordTaker& taker, const std::string& topic, std::string_view id, std::string_view alert) {
  ++records_;
  kafka::OutputRecord record{topic, std::nullopt, alert, headers_};
  if (!id.empty()) record.key = id;
  if (too_large(topic, id.size() + alert.size())) {
    text_.clear();
    append_alert_stub(text_, alert);
    record.value = text_;
    ++shortened_[topic];
  }
  taker.put(record);
}

bool LargeBatch::too_large(const std::string& topic, std::size_t bytes) const {
  if (most_bytes_.empty()) return false;
  const auto most = most_bytes_.find(topic);
  return most != most_bytes_.end() && bytes >= most->second;
}

/// From the next try on, shortens records that are at least as long as the refused one.
void LargeBatch::shorten(const kafka::TooLarge& refusal) {
  if (refusal.topic == commit_topic_ || refusal.topic == kafka::query_topic(options_.application) ||
      refusal.bytes <= least_limit)
    throw kafka::TooLarge(refusal);
  const auto [most, fresh] = most_bytes_.try_emplace(refusal.topic, refusal.bytes);
  if (!fresh && refusal.bytes >= most->second) throw kafka::TooLarge(refusal);  // it was shortened already
  most->second = refusal.bytes;
}

}  // namespace deltamatch::ingest

// A batch whose alerts are too many for memory, and may be too many for one transaction.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ingest/service/alert/alert_list.hpp"
#include "ingest/service/http/metrics.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/kafka/transactions.hpp"
#include "ingest/service/loop/commit.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/mark.hpp"

namespace deltamatch::ingest {

/// What a sink in Kafka gets of a batch.
struct TopicAlerts {
  std::string sink;
  std::string topic;
  AlertList alerts;
  std::uint64_t published = 0;  ///< of those that bear an id, the first ones, by earlier transactions
};

/// Publishes a batch in as few transactions as time allows. The last one holds the commit record and the offsets. Each one
/// before holds a record of progress in the commit topic, which tells how many alerts of each sink are published by then. So a
/// reader of committed records sees each alert once, and whoever goes on after a crash knows the first one that is missing. The
/// alerts have to be the same then, in the same order: they are in the log, or matched again. Memory: 32 MiB of records under
/// way.
class LargeBatch {
 public:
  /// All but `alerts` outlives it. `letters` go with the first transaction. `metrics` may be null.
  LargeBatch(const ServiceOptions& options, const Mark& mark, std::vector<TopicAlerts> alerts,
             std::span<const BadRecord> letters, Metrics* metrics, Journal& journal);

  /// Returns once the batch is committed. `progressed` is called after each transaction. Throws as Transactions::commit, with
  /// `give_up_after` for each: what was published before stays, and is told by the last record of progress.
  void publish(kafka::Transactions& transactions, std::chrono::milliseconds give_up_after,
               const std::function<void()>& progressed);

 private:
  struct Sink {
    TopicAlerts alerts;
    AlertCursor cursor;     // of the next transaction
    std::uint64_t ids = 0;  // before it
  };
  struct Reached {
    AlertCursor cursor;
    std::uint64_t ids = 0;
  };

  bool put(kafka::RecordTaker& taker);
  void put_letters(kafka::RecordTaker& taker);
  bool put_alerts(kafka::RecordTaker& taker);
  void put_alert(kafka::RecordTaker& taker, const std::string& topic, std::string_view id, std::string_view alert);
  void pass_published();
  void settle();
  void shorten(const kafka::TooLarge& refusal);
  [[nodiscard]] bool too_large(const std::string& topic, std::size_t bytes) const;

  const ServiceOptions& options_;
  const Mark& mark_;
  std::vector<Sink> sinks_;
  std::span<const BadRecord> letters_;
  Metrics* metrics_;
  Journal& journal_;
  std::string commit_topic_;
  std::map<std::string, std::size_t> most_bytes_;  // by topic that refused a record: so long ones are shortened
  bool letters_are_out_ = false;

  // Of the transaction that is tried.
  RecordMemory memory_;
  std::span<const kafka::RecordHeader> headers_;
  std::vector<Reached> reached_;
  std::map<std::string, std::uint64_t> shortened_;  // by topic
  std::uint64_t records_ = 0;
  std::string text_;
};

}  // namespace deltamatch::ingest

// Publishes a batch whose alerts are too many for memory, and perhaps for one transaction.
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
#include "ingest/service/state/commit_point.hpp"

namespace deltamatch::ingest {

/// The alerts of a batch for one sink in Kafka.
struct TopicAlerts {
  std::string sink;
  std::string topic;
  AlertList alerts;
  std::uint64_t published = 0;  ///< how many of its alerts with an id earlier transactions have published; the first ones
};

/// What the first transaction of a batch has besides alerts. So whoever completes the batch knows its queries.
struct FirstRecords {
  std::span<const BadRecord> letters;
  std::span<const QueryRecord> changes;
};

/// Publishes a batch in as few transactions as time allows. The last one has the commit record and the offsets. Each earlier
/// one has a progress record in the commit topic, which gives the number of published alerts per sink. So a reader of committed
/// records sees each alert once, and after a crash the first missing alert is known. For that, the alerts and their order must
/// not change: they come from the log, or are matched again. It needs memory for 32 MiB of records in flight.
class LargeBatch {
 public:
  /// `queries`: the names of those that stand, in the order of their alerts. All arguments but `alerts` must outlive it, and so
  /// must what `first` refers to. `metrics` may be null.
  LargeBatch(const ServiceOptions& options, const CommitPoint& mark, std::vector<TopicAlerts> alerts,
             const std::vector<std::string>& queries, const FirstRecords& first, Metrics* metrics, Journal& journal);

  /// The last transaction also has this record in the commit topic, unless it is empty.
  void end_with(std::function<std::string()> record) { last_record_ = std::move(record); }

  /// Returns once the batch is committed. `progressed` is called after each transaction. `give_up_after` limits each
  /// transaction. Throws as Transactions::commit does. What was published before stays, and the last progress record describes
  /// it.
  void publish(kafka::Transactions& transactions, std::chrono::milliseconds give_up_after,
               const std::function<void()>& progressed);

 private:
  struct Sink {
    TopicAlerts alerts;
    AlertCursor cursor;     // for the start of the next transaction
    std::uint64_t ids = 0;  // number of ids before the cursor
  };
  struct Reached {
    AlertCursor cursor;
    std::uint64_t ids = 0;
  };

  bool put(kafka::RecordTaker& taker);
  void put_first(kafka::RecordTaker& taker);
  bool put_alerts(kafka::RecordTaker& taker);
  void put_alert(kafka::RecordTaker& taker, const std::string& topic, std::string_view id, std::string_view alert);
  void pass_published();
  void settle();
  void shorten(const kafka::TooLarge& refusal);
  [[nodiscard]] bool too_large(const std::string& topic, std::size_t bytes) const;

  const ServiceOptions& options_;
  const CommitPoint& mark_;
  const std::vector<std::string>& queries_;
  std::vector<Sink> sinks_;
  FirstRecords first_;
  Metrics* metrics_;
  Journal& journal_;
  std::string commit_topic_;
  std::map<std::string, std::size_t> most_bytes_;  // by topic that refused a record: records this long are shortened
  bool first_are_out_ = false;

  // State of the current try.
  RecordMemory memory_;
  std::span<const kafka::RecordHeader> headers_;
  std::vector<Reached> reached_;
  std::map<std::string, std::uint64_t> shortened_;  // by topic
  std::uint64_t records_ = 0;
  std::string text_;
  std::function<std::string()> last_record_;
  std::string last_text_;
};

}  // namespace deltamatch::ingest

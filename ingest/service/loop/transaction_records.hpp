// The records of one transaction. What the brokers refuse for its size is shortened.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/service/alert/alert_list.hpp"
#include "ingest/service/http/metrics.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/kafka/transactions.hpp"
#include "ingest/service/loop/commit.hpp"
#include "ingest/service/service_options.hpp"

namespace deltamatch::ingest {

/// Of a dead letter that is too large, the first bytes are written; its headers give the full length. Of such an alert,
/// append_alert_stub is written. That is reported. Not thread-safe.
class TransactionRecords {
 public:
  /// All references must outlive it.
  TransactionRecords(const ServiceOptions& options, Metrics& metrics, Journal& journal)
      : options_(options), metrics_(metrics), journal_(journal) {}

  void clear();
  /// The alerts for the sinks of Kafka, by number of the sink. They must be in memory, and outlive the records.
  void add_alerts(const CommitPoint& mark, std::span<const AlertList> alerts);
  /// Those for a topic, if there is one. The letters must outlive the records.
  void add_letters(std::span<const BadRecord> letters);
  void add_change(const std::string& topic, const QueryRecord& change);
  /// A record that nothing shortens. `topic` must outlive it.
  void add_mark(const std::string& topic, std::string text, std::optional<std::string> key = {},
                std::optional<std::int32_t> partition = {});

  /// Commits the records with the offsets, and counts the transaction. Throws as Transactions::commit does; TooLarge only if
  /// shortening does not help.
  void commit(
      kafka::Transactions& transactions, const Offsets& ends, std::chrono::milliseconds give_up_after,
      const std::function<void()>& before_end = [] {});

 private:
  struct Source {
    enum class Kind : std::uint8_t { alert, letter, mark } kind;
    const BadRecord* letter = nullptr;
    bool shortened = false;
  };
  bool shorten(std::size_t refused);

  const ServiceOptions& options_;
  Metrics& metrics_;
  Journal& journal_;
  std::vector<kafka::OutputRecord> records_;
  std::vector<Source> sources_;  // of the records
  RecordMemory memory_;
};

/// Calls `commit`, and counts the transaction with its outcome. `metrics` may be null: nothing is counted.
void count_transaction(const kafka::Transactions& transactions, Metrics* metrics, const std::function<void()>& commit);

}  // namespace deltamatch::ingest

// The way out: makes batches durable and visible, each exactly once, while the engine goes on with the next.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "deltamatch/engine.hpp"
#include "ingest/service/alert/alert_list.hpp"
#include "ingest/service/http/metrics.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/kafka/transactions.hpp"
#include "ingest/service/loop/commit.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/log.hpp"
#include "ingest/service/state/mark.hpp"

namespace deltamatch::ingest {

/// Log entries, one sync, one transaction: so a group of batches becomes durable and then visible, in order. The transaction is
/// ended when the sync has returned; until then both are under way at once. While a transaction is under way the next group
/// gathers, so that its latency does not bound the rate; groups that nobody will see anything of wait up to `quiet` for
/// company. The engine is ahead of what is committed: if a transaction fails for good, the process has to start anew from the
/// last commit record, and nothing that was not committed was ever seen.
///
/// A batch whose alerts are too many for memory (Commit::is_large) goes alone: into the log, and from there by one transaction
/// or several (LargeBatch).
///
/// What the brokers refuse for its size is written shortened, and told: of a dead letter the first bytes (its headers say how
/// long it is), of an alert what append_alert_stub leaves. Sinks that are not Kafka get the whole alert.
class Committer {
 public:
  struct Limits {
    std::chrono::milliseconds quiet{100};
    std::size_t batches = 256;                        ///< that wait or are under way; submit waits beyond
    std::size_t bytes = std::size_t{64} << 20;        ///< likewise
    std::chrono::milliseconds give_up_after{60'000};  ///< of one transaction
  };
  /// Called in the committer's thread for each batch, in order, once its transaction is committed.
  using Committed = std::function<void(Commit&&)>;

  /// All references outlive it. `ends`: of the last batch committed so far.
  Committer(const ServiceOptions& options, Log& log, kafka::Transactions& transactions, Metrics& metrics, Journal& journal,
            Offsets ends, Committed committed, const Limits& limits);
  /// Drops what is not under way.
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  /// Takes over a batch; batches come in order. Waits while too much is pending. Throws what the committing thread threw: then
  /// nothing more is committed.
  void submit(Commit&& commit);
  /// Waits until all is committed. False at the deadline. Throws as submit.
  bool drain(std::chrono::steady_clock::time_point deadline);
  /// Throws as submit; otherwise does nothing.
  void check();
  /// Asks for a transaction soon, be it one without records: where another instance has taken over it is refused.
  void probe();

  /// Since when batches wait without any of them being committed; none: nothing waits.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> waiting_since() const;

  struct Statistics {
    std::uint64_t transactions = 0;
    double log_seconds = 0;
    double commit_seconds = 0;
  };
  [[nodiscard]] Statistics statistics() const;

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  bool wait_for_group(std::unique_lock<std::mutex>& lock);
  void take_group();
  void commit_group();
  void commit_large(const Commit& commit);
  void commit_transaction(const std::function<void()>& before_end);
  void add_records(const Commit& commit);
  void add_alerts(const Commit& commit);
  bool shorten(std::size_t refused);

  const ServiceOptions& options_;
  Log& log_;
  kafka::Transactions& transactions_;
  Metrics& metrics_;
  Journal& journal_;
  Committed committed_;
  Limits limits_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Commit> pending_;  // guarded by mutex_, as all to statistics_
  std::size_t pending_bytes_ = 0;
  std::size_t pending_visible_ = 0;
  std::size_t under_way_ = 0;
  Clock::time_point waiting_since_;  // where anything is pending or under way
  std::exception_ptr failure_;
  bool draining_ = false;
  bool probing_ = false;
  bool stopping_ = false;
  Statistics statistics_;

  std::deque<Commit> group_;  // the thread's own, as all below
  Clock::time_point last_;
  Offsets ends_;  // of the last batch committed
  std::vector<kafka::OutputRecord> records_;
  struct Source {
    enum class Kind : std::uint8_t { alert, letter, mark } kind;
    const BadRecord* letter = nullptr;
    bool shortened = false;
  };
  std::vector<Source> sources_;  // of the records
  RecordMemory memory_;
  std::string commit_topic_;
  std::thread thread_;
};

}  // namespace deltamatch::ingest

// Makes batches durable and visible, each exactly once, while the engine processes the next ones.
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
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ingest/service/alert/alert_list.hpp"
#include "ingest/service/http/metrics.hpp"
#include "ingest/service/journal.hpp"
#include "ingest/service/kafka/transactions.hpp"
#include "ingest/service/loop/commit.hpp"
#include "ingest/service/loop/transaction_records.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/state/commit_point.hpp"
#include "ingest/service/state/log.hpp"

namespace deltamatch::ingest {

/// Commits a group of batches by log entries, one sync and one transaction. So a group becomes durable and then visible, in
/// order. Sync and transaction run at the same time, but the transaction ends only after the sync. While a transaction runs,
/// the next group gathers, so its latency does not limit the rate. Groups without visible results wait up to `quiet` for more
/// batches. The engine is ahead of the commits. If a transaction fails permanently, the process must restart from the last
/// commit record. Nothing uncommitted was ever visible.
///
/// A large batch (Commit::is_large) is a group of its own. It is written to the log and published from there, in one
/// transaction or several (LargeBatch).
///
/// With each transaction goes a note of the batches up to which sinks that send requests have their alerts (DeliveryNote). So
/// neither a lost state directory nor a take-over loses what they wait for.
///
/// Records that the brokers refuse for their size are shortened (TransactionRecords). Sinks outside Kafka get the whole alert.
class Committer {
 public:
  struct Limits {
    std::chrono::milliseconds quiet{100};
    std::chrono::milliseconds notes{500};             ///< without batches, notes of deliveries are this far apart
    std::size_t batches = 256;                        ///< that wait for the running transaction; submit() waits beyond it
    std::size_t bytes = std::size_t{64} << 20;        ///< the same in bytes
    std::chrono::milliseconds give_up_after{60'000};  ///< for one transaction
  };
  /// Called in the committer's thread for each batch, in order, after its transaction was committed.
  using Committed = std::function<void(Commit&&)>;

  /// All references must outlive it. `ends` are those of the last batch committed so far.
  Committer(const ServiceOptions& options, Log& log, kafka::Transactions& transactions, Metrics& metrics, Journal& journal,
            Offsets ends, Committed committed, const Limits& limits);
  /// Drops what is not being committed.
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  /// Takes over a batch; batches must come in order. Waits while too much is pending. Rethrows an error of the committing
  /// thread; nothing more is committed then.
  void submit(Commit&& commit);
  /// Waits until everything is committed. Returns false at the deadline. Throws as submit() does.
  bool drain(std::chrono::steady_clock::time_point deadline);
  /// Throws as submit() does; otherwise does nothing.
  void check();
  /// Requests a transaction soon, even one without records. It is refused if another instance has taken over.
  void probe();

  /// A sink has got alerts. If its deliveries are noted in Kafka (DeliveryNote), that is done with the next group. If none
  /// comes, it is done soon in a transaction of its own. Never waits.
  void delivered(std::string_view sink);
  /// Notes all deliveries now. Waits until that is committed, at most until the deadline.
  void note_deliveries(std::chrono::steady_clock::time_point deadline);

  /// Since when batches have waited without any commit. Nothing if none wait.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> waiting_since() const;

  struct Statistics {
    std::uint64_t transactions = 0;
    double log_seconds = 0;
    double commit_seconds = 0;
    std::size_t waiting = 0;  ///< batches that are submitted and not committed
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
  void add_note();
  [[nodiscard]] std::string delivery_note() const;

  const ServiceOptions& options_;
  Log& log_;
  kafka::Transactions& transactions_;
  Metrics& metrics_;
  Journal& journal_;
  Committed committed_;
  Limits limits_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Commit> pending_;  // guarded by mutex_, like all up to statistics_
  std::size_t pending_bytes_ = 0;
  std::size_t pending_visible_ = 0;
  std::size_t under_way_ = 0;
  Clock::time_point waiting_since_;  // valid if anything is pending or being committed
  std::exception_ptr failure_;
  bool draining_ = false;
  bool probing_ = false;
  bool unnoted_ = false;  // deliveries are not noted in Kafka
  bool busy_ = false;     // a group or a note is being committed
  bool stopping_ = false;
  Statistics statistics_;

  std::deque<Commit> group_;  // used only by the thread, like all below
  Clock::time_point last_;
  Offsets ends_;  // those of the last batch committed
  TransactionRecords records_;
  std::string commit_topic_;
  std::string query_topic_;
  std::set<std::string, std::less<>> noted_sinks_;
  std::string last_note_;
  std::thread thread_;
};

}  // namespace deltamatch::ingest

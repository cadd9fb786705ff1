// Writes records and the input's offsets in one transaction: all become visible together, or none do.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ingest/service/kafka/client.hpp"
#include "ingest/service/state/commit_point.hpp"

namespace deltamatch::ingest::kafka {

struct RecordHeader {
  std::string_view key;
  std::string_view value;
};

/// A record to write. The views, and what `headers` points to, must stay valid while commit() runs. The key decides which
/// partition of the topic it goes to, unless the record names one.
struct OutputRecord {
  std::string_view topic;
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;
  std::span<const RecordHeader> headers;
  std::optional<std::int32_t> partition{};  ///< that it goes to, whatever its key says
};

/// A record is larger than the brokers or message.max.bytes (if set) allow.
class TooLarge : public Error {
 public:
  TooLarge(std::size_t refused, std::size_t length, std::string_view to, std::string_view where, std::string_view what,
           std::string_view remedy)
      : Error(where, what, remedy), record(refused), bytes(length), topic(to) {}
  std::size_t record;  ///< its position among the records to be committed
  std::size_t bytes;   ///< of its key and value
  std::string topic;
};

/// Accepts the records of one transaction one by one.
class RecordTaker {
 public:
  virtual ~RecordTaker() = default;
  /// Once it returns, the data that the record's views refer to may be freed. Waits while too much is in flight.
  virtual void put(const OutputRecord& record) = 0;
  /// Whether the transaction should end soon, so that its records reach the brokers within their time limit.
  [[nodiscard]] virtual bool late() const = 0;
};

/// Puts the records of a transaction. It is called again for each attempt, and must put the same records again as far as time
/// allows. Returns true if the offsets belong to this transaction.
using PutRecords = std::function<bool(RecordTaker& taker)>;

/// The transactional producer of an application. Its transactional.id is the application's name, and the offsets belong to the
/// group of that name. Readers with `read_committed` see nothing of a transaction before commit() has returned. Any thread may
/// use it, but only one at a time.
///
/// If a transaction is open for longer than `timeout`, the brokers abort it and fence its producer. Therefore commit() itself
/// aborts after three quarters of that time. It tries again until its deadline. If even the abort is too late, it throws
/// Fenced.
class Transactions {
 public:
  /// Fences every older Transactions object of the application. Before this returns, an older object's open transaction is
  /// aborted, or finished if it was already being committed. Throws Unreachable at the deadline, Fenced if a newer object comes
  /// in between, and Error.
  Transactions(const Cluster& cluster, std::chrono::milliseconds timeout, Deadline deadline);
  /// Closes within 5 seconds. Otherwise a thread that ends with the process closes the client. After OutcomeUnknown, the
  /// brokers abort the open transaction at most `timeout` after its start.
  ~Transactions();
  Transactions(const Transactions&) = delete;
  Transactions& operator=(const Transactions&) = delete;

  /// Makes sure that these topics can be written to. Brokers create missing topics if they are configured to. Throws Error for
  /// a topic that does not exist by the deadline or may not be written to. Throws Unreachable.
  void must_be_there(std::span<const std::string> topics, Deadline deadline);

  /// Commits the records and the offsets in one transaction; either may be empty. Returns once it is committed. Temporary
  /// errors are retried with back-off until the deadline. If librdkafka demands an abort, the transaction is aborted and
  /// written again, at most 10 times. Each of these is reported to the journal. Aborting may take a second beyond the deadline.
  /// Throws:
  /// - Fenced: a newer instance has started. Not committed.
  /// - OutcomeUnknown: the deadline passed while the brokers did not answer. It may be committed or not; see OutcomeUnknown.
  /// - TooLarge: a record cannot be written. Not committed; further calls are allowed. If several records were refused
  ///   together, they are sent in smaller and smaller groups until the record is known.
  /// - Error: refused permanently (topic missing, not authorised), or given up. Not committed; further calls are allowed.
  ///
  /// After Fenced and OutcomeUnknown, every further call throws the same.
  ///
  /// Brokers accept no offsets of a partition that is gone. Such offsets are left out from then on, which is reported to the
  /// journal.
  ///
  /// `before_end` is called when the brokers have the whole transaction, before it ends. It is for work that must be done
  /// before anyone sees the records. An exception of `before_end` aborts the transaction and is rethrown.
  void commit(
      std::span<const OutputRecord> records, const Offsets& offsets, Deadline deadline,
      const std::function<void()>& before_end = [] {});

  /// Like commit(), but the records are put one by one, so neither memory nor time limits their number. Unless the brokers
  /// fail, all that is put until late() returns true reaches them in time.
  void commit_streamed(const PutRecords& put, const Offsets& offsets, Deadline deadline);

  /// How many transactions were started and then aborted so far.
  [[nodiscard]] unsigned aborted() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deltamatch::ingest::kafka

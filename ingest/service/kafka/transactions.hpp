// Writes records and the input's offsets together, visible at once or not at all.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ingest/service/kafka/client.hpp"
#include "ingest/service/state/mark.hpp"

namespace deltamatch::ingest::kafka {

struct RecordHeader {
  std::string_view key;
  std::string_view value;
};

/// A record to write. The views, and what `headers` points to, must stay valid while commit runs. Where it goes among the
/// topic's partitions is decided by its key.
struct OutputRecord {
  std::string_view topic;
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;
  std::span<const RecordHeader> headers;
};

/// A record is larger than the brokers take, or than message.max.bytes where that is set.
class TooLarge : public Error {
 public:
  TooLarge(std::size_t refused, std::size_t length, std::string_view to, std::string_view where, std::string_view what,
           std::string_view remedy)
      : Error(where, what, remedy), record(refused), bytes(length), topic(to) {}
  std::size_t record;  ///< its place among those that were to be committed
  std::size_t bytes;   ///< of its key and value
  std::string topic;
};

/// Takes the records of one transaction, one after the other.
class RecordTaker {
 public:
  virtual ~RecordTaker() = default;
  /// What the record's views point to is free when it returns. Waits while too much is under way.
  virtual void put(const OutputRecord& record) = 0;
  /// Whether it is time to come to the end, so that what was put reaches the brokers while they wait for it.
  [[nodiscard]] virtual bool late() const = 0;
};

/// Puts the records of a transaction: anew, and the same ones as far as time allows, each time that it is tried. True if the
/// offsets go along.
using PutRecords = std::function<bool(RecordTaker& taker)>;

/// The transactional producer of an application: its transactional.id is the application's name, and the offsets belong to the
/// group of that name. Nothing of a transaction is visible to `read_committed` readers before commit has returned. One thread
/// at a time may use it, any thread.
///
/// A transaction that is open for longer than `timeout` is aborted by the brokers, which then fence its producer. Commit
/// aborts it itself after three quarters of that, and tries again until its deadline; if even that comes too late, it throws
/// Fenced.
class Transactions {
 public:
  /// Fences every older Transactions object of the application: what it has in hand is aborted, or finished if it was already
  /// being committed, before this returns. Throws Unreachable at the deadline, Fenced if a newer one comes in between, Error.
  Transactions(const Cluster& cluster, std::chrono::milliseconds timeout, Deadline deadline);
  /// Closes within 5 seconds, or leaves the client to a thread that ends with the process. After Undecided the brokers abort
  /// what is open, at the latest `timeout` after it was begun.
  ~Transactions();
  Transactions(const Transactions&) = delete;
  Transactions& operator=(const Transactions&) = delete;

  /// Makes sure that these topics can be written to; the brokers make those that are missing, where they are set to. Throws
  /// Error for one that is not there by the deadline, or may not be written to; Unreachable.
  void must_be_there(std::span<const std::string> topics, Deadline deadline);

  /// One transaction of the records and the offsets; either may be empty. Returns once it is committed. What passes is tried
  /// again until the deadline, with back-off; a transaction that librdkafka wants aborted is aborted and written once more, at
  /// most 10 times, each told to the journal. Aborting may take a second beyond the deadline. Throws
  /// - Fenced: a newer instance has begun. Not committed.
  /// - Undecided: the deadline passed while the brokers did not answer. Committed or not: see there.
  /// - TooLarge: a record cannot be written. Where several that travelled together were refused they go in smaller and smaller
  ///   groups until it is known which. Not committed; further calls are allowed.
  /// - Error: refused for good (topic missing, not authorised), or given up. Not committed; further calls are allowed.
  /// After Fenced and Undecided every further call throws the same.
  /// The brokers take no offsets of a partition that is gone: they are left out from then on, which is told to the journal.
  /// `before_end` is called once the brokers have all of a transaction, before it is ended: for what has to be done before
  /// anyone sees it. What it throws aborts the transaction and is thrown on.
  void commit(
      std::span<const OutputRecord> records, const Offsets& offsets, Deadline deadline,
      const std::function<void()>& before_end = [] {});

  /// The same of records that are put as they come, so that their number is bounded by neither memory nor time: what is put
  /// until late() says so reaches the brokers in time unless they fail.
  void commit_streamed(const PutRecords& put, const Offsets& offsets, Deadline deadline);

  /// How many transactions were begun and aborted so far.
  [[nodiscard]] unsigned aborted() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deltamatch::ingest::kafka

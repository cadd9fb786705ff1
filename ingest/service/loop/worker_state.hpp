// What the threads of a worker share: the rules (service/workers), and the parts that wait to be published.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "ingest/service/loop/worker_engine.hpp"
#include "ingest/service/workers/leader_protocol.hpp"
#include "ingest/service/workers/roll.hpp"
#include "ingest/service/workers/worker_protocol.hpp"

namespace deltamatch::ingest {

/// How far a slot is, as far as this worker knows.
struct SlotStatus {
  workers::Slot slot = 0;
  std::string worker;          ///< by the newest cut
  std::uint64_t progress = 0;  ///< the last batch whose part is published
};

/// Thread-safe. Whatever happens is told here. Then the steps that the rules give are handed to those who carry them out: the
/// engine's thread, or the thread of a slot.
class WorkerState {
 public:
  using Clock = std::chrono::steady_clock;

  WorkerState(std::string worker, std::uint32_t slots);

  // Told by the readers.
  void cut(const workers::Cut& cut);
  void progress(const workers::SlotProgress& progress);
  void claim(const workers::Claim& claim, Clock::time_point now = Clock::now());
  /// Ends the worker: the engine's thread rethrows it.
  void fail(std::exception_ptr failure);

  // For the threads of slots.
  /// Waits for the next step of a slot. Nothing if `stop` was requested.
  [[nodiscard]] std::optional<workers::Step> next_step(workers::Slot slot, const std::stop_token& stop);
  /// What a `publish` step is to publish. Null if it is not wanted any more.
  [[nodiscard]] std::shared_ptr<const SlotPart> part(workers::Slot slot, std::uint64_t batch) const;
  void cuts_read(workers::Slot slot);
  void initialised(workers::Slot slot);
  void slot_read(workers::Slot slot);
  void published(workers::Slot slot, std::uint64_t batch);
  void uncertain(workers::Slot slot);
  void fenced(workers::Slot slot);
  /// Waits until a cut of at least this batch was read. Returns false if `stop` was requested. Rethrows what fail() got.
  bool wait_for_cut(std::uint64_t batch, const std::stop_token& stop);

  // For the engine's thread.
  /// Rethrows what fail() got. Throws Error if the rules end the worker.
  void check();
  /// The next step for the engine: read_all or restart.
  [[nodiscard]] std::optional<workers::Step> engine_step();
  void all_read();
  /// The cuts after the batch that the engine holds; those that were read meanwhile are added.
  void restarted(std::uint64_t batch, workers::CutBook cuts);
  /// The next batch, and its cut.
  [[nodiscard]] std::optional<std::pair<workers::Apply, workers::Cut>> next_batch() const;
  void applied(const workers::Apply& batch, const RunningDigest& digest, SlotParts parts);
  void applied_ahead(const workers::Cut& cut, SlotParts parts);
  void lead(bool leads);
  /// Waits for anything to happen, at most so long.
  void wait(std::chrono::milliseconds longest);

  // What a leader asks. Its rules live here, because the readers tell them of cuts.
  [[nodiscard]] workers::LeaderProtocol* leader() noexcept { return leader_ ? &*leader_ : nullptr; }
  template <class Work>
  auto with_leader(Work work) {
    const std::scoped_lock lock(mutex_);
    return work(*leader_);
  }
  struct Outlook {
    bool current = false;                   ///< the engine has the newest cut
    std::uint64_t newest = 0;               ///< of the cuts; 0: there is none
    std::uint64_t published = 0;            ///< by all slots
    std::vector<workers::Place> places{};   ///< for the next cut
    bool moves = false;                     ///< whether they differ from those of the newest cut
    std::size_t take_overs = 0, moved = 0;  ///< number of slots
  };
  /// What a leader needs to know for the next cut.
  [[nodiscard]] Outlook outlook(Clock::time_point now);

  [[nodiscard]] std::optional<std::uint64_t> at() const;
  [[nodiscard]] std::optional<std::uint64_t> confirmed() const;  ///< as WorkerProtocol::confirmed
  [[nodiscard]] std::uint64_t least_progress() const;
  [[nodiscard]] std::uint64_t newest_cut() const;
  /// The mark of the last batch that all slots have published. Nothing if its cut is not held.
  [[nodiscard]] std::optional<CommitPoint> published_mark() const;
  /// How many batches the engine is ahead of what all slots have published, and the size of the parts that wait.
  [[nodiscard]] std::pair<std::uint64_t, std::size_t> backlog() const;
  /// Whether a worker that leaves may end. By the newest cut, it has no slot then, and nothing to publish. Or all workers
  /// leave, and all is published.
  [[nodiscard]] bool may_leave(Clock::time_point now) const;
  [[nodiscard]] std::vector<SlotStatus> slots() const;
  /// For how long nothing was published, although a batch is cut. Nothing if none waits.
  [[nodiscard]] std::optional<Clock::duration> waiting_for(Clock::time_point now) const;
  [[nodiscard]] std::uint64_t wrong_digests() const;
  /// How long matched parts have waited until they could be published.
  [[nodiscard]] double gate_seconds() const;

 private:
  void advance();
  void forget_published(workers::Slot slot);
  [[nodiscard]] bool waits() const;
  void trust_all(std::vector<workers::Member>& members, const std::vector<std::uint64_t>& progress) const;
  template <class Tell>
  void tell(Tell&& what);

  const std::string worker_;
  const std::uint32_t slots_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  workers::WorkerProtocol protocol_;  // guarded by mutex_, like all below
  std::optional<workers::LeaderProtocol> leader_;
  workers::Roll roll_;
  Clock::time_point heard_itself_{};   // its last claim that came back from the brokers
  Clock::time_point listens_since_{};  // its claims have come back without a gap
  Clock::time_point moved_{};          // when something was published, or nothing waited
  struct Waiting {
    std::shared_ptr<const SlotPart> part;
    Clock::time_point since;
  };
  void keep(workers::Slot slot, std::uint64_t batch, std::shared_ptr<const SlotPart> part);
  std::map<std::pair<workers::Slot, std::uint64_t>, Waiting> parts_;
  std::size_t bytes_ = 0;
  std::vector<std::deque<workers::Step>> steps_;  // by slot
  std::optional<workers::Step> engine_step_;
  std::string why_exit_;
  std::exception_ptr failure_;
  std::uint64_t events_ = 0;
  std::uint64_t wrong_digests_ = 0;
  double gate_seconds_ = 0;
};

}  // namespace deltamatch::ingest

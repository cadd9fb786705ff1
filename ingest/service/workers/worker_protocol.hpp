// What a worker may do next: the rules by which several workers publish each part of each batch once and in order. This is a
// state machine that knows neither Kafka nor clocks nor threads. Its driver carries out the steps that it gives. The driver
// tells it what became of them, and what was read.
//
// A batch has one part for each slot. A slot has a transactional id and a partition for its progress. One transaction makes the
// alerts of a part and "this part is done" visible. Two rules keep two workers from publishing the same part:
// - Fence, then read. Who takes a slot reads the newest cut first, then initialises the slot's transactional id, and reads the
//   slot's progress and state only then. So what it reads is final: older transactions have ended.
// - After an error, read again. A lost answer can mean committed or aborted.
// The gate keeps parts in order: no part of a batch begins before all parts of the batch before it are committed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "deltamatch/digest.hpp"
#include "ingest/service/workers/slot_map.hpp"

namespace deltamatch::ingest::workers {

/// A step that the driver carries out and answers. `slot` and `batch` count where the kind names them.
struct Step {
  enum class Kind : std::uint8_t {
    read_all,    ///< read cuts and progress of all slots to the ends that they have now; answer all_read()
    restart,     ///< load the newest graph of at most `batch`, then read the cuts after it; answer restarted()
    read_cuts,   ///< read the cuts to the end that they have now; answer cuts_read() for `slot`
    initialise,  ///< initialise the transactional id of `slot`; answer initialised()
    read_slot,   ///< read progress and state of `slot` to the ends that they have now; answer slot_read()
    publish,     ///< commit the part `slot` of `batch`; answer published(), uncertain() or fenced()
    exit,        ///< end the process, for the reason in `why`
  };
  Kind kind = Kind::exit;
  Slot slot = 0;
  std::uint64_t batch = 0;
  std::string why{};
  friend bool operator==(const Step&, const Step&) = default;
};

/// The next batch for the engine.
struct Apply {
  std::uint64_t batch = 0;
  std::vector<Slot> slots{};  ///< whose part is to be matched, ascending
  friend bool operator==(const Apply&, const Apply&) = default;
};

class WorkerProtocol {
 public:
  /// `worker` is its name in the maps, `slots` the number of slots of the application. No other process that lives may have
  /// this name. Two that share one would fence each other for ever. So each start of a process takes a new name.
  WorkerProtocol(std::string worker, std::uint32_t slots);

  /// The next step that nothing bars, if there is one. Steps of different slots may be under way together. Until restarted()
  /// has answered, a restart is the only step. Throws what CutBook::add() threw.
  [[nodiscard]] std::optional<Step> next();

  /// The batch that the engine may take now. Nothing while its cut is unknown or a restart is under way. A spare, without a
  /// slot, holds back: it stays at what all slots have published, so that it can take any of them over.
  [[nodiscard]] std::optional<Apply> next_batch() const;

  /// Whether this instance leads. A leader holds nothing back, because the next cut needs its graph. If it stops leading, a
  /// restart undoes the batch that it took ahead of its cut.
  void lead(bool leads);

  // What was read, in the order of the topic.
  void cut(const Cut& cut);
  /// A record of a slot's progress: its parts up to this batch are committed.
  void progress(Slot slot, std::uint64_t batch);

  // Answers to steps.
  void all_read();
  void cuts_read(Slot slot);
  void initialised(Slot slot);
  void slot_read(Slot slot);
  /// The engine holds the graph after this batch. What it had matched is forgotten. `cuts` has all cuts after the batch, to the
  /// end of the topic as of now. Throws Error if the batch is too late for a slot.
  void restarted(std::uint64_t batch, CutBook cuts);
  void published(Slot slot, std::uint64_t batch);
  /// Whether the transaction of the slot was committed is unknown.
  void uncertain(Slot slot);
  /// Another process has initialised the slot's transactional id, or its brokers have ended the transaction.
  void fenced(Slot slot);

  /// The engine took next_batch(), and has this digest. If a restart was wanted meanwhile, this counts for nothing.
  void applied(const Apply& batch, const RunningDigest& digest);
  /// The engine of a leader took the batch of a cut that it is about to commit, and matched these slots. Not for the first cut
  /// of an application, before which no restart has given the engine a graph. The leader reads that one like any other.
  void applied_ahead(const Cut& cut, const std::vector<Slot>& matched);

  /// The batch of the engine's graph. Nothing during a restart.
  [[nodiscard]] std::optional<std::uint64_t> at() const noexcept { return at_; }
  /// The same if the graph is sure to be that of all, and may be saved. Nothing while a leader's graph is ahead of the cuts
  /// that were read.
  [[nodiscard]] std::optional<std::uint64_t> confirmed() const {
    return at_ && !unconfirmed_.contains(*at_) ? at_ : std::nullopt;
  }
  /// What all slots have published, as far as is known. A worker keeps a snapshot of this batch or an earlier one. 0 without a
  /// cut.
  [[nodiscard]] std::uint64_t least_progress() const;
  [[nodiscard]] std::uint64_t progress_of(Slot slot) const;
  /// The slots that the newest cut gives this worker, ascending.
  [[nodiscard]] std::vector<Slot> own() const;
  [[nodiscard]] const CutBook& cuts() const noexcept { return cuts_; }

 private:
  enum class Phase : std::uint8_t { idle, cuts_asked, cuts_known, initialising, initialised, reading, ready, publishing };
  struct State {
    Phase phase = Phase::idle;
    std::uint64_t progress = 0;       // the last record; 0: none
    std::set<std::uint64_t> matched;  // batches after the progress whose part is in memory
  };

  [[nodiscard]] bool publishes(Slot slot, std::uint64_t batch) const;
  [[nodiscard]] bool lacks_next_part(Slot slot) const;
  [[nodiscard]] bool gate_is_open(std::uint64_t batch) const;
  [[nodiscard]] std::optional<Step> next_of(Slot slot);
  void compare(std::uint64_t batch);
  void restart();

  std::string worker_;
  std::vector<State> slots_;
  CutBook cuts_;
  bool leads_ = false;
  bool known_ = false;  // whether cuts and progress were read once
  bool asked_ = false;  // whether read_all, or the restart, is under way
  std::optional<std::uint64_t> at_;
  std::map<std::uint64_t, CommitPoint> unconfirmed_;  // batches that the engine took before their cuts were read
  std::string why_exit_;                              // empty while nothing is wrong
};

}  // namespace deltamatch::ingest::workers

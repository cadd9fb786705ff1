// What a leader may do next. Several instances may believe that they lead. By these rules no cut is lost, repeated or
// contradicted nevertheless. A state machine like WorkerProtocol.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ingest/service/workers/slot_map.hpp"

namespace deltamatch::ingest::workers {

/// A step that the driver carries out and answers.
struct LeaderStep {
  enum class Kind : std::uint8_t {
    initialise,  ///< initialise the transactional id of the application; answer initialised()
    read_cuts,   ///< read the commit topic to the end that it has now; answer cuts_read()
    commit,      ///< commit `cut` in one transaction with the offsets of its ends; answer committed(), uncertain() or fenced()
    exit,        ///< end the process: another instance leads
  };
  Kind kind = Kind::exit;
  std::optional<Cut> cut;
};

class LeaderProtocol {
 public:
  /// The next step, if none is under way. Once it is `exit`, it stays so.
  [[nodiscard]] std::optional<LeaderStep> next();

  /// The newest cut, and whether the next one may be proposed. A batch begins where this cut ends, whatever the offsets of the
  /// consumer group say. The engine must be at this batch.
  [[nodiscard]] bool ready() const noexcept { return phase_ == Phase::ready && !pending_; }
  [[nodiscard]] const std::optional<Cut>& last() const noexcept { return last_; }

  /// Proposes the next cut when ready(). Its batch is the one after last(), and 1 if there is none.
  void propose(Cut cut);

  /// A cut that the worker of this process has read. If nobody here proposed it, another instance leads.
  void cut(const Cut& cut);

  // Answers.
  void initialised();
  void cuts_read(std::optional<Cut> last);
  void committed();
  /// Whether the transaction was committed is unknown.
  void uncertain();
  void fenced();

 private:
  enum class Phase : std::uint8_t { begun, initialising, initialised, reading, ready, committing, ended };
  void go_on();
  [[nodiscard]] std::uint64_t last_batch() const noexcept { return last_ ? last_->batch() : 0; }

  Phase phase_ = Phase::begun;
  std::optional<Cut> last_;
  std::optional<Cut> pending_;  // proposed, and not known to be committed
  std::uint64_t heard_ = 0;     // batch of the newest cut that the worker has read
};

}  // namespace deltamatch::ingest::workers

// Which worker publishes which slot, batch by batch. Every cut of the commit topic carries the map that holds from its batch
// on.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/service/state/commit_point.hpp"

namespace deltamatch::ingest::workers {

using Slot = std::uint32_t;

/// How a slot came to its worker.
enum class Change : std::uint8_t {
  none,       ///< it had it before
  move,       ///< from a worker that lives and publishes all batches before; no rule reads it, people do
  take_over,  ///< from one that does not; the heir publishes whatever is not published yet
};

/// Where a slot lies from a batch on.
struct Place {
  std::string worker;
  Change change = Change::none;
  friend bool operator==(const Place&, const Place&) = default;
};

/// What the leader commits for a batch: where it ends, what its graph is, and who publishes it.
struct Cut {
  CommitPoint mark;           ///< its digest is that of the leader after the batch
  std::uint64_t first = 0;    ///< the first batch that was cut with a map; the batches before it are published
  std::vector<Place> places;  ///< by slot
  [[nodiscard]] std::uint64_t batch() const noexcept { return mark.batch; }
  friend bool operator==(const Cut&, const Cut&) = default;
};

/// The cuts that a worker has read and still needs, in the order of their batches and without gaps.
class CutBook {
 public:
  /// The next cut. The first one may be of any batch. A cut that is here already changes nothing. Throws Error for a gap, for
  /// another number of slots, and for other contents of a batch that is here.
  void add(const Cut& cut);

  [[nodiscard]] bool empty() const noexcept { return cuts_.empty(); }
  [[nodiscard]] std::uint64_t oldest() const noexcept { return cuts_.front().batch(); }
  [[nodiscard]] std::uint64_t newest() const noexcept { return cuts_.back().batch(); }
  [[nodiscard]] bool holds(std::uint64_t batch) const noexcept;
  /// It must be here.
  [[nodiscard]] const Cut& at(std::uint64_t batch) const { return cuts_[batch - oldest()]; }
  [[nodiscard]] const Cut& last() const { return cuts_.back(); }

  /// Who publishes the slot's part of a batch, as far as the cuts here tell. If a later cut has a take-over, it is the heir of
  /// the last one. Else it is the worker that the batch's own cut names. The batch must be here. O(newer cuts).
  [[nodiscard]] std::string_view publisher(Slot slot, std::uint64_t batch) const;

  /// The workers that publish the slot's parts of the batches after this one, up to the newest one; each once. O(cuts).
  [[nodiscard]] std::vector<std::string> owing(Slot slot, std::uint64_t after) const;

  /// Forgets the cuts before this batch, except the newest one.
  void forget_before(std::uint64_t batch);

 private:
  std::deque<Cut> cuts_;
};

}  // namespace deltamatch::ingest::workers

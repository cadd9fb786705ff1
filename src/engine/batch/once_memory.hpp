// What ALERT ONCE remembers of one standing query: when each binding was reported last, and which reported matches still exist.
//
// A batch is decided first and settled later. What it adds is in place at once, and `undo` takes it back. What it drops goes
// when it settles, so settling cannot fail. An entry that is out of date is as good as gone, whether or not it was swept. So a
// memory that was saved and restored decides as the one that went on.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "deltamatch/digest.hpp"
#include "deltamatch/id.hpp"
#include "deltamatch/match.hpp"
#include "engine/listing/once_state.hpp"

namespace deltamatch::engine {

/// A new match, as ALERT ONCE sees it. In the order in which matches are decided.
struct OnceCandidate {
  Timestamp time = 0;  ///< INT64_MIN: there was no time yet
  MatchId id;
  Hash128 binding;      ///< of the images of the vertices that are named
  Timestamp until = 0;  ///< it cannot vanish after this watermark; INT64_MAX: it may always, INT64_MIN: never
  friend auto operator<=>(const OnceCandidate&, const OnceCandidate&) = default;
};

/// Not thread-safe. Every batch that decides something ends with `settle` or `undo`.
class OnceMemory {
 public:
  /// A binding is remembered until the watermark has passed its report by `every` and `lateness`.
  OnceMemory(Timestamp every, Timestamp lateness) noexcept : every_(every), lateness_(lateness) {}

  /// Begins a batch. `watermark` is the one before it.
  void begin(std::optional<Timestamp> watermark) noexcept { watermark_ = watermark; }
  /// Whether a match that vanishes was reported. It is forgotten then.
  [[nodiscard]] bool vanish(const MatchId& id);
  /// Decides on new matches, in ascending order, and returns the ids of those to be reported, ascending. Sorts them.
  [[nodiscard]] std::vector<MatchId> decide(std::vector<OnceCandidate>& candidates);
  /// Notes that a match which was just reported has vanished again.
  void forget(const MatchId& id) { vanished_.push_back(id); }
  /// The batch stays. `watermark` is the one after it. Does not fail.
  void settle(std::optional<Timestamp> watermark) noexcept;
  /// The batch has not been.
  void undo() noexcept;

  /// What is remembered at this watermark. Between batches only.
  [[nodiscard]] OnceState state(std::optional<Timestamp> watermark) const;
  void restore(const OnceState& state);
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  struct Hashing {
    std::size_t operator()(const Hash128& hash) const noexcept { return hash.low; }
    std::size_t operator()(const MatchId& id) const noexcept { return id.low; }
  };
  [[nodiscard]] bool past(Timestamp report, std::optional<Timestamp> watermark) const noexcept;
  void sweep(std::optional<Timestamp> watermark) noexcept;

  Timestamp every_;
  Timestamp lateness_;
  std::optional<Timestamp> watermark_;  // before the batch
  boost::unordered_flat_map<Hash128, Timestamp, Hashing> last_;
  boost::unordered_flat_map<MatchId, Timestamp, Hashing> reported_;
  std::size_t swept_ = 0;  // entries after the last sweep

  // Of the batch that is being decided.
  std::vector<std::pair<Hash128, std::optional<Timestamp>>> changed_;  // bindings, and what they were before
  std::vector<std::pair<MatchId, std::optional<Timestamp>>> added_;    // to reported_, and what they were before
  std::vector<MatchId> vanished_;
};

}  // namespace deltamatch::engine

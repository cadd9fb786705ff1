// Deletions that a graph remembers, so that an insertion which comes later but is older loses against them.
//
// An edge is named by what a record says of it, because its vertices may be unknown. In the model `keyed` that is its key, else
// its ids and its label. In the models `simple` and `keyed`, the newest deletion of each edge is remembered. In the model
// `events`, a deletion that found no event waits for one, and takes one only.
//
// All changes of a batch can be undone until `commit`. Deletions that the window has passed are dropped. O(1) per look-up.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "deltamatch/attribute.hpp"
#include "deltamatch/id.hpp"
#include "deltamatch/update.hpp"
#include "graph/window.hpp"

namespace deltamatch::graph {

class Deletions {
 public:
  Deletions(EdgeModel model, bool directed) : model_(model), directed_(directed) {}

  /// The models `simple` and `keyed`: remembers a deletion with a time, if it is the newest one of its edge.
  void note(const Update& update);
  /// The time of the newest deletion of the update's edge. Nullopt: none is remembered.
  [[nodiscard]] std::optional<Timestamp> newest(const Update& update) const;

  /// The model `events`: lets a deletion with a time wait for an event.
  void wait(const Update& update);
  /// Whether a deletion waits that is not older than this insertion with a time. If so, the oldest of these waits no more.
  [[nodiscard]] bool meet(const Update& update);

  /// Calls visit(name, times) for each change since the last commit, in order. The times are those that the edge has now,
  /// without what the window has passed at the watermark. `window` may be null.
  template <class Visit>
  void for_each_change(const Window* window, std::optional<Timestamp> watermark, Visit&& visit) const {
    for (const auto& [name, before] : changes_) {
      const auto at = table_.find(name);
      const std::span<const Timestamp> times = at == table_.end() ? std::span<const Timestamp>() : std::span(at->second);
      visit(std::string_view(name), times.subspan(passed(times, window, watermark)));
    }
  }

  /// Changes since the last commit. Those after the first `changes` can be taken back.
  [[nodiscard]] std::size_t changes() const noexcept { return changes_.size(); }
  void take_back(std::size_t changes) noexcept;
  void undo() noexcept;
  /// Ends the batch. Now and then it drops what the window has passed at the watermark. `window` may be null.
  void commit(const Window* window, std::optional<Timestamp> watermark) noexcept;

  /// Drops what the window has passed from the next commit on, even if it is another window.
  void window_changed() noexcept { next_sweep_ = INT64_MIN; }

  /// A deleted edge as bytes. Each id is 0 and a number of 8 bytes, or 1, a length of 4 bytes and a text; integers are
  /// little-endian. The label follows, or nothing in the model `keyed`.
  struct Entry {
    std::string_view name;
    std::span<const Timestamp> times;  ///< ascending, at least one
  };
  /// What the window has not passed, by name. `window` may be null. O(n log n).
  [[nodiscard]] std::vector<Entry> entries(const Window* window, std::optional<Timestamp> watermark) const;
  /// Adds a stored entry. Returns false if the edge has one already, or if the times are none that an entry can have.
  [[nodiscard]] bool restore(std::string_view name, std::vector<Timestamp> times);

  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  using Times = std::vector<Timestamp>;  // ascending; empty if the last change was taken back or met
  struct Hash {
    using is_transparent = void;
    std::uint64_t seed = hash_seed();
    std::size_t operator()(std::string_view name) const noexcept { return hash_text(name, seed); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const noexcept { return a == b; }
  };

  [[nodiscard]] static std::size_t passed(std::span<const Timestamp> times, const Window* window,
                                          std::optional<Timestamp> watermark) noexcept;
  [[nodiscard]] std::string_view name_of(const Update& update) const;
  Times& change(std::string_view name);
  void forget_changes() noexcept;

  EdgeModel model_;
  bool directed_;
  boost::unordered_flat_map<std::string, Times, Hash, Equal> table_;
  std::vector<std::pair<std::string, Times>> changes_;  // what the batch has changed, as it was before
  std::size_t heap_bytes_ = 0;                          // of names and times
  Timestamp next_sweep_ = INT64_MIN;
  mutable std::string name_;  // work memory
};

}  // namespace deltamatch::graph

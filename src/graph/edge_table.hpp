// Edges with an identity of their own, for graphs whose model is `keyed` or `events`: columns by slot.
//
// A slot is a dense number of an edge while it lives. A new edge gets the least free slot, so all replicas of a graph number
// alike. Slots that a batch frees are given out again from the next batch on. Until then both states of the batch can be read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "deltamatch/id.hpp"

namespace deltamatch::graph {

/// The number of an edge, below 2^31.
using Slot = std::uint32_t;

/// What an edge is beside its ends.
struct EdgeRecord {
  VertexId tail = invalid_vertex;  ///< as in Edge, except that an end may have been renumbered by a batch that is not settled
  VertexId head = invalid_vertex;
  LabelId label = empty_label;
  std::optional<Timestamp> time;
  std::uint64_t ordinal = 0;  ///< its place among all accepted insertions, from 1
};

class EdgeTable {
 public:
  /// The record of a live slot, or of one that the present batch has freed.
  [[nodiscard]] LabelId label(Slot slot) const noexcept { return labels_[slot]; }
  [[nodiscard]] std::uint64_t ordinal(Slot slot) const noexcept { return ordinals_[slot]; }
  [[nodiscard]] std::optional<Timestamp> time(Slot slot) const noexcept {
    return times_[slot] == no_time ? std::nullopt : std::optional(times_[slot]);
  }
  /// Whether an edge has had this slot since before the present batch, with these ends.
  [[nodiscard]] bool settled(Slot slot, VertexId tail, VertexId head) const noexcept {
    return slot < state_.size() && state_[slot] == State::settled && tails_[slot] == tail && heads_[slot] == head;
  }

  /// Gives a new edge the least free slot and the next ordinal, which its record gets. Strong guarantee. O(log free).
  Slot create(const EdgeRecord& record);
  /// Takes the latest edges of the present batch back, until it has `created` of them.
  void take_back(std::size_t created) noexcept;
  /// The number of edges that the present batch has created.
  [[nodiscard]] std::size_t created() const noexcept { return created_.size(); }

  /// Ends the batch. The slots of `removed` are free, unless they are in `inserted` too, where their ends have other numbers.
  /// So are those of created edges that are not in `inserted`. `Edges` are ranges of Edge.
  template <class Edges>
  void commit(const Edges& inserted, const Edges& removed) noexcept {
    for (const auto& edge : removed) state_[edge.which] = State::leaving;
    for (const auto& edge : inserted) {
      state_[edge.which] = State::settled;
      tails_[edge.which] = edge.tail;
      heads_[edge.which] = edge.head;
    }
    for (const auto& edge : removed) free_if(edge.which, State::leaving);
    for (const Slot slot : created_) free_if(slot, State::created);
    created_.clear();
  }
  /// Undoes the batch.
  void undo() noexcept { take_back(0); }

  [[nodiscard]] std::size_t slots() const noexcept { return state_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  enum class State : std::uint8_t { free, created, settled, leaving };
  static constexpr Timestamp no_time = INT64_MIN;

  void free_if(Slot slot, State state) noexcept {
    if (state_[slot] != state) return;
    state_[slot] = State::free;
    free_.push(slot);  // room is reserved
  }

  /// Has room for all slots, so that freeing cannot fail.
  class FreeSlots : public std::priority_queue<Slot, std::vector<Slot>, std::greater<>> {
   public:
    void reserve(std::size_t slots) { c.reserve(slots); }
    [[nodiscard]] std::size_t bytes() const noexcept { return c.capacity() * sizeof(Slot); }
  };

  std::vector<State> state_;
  std::vector<VertexId> tails_;
  std::vector<VertexId> heads_;
  std::vector<LabelId> labels_;
  std::vector<Timestamp> times_;
  std::vector<std::uint64_t> ordinals_;
  FreeSlots free_;
  std::vector<Slot> created_;  // by the present batch, in order
  std::uint64_t last_ordinal_ = 0;
};

}  // namespace deltamatch::graph

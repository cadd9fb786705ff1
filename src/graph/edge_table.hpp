// Edges with an identity of their own, for graphs whose model is `keyed` or `events`: columns by slot.
//
// A slot is a dense number of an edge while it lives. If edges have keys, it is the number of one version of an edge: a record
// that corrects an edge makes a new version. A new edge gets the least free slot, so all replicas of a graph number
// alike. Slots that a batch frees are given out again from the next batch on. Until then both states of the batch can be read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "base/prefetch.hpp"
#include "base/types.hpp"
#include "deltamatch/attribute.hpp"
#include "deltamatch/id.hpp"
#include "graph/attribute_table.hpp"
#include "graph/dictionary.hpp"

namespace deltamatch::graph {

/// The number of an edge, below 2^31.
using Slot = std::uint32_t;
inline constexpr Slot no_slot = 0xffffffff;

/// The number of a key while an edge has it, in the model `keyed`.
using KeyId = std::uint32_t;
inline constexpr KeyId no_key = invalid_vertex;

/// What an edge is beside its ends.
struct EdgeRecord {
  VertexId tail = invalid_vertex;  ///< as in Edge, except that an end may have been renumbered by a batch that is not settled
  VertexId head = invalid_vertex;
  LabelId label = empty_label;
  std::optional<Timestamp> time;
  KeyId key = no_key;
  std::uint64_t ordinal = 0;  ///< its place among all accepted insertions, from 1
};

class EdgeTable {
 public:
  static constexpr Slot max_slots = Slot{1} << 31;

  /// `symbols` outlives the table.
  EdgeTable(const Schema& schema, SymbolTable& symbols)
      : keyed_(schema.model == EdgeModel::keyed), values_(schema.edges, symbols) {}

  /// The record of a live slot, or of one that the present batch has freed.
  [[nodiscard]] VertexId tail(Slot slot) const noexcept { return tails_[slot]; }
  [[nodiscard]] VertexId head(Slot slot) const noexcept { return heads_[slot]; }
  [[nodiscard]] LabelId label(Slot slot) const noexcept { return labels_[slot]; }
  [[nodiscard]] std::uint64_t ordinal(Slot slot) const noexcept { return ordinals_[slot]; }
  [[nodiscard]] std::optional<Timestamp> time(Slot slot) const noexcept {
    return times_[slot] == no_time ? std::nullopt : std::optional(times_[slot]);
  }
  [[nodiscard]] KeyId key(Slot slot) const noexcept { return keyed_ ? keys_[slot] : no_key; }
  /// The key as records give it. Requires that edges have keys.
  [[nodiscard]] Id external_key(Slot slot) const noexcept { return key_ids_.external(keys_[slot]); }
  [[nodiscard]] bool keyed() const noexcept { return keyed_; }
  /// Attributes by slot.
  [[nodiscard]] AttributeTable& values() noexcept { return values_; }
  [[nodiscard]] const AttributeTable& values() const noexcept { return values_; }

  /// The number of a key that an edge has, before the present batch or in it, or no_key.
  [[nodiscard]] KeyId find_key(const Id& key) const noexcept { return key_ids_.find(key); }
  /// The same with the key's hash. For loops over many keys: fetch_index, fetch_key and fetch_edge prefetch what finding a key
  /// and its edge reads. Call them in this order with other work in between.
  [[nodiscard]] std::uint32_t hash(const Id& key) const noexcept { return key_ids_.hash(key); }
  [[nodiscard]] KeyId find_key(const Id& key, std::uint32_t hash) const noexcept { return key_ids_.find(key, hash); }
  void fetch_index(std::uint32_t hash) const noexcept { key_ids_.fetch_slot(hash); }
  void fetch_key(std::uint32_t hash) const noexcept {
    key_ids_.fetch_key(hash);
    const KeyId key = key_ids_.peek(hash);
    if (key != no_key) fetch_line(&slot_of_key_[key]);
  }
  void fetch_edge(std::uint32_t hash) const noexcept {
    key_ids_.fetch_text(hash);
    const KeyId key = key_ids_.peek(hash);
    if (key != no_key && slot_of_key_[key] != no_slot) fetch(slot_of_key_[key]);
  }
  /// Prefetches the ends and the state of a slot.
  void fetch(Slot slot) const noexcept {
    fetch_line(&state_[slot]);
    fetch_line(&tails_[slot]);
    fetch_line(&heads_[slot]);
  }
  /// The slot that the edge with this key had before the present batch, or no_slot.
  [[nodiscard]] Slot settled_slot(KeyId key) const noexcept { return slot_of_key_[key]; }
  /// Returns the number of a key, a new one if needed. A new one must get a slot, or forget_key. Strong guarantee.
  KeyId intern_key(const Id& key, std::uint32_t hash);
  KeyId intern_key(const Id& key) { return intern_key(key, hash(key)); }
  /// Frees the number of a key that no slot has.
  void forget_key(KeyId key) noexcept;
  /// Whether an edge has had this slot since before the present batch, with these ends.
  [[nodiscard]] bool settled(Slot slot, VertexId tail, VertexId head) const noexcept {
    return slot < state_.size() && state_[slot] == State::settled && tails_[slot] == tail && heads_[slot] == head;
  }

  /// Gives a new edge the least free slot and the next ordinal. The words of its attributes pass to the slot; if they are none,
  /// they are NULL. Strong guarantee. O(log free).
  Slot create(const EdgeRecord& record, std::span<const Word> words);
  /// Whether two slots hold the same edge: ends, label, key, time and attributes.
  [[nodiscard]] bool equal(Slot a, Slot b) const noexcept {
    return tails_[a] == tails_[b] && heads_[a] == heads_[b] && equal_but_for_ends(a, b);
  }
  [[nodiscard]] bool equal_but_for_ends(Slot a, Slot b) const noexcept {
    return labels_[a] == labels_[b] && key(a) == key(b) && times_[a] == times_[b] && values_.equal(a, b);
  }
  /// Renames the ends of an edge that the present batch has created. Others keep theirs.
  void rename_ends(Slot slot, VertexId tail, VertexId head) noexcept {
    if (!is_created(slot)) return;
    tails_[slot] = tail;
    heads_[slot] = head;
  }
  /// Whether an edge of the settled graph has this slot.
  [[nodiscard]] bool live(Slot slot) const noexcept { return state_[slot] == State::settled; }
  /// Gives an edge of a stored graph its slot, above all that have been given so, and its ordinal. Slots between are free. The
  /// words are as those of `create`.
  void restore(Slot slot, const EdgeRecord& record, std::span<const Word> words);
  /// The ordinal of the latest accepted insertion.
  [[nodiscard]] std::uint64_t last_ordinal() const noexcept { return last_ordinal_; }
  void set_last_ordinal(std::uint64_t ordinal) noexcept { last_ordinal_ = ordinal; }
  /// Takes the latest edges of the present batch back, until it has `created` of them.
  void take_back(std::size_t created) noexcept;
  /// The slots that the present batch has created, in order.
  [[nodiscard]] std::span<const Slot> created() const noexcept { return created_; }
  [[nodiscard]] bool is_created(Slot slot) const noexcept { return state_[slot] == State::created; }

  /// Ends the batch. The slots of `removed` are free, unless they are in `inserted` too, where their ends have other numbers.
  /// So are those of created edges that are not in `inserted`. `Edges` are ranges of Edge.
  template <class Edges>
  void commit(const Edges& inserted, const Edges& removed) noexcept {
    for (const auto& edge : removed) leave(edge.which);
    for (const auto& edge : inserted) settle(edge.which, edge.tail, edge.head);
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

  void grow();
  void append_slot();
  void write(Slot slot, const EdgeRecord& record, std::span<const Word> words) noexcept;
  void leave(Slot slot) noexcept {
    state_[slot] = State::leaving;
    if (keyed_ && slot_of_key_[keys_[slot]] == slot) slot_of_key_[keys_[slot]] = no_slot;
  }
  void settle(Slot slot, VertexId tail, VertexId head) noexcept {
    state_[slot] = State::settled;
    tails_[slot] = tail;
    heads_[slot] = head;
    if (keyed_) slot_of_key_[keys_[slot]] = slot;
  }
  void free_if(Slot slot, State state) noexcept {
    if (state_[slot] != state) return;
    state_[slot] = State::free;
    values_.clear(slot);
    if (keyed_ && --slots_of_key_[keys_[slot]] == 0) forget_key(keys_[slot]);
    free_.push(slot);  // room is reserved
  }

  /// Has room for all slots, so that freeing cannot fail.
  class FreeSlots : public std::priority_queue<Slot, std::vector<Slot>, std::greater<>> {
   public:
    void reserve(std::size_t slots) { c.reserve(slots); }
    [[nodiscard]] std::size_t bytes() const noexcept { return c.capacity() * sizeof(Slot); }
  };

  bool keyed_;
  AttributeTable values_;
  std::vector<State> state_;
  std::vector<VertexId> tails_;
  std::vector<VertexId> heads_;
  std::vector<LabelId> labels_;
  std::vector<Timestamp> times_;
  std::vector<std::uint64_t> ordinals_;
  std::vector<KeyId> keys_;  // by slot, if edges have keys
  Dictionary key_ids_;
  std::vector<Slot> slot_of_key_;            // by key, of the settled edge
  std::vector<std::uint32_t> slots_of_key_;  // by key, the number of slots that have it
  FreeSlots free_;
  std::vector<Slot> created_;  // by the present batch, in order
  std::uint64_t last_ordinal_ = 0;
};

}  // namespace deltamatch::graph

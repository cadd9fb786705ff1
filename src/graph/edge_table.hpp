// Edges with an identity of their own, for graphs whose model is `keyed` or `events`: a record of half a cache line by slot.
//
// A slot is a dense number of an edge while it lives. If edges have keys, it is the number of one version of an edge: a record
// that corrects an edge makes a new version. A new edge gets the least free slot, so all replicas of a graph number
// alike. Slots that a batch frees are given out again from the next batch on. Until then both states of the batch can be read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/huge_pages.hpp"
#include "base/prefetch.hpp"
#include "base/types.hpp"
#include "deltamatch/attribute.hpp"
#include "deltamatch/id.hpp"
#include "graph/attribute_table.hpp"
#include "graph/edge_keys.hpp"
#include "graph/free_slots.hpp"
#include "graph/slot.hpp"

namespace deltamatch::graph {

/// What an edge is beside its ends.
struct EdgeRecord {
  VertexId tail = invalid_vertex;  ///< as in Edge, except that an end may have been renumbered by a batch that is not settled
  VertexId head = invalid_vertex;
  LabelId label = empty_label;
  std::optional<Timestamp> time{};
  std::optional<Id> key{};    ///< in the model `keyed`
  std::uint64_t ordinal = 0;  ///< its place among all accepted insertions, from 1
};

class EdgeTable {
 public:
  static constexpr Slot max_slots = Slot{1} << 31;

  /// `symbols` outlives the table.
  EdgeTable(const Schema& schema, SymbolTable& symbols)
      : keyed_(schema.model == EdgeModel::keyed), values_(schema.edges, symbols) {}

  /// The record of a live slot, or of one that the present batch has freed.
  [[nodiscard]] VertexId tail(Slot slot) const noexcept { return records_[slot].tail; }
  [[nodiscard]] VertexId head(Slot slot) const noexcept { return records_[slot].head; }
  [[nodiscard]] LabelId label(Slot slot) const noexcept { return records_[slot].label; }
  [[nodiscard]] std::uint64_t ordinal(Slot slot) const noexcept { return records_[slot].ordinal; }
  [[nodiscard]] std::optional<Timestamp> time(Slot slot) const noexcept {
    const Timestamp time = records_[slot].time;
    return time == no_time ? std::nullopt : std::optional(time);
  }
  /// The key as records give it. Requires that edges have keys.
  [[nodiscard]] Id external_key(Slot slot) const noexcept { return keys_.external(slot); }
  [[nodiscard]] bool keyed() const noexcept { return keyed_; }
  /// Attributes by slot.
  [[nodiscard]] AttributeTable& values() noexcept { return values_; }
  [[nodiscard]] const AttributeTable& values() const noexcept { return values_; }
  /// Keys by slot, and what they lead to.
  [[nodiscard]] EdgeKeys& keys() noexcept { return keys_; }
  [[nodiscard]] const EdgeKeys& keys() const noexcept { return keys_; }

  /// Prefetches the record of a slot.
  void fetch(Slot slot) const noexcept { fetch_line(&records_[slot]); }
  /// Whether an edge has had this slot since before the present batch, with these ends.
  [[nodiscard]] bool settled(Slot slot, VertexId tail, VertexId head) const noexcept {
    return slot < records_.size() && live(slot) && records_[slot].tail == tail && records_[slot].head == head;
  }
  /// Whether an edge of the settled graph has this slot.
  [[nodiscard]] bool live(Slot slot) const noexcept { return records_[slot].state == State::settled; }

  /// Gives a new edge the least free slot and the next ordinal. The words of its attributes pass to the slot; if they are none,
  /// they are NULL. The key does not lead to it yet. Strong guarantee. O(log slots), to the base of 64.
  Slot create(const EdgeRecord& record, std::span<const Word> words);
  /// Whether two slots have the same label, time and attributes.
  [[nodiscard]] bool alike(Slot a, Slot b) const noexcept {
    return label(a) == label(b) && time(a) == time(b) && values_.equal(a, b);
  }
  /// Renames the ends of an edge that the present batch has created. Others keep theirs.
  void rename_ends(Slot slot, VertexId tail, VertexId head) noexcept {
    if (!is_created(slot)) return;
    records_[slot].tail = tail;
    records_[slot].head = head;
  }
  /// Marks a slot whose edge the present batch has ended. Strong guarantee.
  void drop(Slot slot) {
    dropped_.push_back(slot);
    records_[slot].dropped = true;
  }
  [[nodiscard]] bool is_dropped(Slot slot) const noexcept { return records_[slot].dropped; }
  [[nodiscard]] bool is_created(Slot slot) const noexcept { return records_[slot].state == State::created; }
  /// The slots that the present batch has created, in order.
  [[nodiscard]] std::span<const Slot> created() const noexcept { return created_; }

  /// Gives an edge of a stored graph its slot, above all that have been given so, and its ordinal. Slots between are free. The
  /// words are as those of `create`. No edge may have the key.
  void restore(Slot slot, const EdgeRecord& record, std::span<const Word> words);
  /// The ordinal of the latest accepted insertion.
  [[nodiscard]] std::uint64_t last_ordinal() const noexcept { return last_ordinal_; }
  void set_last_ordinal(std::uint64_t ordinal) noexcept { last_ordinal_ = ordinal; }

  /// A point of the present batch.
  struct Mark {
    std::size_t created = 0;
    std::size_t dropped = 0;
    std::size_t touches = 0;
  };
  [[nodiscard]] Mark mark() const noexcept { return {created_.size(), dropped_.size(), keys_.touches()}; }
  /// Takes back what the present batch has done since then.
  void take_back(const Mark& to) noexcept;
  /// Undoes the batch.
  void undo() noexcept { take_back({}); }
  /// Ends the batch. The slots of `removed` are free, unless they are in `inserted` too, where their ends have other numbers.
  /// So are those of created edges that are not in `inserted`. `Edges` are ranges of Edge.
  template <class Edges>
  void commit(const Edges& inserted, const Edges& removed) noexcept {
    for (const auto& edge : removed) records_[edge.which].state = State::leaving;
    for (const auto& edge : inserted) settle(edge.which, edge.tail, edge.head);
    keys_.commit([this](Slot slot) { return live(slot); });
    for (const auto& edge : removed) free_if(edge.which, State::leaving);
    for (const Slot slot : created_) free_if(slot, State::created);
    for (const Slot slot : dropped_) records_[slot].dropped = false;
    created_.clear();
    dropped_.clear();
  }

  [[nodiscard]] std::size_t slots() const noexcept { return records_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  enum class State : std::uint8_t { free, created, settled, leaving };
  static constexpr Timestamp no_time = INT64_MIN;

  /// No record lies in two cache lines.
  struct alignas(32) Record {
    VertexId tail = 0;
    VertexId head = 0;
    LabelId label = 0;
    State state = State::free;
    bool dropped = false;  // by the present batch
    Timestamp time = no_time;
    std::uint64_t ordinal = 0;
  };
  static_assert(sizeof(Record) == 32);

  void grow();
  void append_slot();
  void write(Slot slot, const EdgeRecord& record, std::uint64_t ordinal, std::span<const Word> words);
  void settle(Slot slot, VertexId tail, VertexId head) noexcept {
    Record& record = records_[slot];
    record.state = State::settled;
    record.tail = tail;
    record.head = head;
  }
  void free_if(Slot slot, State state) noexcept {
    if (records_[slot].state != state) return;
    records_[slot].state = State::free;
    values_.clear(slot);
    if (keyed_) keys_.clear(slot);
    free_.give_back(slot);  // room is reserved
  }

  bool keyed_;
  AttributeTable values_;
  HugeVector<Record> records_;
  EdgeKeys keys_;
  FreeSlots free_;             // has room for all slots, so that freeing cannot fail
  std::vector<Slot> created_;  // by the present batch, in order
  std::vector<Slot> dropped_;  // by the present batch, in order
  std::uint64_t last_ordinal_ = 0;
};

}  // namespace deltamatch::graph

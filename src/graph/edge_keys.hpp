// The keys of edges, in a graph of the model `keyed`.
//
// A slot spells the key of its edge. One table leads from a key to the slot of the settled edge. Once a batch touches the key,
// its entry leads to the two versions of the edge: before the batch, and so far. So a key costs one look-up, and a batch needs
// no table of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.hpp"
#include "base/hash_index.hpp"
#include "base/huge_pages.hpp"
#include "base/prefetch.hpp"
#include "base/text_arena.hpp"
#include "deltamatch/id.hpp"
#include "graph/slot.hpp"

namespace deltamatch::graph {

class EdgeKeys {
 public:
  /// What the present batch has done to the edge with a key.
  struct Version {
    Slot before = no_slot;      ///< as the batch found the edge
    Slot now = no_slot;         ///< after the updates so far
    std::uint32_t records = 0;  ///< that name the key
    bool deleted = false;       ///< whether the last of them is a deletion
    Slot spelled = no_slot;     ///< a slot with the key, as long as the batch lasts
    std::uint32_t hash = 0;     ///< of the key
  };
  /// Where a key stands in the table. Valid until the next change of the table.
  struct Place {
    std::uint32_t hash;
    std::uint32_t* entry;  ///< null: no edge has had the key since before the batch
  };

  /// Hashes of integers are even and those of texts are odd. So equal hashes mean the same kind of key.
  [[nodiscard]] std::uint32_t hash(const Id& key) const noexcept {
    return key.is_text() ? hash_text(key.text(), seed_) | 1U
                         : hash_number(static_cast<std::uint64_t>(key.number()), seed_) & ~1U;
  }
  /// For loops over many keys: these prefetch what finding a key reads. Call them in this order with other work in between.
  /// `peek` tells the slot whose key would be compared first, or no_slot.
  void fetch_entry(std::uint32_t hash) const noexcept { index_.prefetch(hash); }
  [[nodiscard]] Slot peek(std::uint32_t hash) const noexcept {
    const std::uint32_t number = index_.peek(hash);
    return number == HashIndex::none ? no_slot : speller(number);
  }
  void fetch(Slot slot) const noexcept { fetch_line(&keys_[slot]); }
  void fetch_text(Slot slot) const noexcept {
    if (texts_of_[slot]) fetch_line(block(slot));
  }

  [[nodiscard]] Place find(const Id& key, std::uint32_t hash) noexcept;
  [[nodiscard]] Place find(const Id& key) noexcept { return find(key, hash(key)); }
  /// The slot that the edge has at this point of the batch, or no_slot.
  [[nodiscard]] Slot now(const Place& place) const noexcept {
    if (place.entry == nullptr) return no_slot;
    return is_version(*place.entry) ? versions_[*place.entry ^ in_batch].now : *place.entry;
  }
  [[nodiscard]] Id external(Slot slot) const noexcept {
    return texts_of_[slot] ? Id(TextArena::text(block(slot))) : Id(static_cast<std::int64_t>(keys_[slot]));
  }

  /// Makes room for the keys of so many slots.
  void reserve(std::size_t slots) {
    keys_.reserve(slots);
    texts_of_.reserve(slots);
  }
  /// Adds a slot, for which there is room.
  void append() {
    keys_.push_back(0);
    texts_of_.push_back(false);
  }
  /// Spells the key of a slot that spells none. It does not enter the table. Strong guarantee.
  void spell(Slot slot, const Id& key);
  /// Forgets the key of a slot. If the table leads from the key to this slot, the key leaves the table.
  void clear(Slot slot) noexcept;
  /// Lets the key of a settled edge enter the table.
  void restore(Slot slot);

  /// Records the version after an update. If no edge had the key, `now` is the slot that spells it. `record`: the update names
  /// the key. Strong guarantee.
  void touch(const Place& place, Slot now, bool record);
  /// By key that the batch has touched, in order of the first touch.
  [[nodiscard]] std::span<const Version> versions() const noexcept { return versions_; }
  /// Touches of the present batch. Those after the first `touches` can be taken back, while the slots still spell their keys.
  [[nodiscard]] std::size_t touches() const noexcept { return touches_.size(); }
  void take_back(std::size_t touches) noexcept;
  /// Ends the batch: a key leads to its version for which settled(slot) is true. If there is none, it leads to a slot that is
  /// still to be cleared.
  template <class Settled>
  void commit(Settled&& settled) noexcept {
    constexpr std::size_t ahead = 16;
    for (std::size_t v = 0; v < versions_.size(); ++v) {
      if (v + ahead < versions_.size()) fetch_entry(versions_[v + ahead].hash);
      const Version& version = versions_[v];
      const auto lives = [&](Slot slot) { return slot != no_slot && settled(slot); };
      entry_of(v) = lives(version.now) ? version.now : lives(version.before) ? version.before : version.spelled;
    }
    versions_.clear();
    touches_.clear();
  }

  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  static constexpr std::uint32_t in_batch = 1U << 31;  // an entry is a slot, or this and the number of a version
  struct Touch {                                       // of a version, as it was before
    std::uint32_t version;
    Slot now;
    std::uint32_t records;
    bool deleted;
    bool first;
  };

  [[nodiscard]] static bool is_version(std::uint32_t number) noexcept { return (number & in_batch) != 0; }
  [[nodiscard]] Slot speller(std::uint32_t number) const noexcept {
    return is_version(number) ? versions_[number ^ in_batch].spelled : number;
  }
  [[nodiscard]] const std::byte* block(Slot slot) const noexcept {
    return reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(keys_[slot]));  // NOLINT(performance-no-int-to-ptr)
  }
  [[nodiscard]] std::uint32_t& entry_of(std::size_t version) noexcept {
    const auto wanted = static_cast<std::uint32_t>(in_batch | version);
    return *index_.locate(versions_[version].hash, [wanted](std::uint32_t number) { return number == wanted; });
  }

  HugeVector<std::uint64_t> keys_;  // by slot: the integer, or the address of the stored text
  std::vector<bool> texts_of_;      // by slot: whether the key is a text
  HashIndex index_;
  TextArena texts_;
  std::uint64_t seed_ = hash_seed();
  std::vector<Version> versions_;
  std::vector<Touch> touches_;
};

}  // namespace deltamatch::graph

// A hash table of dense numbers whose keys are stored elsewhere.
//
// It needs well mixed 32-bit hashes and uses open addressing with linear probing, at a load of at most 3/4. A slot is (hash,
// number). The hash filters keys before the caller compares them, and its leading bits are the home slot. So growing is one
// sequential pass that reads no key. Deletion shifts entries back instead of leaving tombstones. Therefore insertions after
// `reserve` never allocate, however many deletions come between. Boost's flat tables cannot promise that.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/huge_pages.hpp"
#include "base/prefetch.hpp"

namespace deltamatch {

class HashIndex {
 public:
  static constexpr std::uint32_t none = 0xffffffff;

  /// Returns the place of the number under `hash` for which `same(number)` holds, or null. Writing through it replaces the
  /// number. Valid until the next change.
  template <class Same>
  [[nodiscard]] std::uint32_t* locate(std::uint32_t hash, Same&& same) noexcept {
    const std::size_t place = find_place(hash, same);
    return place == absent ? nullptr : &slots_[place].number;
  }

  /// Returns the number under `hash` for which `same(number)` holds, or `none`.
  template <class Same>
  [[nodiscard]] std::uint32_t find(std::uint32_t hash, Same&& same) const noexcept {
    const std::size_t place = find_place(hash, same);
    return place == absent ? none : slots_[place].number;
  }

  /// Returns the first number under `hash` that find would compare, or `none`. It may belong to another key.
  [[nodiscard]] std::uint32_t peek(std::uint32_t hash) const noexcept {
    return find(hash, [](std::uint32_t) { return true; });
  }

  /// Prefetches the slot at which a search for `hash` starts, and near which it would be inserted.
  void prefetch(std::uint32_t hash) const noexcept {
    if (!slots_.empty()) fetch_line_to_write(&slots_[home(hash)]);
  }

  /// Inserts a number (not `none`). Room must have been reserved.
  void insert(std::uint32_t hash, std::uint32_t number) noexcept {
    std::size_t place = home(hash);
    while (slots_[place].number != none) place = (place + 1) & mask();
    slots_[place] = {hash, number};
    ++size_;
  }

  /// Removes the number under `hash`. Returns false if it is not there.
  bool erase(std::uint32_t hash, std::uint32_t number) noexcept {
    std::size_t hole = find_place(hash, [number](std::uint32_t found) { return found == number; });
    if (hole == absent) return false;
    for (std::size_t next = (hole + 1) & mask(); slots_[next].number != none; next = (next + 1) & mask()) {
      // An entry moves into the hole unless its home slot lies behind the hole.
      if (((next - home(slots_[next].hash)) & mask()) >= ((next - hole) & mask())) {
        slots_[hole] = slots_[next];
        hole = next;
      }
    }
    slots_[hole].number = none;
    --size_;
    return true;
  }

  /// Replaces every number n by number(n).
  template <class Number>
  void renumber(Number&& number) noexcept {
    for (Slot& slot : slots_) {
      if (slot.number != none) slot.number = number(slot.number);
    }
  }

  /// Makes room for `count` numbers (fewer than 2^32 * 3/4) in total. Strong exception guarantee.
  void reserve(std::size_t count) {
    unsigned bits = slots_.empty() ? 4 : 32 - shift_;
    while ((std::size_t{3} << bits) / 4 < count) ++bits;
    if (!slots_.empty() && bits == 32 - shift_) return;
    HugeVector<Slot> old(std::size_t{1} << bits);
    old.swap(slots_);
    shift_ = 32 - bits;
    size_ = 0;
    for (const Slot& slot : old) {
      if (slot.number != none) insert(slot.hash, slot.number);
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return slots_.capacity() * sizeof(Slot); }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t number = none;
  };

  static constexpr std::size_t absent = ~std::size_t{0};

  [[nodiscard]] std::size_t mask() const noexcept { return slots_.size() - 1; }
  [[nodiscard]] std::size_t home(std::uint32_t hash) const noexcept { return hash >> shift_; }

  template <class Same>
  [[nodiscard]] std::size_t find_place(std::uint32_t hash, Same&& same) const noexcept {
    if (slots_.empty()) return absent;
    for (std::size_t place = home(hash); slots_[place].number != none; place = (place + 1) & mask()) {
      if (slots_[place].hash == hash && same(slots_[place].number)) return place;
    }
    return absent;
  }

  HugeVector<Slot> slots_;  ///< their number is a power of two
  unsigned shift_ = 0;
  std::size_t size_ = 0;
};

}  // namespace deltamatch

// Bit sets that the lanes of a group hold together. A single host thread is such a group, too.
#pragma once

#include <bit>
#include <cstdint>

#include "gpu/cuda/host_device.hpp"

namespace deltamatch::gpu {

using Word = std::uint64_t;

DELTAMATCH_HOST_DEVICE inline unsigned count_bits(Word word) {
#ifdef __CUDA_ARCH__
  return static_cast<unsigned>(__popcll(word));
#else
  return static_cast<unsigned>(std::popcount(word));
#endif
}

/// The lowest bit of a word that is not 0.
DELTAMATCH_HOST_DEVICE inline unsigned lowest_bit(Word word) {
#ifdef __CUDA_ARCH__
  return static_cast<unsigned>(__ffsll(static_cast<long long>(word))) - 1;
#else
  return static_cast<unsigned>(std::countr_zero(word));
#endif
}

/// Word `w` of the set of all bits behind bit `i`.
DELTAMATCH_HOST_DEVICE inline Word bits_behind(unsigned i, unsigned w) {
  if (w != i / 64) return w < i / 64 ? 0 : ~Word{0};
  return ~Word{0} << i % 64 << 1;
}

/// A group of one lane.
struct Lane {
  static constexpr unsigned size = 1;
  DELTAMATCH_HOST_DEVICE unsigned rank() const { return 0; }
  DELTAMATCH_HOST_DEVICE unsigned sum(unsigned value) const { return value; }
  DELTAMATCH_HOST_DEVICE unsigned ballot(bool vote) const { return vote ? 1 : 0; }
  /// Makes what one lane has written visible to the others.
  DELTAMATCH_HOST_DEVICE void sync() const {}
  template <class T>
  DELTAMATCH_HOST_DEVICE T from(T value, unsigned) const {
    return value;
  }
};

/// A lane's share of a set.
template <unsigned words>
struct Bits {
  Word word[words];
};

/// The place of a bit: word, lane and bit.
struct Place {
  unsigned word;
  unsigned lane;
  unsigned bit;
};

/// Set operations. All lanes of a group call them together and get the same result.
template <unsigned words, class Group>
struct Sets {
  using Set = Bits<words>;
  Group group;

  static constexpr unsigned row_words = words * Group::size;

  DELTAMATCH_HOST_DEVICE static unsigned member(const Place& place) {
    return (place.word * Group::size + place.lane) * 64 + place.bit;
  }

  DELTAMATCH_HOST_DEVICE unsigned count(const Set& set) const {
    unsigned sum = 0;
    for (unsigned j = 0; j < words; ++j) sum += count_bits(set.word[j]);
    return group.sum(sum);
  }

  DELTAMATCH_HOST_DEVICE Set load(const Word* from) const {
    Set set;
    for (unsigned j = 0; j < words; ++j) set.word[j] = from[j * Group::size + group.rank()];
    return set;
  }

  DELTAMATCH_HOST_DEVICE void store(const Set& set, Word* to) const {
    for (unsigned j = 0; j < words; ++j) to[j * Group::size + group.rank()] = set.word[j];
  }

  DELTAMATCH_HOST_DEVICE static Set both(const Set& a, const Set& b) {
    Set set;
    for (unsigned j = 0; j < words; ++j) set.word[j] = a.word[j] & b.word[j];
    return set;
  }

  DELTAMATCH_HOST_DEVICE static void remove(Set& from, const Set& what) {
    for (unsigned j = 0; j < words; ++j) from.word[j] &= ~what.word[j];
  }

  /// If for_each is unrolled, the compiler knows `place.word`, and sets stay in registers.
  DELTAMATCH_HOST_DEVICE void insert(Set& set, const Place& place) const {
    for (unsigned j = 0; j < words; ++j) {
      if (j == place.word && group.rank() == place.lane) set.word[j] |= Word{1} << place.bit;
    }
  }

  DELTAMATCH_HOST_DEVICE void erase(Set& set, const Place& place) const {
    for (unsigned j = 0; j < words; ++j) {
      if (j == place.word && group.rank() == place.lane) set.word[j] &= ~(Word{1} << place.bit);
    }
  }

  DELTAMATCH_HOST_DEVICE bool contains(const Set& set, const Place& place) const {
    Word word = 0;
    for (unsigned j = 0; j < words; ++j) {
      if (j == place.word) word = set.word[j];
    }
    return (group.from(word, place.lane) >> place.bit & 1) != 0;
  }

  /// Visits the bits in ascending order within each word of each lane. `visit` may change the set.
  template <class Visit>
  DELTAMATCH_HOST_DEVICE void for_each(const Set& set, Visit&& visit) const {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (unsigned j = 0; j < words; ++j) {
      const Word own = set.word[j];
      for (unsigned lanes = group.ballot(own != 0); lanes != 0; lanes &= lanes - 1) {
        const unsigned lane = lowest_bit(lanes);
        for (Word rest = group.from(own, lane); rest != 0; rest &= rest - 1) visit(Place{j, lane, lowest_bit(rest)});
      }
    }
  }
};

}  // namespace deltamatch::gpu

// What loops need not find again: parts of intersections that stay the same from one step of a loop to the next.
//
// The candidates of a query vertex are an intersection of lists of matched vertices. In the loop that matches the last of
// these, the lists of the others stay the same. Their intersection is the fixed part. In the loops inside that loop, all lists
// stay the same. They ask for the same whole again.
//
// Nothing of this is planned. At first a set is found as if nobody would ask again. What this costs is added up. Once keeping
// a set would have paid, it is kept. A fixed part that many lists are held against is also marked in a bitmap. So a loop of few
// steps loses nothing, and any other takes at most about twice as long as if its length had been known.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "match/marked_set.hpp"
#include "plan/plan.hpp"

namespace deltamatch::match {

/// What an intersection of two lists costs. The unit is an entry that is merged.
[[nodiscard]] constexpr std::size_t join_cost(std::size_t a, std::size_t b) noexcept {
  return std::min(a + b, 8 * std::min(a, b));
}
/// What it costs if one of the lists is marked.
[[nodiscard]] constexpr std::size_t filter_cost(std::size_t list) noexcept { return list + list / 4; }
/// What it costs to mark a list.
[[nodiscard]] constexpr std::size_t mark_cost(std::size_t list) noexcept { return 4 * list; }

/// How soon sets are kept.
struct KeepRule {
  double patience = 1;            ///< a set is kept once it would have spared so many times what it costs; 0: at once
  std::size_t least_marked = 32;  ///< fixed parts of fewer entries are not marked
  std::size_t most_bits = MarkedSet::most_bits;  ///< of a bitmap; a power of two
};

/// The sets of one thread, for one anchor at a time.
class KeptSets {
 public:
  /// Changes whenever a vertex is put at a position. So sets are out of date if the version of their last position is.
  using Version = std::uint64_t;
  /// Longer sets are not copied, but read again.
  static constexpr std::size_t most_copied = std::size_t{1} << 16;
  /// Further candidates of a plan have no set.
  static constexpr std::size_t most_sets = 32;

  /// What is known of the candidates that some probes give.
  struct Kept {
    const plan::Probe* of = nullptr;
    Version anchor = 0;
    Version whole_at = 0;    ///< of the last position when they were last asked for
    Version fixed_at = 0;    ///< of the last position in the fixed part
    std::size_t spared = 0;  ///< what keeping or marking the fixed part would have spared
    std::span<const std::uint32_t> fixed;
    bool has_whole = false;
    bool too_long = false;  ///< the whole set, to be kept
    bool has_fixed = false;
    bool marked = false;
    std::uint8_t slot = 0;
  };

  explicit KeptSets(const KeepRule& rule = {}) noexcept : rule_(rule) {
    for (std::size_t i = 0; i < most_sets; ++i) sets_[i].slot = static_cast<std::uint8_t>(i);
  }
  [[nodiscard]] const KeepRule& rule() const noexcept { return rule_; }
  void resize(std::size_t vertices) noexcept { vertices_ = vertices; }
  [[nodiscard]] Version next_version() noexcept { return ++version_; }
  /// Drops all sets.
  void begin() noexcept { anchor_ = next_version(); }

  /// Null if there is no room. The probes must stay where they are for as long as the anchor.
  [[nodiscard]] Kept* find(const plan::Probe* of) noexcept {
    constexpr int tries = 4;
    std::size_t at = reinterpret_cast<std::uintptr_t>(of) * 0x9E3779B97F4A7C15ull >> 59;
    for (int i = 0; i < tries; ++i, at = (at + 1) % most_sets) {
      Kept& kept = sets_[at];
      if (kept.anchor == anchor_ && kept.of == of) return &kept;
      if (kept.anchor == anchor_) continue;
      kept.anchor = anchor_;
      kept.of = of;
      kept.whole_at = 0;
      kept.fixed_at = 0;
      return &kept;
    }
    return nullptr;
  }

  void keep_whole(Kept& kept, std::span<const std::uint32_t> set) {
    kept.too_long = set.size() > most_copied;
    if (kept.too_long) return;
    memory_[kept.slot].whole.assign(set.begin(), set.end());
    kept.has_whole = true;
  }
  [[nodiscard]] std::span<const std::uint32_t> whole(const Kept& kept) const noexcept { return memory_[kept.slot].whole; }

  /// `stays`: the set lies in the graph, and is not copied.
  void keep_fixed(Kept& kept, std::span<const std::uint32_t> set, bool stays) {
    if (!stays && set.size() > most_copied) return;
    kept.fixed = set;
    if (!stays) {
      memory_[kept.slot].fixed.assign(set.begin(), set.end());
      kept.fixed = memory_[kept.slot].fixed;
    }
    kept.has_fixed = true;
    kept.spared = 0;
  }
  /// Adds to what is spared, and returns whether that pays for `cost`.
  [[nodiscard]] bool pays(Kept& kept, std::size_t spared, std::size_t cost) const noexcept {
    kept.spared += spared;
    return static_cast<double>(kept.spared) >= rule_.patience * static_cast<double>(cost);
  }
  /// The bitmap of the fixed part, if it serves to filter a list of this size and has paid. Else null.
  [[nodiscard]] const MarkedSet* marks(Kept& kept, std::size_t list) {
    const std::size_t usual = join_cost(kept.fixed.size(), list);
    if (kept.fixed.size() < rule_.least_marked || usual <= filter_cost(list)) return nullptr;
    MarkedSet& set = memory_[kept.slot].marks;
    if (!kept.marked && pays(kept, usual - filter_cost(list), mark_cost(kept.fixed.size()))) {
      set.mark(kept.fixed, vertices_, rule_.most_bits);
      kept.marked = true;
    }
    return kept.marked ? &set : nullptr;
  }

  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t sum = 0;
    for (const Memory& each : memory_)
      sum += each.marks.bytes() + (each.whole.capacity() + each.fixed.capacity()) * sizeof(std::uint32_t);
    return sum;
  }

 private:
  struct Memory {
    std::vector<std::uint32_t> whole;
    std::vector<std::uint32_t> fixed;
    MarkedSet marks;
  };

  KeepRule rule_;
  std::size_t vertices_ = 0;
  Version version_ = 0;
  Version anchor_ = 0;
  std::array<Kept, most_sets> sets_;
  std::array<Memory, most_sets> memory_;
};

}  // namespace deltamatch::match

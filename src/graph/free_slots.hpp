// The free numbers below a bound, of which the least is given out: a tree of bits with 64 children a node.
//
// A bit of level 0 is a number, and a bit of a higher level says whether a word below it has one. So each level takes one step
// to the least number. The bits of all levels take little more than one bit a number.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace deltamatch::graph {

class FreeSlots {
 public:
  /// Makes room for the numbers below `bound`. None of the new ones is free. Strong guarantee.
  void reserve(std::size_t bound) {
    for (std::size_t level = 0, words = words_for(bound); words > 0; ++level, words = words == 1 ? 0 : words_for(words)) {
      if (level == levels_.size()) levels_.emplace_back(1, level > 0 && levels_[level - 1][0] != 0 ? 1U : 0U);
      if (levels_[level].size() < words) levels_[level].resize(words);
    }
  }
  [[nodiscard]] bool empty() const noexcept { return levels_.empty() || levels_.back()[0] == 0; }

  /// The least free number. Requires that there is one. O(log bound), to the base of 64, as the next two.
  [[nodiscard]] std::uint32_t least() const noexcept {
    std::size_t number = 0;
    for (std::size_t level = levels_.size(); level-- > 0;)
      number = fan_out * number + static_cast<std::size_t>(std::countr_zero(levels_[level][number]));
    return static_cast<std::uint32_t>(number);
  }
  /// Takes a free number.
  void take(std::uint32_t number) noexcept {
    std::size_t at = number;
    for (auto& level : levels_) {
      level[at / fan_out] &= ~bit(at);
      if (level[at / fan_out] != 0) break;
      at /= fan_out;
    }
  }
  /// Frees a number below the bound that is not free.
  void give_back(std::uint32_t number) noexcept {
    std::size_t at = number;
    for (auto& level : levels_) {
      const bool known = level[at / fan_out] != 0;
      level[at / fan_out] |= bit(at);
      if (known) break;
      at /= fan_out;
    }
  }

  /// Makes no number free, and keeps the bound.
  void clear() noexcept {
    for (auto& level : levels_) std::ranges::fill(level, 0);
  }

  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t words = 0;
    for (const auto& level : levels_) words += level.capacity();
    return words * sizeof(std::uint64_t);
  }

 private:
  static constexpr std::size_t fan_out = 64;
  static constexpr std::size_t words_for(std::size_t bits) noexcept { return (bits + fan_out - 1) / fan_out; }
  static constexpr std::uint64_t bit(std::size_t at) noexcept { return std::uint64_t{1} << at % fan_out; }

  std::vector<std::vector<std::uint64_t>> levels_;  // the last one has one word in use
};

}  // namespace deltamatch::graph

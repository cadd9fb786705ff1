// A set of vertices as a bitmap, for a list that stays fixed while it filters many others.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "match/intersect.hpp"

namespace deltamatch::match {

/// If there are many vertices, several share a bit, so that the bitmap stays in a core's cache. What passes such a bitmap is
/// looked for in the set itself. Marking costs what the sets before and after have, however many vertices there are.
class MarkedSet {
 public:
  static constexpr std::size_t most_bits = std::size_t{1} << 20;

  /// Marks `ids`, which ascend and are less than `vertices`, instead of the set before. They must stay where they are while
  /// this set is used. `bits`: the most bits, a power of two from 64 on.
  void mark(std::span<const std::uint32_t> ids, std::size_t vertices, std::size_t bits = most_bits) {
    clear();
    const std::size_t size = std::clamp(std::bit_ceil(vertices), std::size_t{64}, bits);
    if (words_.size() != size / 64) words_.assign(size / 64, 0);
    few_ = ids.size() < words_.size();
    if (few_) marked_.assign(ids.begin(), ids.end());
    ids_ = ids;
    exact_ = vertices <= size;
    mask_ = static_cast<std::uint32_t>(size - 1);
    for (const std::uint32_t id : ids) words_[(id & mask_) >> 6] |= std::uint64_t{1} << (id & 63u);
  }

  /// Writes those of the ascending `ids` that are in the set to `out`, and returns their number. `out` needs room for all.
  std::size_t filter(std::span<const std::uint32_t> ids, std::uint32_t* out) const noexcept {
    const std::uint64_t* const words = words_.data();
    std::size_t found = 0;
    for (const std::uint32_t id : ids) {
      out[found] = id;
      found += words[(id & mask_) >> 6] >> (id & 63u) & 1u;
    }
    return exact_ ? found : intersect(out, found, ids_.data(), ids_.size(), out);
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return words_.capacity() * sizeof(std::uint64_t) + marked_.capacity() * sizeof(std::uint32_t);
  }

 private:
  void clear() noexcept {
    if (few_) {
      for (const std::uint32_t id : marked_) words_[(id & mask_) >> 6] = 0;
    } else {
      std::ranges::fill(words_, 0);
    }
    marked_.clear();
    few_ = true;
  }

  std::vector<std::uint64_t> words_;
  std::span<const std::uint32_t> ids_;
  std::vector<std::uint32_t> marked_;  // a copy of few ids; the set may be gone when its marks are cleared
  std::uint32_t mask_ = 0;
  bool few_ = true;
  bool exact_ = true;
};

}  // namespace deltamatch::match

// The rows of dense spaces, and the nodes that cliques begin with. Runs on host and device alike.
#pragma once

#include <cstdint>

#include "gpu/cuda/lane_bits.hpp"

namespace deltamatch::gpu {

/// The first position in [begin, end) of an ascending list whose value is not less.
DELTAMATCH_HOST_DEVICE inline std::uint32_t lower_position(const std::uint32_t* list, std::uint32_t begin, std::uint32_t end,
                                                           std::uint32_t value) {
  while (begin < end) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    if (list[middle] < value) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// Fills a row, for lane `lane` of the `lanes` that share it. Calls `set(row, bit)` for each adjacent member behind the row's
/// own, in the rows of both members.
template <class Set>
DELTAMATCH_HOST_DEVICE void fill_row(const RowWork& work, std::uint64_t row, unsigned lane, unsigned lanes, Set&& set) {
  const Space space = work.spaces[work.owner[row]];
  const std::uint32_t* const members = work.members + space.members;
  const auto own = static_cast<std::uint32_t>(row - space.first_row);
  const std::uint32_t vertex = members[own];
  for (std::uint64_t at = work.begin[vertex] + lane; at < work.begin[vertex + 1]; at += lanes) {
    const std::uint32_t neighbour = work.later[at];
    const std::uint32_t other = lower_position(members, own + 1, space.size, neighbour);
    if (other == space.size || members[other] != neighbour) continue;
    set(row, other);
    set(std::uint64_t{space.first_row} + other, own);
  }
}

/// Word `w` of the candidates of the node that begins with a row.
DELTAMATCH_HOST_DEVICE inline Word seed_word(const RowWork& work, std::uint64_t row, unsigned w) {
  const auto own = static_cast<unsigned>(row - work.spaces[work.owner[row]].first_row);
  return work.rows[row * work.row_words + w] & bits_behind(own, w);
}

DELTAMATCH_HOST_DEVICE inline bool is_seed(const SeedWork& work, std::uint64_t row) {
  unsigned size = 0;
  for (unsigned w = 0; w < work.rows.row_words; ++w) size += count_bits(seed_word(work.rows, row, w));
  return size >= work.least;
}

DELTAMATCH_HOST_DEVICE inline void store_seed(const SeedWork& work, std::uint64_t row, std::uint64_t slot) {
  const unsigned words = work.rows.row_words;
  work.output.nodes.heads[slot] = {work.rows.spaces[work.rows.owner[row]].first_row, 0, 0};
  for (unsigned w = 0; w < words; ++w) work.output.nodes.words[slot * words + w] = seed_word(work.rows, row, w);
}

}  // namespace deltamatch::gpu

// Reorders columns in place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/types.hpp"

namespace deltamatch::graph {

/// Moves entry v of every column to place to[v]. `to` must be a permutation, and `done` must have room for as many entries. It
/// follows the cycles: it needs no memory and O(size) time.
template <class... Columns>
void permute(std::span<const VertexId> to, std::vector<bool>& done, Columns&... columns) noexcept {
  std::fill_n(done.begin(), to.size(), false);
  for (std::size_t first = 0; first < to.size(); ++first) {
    if (done[first]) continue;
    std::tuple<typename Columns::value_type...> carried(std::move(columns[first])...);
    std::size_t at = first;
    do {
      at = to[at];
      std::apply([&](auto&... own) { (std::swap(own, columns[at]), ...); }, carried);
      done[at] = true;
    } while (at != first);
  }
}

}  // namespace deltamatch::graph

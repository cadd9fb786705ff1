// Prefetches what the anchors of a pass read at their ends.
#pragma once

#include <cstddef>
#include <span>

#include "graph/data_graph.hpp"

namespace deltamatch::match {

/// Calls fetch(vertex) for both ends of an anchor, if there is one at this place.
template <class Fetch>
void for_ends_at(std::span<const graph::Edge> anchors, std::size_t at, Fetch fetch) noexcept {
  if (at >= anchors.size()) return;
  fetch(anchors[at].tail);
  fetch(anchors[at].head);
}

/// Prefetches the ends of the anchors that follow `at`: first their rows, later the blocks of these rows and what the batch
/// changes.
inline void fetch_ends(const graph::Adjacency& base, std::span<const graph::Edge> anchors, std::size_t at) noexcept {
  for_ends_at(anchors, at + 14, [&](VertexId vertex) { base.prefetch(vertex); });
  for_ends_at(anchors, at + 9, [&](VertexId vertex) { base.prefetch_block(vertex); });
  for_ends_at(anchors, at + 5, [&](VertexId vertex) { base.prefetch_staged(vertex); });
}

}  // namespace deltamatch::match

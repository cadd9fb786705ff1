// Listed matches, and query edges that map to one of several data edges.
#pragma once

#include "gpu/loops/warp_counting.cuh"

namespace deltamatch::gpu::device {

inline constexpr std::uint32_t max_edges = 64;
// Parallel edges can be combined in very many ways. After so many turns, the warp checks whether to stop.
inline constexpr std::uint32_t turns_between_looks = 256;

// The words of a record: vertices, then tags of edges.
template <Kind kind>
__device__ std::uint32_t record_words(const Warp<kind>& warp) {
  return warp.program().vertices + warp.program().edges;
}

template <Kind kind>
__device__ std::uint32_t anchor_tag(const Warp<kind>& warp, const Anchor& anchor) {
  return anchor.label << 1 | warp.program().anchor_reversed;
}

// Hands the warp's page to the host.
template <Kind kind>
__device__ void publish_page(Warp<kind>& warp) {
  if (warp.page == none) return;
  __syncwarp();
  if (warp.lane == 0) {
    std::uint32_t* page = warp.work.pages.memory + std::size_t{warp.page} * page_words;
    page[0] = warp.page_program;
    page[1] = warp.page_used;
  }
  __threadfence_system();
  __syncwarp();
  if (warp.lane == 0) {
    const unsigned long long ticket = atomicAdd(warp.work.pages.full_tickets, 1ULL);
    __threadfence_system();
    warp.work.pages.full[ticket % warp.work.pages.pages] = warp.page + 1;
  }
  __syncwarp();
  warp.page = none;
}

// Reserves words in the warp's page. A full page goes to the host.
template <Kind kind>
__device__ std::uint32_t* reserve_words(Warp<kind>& warp, std::uint32_t words) {
  if (warp.page != none && (warp.page_program != warp.program_index || warp.page_used + words > page_words)) publish_page(warp);
  if (warp.page == none) {
    std::uint32_t taken_page = 0;
    if (warp.lane == 0) {
      const unsigned long long ticket = atomicAdd(warp.work.pages.free_tickets, 1ULL);
      volatile std::uint32_t* entry = warp.work.pages.free + ticket % warp.work.pages.pages;
      const unsigned long long lap = ticket / warp.work.pages.pages;
#pragma unroll 1
      while ((taken_page = *entry) == 0 || (taken_page & 1U) != (lap & 1U)) __nanosleep(500);
      *entry = 0;
      taken_page = (taken_page >> 1) - 1;
      __threadfence_system();
    }
    warp.page = __shfl_sync(all_lanes, taken_page, 0);
    warp.page_program = warp.program_index;
    warp.page_used = 2;
  }
  std::uint32_t* at = warp.work.pages.memory + std::size_t{warp.page} * page_words + warp.page_used;
  warp.page_used += words;
  return at;
}

// Writes the records of the batch; the lanes share the words.
template <Kind kind>
__device__ __noinline__ void emit_plain(Warp<kind>& warp, std::uint32_t batch) {
  const std::uint32_t words = record_words(warp);
  std::uint32_t* to = reserve_words(warp, batch * words);
#pragma unroll 1
  for (std::uint32_t i = warp.lane; i < batch * words; i += 32) {
    const std::uint32_t slot = i / words;
    const std::uint32_t field = i % words;
    std::uint32_t value = 0;
    if (field < warp.program().vertices) {
      value = vertex_at(warp, warp.depth, slot, warp.work.positions[warp.program().first_vertex + field]);
    } else if (field - warp.program().vertices == warp.program().anchor_edge) {
      value = anchor_tag(warp, anchor_of(warp, warp.depth, slot));
    } else {
      const DeviceQueryRelation& where =
          warp.work.graph
              .query_relations[warp.work.edges[warp.program().first_edge + field - warp.program().vertices].query_relation];
      value = where.edge_label << 1 | where.incoming;
    }
    to[i] = value;
  }
  __syncwarp();
}

// Whether a data edge is the image of the anchor, or of a query edge before `edge`. Images must differ, except for
// homomorphism.
template <Kind kind>
__device__ bool is_taken(const Warp<kind>& warp, const std::uint32_t* tags, std::uint32_t edge, std::uint32_t tag,
                         std::uint32_t slot, const Anchor& anchor) {
  if (warp.program().distinct_edges == 0) return false;
  const auto image = [&](std::uint32_t e, std::uint32_t t) {
    const QueryEdge& q = warp.work.edges[warp.program().first_edge + e];
    const std::uint32_t source = vertex_at(warp, warp.depth, slot, q.source);
    const std::uint32_t target = vertex_at(warp, warp.depth, slot, q.target);
    const bool turned = warp.work.graph.directed ? (t & 1U) != 0 : source > target;
    return Anchor{turned ? target : source, turned ? source : target, t >> 1};
  };
  const auto same = [](const Anchor& a, const Anchor& b) { return a.tail == b.tail && a.head == b.head && a.label == b.label; };
  const Anchor own = image(edge, tag);
  if (same(own, anchor)) return true;
#pragma unroll 1
  for (std::uint32_t e = 0; e < edge; ++e) {
    if (e != warp.program().anchor_edge && same(image(e, tags[e]), own)) return true;
  }
  return false;
}

// The tag of the k-th admitted entry of a query edge's list that leads to its target, or none.
template <Kind kind>
__device__ std::uint32_t edge_option(Warp<kind>& warp, const QueryEdge& edge, std::uint32_t slot, std::uint32_t k,
                                     const Anchor& anchor) {
  const std::uint32_t owner = vertex_at(warp, warp.depth, slot, edge.source);
  const std::uint32_t id = vertex_at(warp, warp.depth, slot, edge.target);
  const DeviceQueryRelation& where = warp.work.graph.query_relations[edge.query_relation];
  const View list = look_up(warp, edge.query_relation, owner);
  const Probe probe{static_cast<std::uint16_t>(edge.query_relation), edge.source, edge.inclusive};
  if (!where.derived) {
    if (k > 0 || multiplicity(warp, probe, list, owner, id, anchor) == 0) return none;
    return where.edge_label << 1 | where.incoming;
  }
  const Store& store = warp.work.graph.stores[where.store];
  if (list.count > 0) {
    const std::uint32_t capacity = store.rows[owner].capacity;
#pragma unroll 1
    for (std::uint32_t i = lower_bound(list.ids, list.count, id); i < list.count && list.ids[i] == id; ++i) {
      const std::uint32_t tag = list.ids[i + capacity];
      if (!stays(warp, store, list, id, tag, anchor, owner, edge.inclusive)) continue;
      if (k-- == 0) return tag;
    }
  }
  if (list.slice != none && warp.program().pass == pass_added) {
    const DeltaSlice slice = store.slices[list.slice];
    const std::uint32_t count = store.slices[list.slice + 1].added_begin - slice.added_begin;
    const std::uint32_t* added = store.added + slice.added_begin;
#pragma unroll 1
    for (std::uint32_t i = lower_bound(added, count, id); i < count && added[i] == id; ++i) {
      const std::uint32_t tag = store.added_tags[slice.added_begin + i];
      if (!admits(warp, anchor, owner, id, tag >> 1, (tag & 1U) != 0, edge.inclusive)) continue;
      if (k-- == 0) return tag;
    }
  }
  return none;
}

// Maps the query edges of the partial match in this lane's slot to data edges in all ways. Returns how many ways there are.
// Lists them if `list` is set. All lanes take part. Ends early on a stop.
template <Kind kind>
__device__ __noinline__ long long map_edges(Warp<kind>& warp, bool list) {
  const std::uint32_t batch = warp.header(warp.depth).batch;
  std::uint32_t tags[max_edges];
  std::uint32_t tried[max_edges];
  const bool active = warp.lane < batch;
  const std::uint32_t slot = active ? warp.lane : 0;
  const Anchor anchor = anchor_of(warp, warp.depth, slot);
  const int count = warp.program().edges;
  long long ways = 0;
  std::uint32_t turns = 0;
  int e = active ? 0 : -1;
  if (active) tried[0] = 0;
#pragma unroll 1
  while (true) {
    // Go on to the next assignment.
    bool found = false;
#pragma unroll 1
    while (e >= 0) {
      if (e == count) {
        found = true;
        break;
      }
      std::uint32_t tag = none;
      if (e == warp.program().anchor_edge) {
        tag = tried[e] == 0 ? anchor_tag(warp, anchor) : none;
      } else {
        do {
          tag = edge_option(warp, warp.work.edges[warp.program().first_edge + e], slot, tried[e], anchor);
          if (tag == none || !is_taken(warp, tags, e, tag, slot, anchor)) break;
          ++tried[e];
        } while (true);
      }
      ++tried[e];
      if (tag == none) {
        --e;
      } else {
        tags[e] = tag;
        ++e;
        if (e < count) tried[e] = 0;
      }
    }
    if (found) ++ways;
    const unsigned hits = __ballot_sync(all_lanes, found);
    if (hits == 0) break;
    if (list) {
      std::uint32_t* to = reserve_words(warp, __popc(hits) * record_words(warp));
      if (found) {
        to += __popc(hits & ((1U << warp.lane) - 1)) * record_words(warp);
#pragma unroll 1
        for (std::uint32_t v = 0; v < warp.program().vertices; ++v) {
          to[v] = vertex_at(warp, warp.depth, slot, warp.work.positions[warp.program().first_vertex + v]);
        }
#pragma unroll 1
        for (int i = 0; i < count; ++i) to[warp.program().vertices + i] = tags[i];
      }
      __syncwarp();
    }
    if (found) --e;
    if (++turns % turns_between_looks == 0 && stop_is_set(warp)) {
      warp.stopped = true;
      break;
    }
  }
  if (list) warp.total += ways;
  return ways;
}

}  // namespace deltamatch::gpu::device

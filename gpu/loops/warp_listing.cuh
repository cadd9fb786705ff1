// Listed matches, and query edges that map to one of several data edges: ninth layer of the matching kernel.
#pragma once

#include "gpu/loops/warp_counting.cuh"

namespace deltamatch::gpu::device {

inline constexpr std::uint32_t max_edges = 64;
// Parallel edges can be combined in very many ways. After so many turns, the warp checks whether to stop.
inline constexpr std::uint32_t turns_between_looks = 256;

template <bool sums, bool in_shared, bool reuses>
class Listing : public Counting<sums, in_shared, reuses> {
 protected:
  using Base = Counting<sums, in_shared, reuses>;
  using Base::admits;
  using Base::anchor_of;
  using Base::Base;
  using Base::depth_;
  using Base::header;
  using Base::lane_;
  using Base::look_up;
  using Base::multiplicity;
  using Base::program;
  using Base::program_index_;
  using Base::stays;
  using Base::stopped;
  using Base::stopped_;
  using Base::total_;
  using Base::vertex_at;
  using Base::work_;

  __device__ std::uint32_t record_words() const { return program().vertices + program().edges; }

  __device__ std::uint32_t anchor_tag(const Anchor& anchor) const { return anchor.label << 1 | program().anchor_reversed; }

  // Writes the records of the batch; the lanes share the words.
  __device__ __noinline__ void emit_plain(std::uint32_t batch) {
    const std::uint32_t words = record_words();
    std::uint32_t* to = reserve(batch * words);
#pragma unroll 1
    for (std::uint32_t i = lane_; i < batch * words; i += 32) {
      const std::uint32_t slot = i / words;
      const std::uint32_t field = i % words;
      std::uint32_t value = 0;
      if (field < program().vertices) {
        value = vertex_at(depth_, slot, work_.positions[program().first_vertex + field]);
      } else if (field - program().vertices == program().anchor_edge) {
        value = anchor_tag(anchor_of(depth_, slot));
      } else {
        const Reading& where = work_.graph.readings[work_.edges[program().first_edge + field - program().vertices].reading];
        value = where.edge_label << 1 | where.incoming;
      }
      to[i] = value;
    }
    __syncwarp();
  }

  __device__ bool taken(const std::uint32_t* tags, std::uint32_t edge, std::uint32_t tag, std::uint32_t slot,
                        const Anchor& anchor) const {
    if (program().distinct_edges == 0) return false;
    const auto image = [&](std::uint32_t e, std::uint32_t t) {
      const QueryEdge& q = work_.edges[program().first_edge + e];
      const std::uint32_t source = vertex_at(depth_, slot, q.source);
      const std::uint32_t target = vertex_at(depth_, slot, q.target);
      const bool turned = work_.graph.directed ? (t & 1U) != 0 : source > target;
      return Anchor{turned ? target : source, turned ? source : target, t >> 1};
    };
    const auto same = [](const Anchor& a, const Anchor& b) {
      return a.tail == b.tail && a.head == b.head && a.label == b.label;
    };
    const Anchor own = image(edge, tag);
    if (same(own, anchor)) return true;
#pragma unroll 1
    for (std::uint32_t e = 0; e < edge; ++e) {
      if (e != program().anchor_edge && same(image(e, tags[e]), own)) return true;
    }
    return false;
  }

  // Maps the query edges of the partial match in this lane's slot to data edges in all ways. Returns how many ways there are.
  // Lists them if `list` is set. All lanes take part. Ends early on a stop.
  __device__ __noinline__ long long edges(bool list) {
    const std::uint32_t batch = header(depth_).batch;
    std::uint32_t tags[max_edges];
    std::uint32_t tried[max_edges];
    const bool active = lane_ < batch;
    const std::uint32_t slot = active ? lane_ : 0;
    const Anchor anchor = anchor_of(depth_, slot);
    const int count = program().edges;
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
        if (e == program().anchor_edge) {
          tag = tried[e] == 0 ? anchor_tag(anchor) : none;
        } else {
          do {
            tag = option(work_.edges[program().first_edge + e], slot, tried[e], anchor);
            if (tag == none || !taken(tags, e, tag, slot, anchor)) break;
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
        std::uint32_t* to = reserve(__popc(hits) * record_words());
        if (found) {
          to += __popc(hits & ((1U << lane_) - 1)) * record_words();
#pragma unroll 1
          for (std::uint32_t v = 0; v < program().vertices; ++v) {
            to[v] = vertex_at(depth_, slot, work_.positions[program().first_vertex + v]);
          }
#pragma unroll 1
          for (int i = 0; i < count; ++i) to[program().vertices + i] = tags[i];
        }
        __syncwarp();
      }
      if (found) --e;
      if (++turns % turns_between_looks == 0 && stopped()) {
        stopped_ = true;
        break;
      }
    }
    if (list) total_ += ways;
    return ways;
  }

  // Reserves words in the warp's page. A full page goes to the host.
  __device__ std::uint32_t* reserve(std::uint32_t words) {
    if (page_ != none && (page_program_ != program_index_ || page_used_ + words > page_words)) publish();
    if (page_ == none) {
      std::uint32_t taken_page = 0;
      if (lane_ == 0) {
        const unsigned long long ticket = atomicAdd(work_.pages.free_tickets, 1ULL);
        volatile std::uint32_t* entry = work_.pages.free + ticket % work_.pages.pages;
        const unsigned long long lap = ticket / work_.pages.pages;
#pragma unroll 1
        while ((taken_page = *entry) == 0 || (taken_page & 1U) != (lap & 1U)) __nanosleep(500);
        *entry = 0;
        taken_page = (taken_page >> 1) - 1;
        __threadfence_system();
      }
      page_ = __shfl_sync(all_lanes, taken_page, 0);
      page_program_ = program_index_;
      page_used_ = 2;
    }
    std::uint32_t* at = work_.pages.memory + std::size_t{page_} * page_words + page_used_;
    page_used_ += words;
    return at;
  }

  __device__ void publish() {
    if (page_ == none) return;
    __syncwarp();
    if (lane_ == 0) {
      std::uint32_t* page = work_.pages.memory + std::size_t{page_} * page_words;
      page[0] = page_program_;
      page[1] = page_used_;
    }
    __threadfence_system();
    __syncwarp();
    if (lane_ == 0) {
      const unsigned long long ticket = atomicAdd(work_.pages.full_tickets, 1ULL);
      __threadfence_system();
      work_.pages.full[ticket % work_.pages.pages] = page_ + 1;
    }
    __syncwarp();
    page_ = none;
  }

  // The tag of the k-th admitted entry of a query edge's list that leads to its target, or none.
  __device__ std::uint32_t option(const QueryEdge& edge, std::uint32_t slot, std::uint32_t k, const Anchor& anchor) {
    const std::uint32_t owner = vertex_at(depth_, slot, edge.source);
    const std::uint32_t id = vertex_at(depth_, slot, edge.target);
    const Reading& where = work_.graph.readings[edge.reading];
    const View list = look_up(edge.reading, owner);
    const Probe probe{static_cast<std::uint16_t>(edge.reading), edge.source, edge.inclusive};
    if (!where.derived) {
      if (k > 0 || multiplicity(probe, list, owner, id, anchor) == 0) return none;
      return where.edge_label << 1 | where.incoming;
    }
    const Store& store = work_.graph.stores[where.store];
    if (list.count > 0) {
      const std::uint32_t capacity = store.rows[owner].capacity;
#pragma unroll 1
      for (std::uint32_t i = lower_bound(list.ids, list.count, id); i < list.count && list.ids[i] == id; ++i) {
        const std::uint32_t tag = list.ids[i + capacity];
        if (!stays(store, list, id, tag, anchor, owner, edge.inclusive)) continue;
        if (k-- == 0) return tag;
      }
    }
    if (list.slice != none && program().pass == pass_added) {
      const DeltaSlice slice = store.slices[list.slice];
      const std::uint32_t count = store.slices[list.slice + 1].added_begin - slice.added_begin;
      const std::uint32_t* added = store.added + slice.added_begin;
#pragma unroll 1
      for (std::uint32_t i = lower_bound(added, count, id); i < count && added[i] == id; ++i) {
        const std::uint32_t tag = store.added_tags[slice.added_begin + i];
        if (!admits(anchor, owner, id, tag >> 1, (tag & 1U) != 0, edge.inclusive)) continue;
        if (k-- == 0) return tag;
      }
    }
    return none;
  }

  std::uint32_t page_ = none;
  std::uint32_t page_program_ = none;
  std::uint32_t page_used_ = 0;
};

}  // namespace deltamatch::gpu::device

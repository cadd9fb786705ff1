// The steps of filtering at one vertex; filter::Candidates describes them. One thread decides by label and degree, and counts
// what is left. A group of lanes reads lists to refine. Each step reads the masks of the last one, so the order of the vertices
// does not matter.
//
// Runs on host and device alike.
#pragma once

#include "gpu/cuda/lane_bits.hpp"
#include "gpu/filter/candidate_layout.hpp"
#include "gpu/mirror/packed_list.hpp"

namespace deltamatch::gpu {

DELTAMATCH_HOST_DEVICE inline std::uint32_t candidate_by_label(const CandidateWork& work, std::uint32_t vertex) {
  return work.degrees[vertex] == 0 ? 0 : work.by_label[work.labels[vertex]];
}

DELTAMATCH_HOST_DEVICE inline bool has_degrees(const CandidateWork& work, std::uint32_t vertex, unsigned query_vertex) {
  if (work.degrees[vertex] < work.least_degrees[query_vertex]) return false;
  for (std::uint32_t n = work.first_need[query_vertex]; n < work.first_need[query_vertex + 1]; ++n) {
    const CandidateRequirement need = work.needs[n];
    if (list_of(work.graph, work.graph.query_relations[need.query_relation], vertex).size < need.entries) return false;
  }
  return true;
}

DELTAMATCH_HOST_DEVICE inline std::uint32_t candidate_by_degree(const CandidateWork& work, std::uint32_t vertex) {
  std::uint32_t mask = work.masks[vertex];
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const unsigned query_vertex = lowest_bit(rest);
    if (!has_degrees(work, vertex, query_vertex)) mask &= ~(1U << query_vertex);
  }
  return mask;
}

/// Whether the list leads to a candidate of each neighbour, and to as many as it needs. The lanes read it side by side and stop
/// early.
template <class Group>
DELTAMATCH_HOST_DEVICE bool leads_on(Group group, const std::uint32_t* masks, const PackedList& list,
                                     const CandidateRequirement& need) {
  std::uint32_t missing = need.neighbours;
  std::uint32_t entries = 0;
  for (std::uint32_t at = 0; at < list.size; at += Group::size) {
    const std::uint32_t own = at + group.rank();
    const std::uint32_t there = own < list.size ? masks[list.ids[own]] & need.neighbours : 0;
    entries += count_bits(group.ballot(there != 0));
    for (std::uint32_t rest = missing; rest != 0; rest &= rest - 1) {
      const std::uint32_t neighbour = rest & (0 - rest);
      if (group.ballot((there & neighbour) != 0) != 0) missing &= ~neighbour;
    }
    if (missing == 0 && entries >= need.entries) return true;
  }
  return false;
}

template <class Group>
DELTAMATCH_HOST_DEVICE std::uint32_t candidate_refined(Group group, const CandidateWork& work, std::uint32_t vertex) {
  std::uint32_t mask = work.masks[vertex];
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const unsigned query_vertex = lowest_bit(rest);
    for (std::uint32_t n = work.first_need[query_vertex]; n < work.first_need[query_vertex + 1]; ++n) {
      const CandidateRequirement need = work.needs[n];
      if (leads_on(group, work.masks, list_of(work.graph, work.graph.query_relations[need.query_relation], vertex), need))
        continue;
      mask &= ~(1U << query_vertex);
      break;
    }
  }
  return mask;
}

/// Counts what a step leaves, for as many vertices at a time as the group has lanes. Lane i counts for query vertices i, i +
/// lanes and so on.
template <class Group>
class CandidateStock {
 public:
  /// All lanes call it together; each passes a vertex, or the mask 0.
  DELTAMATCH_HOST_DEVICE void add(Group group, const CandidateWork& work, std::uint32_t vertex, std::uint32_t mask) {
    for (unsigned v = 0; v < work.query_vertices; ++v) {
      const unsigned votes = group.ballot((mask >> v & 1U) != 0);
      if (v % Group::size == group.rank()) candidates_[v / Group::size] += count_bits(votes);
    }
    if (mask != 0) edges_ += static_cast<unsigned long long>(work.degrees[vertex]) * count_bits(mask);
  }
  DELTAMATCH_HOST_DEVICE void finish(Group group, const CandidateWork& work) const {
    for (unsigned v = group.rank(); v < work.query_vertices; v += Group::size) {
      fetch_add(&work.left->candidates[v], candidates_[v / Group::size]);
    }
    fetch_add(&work.left->edges[group.rank()], edges_);
  }

 private:
  static_assert(mask_bits % Group::size == 0);
  unsigned long long candidates_[mask_bits / Group::size] = {};
  unsigned long long edges_ = 0;
};

/// The share of one group out of `groups` of a step. Portions have one vertex for each lane. Refining reads the lists of a
/// portion's vertices one after the other, with all lanes.
template <class Group>
DELTAMATCH_HOST_DEVICE void filter_candidates(Group group, const CandidateWork& work, std::uint32_t number,
                                              std::uint32_t groups) {
  CandidateStock<Group> stock;
  for (std::uint64_t first = std::uint64_t{number} * Group::size; first < work.vertices;
       first += std::uint64_t{groups} * Group::size) {
    const auto own = static_cast<std::uint32_t>(first + group.rank());
    const bool there = first + group.rank() < work.vertices;
    std::uint32_t mask = 0;
    switch (work.step) {
      case CandidateStep::label:
        if (there) mask = candidate_by_label(work, own);
        break;
      case CandidateStep::degree:
        if (there) mask = candidate_by_degree(work, own);
        break;
      case CandidateStep::refine:
        for (unsigned some = group.ballot(there && work.masks[own] != 0); some != 0; some &= some - 1) {
          const unsigned lane = lowest_bit(some);
          const std::uint32_t refined = candidate_refined(group, work, static_cast<std::uint32_t>(first + lane));
          if (lane == group.rank()) mask = refined;
        }
        break;
    }
    if (there) work.next[own] = mask;
    stock.add(group, work, own, mask);
  }
  stock.finish(group, work);
}

}  // namespace deltamatch::gpu

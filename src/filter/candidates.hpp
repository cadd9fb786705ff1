// Finds which data vertices each query vertex can be mapped to.
//
// Needs the settled graph with resolved query relations, and at most 32 query vertices. Each data vertex has one word, with a
// bit for each query vertex that it is a candidate of. So its lists are examined once for all query vertices. One pass over
// their entries finds which query vertices have a candidate there.
//
// A dropped vertex can be in no match, in any mode. If vertices and edges may coincide, a list must have one entry. If edges
// must be distinct, it must have as many entries as query edges read the list, for these need distinct entries.
#pragma once

#include <atomic>
#include <vector>

#include "base/parallel.hpp"
#include "filter/candidate_steps.hpp"

namespace deltamatch::filter {

/// The steps may come in any order, but each later step is cheaper after the earlier ones. Steps run on all workers. Results do
/// not depend on their number. All arguments must outlive it.
class Candidates {
 public:
  /// Labels, degrees and rounds run `elsewhere` if that is not null and takes the query. Then `settle` must follow the last of
  /// them, before anything else. Once `stop` is set, a step ends soon, and what is left is useless.
  Candidates(const plan::BoundQuery& query, Workers& workers, const std::atomic<bool>& stop,
             CandidateSteps* elsewhere = nullptr);

  /// Takes all vertices with a label that the query vertex admits. O(vertices).
  void by_label();
  /// Drops vertices with too few edges, or with too short a list for what the query vertex reads. Lists are by direction, edge
  /// label and neighbour's label. O(vertices x lists that the query reads).
  void by_degree();
  /// One round: drops vertices whose lists lead to no candidate, or to too few, as of the previous round. All query edges at a
  /// vertex are examined together. O(edges at the candidates).
  void refine();
  /// Fetches what is left elsewhere. Later steps run here.
  void settle();
  /// Gives query vertices that admit the same labels one set of candidates: the union of theirs. Does so only if the union has
  /// at most this share more edges than any of the sets. Plans reuse what query vertices with the same candidates read, and
  /// choose these as sets. That saves more than a small difference between the sets. O(vertices + query vertices^2 x different
  /// masks).
  void unite(double share);

  [[nodiscard]] const RemainingCandidates& left() const noexcept { return left_; }
  [[nodiscard]] bool any_empty() const noexcept;
  /// The query vertices that a data vertex may be mapped to.
  [[nodiscard]] Mask of(VertexId vertex) const noexcept { return masks_[vertex]; }
  [[nodiscard]] const std::vector<Mask>& masks() const noexcept { return masks_; }
  /// By query vertex, one per query relation there.
  [[nodiscard]] const std::vector<std::vector<ListRequirement>>& needs() const noexcept { return asked_.needs; }
  /// By query vertex: all query vertices with exactly the same candidates, including itself. O(vertices).
  [[nodiscard]] std::vector<Mask> alike() const;
  [[nodiscard]] std::size_t bytes() const noexcept { return (masks_.capacity() + next_.capacity()) * sizeof(Mask); }

 private:
  template <class Keep>
  void sweep(Keep&& keep);
  [[nodiscard]] Mask keep_by_degree(VertexId vertex, Mask mask) const;
  [[nodiscard]] Mask keep_by_lists(VertexId vertex, Mask mask) const;

  const plan::BoundQuery* query_;
  Workers* workers_;
  const std::atomic<bool>* stop_;
  CandidateRequirements asked_;
  CandidateSteps* elsewhere_;  // null: the steps run here
  std::vector<Mask> masks_;
  std::vector<Mask> next_;
  RemainingCandidates left_;
};

}  // namespace deltamatch::filter

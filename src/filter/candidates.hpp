// Which data vertices each query vertex can be mapped to.
//
// Needs the settled graph with resolved readings, and at most 32 query vertices: a data vertex holds one word, with a bit for
// each query vertex that it is a candidate of. So one look at its lists decides for all query vertices, and one pass over
// their entries tells of all query vertices at once which have a candidate there.
//
// What is taken out can be in no match, whatever the mode: where vertices may coincide and edges too, a list must have an
// entry; where edges are distinct, as many entries as query edges read the list, for these are mapped to distinct entries.
#pragma once

#include <atomic>
#include <vector>

#include "base/parallel.hpp"
#include "filter/candidate_steps.hpp"

namespace deltamatch::filter {

/// The order of steps is free, but each later one is the cheaper for the ones before. Steps run on all workers and do not
/// depend on their number. All arguments outlive it.
class Candidates {
 public:
  /// Labels, degrees and rounds run `elsewhere` where that is not null and takes them; then settle comes after the last of
  /// them, before anything else.
  /// Where `stop` is set a step ends soon, and what is left is of no use.
  Candidates(const plan::BoundQuery& query, Workers& workers, const std::atomic<bool>& stop,
             CandidateSteps* elsewhere = nullptr);

  /// All vertices that bear a label which the query vertex admits. O(vertices).
  void by_label();
  /// Drops vertices with too few edges, or too short a list for what the query vertex reads: the lists are by direction, edge
  /// label and neighbour's label. O(vertices x lists that the query reads).
  void by_degree();
  /// One round: drops vertices whose lists lead to no candidate, or to too few, as of the round before. All query edges at a
  /// vertex are looked at together. O(edges at the candidates).
  void refine();
  /// Brings here what was left elsewhere; steps that follow run here.
  void settle();
  /// Gives query vertices that admit the same labels one set of candidates, the union of theirs, where that has at most this
  /// share more edges than any of the sets: plans reuse what query vertices with the same candidates read, and choose these as
  /// sets, which is worth more than telling them apart for little.
  /// O(vertices + query vertices^2 x different masks).
  void unite(double share);

  [[nodiscard]] const Left& left() const noexcept { return left_; }
  [[nodiscard]] bool any_empty() const noexcept;
  /// The query vertices that a data vertex may be mapped to.
  [[nodiscard]] Mask of(VertexId vertex) const noexcept { return masks_[vertex]; }
  [[nodiscard]] const std::vector<Mask>& masks() const noexcept { return masks_; }
  /// By query vertex, one for each reading there.
  [[nodiscard]] const std::vector<std::vector<Need>>& needs() const noexcept { return asked_.needs; }
  /// By query vertex: all with the very same candidates, itself among them. O(vertices).
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
  Asked asked_;
  CandidateSteps* elsewhere_;  // null: here
  std::vector<Mask> masks_;
  std::vector<Mask> next_;
  Left left_;
};

}  // namespace deltamatch::filter

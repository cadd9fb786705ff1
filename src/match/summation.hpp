// Counts the matches of an anchor by a plan's CountPlan: the prefix is enumerated, what hangs below it is summed.
#pragma once

#include "match/candidate_space.hpp"
#include "match/partial.hpp"
#include "match/tables.hpp"
#include "match/tree_sum.hpp"

namespace deltamatch::match {

/// Weights in 64 bits first; where a sum exceeds them, the anchor is counted again in 128 bits, and beyond those it is an
/// Error.
class Summation {
 public:
  Summation(Partial& partial, TablePool<std::uint64_t>& narrow, TablePool<Count>& wide) noexcept
      : partial_(&partial), narrow_(&narrow), wide_(&wide), narrow_root_(narrow), wide_root_(wide) {}

  /// From now on sums of anchors build this space, which is open for the anchor, if they take long, and keep to it; null: none.
  /// They need an allowance.
  void keep_to(CandidateSpace* space) noexcept { space_ = space; }
  /// How often the anchor's share of the plan counts: CountPlan::divisor times its matches, once all shares are added up.
  /// Requires terms. Single shares may be negative.
  __extension__ using Signed = __int128;
  /// Once `allowance`, which may be null, is over, what is returned is of no use.
  Signed run(Share share, Allowance* allowance);
  /// The same for a root's share of a rooted plan, at position 0 of the partial match.
  Signed run(const plan::RootedPlan& plan, Share share, Allowance* allowance);

 private:
  /// The tables of one width of weights.
  template <class Weight>
  struct Memory {
    TablePool<Weight>& tables;
    RootTables<Weight>& of_root;
  };
  template <class Weight>
  bool run_with(Memory<Weight> memory, Share share, Signed& result);
  template <class Weight>
  bool descend(Memory<Weight> memory, std::size_t level, Share share, Signed& result);
  template <class Weight>
  bool add_terms(Memory<Weight> memory, const std::vector<plan::Term>& terms, Share share, Signed& result);
  template <class Weight>
  bool run_root(Memory<Weight> memory, const plan::RootedPlan& plan, Share share, Signed& result);
  template <class Weight>
  Weight product(Memory<Weight> memory, const std::vector<plan::Factor>& factors, Share share, bool& overflow);
  template <class Weight>
  Weight sum(Memory<Weight> memory, const plan::Factor& bind, Share share, bool& overflow);

  /// Takes a step; whether it was one too many.
  [[nodiscard]] bool over() noexcept { return allowance_ != nullptr && !allowance_->take(); }
  [[nodiscard]] const plan::Factor& choose(const plan::Factor& bind);
  [[nodiscard]] double expected_work(const plan::Factor& bind);
  template <class Weight>
  [[nodiscard]] Weight parallel_ways(const std::vector<plan::Probe>& probes, VertexId vertex, bool& overflow);

  Partial* partial_;
  TablePool<std::uint64_t>* narrow_;
  TablePool<Count>* wide_;
  RootTables<std::uint64_t> narrow_root_;
  RootTables<Count> wide_root_;
  Allowance* allowance_ = nullptr;
  CandidateSpace* space_ = nullptr;
  std::size_t back_to_ = CandidateSpace::none;  // the first level whose vertex is known to be in no match
  Count closing_ = 1;
};

}  // namespace deltamatch::match

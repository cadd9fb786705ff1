// Counts the matches of an anchor by a plan's CountPlan: enumerates the prefix and sums what hangs below it.
#pragma once

#include "match/candidate_space.hpp"
#include "match/partial.hpp"
#include "match/tables.hpp"
#include "match/tree_sum.hpp"

namespace deltamatch::match {

/// Uses 64-bit weights first. If a sum exceeds them, the anchor is counted again in 128 bits. If those are exceeded, it throws
/// Error.
class Summation {
 public:
  Summation(Partial& partial, TablePool<std::uint64_t>& narrow, TablePool<Count>& wide) noexcept
      : partial_(&partial),
        narrow_(&narrow),
        wide_(&wide),
        narrow_root_(narrow),
        wide_root_(wide),
        narrow_leaves_(narrow),
        wide_leaves_(wide) {}

  /// From now on, the sum of an anchor that takes long builds this space, which must be open for the anchor, and stays within
  /// it. Null: no space. Such sums need an allowance.
  void keep_to(CandidateSpace* space) noexcept { space_ = space; }
  /// The sum of the anchor's share. Added up over all shares, it is CountPlan::divisor times the matches. Single shares may be
  /// negative. The plan must have terms.
  __extension__ using Signed = __int128;
  /// Sums an anchor. `step_budget` may be null; once it is over, the result is useless.
  Signed run(Share share, StepBudget* step_budget);
  /// The same for a root's share of a rooted plan, with the root at position 0 of the partial match.
  Signed run(const plan::RootedPlan& plan, Share share, StepBudget* step_budget);

 private:
  /// The tables for one width of weights.
  template <class Weight>
  struct Memory {
    TablePool<Weight>& tables;
    RootTables<Weight>& of_root;
    LeafTables<Weight>& of_leaves;
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

  /// Takes a step. Returns whether it was one too many.
  [[nodiscard]] bool over() noexcept { return step_budget_ != nullptr && !step_budget_->take(); }
  [[nodiscard]] const plan::Factor& choose(const plan::Factor& bind);
  [[nodiscard]] double expected_work(const plan::Factor& bind);
  template <class Weight>
  [[nodiscard]] Weight parallel_ways(const std::vector<plan::Probe>& probes, VertexId vertex, bool& overflow);

  Partial* partial_;
  TablePool<std::uint64_t>* narrow_;
  TablePool<Count>* wide_;
  RootTables<std::uint64_t> narrow_root_;
  RootTables<Count> wide_root_;
  LeafTables<std::uint64_t> narrow_leaves_;
  LeafTables<Count> wide_leaves_;
  StepBudget* step_budget_ = nullptr;
  CandidateSpace* space_ = nullptr;
  std::size_t back_to_ = CandidateSpace::none;  // the first level whose vertex is known to be in no match
  Count closing_ = 1;
};

}  // namespace deltamatch::match
